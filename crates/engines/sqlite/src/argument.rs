//! Converts values between scripts and SQLite.

use rusqlite::fallible_iterator::FallibleIterator as _;
use rusqlite::types::{ToSqlOutput, Value as SqlValue, ValueRef};
use rusqlite::{Batch, Connection, Statement, ToSql};

use engine::Table;
use workload::Value;

/// Maximum memory for the rows of a query, as for servers' responses.
const TABLE_BYTES_MAX: usize = 64 << 20;

/// Memory of a value besides its text.
const VALUE_BYTES: usize = size_of::<Option<Value>>();

/// Rejects a parameter that is not one of the script's: SQLite would bind NULL, or another one's index.
pub(crate) fn check_parameters(statement: &Statement<'_>) -> rusqlite::Result<()> {
    let names = (1..=statement.parameter_count()).map(|place| statement.parameter_name(place));
    let is_foreign = |name: &Option<&str>| !name.is_some_and(|name| name.starts_with('?'));
    match names.into_iter().find(is_foreign) {
        None => Ok(()),
        Some(name) => Err(rusqlite::Error::InvalidParameterName(format!(
            "{}, which nothing sets; a variable of the script is `:name`",
            name.unwrap_or("?")
        ))),
    }
}

/// Executes a prepared statement with `arguments`, to its last row.
pub(crate) fn step_through(
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

/// Executes all statements of `query`; returns the rows of the first that has columns.
pub(crate) fn table(connection: &Connection, query: &str) -> Result<Table, TableError> {
    let mut table = None;
    let mut statements = Batch::new(connection, query);
    while let Some(mut statement) = statements.next()? {
        check_parameters(&statement)?;
        match table.is_none() && statement.column_count() > 0 {
            true => table = Some(rows(&mut statement)?),
            false => step_through(&mut statement, &[])?,
        }
    }
    Ok(table.unwrap_or_default())
}

/// Why a query failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TableError {
    /// SQLite's own reason.
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    /// Its result is too large.
    #[error("it gives more than {} MiB; select fewer rows", TABLE_BYTES_MAX >> 20)]
    TooLarge,
}

fn rows(statement: &mut Statement<'_>) -> Result<Table, TableError> {
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let (mut table, mut left) = (Table::default(), TABLE_BYTES_MAX);
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        let mut values = Vec::with_capacity(columns.len());
        for place in 0..columns.len() {
            let (value, bytes) = match row.get_ref(place)? {
                ValueRef::Null => (Some(Value::Null), 0),
                ValueRef::Integer(value) => (Some(Value::Int(value)), 0),
                ValueRef::Real(value) => (Some(Value::Double(value)), 0),
                ValueRef::Text(text) => {
                    let value = String::from_utf8_lossy(text).into_owned();
                    (Some(Value::Text(value)), text.len())
                }
                ValueRef::Blob(_) => (None, 0),
            };
            let rest = left.checked_sub(bytes + VALUE_BYTES);
            left = rest.ok_or(TableError::TooLarge)?;
            values.push(value);
        }
        table.rows.push(values);
    }
    table.columns = columns;
    Ok(table)
}

/// A script's value, bindable in SQLite.
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
