//! Which rows a statement changes, as SQLite reports it.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::hash::{DefaultHasher, Hash, Hasher};

use rusqlite::functions::FunctionFlags;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ffi};

use super::session::with_current;
use super::trace::Row;

/// SQLite's name of the database that a connection was opened on; the other one holds temporary tables.
const MAIN: &CStr = c"main";

/// The function that triggers call with the key of a changed row.
const CHANGED: &str = "dbstow_row_changed";

/// Reports to the running session every row that a statement on `connection` changes.
///
/// SQLite's update hook reports tables whose rows have a rowid; the others get triggers through [`watch_keys`]. Rows
/// removed by REPLACE or by `DELETE` without `WHERE` are reported by neither.
pub(super) fn watch(connection: &Connection) {
    // SAFETY: an open connection, and a function that needs no context; SQLite forgets both when the connection is
    // closed. rusqlite's own wrapper converts both names for every row, which takes a tenth of a long load.
    unsafe {
        ffi::sqlite3_update_hook(connection.handle(), Some(changed), std::ptr::null_mut());
    }
}

/// SQLite's update hook.
unsafe extern "C" fn changed(
    _: *mut c_void,
    _: c_int,
    database: *const c_char,
    table: *const c_char,
    row: i64,
) {
    with_current(|session| {
        session.count_change();
        session.change(|| {
            // SAFETY: SQLite passes zero-terminated names that live as long as this call.
            let (database, table) = unsafe { (CStr::from_ptr(database), CStr::from_ptr(table)) };
            (database == MAIN).then(|| of_table(table.to_bytes(), row))
        });
    });
}

/// Also reports rows of existing tables WITHOUT ROWID.
///
/// Uses triggers of this connection only, which cost some ten steps of SQLite's virtual machine per row.
pub(super) fn watch_keys(connection: &Connection) -> rusqlite::Result<()> {
    connection.create_scalar_function(CHANGED, -1, FunctionFlags::SQLITE_UTF8, |context| {
        let table: String = context.get(0)?;
        let mut key = DefaultHasher::new();
        for place in 1..context.len() {
            hash(context.get_raw(place), &mut key);
        }
        let row = of_table(table.as_bytes(), key.finish().cast_signed());
        with_current(|session| session.change(|| Some(row)));
        Ok(true)
    })?;
    let sql = "SELECT name FROM pragma_table_list WHERE schema = ?1 AND type = 'table' AND wr";
    let tables = texts(connection, sql, "main")?;
    tables
        .iter()
        .try_for_each(|table| add_triggers(connection, table))
}

/// A row of a table, by its rowid or the hash of its key.
fn of_table(name: &[u8], row: i64) -> Row {
    let mut table = DefaultHasher::new();
    name.hash(&mut table);
    let table = table.finish();
    Row { table, row }
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
    let text = table.replace('\'', "''");
    let call = |row: &str| {
        let values = key
            .iter()
            .map(|column| format!(", {row}.{}", quoted(column)));
        format!("SELECT {CHANGED}('{text}'{}); ", values.collect::<String>())
    };
    let events = [
        ("INSERT", call("NEW")),
        ("UPDATE", call("OLD") + &call("NEW")),
        ("DELETE", call("OLD")),
    ];
    for (event, calls) in events {
        connection.execute_batch(&format!(
            "CREATE TEMP TRIGGER {name} AFTER {event} ON main.{table} BEGIN {calls}END",
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
