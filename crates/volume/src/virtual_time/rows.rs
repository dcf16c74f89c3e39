//! Which rows a statement changes, as SQLite tells.

use std::hash::{DefaultHasher, Hash, Hasher};

use rusqlite::functions::FunctionFlags;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, params};

use super::record::Row;
use super::session::current;

/// The function that triggers call with the key of a changed row.
const CHANGED: &str = "dbstow_row_changed";

/// Tells the running session of every row of `connection`'s database that a statement changes.
///
/// SQLite's update hook tells of tables whose rows have a number. Those WITHOUT ROWID get triggers, of this connection
/// alone, which cost some ten steps of SQLite's virtual machine a row.
pub(super) fn watch(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.update_hook(Some(|_, database: &str, table: &str, row: i64| {
        if database == "main" {
            tell(table, row);
        }
    }))?;
    connection.create_scalar_function(CHANGED, -1, FunctionFlags::SQLITE_UTF8, |context| {
        let table: String = context.get(0)?;
        let mut key = DefaultHasher::new();
        for place in 1..context.len() {
            hash(context.get_raw(place), &mut key);
        }
        tell(&table, key.finish().cast_signed());
        Ok(true)
    })?;
    let sql = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND wr";
    let tables = texts(connection, sql, None)?;
    tables
        .iter()
        .try_for_each(|table| add_triggers(connection, table))
}

/// The session now knows that a row of `table` is to be its own.
fn tell(table: &str, row: i64) {
    if let Some(session) = current() {
        let mut name = DefaultHasher::new();
        table.hash(&mut name);
        session.change(Row {
            table: name.finish(),
            row,
        });
    }
}

fn hash(value: ValueRef<'_>, into: &mut DefaultHasher) {
    match value {
        ValueRef::Null => 0.hash(into),
        ValueRef::Integer(value) => value.hash(into),
        ValueRef::Real(value) => value.to_bits().hash(into),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.hash(into),
    }
}

fn add_triggers(connection: &Connection, table: &str) -> rusqlite::Result<()> {
    let sql = "SELECT name FROM pragma_table_info(?1) WHERE pk > 0 ORDER BY pk";
    let key = texts(connection, sql, Some(table))?;
    for (event, row) in [("INSERT", "NEW"), ("UPDATE", "OLD"), ("DELETE", "OLD")] {
        let values: String = key
            .iter()
            .map(|column| format!(", {row}.{}", quoted(column)))
            .collect();
        let text = table.replace('\'', "''");
        connection.execute_batch(&format!(
            "CREATE TEMP TRIGGER {name} AFTER {event} ON main.{table} \
             BEGIN SELECT {CHANGED}('{text}'{values}); END",
            name = quoted(&format!("dbstow {event} {table}")),
            table = quoted(table),
        ))?;
    }
    Ok(())
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn texts(connection: &Connection, sql: &str, of: Option<&str>) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare(sql)?;
    let text = |row: &rusqlite::Row<'_>| row.get(0);
    match of {
        Some(of) => statement.query_map(params![of], text)?.collect(),
        None => statement.query_map([], text)?.collect(),
    }
}
