//! The scripts: what is put into each template, and why it says what it says.

use askama::Template;

use super::super::folder::Folder;
use super::super::quote as filters;
use super::super::{README, Script};
use super::{Kit, start_up};
use experiment::spec::Role;

/// Those that this layout needs.
pub(super) fn all(kit: &Kit<'_>) -> Vec<Script> {
    let mut scripts = vec![
        Script::new(README, &Readme::new(kit)),
        Script::new("0-folders.sh", &Folders { kit }),
    ];
    if kit.tablespaces().next().is_some() {
        let tag = tag(kit.wish.database.as_deref().unwrap_or_default());
        scripts.push(Script::new("1-check.sql", &Check { kit, tag }));
        scripts.push(Script::new("2-apply.sql", &Apply { kit }));
        scripts.push(Script::new("3-verify.sql", &Verify { kit }));
        scripts.push(Script::new("undo.sql", &Undo { kit }));
    }
    if let Some(log) = &kit.log {
        scripts.push(Script::new(&kit.move_wal(), &MoveWal { kit, log }));
        scripts.push(Script::new("undo-wal.sh", &UndoWal { kit, log }));
    }
    scripts.extend(start_up::scripts(kit));
    scripts
}

/// The order, what can go wrong, and how to roll back.
#[derive(Template)]
#[template(path = "postgres/readme.md")]
struct Readme<'a> {
    kit: &'a Kit<'a>,
    /// Whether a volume was to have several files of a role.
    several: bool,
    /// A volume of data or log that comes back empty.
    lost: Option<&'a String>,
}

/// Source: <https://www.postgresql.org/docs/current/sql-createtablespace.html>, read 2026-11: the directory has to
/// be there, empty, and the server's own.
#[derive(Template)]
#[template(path = "postgres/folders.sh", escape = "none")]
struct Folders<'a> {
    kit: &'a Kit<'a>,
}

/// Stops where something is in the way, and changes nothing.
#[derive(Template)]
#[template(path = "postgres/check.sql", escape = "none")]
struct Check<'a> {
    kit: &'a Kit<'a>,
    tag: String,
}

/// `ALTER SYSTEM` and tablespaces take no transaction.
#[derive(Template)]
#[template(path = "postgres/apply.sql", escape = "none")]
struct Apply<'a> {
    kit: &'a Kit<'a>,
}

#[derive(Template)]
#[template(path = "postgres/verify.sql", escape = "none")]
struct Verify<'a> {
    kit: &'a Kit<'a>,
}

/// A tablespace goes only when it is empty, also of temporary files.
#[derive(Template)]
#[template(path = "postgres/undo.sql", escape = "none")]
struct Undo<'a> {
    kit: &'a Kit<'a>,
}

/// The write-ahead log on another volume: a symbolic link, made while the server is stopped.
///
/// Source: <https://www.postgresql.org/docs/current/wal-internals.html>, read 2026-11.
#[derive(Template)]
#[template(path = "postgres/move-wal.sh", escape = "none")]
struct MoveWal<'a> {
    kit: &'a Kit<'a>,
    log: &'a Folder,
}

#[derive(Template)]
#[template(path = "postgres/undo-wal.sh", escape = "none")]
struct UndoWal<'a> {
    kit: &'a Kit<'a>,
    log: &'a Folder,
}

impl<'a> Readme<'a> {
    fn new(kit: &'a Kit<'a>) -> Readme<'a> {
        let several = Role::COMMON.iter().any(|role| {
            let files = kit.wish.files(*role);
            let volumes: std::collections::BTreeSet<_> =
                files.iter().map(|file| &file.volume).collect();
            kit.wish.has(*role) && files.len() > volumes.len()
        });
        let roles = [Role::Data, Role::Log];
        let roles = roles.into_iter().filter(|role| kit.wish.has(*role));
        let mut kept = roles
            .flat_map(|role| kit.wish.files(role))
            .map(|file| &file.volume);
        let lost = kept.find(|volume| kit.wish.ephemeral.contains(*volume));
        Readme { kit, several, lost }
    }
}

/// A dollar quote that is not in a database's name, which may have any.
fn tag(name: &str) -> String {
    let tags = (0..).map(|number| format!("$check{number}$"));
    let mut free = tags.filter(|tag| !name.contains(tag.as_str()));
    free.next().expect("there is always another number")
}
