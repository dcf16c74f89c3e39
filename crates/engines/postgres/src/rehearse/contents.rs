//! What a dump contains: which entries are restored, and which roles it names.
//!
//! ```text
//! pg_restore --list ───────────► Entries: those that call out, or need a superuser, are left out
//! pg_restore --schema-only ────► Names: roles, tablespaces
//! ```

use std::collections::BTreeSet;

/// Extensions that start programs, or connect to other servers.
const CALLING_OUT: [&str; 21] = [
    "adminpack",
    "aws_commons",
    "aws_lambda",
    "aws_ml",
    "aws_s3",
    "azure_ai",
    "azure_storage",
    "dblink",
    "file_fdw",
    "http",
    "log_fdw",
    "mongo_fdw",
    "mysql_fdw",
    "oracle_fdw",
    "pg_background",
    "pg_cron",
    "pg_net",
    "pglogical",
    "plsh",
    "postgres_fdw",
    "tds_fdw",
];

/// Kinds of entries that are not restored, and why.
const LEFT_OUT: [(&str, &str); 8] = [
    ("EVENT TRIGGER", "which only a superuser may own"),
    ("FOREIGN DATA WRAPPER", ELSEWHERE),
    ("FOREIGN SERVER", ELSEWHERE),
    ("FOREIGN TABLE", ELSEWHERE),
    ("PUBLICATION", "which no server follows"),
    ("SERVER", ELSEWHERE),
    ("SUBSCRIPTION", ELSEWHERE),
    ("USER MAPPING", ELSEWHERE),
];

const ELSEWHERE: &str = "which leads to another server";

/// Labels of other modules.
const LABEL: &str = "SECURITY LABEL";

/// Most names of roles and tablespaces.
const NAMES_MAX: usize = 10_000;

/// The entries of a dump.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Entries {
    /// The list for `pg_restore --use-list`.
    pub(crate) list: String,
    /// How many are restored.
    pub(crate) count: u64,
    /// What is not restored, as sentences without a full stop.
    pub(crate) left_out: Vec<String>,
}

impl Entries {
    /// Chooses from the lines of `pg_restore --list`, on a machine that has these extensions.
    pub(crate) fn chosen(lines: &[String], available: &BTreeSet<String>) -> Entries {
        let mut entries = Entries::default();
        let texts = lines.iter().filter_map(|line| text_of(line));
        // Rights on a foreign table, and its place in another one, are listed as those of tables.
        let foreign: BTreeSet<String> = texts
            .filter_map(|text| text.strip_prefix("FOREIGN TABLE ")?.split_once(' '))
            .flat_map(|(schema, table)| {
                ["ACL {} TABLE", "TABLE ATTACH {}"]
                    .map(|kind| kind.replace("{}", schema) + " " + table)
            })
            .collect();
        for line in lines {
            let Some(text) = text_of(line) else { continue };
            let of_foreign = foreign.contains(text);
            match reason(text, available) {
                None if !of_foreign => {
                    entries.list += line;
                    entries.list.push('\n');
                    entries.count += 1;
                }
                Some(why) if !text.starts_with("COMMENT ") && !text.starts_with("ACL ") => {
                    entries
                        .left_out
                        .push(format!("not restored: {}, {why}", text.trim_end()));
                }
                None | Some(_) => {}
            }
        }
        entries
    }
}

/// The text of an entry in `3345; 0 16397 TABLE DATA public accounts boss`.
fn text_of(line: &str) -> Option<&str> {
    let mut parts = line.splitn(4, ' ');
    let number = parts.next()?.strip_suffix(';')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let ids_are = is_number(number) && is_number(parts.next()?) && is_number(parts.next()?);
    parts.next().filter(|_| ids_are)
}

/// Why an entry is not restored.
fn reason(text: &str, available: &BTreeSet<String>) -> Option<&'static str> {
    let after = |word: &str| text.strip_prefix(word)?.split_once(' ').map(|(_, tag)| tag);
    let tag = after("COMMENT ").or_else(|| after("ACL "));
    let subject = tag.unwrap_or(text);
    let extension = match tag {
        Some(tag) => tag.strip_prefix("EXTENSION "),
        None => text.strip_prefix("EXTENSION - "),
    };
    if let Some(name) = extension.map(str::trim_end) {
        return match () {
            () if CALLING_OUT.contains(&name) => Some("which calls out"),
            () if !available.contains(name) => Some("which is not on this machine"),
            () => None,
        };
    }
    let is_kind = |kind: &str| {
        let rest = subject.strip_prefix(kind);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    if text.starts_with(LABEL) {
        return Some("which a module has to provide");
    }
    let kind = LEFT_OUT.iter().find(|(kind, _)| is_kind(kind));
    kind.map(|(_, why)| *why)
}

/// Names in the statements of a dump.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Names {
    /// Roles that own something, or have rights.
    pub(crate) roles: BTreeSet<String>,
    /// Tablespaces.
    pub(crate) tablespaces: BTreeSet<String>,
}

impl Names {
    /// Adds those of a line. A line in the body of a function may look like one with names: a role too many has no rights.
    pub(crate) fn add(&mut self, line: &str) {
        let of_roles = [" OWNER TO ", " TO ", " FROM ", " FOR ROLE "];
        let names_roles = ["ALTER ", "GRANT ", "REVOKE ", "CREATE POLICY "];
        if names_roles.iter().any(|word| line.starts_with(word)) {
            let places = of_roles.iter().flat_map(|word| {
                let found = line.match_indices(word);
                found.map(|(at, word)| &line[at + word.len()..])
            });
            // Settings of a role in the database.
            for place in places.chain(line.strip_prefix("ALTER ROLE ")) {
                let names = listed(place).into_iter().filter(|name| !is_reserved(name));
                let room = NAMES_MAX.saturating_sub(self.roles.len());
                self.roles.extend(names.take(room));
            }
        }
        if let Some(value) = line.strip_prefix("SET default_tablespace = ") {
            let names = listed(value).into_iter().filter(|name| !name.is_empty());
            let room = NAMES_MAX.saturating_sub(self.tablespaces.len());
            self.tablespaces.extend(names.take(room));
        }
    }
}

/// Names of PostgreSQL's own, and words in their place.
fn is_reserved(name: &str) -> bool {
    const WORDS: [&str; 6] = [
        "PUBLIC",
        "CURRENT_USER",
        "SESSION_USER",
        "CURRENT_ROLE",
        "DEFAULT",
        "public",
    ];
    name.is_empty() || name == "none" || name.starts_with("pg_") || WORDS.contains(&name)
}

/// The names at the beginning of `a, "b c" USING ..`; nothing where it begins with something else.
fn listed(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = text;
    loop {
        let name = match rest.strip_prefix('"') {
            None => {
                let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
                let end = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
                let (name, after) = rest.split_at(end);
                rest = after;
                name.to_owned()
            }
            Some(quoted) => {
                let Some((name, after)) = quoted_name(quoted) else {
                    return names;
                };
                rest = after;
                name
            }
        };
        names.push(name);
        match rest.strip_prefix(", ") {
            Some(after) => rest = after,
            None => return names,
        }
    }
}

/// A name up to its closing quote, and what follows; quotes in it are doubled.
fn quoted_name(text: &str) -> Option<(String, &str)> {
    let mut name = String::new();
    let mut rest = text;
    loop {
        let (part, after) = rest.split_once('"')?;
        name += part;
        match after.strip_prefix('"') {
            Some(after) => {
                name.push('"');
                rest = after;
            }
            None => return Some((name, after)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_that_call_out_are_left_out_with_what_belongs_to_them() {
        let lines = [
            ";     dbname: shop",
            "3421; 1262 16386 DATABASE - shop boss",
            "3; 3079 16417 EXTENSION - pgcrypto ",
            "3424; 0 0 COMMENT - EXTENSION pgcrypto ",
            "2; 3079 16410 EXTENSION - postgres_fdw ",
            "3425; 0 0 COMMENT - EXTENSION postgres_fdw ",
            "4; 3079 16411 EXTENSION - nowhere ",
            "2095; 1417 16454 SERVER - s boss",
            "3428; 0 0 ACL - FOREIGN SERVER s boss",
            "3426; 0 0 USER MAPPING - USER MAPPING boss SERVER s boss",
            "220; 1259 16456 FOREIGN TABLE public ft my user",
            "3427; 0 0 ACL public TABLE ft my user",
            "218; 1259 16394 TABLE public ft2 my user",
            "219; 1259 16394 TABLE public SERVER my user",
            "3409; 6104 16460 PUBLICATION - p boss",
            "3410; 6104 16460 PUBLICATION TABLE public ft2 boss",
            "3259; 3466 16463 EVENT TRIGGER - et boss",
            "3412; 0 16394 TABLE DATA public ft2 my user",
        ]
        .map(str::to_owned);
        let available = BTreeSet::from(["pgcrypto".to_owned(), "postgres_fdw".to_owned()]);
        let entries = Entries::chosen(&lines, &available);
        let numbers: Vec<&str> = entries
            .list
            .lines()
            .map(|line| line.split(';').next().unwrap())
            .collect();
        assert_eq!(numbers, ["3421", "3", "3424", "218", "219", "3412"]);
        assert_eq!(entries.count, 6);
        assert_eq!(
            entries.left_out[..2],
            [
                "not restored: EXTENSION - postgres_fdw, which calls out",
                "not restored: EXTENSION - nowhere, which is not on this machine"
            ]
        );
        // The server, the mapping, the table, two of the publication, the trigger.
        assert_eq!(entries.left_out.len(), 2 + 6);
    }

    #[test]
    fn roles_and_tablespaces_are_found_where_pg_dump_names_them() {
        let mut names = Names::default();
        for line in [
            "ALTER TABLE public.pgbench_accounts OWNER TO \"my \"\"user\";",
            "CREATE POLICY pol ON public.t TO reader, \"the rest\" USING (true);",
            "GRANT SELECT,UPDATE ON TABLE public.pgbench_branches TO app WITH GRANT OPTION;",
            "GRANT SELECT ON TABLE public.t TO PUBLIC;",
            "REVOKE ALL ON FUNCTION public.f() FROM gone;",
            "GRANT ALL ON FUNCTION public.f() TO pg_monitor;",
            "ALTER DEFAULT PRIVILEGES FOR ROLE maker IN SCHEMA public GRANT SELECT ON TABLES TO rep;",
            "ALTER ROLE tuned IN DATABASE shop SET work_mem TO '8MB';",
            "SET default_tablespace = '';",
            "SET default_tablespace = fast;",
            "SELECT 1 FROM nothing;",
            "GRANT x TO \"open",
        ] {
            names.add(line);
        }
        let roles: Vec<&str> = names.roles.iter().map(String::as_str).collect();
        assert_eq!(
            roles,
            [
                "app",
                "gone",
                "maker",
                "my \"user",
                "reader",
                "rep",
                "the rest",
                "tuned"
            ]
        );
        assert_eq!(names.tablespaces, BTreeSet::from(["fast".to_owned()]));
    }
}
