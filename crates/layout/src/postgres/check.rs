//! What is asked before and after.

use super::super::Script;
use super::{Kit, Tablespace, literal};

/// `1-check.sql`: stops where something is in the way, and changes nothing.
pub(super) fn script(kit: &Kit<'_>) -> Script {
    let names: Vec<String> = kit
        .tablespaces()
        .map(|space| literal(&space.name))
        .collect();
    let mut text = format!(
        "BEGIN\n    \
             IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN\n        \
                 RAISE EXCEPTION 'tablespaces are made by a superuser; connect as one';\n    \
             END IF;\n    \
             IF EXISTS (SELECT 1 FROM pg_tablespace WHERE spcname IN ({})) THEN\n        \
                 RAISE EXCEPTION 'a tablespace of this name is there already; run undo.sql first';\n    \
             END IF;\n",
        names.join(", ")
    );
    if !kit.temp.is_empty() {
        text += "    IF (SELECT setting FROM pg_settings WHERE name = 'temp_tablespaces') <> '' THEN\n        \
                 RAISE EXCEPTION 'temp_tablespaces is set already (%), and undo.sql would not set it again; reset it first, or change undo.sql',\n            \
                     current_setting('temp_tablespaces');\n    \
                 END IF;\n";
    }
    if let Some(database) = &kit.wish.database {
        let name = literal(database);
        text += &format!(
            "    IF NOT EXISTS (SELECT 1 FROM pg_database d JOIN pg_tablespace t ON t.oid = d.dattablespace\n                   \
                 WHERE d.datname = {name} AND t.spcname = 'pg_default') THEN\n        \
                 RAISE EXCEPTION 'there is no database % in pg_default, where undo.sql would put it back', {name};\n    \
             END IF;\n    \
             IF current_database() = {name} OR EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = {name} AND pid <> pg_backend_pid()) THEN\n        \
                 RAISE EXCEPTION 'somebody is connected to %; it moves only while nobody is', {name};\n    \
             END IF;\n"
        );
    }
    text += "END\n";
    let tag = tag(&text);
    let text = format!("{HEAD}DO {tag}\n{text}{tag};\n");
    Script::new("1-check.sql", text)
}

const HEAD: &str = "-- Whether 2-apply.sql can be run. Changes nothing.\n\\set ON_ERROR_STOP on\n";

/// A dollar quote that is not in the text: a name may have any.
fn tag(text: &str) -> String {
    let tags = (0..).map(|number| format!("$check{number}$"));
    let mut free = tags.filter(|tag| !text.contains(tag.as_str()));
    free.next().expect("there is always another number")
}

/// `3-verify.sql`.
pub(super) fn verify(kit: &Kit<'_>) -> Script {
    let mut text = String::from("-- What there is now. Changes nothing.\n");
    text +=
        "SELECT spcname, pg_tablespace_location(oid) AS location FROM pg_tablespace ORDER BY 1;\n";
    text += "SHOW temp_tablespaces;\n";
    if let (Some(database), Some(Tablespace { name, .. })) = (&kit.wish.database, kit.data.first())
    {
        text += &format!(
            "SELECT datname, spcname, spcname = {} AS as_asked FROM pg_database d JOIN pg_tablespace t ON t.oid = d.dattablespace\n\
             WHERE datname = {};\n",
            literal(name),
            literal(database),
        );
    }
    Script::new("3-verify.sql", text)
}
