//! The data that a workload leaves in MariaDB or MySQL, compared with SQLite.

use std::collections::BTreeMap;

use crate::rows::Sqlite;
use engine::Engine;
use workload::{Database, Dialect, Workload};

use crate::server::{SessionContext, execute, load, load_in, run};

/// Without blanks at the end: MariaDB's pages are twice as large as SQLite's here, and so is what fills them.
fn trimmed(rows: &[String]) -> Vec<&str> {
    rows.iter().map(|row| row.trim_end()).collect()
}

/// Columns that hold the same in every database: all but keys that no operation looks for, of rows that INSERT .. SELECT
/// made, between which MariaDB leaves gaps.
fn comparable(workload: &str, mut tables: BTreeMap<String, String>) -> BTreeMap<String, String> {
    let gaps = [("order-entry", "history"), ("set-based", "test_rows")];
    for (_, table) in gaps.into_iter().filter(|(name, _)| *name == workload) {
        let columns = tables.get_mut(table).expect("it has this table");
        *columns = columns.strip_prefix("id,").expect("its key").to_owned();
    }
    tables
}

/// Rows of `columns` of each table of a database, in order of their text.
fn content(
    query: &dyn Fn(&str) -> Vec<String>,
    database: &str,
    tables: &BTreeMap<String, String>,
) -> BTreeMap<String, Vec<String>> {
    let rows = |(table, columns): (&String, &String)| {
        // Some are words of SQL.
        let quoted = columns.replace(',', "`,`");
        let sql = format!("SELECT concat_ws('|', `{quoted}`) FROM {database}.{table}");
        let mut rows = query(&sql);
        rows.sort_unstable();
        (table.clone(), rows)
    };
    tables.iter().map(rows).collect()
}

/// Loads and runs the built-in workload `name` on `engine`, which `query` queries, and compares.
pub fn leaves_what_it_leaves_in_sqlite(
    name: &str,
    engine: &dyn Engine,
    workload: &Workload,
    query: &dyn Fn(&str) -> Vec<String>,
) {
    let sqlite = Sqlite::after(name, 60);
    if !workload.load.measured {
        load(engine, workload, 1);
        engine.quiesce().expect("a checkpoint");
    }
    let mut seat = SessionContext(engine.connect(0).expect("a connection"));
    if workload.load.measured {
        load_in(engine, workload, &mut seat, (0, 1));
    }
    let errors = run(&mut seat, workload, (0, 1), 60);
    assert_eq!(errors, [""; 0], "{name}");
    if workload.load.measured {
        // Temporary, so that it is private.
        execute(
            &mut seat,
            Dialect::MARIADB,
            "CREATE TABLE seen AS SELECT * FROM test_rows",
        )
        .expect(name);
        execute(
            &mut seat,
            Dialect::MARIADB,
            "DROP TEMPORARY TABLE test_rows",
        )
        .expect(name);
        execute(
            &mut seat,
            Dialect::MARIADB,
            "RENAME TABLE seen TO test_rows",
        )
        .expect(name);
    }
    let ending = match workload.database {
        Database::PerSession => "session_0",
        Database::Shared => "workload",
    };
    let databases = query("SHOW DATABASES");
    let database = databases.iter().find(|database| database.ends_with(ending));
    let tables = comparable(name, sqlite.tables());
    let content = content(query, database.expect("it was made"), &tables);
    for (table, expected) in sqlite.content_of(&tables) {
        assert_eq!(
            content[&table].len(),
            expected.len(),
            "rows of {name}'s {table}"
        );
        let (found, expected) = (trimmed(&content[&table]), trimmed(&expected));
        let differing = found
            .iter()
            .zip(&expected)
            .find(|(one, other)| one != other);
        assert_eq!(differing, None, "{name}'s {table}");
    }
}
