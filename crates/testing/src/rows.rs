//! What is in a database after a workload, as text, whichever engine holds it.

use std::collections::BTreeMap;
use std::process::Command;

use model::Duration;
use model::random::stream;
use postgres::{Binaries, Postgres};
use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, params_from_iter};
use workload::{Driver, Statement, Value};

use crate::server::experiment;

/// Rows of each table, in order of their text.
pub type Content = BTreeMap<String, Vec<String>>;

/// SQLite in memory, as a script's driver.
pub struct Sqlite {
    connection: Connection,
}

impl Sqlite {
    pub fn new() -> Sqlite {
        let connection = Connection::open_in_memory().expect("memory");
        rusqlite::vtab::series::load_module(&connection).expect("generate_series");
        for name in ["app_lock", "app_unlock"] {
            connection
                .create_scalar_function(name, 1, FunctionFlags::SQLITE_UTF8, |_| Ok(1_i64))
                .expect("a function that does nothing");
        }
        Sqlite { connection }
    }

    /// With the rows of a built-in workload: its load, and this many operations of one session.
    pub fn after(name: &str, operations: u64) -> Sqlite {
        let (_, workload) = experiment(name, "sqlite", 2, 1);
        let mut sqlite = Sqlite::new();
        let mut variables = workload.variables(0, 1);
        let mut random = stream(1, "load");
        for script in workload.load.all() {
            script
                .execute(&mut variables, &mut random, &mut sqlite)
                .expect(&script.name);
        }
        let mut random = stream(1, "keys");
        for operation in 0..operations {
            variables.set_operation(operation);
            let script = &workload.run.scripts[workload.run.pick(&mut random)].script;
            script
                .execute(&mut variables, &mut random, &mut sqlite)
                .expect(&script.name);
        }
        sqlite
    }

    /// Names of the tables and of their columns.
    pub fn tables(&self) -> BTreeMap<String, String> {
        let sql = "SELECT name, (SELECT group_concat(name) FROM pragma_table_info(tables.name)) FROM \
             (SELECT name FROM sqlite_master WHERE type = 'table' UNION ALL \
              SELECT name FROM sqlite_temp_master WHERE type = 'table') AS tables";
        let mut statement = self.connection.prepare(sql).expect(sql);
        let rows = statement
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .expect(sql);
        rows.map(|row| row.expect("names")).collect()
    }

    pub fn content(&self) -> Content {
        self.content_of(&self.tables())
    }

    /// Rows of these columns of these tables.
    pub fn content_of(&self, tables: &BTreeMap<String, String>) -> Content {
        let rows = |columns: &str, table: &str| {
            let sql = format!("SELECT concat_ws('|', {columns}) FROM {table} ORDER BY 1");
            let mut statement = self.connection.prepare(&sql).expect(&sql);
            let rows = statement.query_map([], |row| row.get(0)).expect(&sql);
            rows.map(|row| row.expect("a text")).collect()
        };
        tables
            .iter()
            .map(|(table, columns)| (table.clone(), rows(columns, table)))
            .collect()
    }
}

impl Driver for Sqlite {
    type Error = rusqlite::Error;

    fn statement(
        &mut self,
        _index: usize,
        statement: &Statement,
        arguments: &[Value],
    ) -> Result<(), rusqlite::Error> {
        let bound = |value: &Value| match value {
            Value::Int(value) => rusqlite::types::Value::from(*value),
            Value::Double(value) => (*value).into(),
            Value::Text(text) => text.clone().into(),
            Value::Null => rusqlite::types::Value::Null,
        };
        let mut prepared = self.connection.prepare_cached(&statement.text)?;
        let mut rows = prepared.query(params_from_iter(arguments.iter().map(bound)))?;
        while rows.next()?.is_some() {}
        Ok(())
    }

    fn sleep(&mut self, _: Duration) -> Result<(), rusqlite::Error> {
        Ok(())
    }
}

/// What `psql` answers, a line a row, columns with `|` between them.
pub fn psql(binaries: &Binaries, url: &str, sql: &str) -> Vec<String> {
    let output = Command::new(binaries.program("psql"))
        .args([
            "--no-psqlrc",
            "--tuples-only",
            "--no-align",
            url,
            "--command",
            sql,
        ])
        .output()
        .expect("psql starts");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{sql}: {error}");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    text.lines().map(str::to_owned).collect()
}

/// The same tables in PostgreSQL, in a schema.
pub fn content(
    binaries: &Binaries,
    engine: &Postgres,
    schema: &str,
    tables: &BTreeMap<String, String>,
) -> Content {
    let rows = |(table, columns): (&String, &String)| {
        let sql = format!(
            "SELECT concat_ws('|', {columns}) FROM {schema}.{table} ORDER BY concat_ws('|', {columns}) COLLATE \"C\""
        );
        (table.clone(), psql(binaries, &engine.url(), &sql))
    };
    tables.iter().map(rows).collect()
}
