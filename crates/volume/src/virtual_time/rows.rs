//! Which rows a statement changes, as SQLite tells.

use std::hash::{DefaultHasher, Hash, Hasher};

use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::ValueRef;

use super::record::Row;
use super::session::current;

/// What SQLite calls the database that a connection was opened on; the other one holds temporary tables.
const MAIN: &str = "main";

/// The function that triggers call with the key of a changed row.
const CHANGED: &str = "dbstow_row_changed";

/// Tells the running session of every row that a statement on `connection` changes.
///
/// SQLite's update hook tells of tables whose rows have a number; the others get triggers by [`watch_keys`].
pub(super) fn watch(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.update_hook(Some(|_, database: &str, table: &str, row: i64| {
        tell(database, table, row);
    }))
}

/// Tells it of rows without a number too, those of tables WITHOUT ROWID that are there now.
///
/// By triggers of this connection alone, which cost some ten steps of SQLite's virtual machine a row.
pub(super) fn watch_keys(connection: &Connection) -> rusqlite::Result<()> {
    connection.create_scalar_function(CHANGED, -1, FunctionFlags::SQLITE_UTF8, |context| {
        let table: String = context.get(0)?;
        let mut key = DefaultHasher::new();
        for place in 1..context.len() {
            hash(context.get_raw(place), &mut key);
        }
        tell(MAIN, &table, key.finish().cast_signed());
        Ok(true)
    })?;
    let sql = "SELECT name FROM pragma_table_list WHERE schema = ?1 AND type = 'table' AND wr";
    let tables = texts(connection, sql, MAIN)?;
    tables
        .iter()
        .try_for_each(|table| add_triggers(connection, table))
}

/// The running session changes a row; one of the main database may be wanted by others.
fn tell(database: &str, table: &str, row: i64) {
    let Some(session) = current() else { return };
    session.count_change();
    if database == MAIN {
        session.take_row(|| {
            let mut name = DefaultHasher::new();
            table.hash(&mut name);
            let table = name.finish();
            Row { table, row }
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
    let key = texts(connection, sql, table)?;
    for (event, row) in [("INSERT", "NEW"), ("UPDATE", "OLD"), ("DELETE", "OLD")] {
        let values: String = key
            .iter()
            .map(|column| format!(", {row}.{}", quoted(column)))
            .collect();
        let text = table.replace('\'', "''");
        connection.execute_batch(&format!(
            "CREATE TEMP TRIGGER {name} AFTER {event} ON {MAIN}.{table} \
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

fn texts(connection: &Connection, sql: &str, of: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare(sql)?;
    let texts = statement.query_map([of], |row| row.get(0))?;
    texts.collect()
}
