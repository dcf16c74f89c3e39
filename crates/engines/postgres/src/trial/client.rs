//! One session's connection: a script's driver.

use std::error::Error;
use std::fmt::Write;

use bytes::BytesMut;
use model::Duration;
use postgres_protocol::IsNull;

use crate::session::failure::Failure;
use crate::session::wire::Connection;
use crate::trial::server::Postgres;
use crate::trial::tablespaces::{self, Which};
use engine::NOT_LOADED;
use engine::interruption::Watch;
use engine::prepared::PreparedStatements;
use engine::row::Row;
use engine::{Client, Table};
use workload::{Driver, Statement, Tables, Value};

/// The table does not exist: `undefined_table`.
/// Source: <https://www.postgresql.org/docs/18/errcodes-appendix.html>, read 2026-11-26.
const UNDEFINED_TABLE: &str = "42P01";

/// A session on a PostgreSQL server. Each statement is prepared on first use.
pub(crate) struct TrialSession<'a> {
    engine: &'a Postgres,
    connection: Connection,
    /// Their names.
    prepared: PreparedStatements<String>,
    statements: u64,
    watch: Watch,
}

impl<'a> TrialSession<'a> {
    pub(crate) fn new(
        engine: &'a Postgres,
        mut connection: Connection,
        watch: Watch,
    ) -> TrialSession<'a> {
        connection.set_patience(engine.target.patience.of_session(watch.clone()));
        TrialSession {
            engine,
            connection,
            prepared: PreparedStatements::default(),
            statements: 0,
            watch,
        }
    }

    fn execute_statement(
        &mut self,
        index: usize,
        statement: &Statement,
        arguments: &[Value],
    ) -> Result<(), Failure> {
        if self.prepared.get(index, &statement.text).is_none() {
            let name = format!("{}_{index}", self.prepared.script());
            self.connection.prepare(&name, &statement.text)?;
            self.prepared.put(index, &statement.text, name);
        }
        let name = self.prepared.get(index, &statement.text);
        let name = name.expect("it was prepared above");
        let made_table = self.connection.execute(name, arguments, put)?;
        if made_table {
            let tablespaces = &self.engine.tablespaces;
            tablespaces::distribute(
                &mut self.connection,
                tablespaces,
                Tables::Temp,
                Which::Temporary,
            )?;
        }
        Ok(())
    }

    fn text(&self, failure: Failure) -> String {
        match failure {
            Failure::Refused { ref code, .. } if code == UNDEFINED_TABLE => {
                format!("{failure}; {NOT_LOADED}")
            }
            Failure::Refused { .. } | Failure::Tls(_) | Failure::Unexpected(_) => {
                failure.to_string()
            }
            Failure::Lost(_) => {
                Watch::slow_down();
                match self.engine.exit_reason() {
                    Some(exit_reason) => format!("{failure}; {exit_reason}"),
                    None => failure.to_string(),
                }
            }
        }
    }
}

impl Driver for TrialSession<'_> {
    /// Why the operation failed.
    type Error = String;

    fn statement(
        &mut self,
        index: usize,
        statement: &Statement,
        arguments: &[Value],
    ) -> Result<(), String> {
        self.watch.check()?;
        self.statements += 1;
        self.execute_statement(index, statement, arguments)
            .map_err(|failure| format!("line {}: {}", statement.line, self.text(failure)))
    }

    fn sleep(&mut self, span: Duration) -> Result<(), String> {
        self.watch.sleep(span)
    }
}

impl Client for TrialSession<'_> {
    fn enter(&mut self, script: usize) {
        self.prepared.enter(script);
    }

    fn roll_back(&mut self) {
        // If the connection is gone, so are transaction and locks; the next statement reports it.
        if self.connection.in_transaction() {
            let _ = self.connection.work("ROLLBACK");
        }
        // Locks of the application outlive a transaction.
        let _ = self.connection.work("SELECT pg_advisory_unlock_all()");
    }

    fn statements(&self) -> u64 {
        self.statements
    }

    fn table(&mut self, query: &str) -> Result<Table, String> {
        self.watch.check()?;
        let answer = self.connection.table(query);
        let (columns, rows) = answer.map_err(|failure| self.text(failure))?;
        // For all types: the server accepts texts as arguments of any type.
        let value = |text: &Option<String>| Some(text.clone().map_or(Value::Null, Value::Text));
        let row = |row: &Row| row.columns().iter().map(value).collect();
        let rows = rows.iter().map(row).collect();
        Ok(Table { columns, rows })
    }

    fn settle(&mut self) -> Result<(), String> {
        if !self.connection.in_transaction() {
            return Ok(());
        }
        self.connection
            .work("COMMIT")
            .map(|_| ())
            .map_err(|failure| self.text(failure))
    }
}

/// Encodes an argument as text; the server infers the type.
fn put(value: &Value, buffer: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Send + Sync>> {
    match value {
        Value::Int(value) => write!(buffer, "{value}")?,
        Value::Double(value) => write!(buffer, "{value}")?,
        Value::Text(text) => buffer.extend_from_slice(text.as_bytes()),
        Value::Null => return Ok(IsNull::Yes),
    }
    Ok(IsNull::No)
}
