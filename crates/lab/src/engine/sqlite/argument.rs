//! A script's values as SQLite takes them.

use rusqlite::types::{ToSqlOutput, Value as SqlValue, ValueRef};
use rusqlite::{Statement, ToSql};

use workload::Value;

/// Executes a prepared statement with `arguments`, to its last row.
pub(super) fn step_through(
    statement: &mut Statement<'_>,
    arguments: &[Value],
) -> rusqlite::Result<()> {
    for (place, argument) in (1..).zip(arguments) {
        statement.raw_bind_parameter(place, Argument(argument))?;
    }
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        std::hint::black_box(row.get_ref(0)?);
    }
    Ok(())
}

/// A script's value as SQLite binds it.
struct Argument<'a>(&'a Value);

impl ToSql for Argument<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self.0 {
            Value::Int(value) => ToSqlOutput::Owned(SqlValue::Integer(*value)),
            Value::Double(value) => ToSqlOutput::Owned(SqlValue::Real(*value)),
            Value::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Value::Null => ToSqlOutput::Owned(SqlValue::Null),
        })
    }
}
