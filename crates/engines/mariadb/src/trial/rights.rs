//! Privileges that a login needs on an external server.
//!
//! Source: <https://mariadb.com/docs/server/reference/sql-statements/account-management-sql-statements/grant>, read 2026-11-25.

/// Global: for `DATA DIRECTORY`; for waiting transactions; for writing the pages of loaded tables before the run.
const EVERYWHERE: [&str; 3] = ["FILE", "PROCESS", "RELOAD"];

/// In databases of our own.
const IN_OURS: [&str; 10] = [
    "SELECT",
    "INSERT",
    "UPDATE",
    "DELETE",
    "CREATE",
    "DROP",
    "INDEX",
    "ALTER",
    "CREATE TEMPORARY TABLES",
    "LOCK TABLES",
];

/// Privileges missing in `grants`, the result of `SHOW GRANTS`, each with its scope in GRANT syntax.
pub(crate) fn missing(
    grants: &[String],
    performance_schema: bool,
) -> Vec<(Vec<&'static str>, String)> {
    let grants: Vec<(&str, &str)> = grants
        .iter()
        .filter_map(|grant| taken_apart(grant))
        .collect();
    let has = |right: &str, is_there: &dyn Fn(&str) -> bool| {
        grants.iter().any(|(rights, place)| {
            let rights = rights.split(", ");
            is_there(place)
                && rights
                    .into_iter()
                    .any(|one| one == right || one == "ALL PRIVILEGES")
        })
    };
    let lacking = |rights: &[&'static str], is_there: &dyn Fn(&str) -> bool| -> Vec<&'static str> {
        let lacking = rights.iter().filter(|right| !has(right, is_there));
        lacking.copied().collect()
    };
    let is_everywhere = |place: &str| place == "*.*";
    let mut all = vec![
        (lacking(&EVERYWHERE, &is_everywhere), "*.*".to_owned()),
        (
            lacking(&IN_OURS, &|place| is_everywhere(place) || holds_ours(place)),
            r"`dbstow\_%`.*".to_owned(),
        ),
    ];
    if performance_schema {
        let place = "performance_schema.*";
        let is_there = |text: &str| is_everywhere(text) || text.replace('`', "") == place;
        all.push((lacking(&["SELECT"], &is_there), place.to_owned()));
    }
    all.retain(|(rights, _)| !rights.is_empty());
    all
}

/// The privileges and the scope of a grant; `None` for a role, whose own grants are listed separately.
fn taken_apart(grant: &str) -> Option<(&str, &str)> {
    let (rights, rest) = grant.strip_prefix("GRANT ")?.split_once(" ON ")?;
    let (place, _) = rest.split_once(" TO ")?;
    Some((rights, place))
}

/// Whether a database pattern matches our names.
fn holds_ours(place: &str) -> bool {
    let name = place.replace(['`', '\\'], "");
    matches!(&*name, "dbstow_%.*" | "dbstow%.*")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lacking(grants: &[&str], performance_schema: bool) -> Vec<String> {
        let grants: Vec<String> = grants.iter().map(|grant| (*grant).to_owned()).collect();
        let missing = missing(&grants, performance_schema);
        let texts = missing.into_iter();
        texts
            .map(|(rights, place)| format!("{} ON {place}", rights.join(", ")))
            .collect()
    }

    #[test]
    fn a_login_that_may_do_all_lacks_nothing() {
        let all = "GRANT ALL PRIVILEGES ON *.* TO `boss`@`%` IDENTIFIED BY PASSWORD '*00' WITH GRANT OPTION";
        assert_eq!(lacking(&[all], true), [""; 0]);
    }

    #[test]
    fn rights_in_our_databases_alone_will_do() {
        let grants = [
            "GRANT `watcher` TO `ann`@`%`",
            "GRANT RELOAD, PROCESS, FILE ON *.* TO `ann`@`%`",
            r"GRANT ALL PRIVILEGES ON `dbstow\_%`.* TO `ann`@`%`",
        ];
        assert_eq!(lacking(&grants, false), [""; 0]);
        assert_eq!(lacking(&grants, true), ["SELECT ON performance_schema.*"]);
    }

    #[test]
    fn what_is_missing_is_named_with_its_place() {
        let grants = [
            "GRANT SELECT, PROCESS ON *.* TO `ann`@`%`",
            "GRANT ALL PRIVILEGES ON `shop`.* TO `ann`@`%`",
        ];
        assert_eq!(
            lacking(&grants, true),
            [
                "FILE, RELOAD ON *.*",
                r"INSERT, UPDATE, DELETE, CREATE, DROP, INDEX, ALTER, CREATE TEMPORARY TABLES, LOCK TABLES ON `dbstow\_%`.*",
            ]
        );
    }
}
