//! One session's connection: a script's driver.

use model::Duration;
use mysql_common::value::Value as Argument;

use crate::session::column::ColumnKind;
use crate::session::failure::Failure;
use crate::session::wire::{self, Connection};
use crate::trial::server::MariaDb;
use engine::NOT_LOADED;
use engine::interruption::Watch;
use engine::prepared::PreparedStatements;
use engine::row::Row;
use engine::{Client, Table};
use workload::{Driver, Statement, Value};

/// The server cannot prepare this kind of statement: `ER_UNSUPPORTED_PS`.
/// Source: <https://mariadb.com/docs/server/reference/error-codes/mariadb-error-codes-1200-to-1299/e1295>, read 2026-11-25.
const NOT_PREPARABLE: u16 = 1295;

/// The table does not exist: `ER_NO_SUCH_TABLE`.
/// Source: <https://mariadb.com/docs/server/reference/error-codes/mariadb-error-codes-1100-to-1199/e1146>, read 2026-11-26.
const NO_SUCH_TABLE: u16 = 1146;

/// A session on a MariaDB server. Each statement is prepared on first use.
pub(crate) struct TrialSession<'a> {
    engine: &'a MariaDb,
    connection: Connection,
    prepared: PreparedStatements<Prepared>,
    statements: u64,
    in_transaction: bool,
    watch: Watch,
}

/// A statement that was used before.
struct Prepared {
    how: How,
    effect: Effect,
}

/// How a statement is sent.
enum How {
    /// By the server's statement id.
    Prepared(wire::Prepared),
    /// As text, each time.
    Text,
}

/// Effect of a statement on the transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    Begins,
    Ends,
    None,
}

impl<'a> TrialSession<'a> {
    pub(crate) fn new(
        engine: &'a MariaDb,
        mut connection: Connection,
        watch: Watch,
    ) -> TrialSession<'a> {
        let patience = engine.target().patience.of_session(watch.clone());
        connection.set_patience(patience);
        engine.sessions.lock().insert(connection.number);
        TrialSession {
            engine,
            connection,
            prepared: PreparedStatements::default(),
            statements: 0,
            in_transaction: false,
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
            self.prepare(index, &statement.text)?;
        }
        let prepared = self.prepared.get(index, &statement.text);
        let prepared = prepared.expect("it was prepared above");
        match prepared.how {
            How::Prepared(known) => self.connection.execute(known, &values(arguments))?,
            How::Text => self.connection.work(&statement.text)?,
        }
        match prepared.effect {
            Effect::Begins => self.in_transaction = true,
            Effect::Ends => self.in_transaction = false,
            Effect::None => {}
        }
        Ok(())
    }

    fn prepare(&mut self, index: usize, text: &str) -> Result<(), Failure> {
        let how = match self.connection.prepare(text) {
            Ok(known) => How::Prepared(known),
            Err(Failure::Refused {
                code: NOT_PREPARABLE,
                ..
            }) => How::Text,
            Err(error) => return Err(error),
        };
        let effect = effect(text);
        let before = self.prepared.put(index, text, Prepared { how, effect });
        match before.map(|before| before.how) {
            Some(How::Prepared(before)) => self.connection.close(before),
            Some(How::Text) | None => Ok(()),
        }
    }

    fn text(&self, failure: &Failure) -> String {
        match failure {
            Failure::Refused { code, .. } if *code == NO_SUCH_TABLE => {
                format!("{failure}; {NOT_LOADED}, or name it with its database")
            }
            Failure::Refused { .. } | Failure::Login(_) | Failure::Unexpected(_) => {
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

impl Drop for TrialSession<'_> {
    fn drop(&mut self) {
        let mut sessions = self.engine.sessions.lock();
        sessions.remove(&self.connection.number);
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
            .map_err(|error| format!("line {}: {}", statement.line, self.text(&error)))
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
        let _ = self.connection.work("ROLLBACK");
        self.in_transaction = false;
        // Locks of the application outlive a transaction.
        let _ = self.connection.work("DO RELEASE_ALL_LOCKS()");
    }

    fn statements(&self) -> u64 {
        self.statements
    }

    fn table(&mut self, query: &str) -> Result<Table, String> {
        self.watch.check()?;
        let answer = self.connection.table(query);
        let (columns, rows) = answer.map_err(|failure| self.text(&failure))?;
        let row = |row: Row| {
            let values = columns.iter().zip(row.into_columns());
            values
                .map(|(column, text)| of_column(column.kind, text))
                .collect()
        };
        let rows = rows.into_iter().map(row).collect();
        let columns = columns.iter().map(|column| column.name.clone()).collect();
        Ok(Table { columns, rows })
    }

    fn settle(&mut self) -> Result<(), String> {
        if !self.in_transaction {
            return Ok(());
        }
        let committed = self.connection.work("COMMIT");
        self.in_transaction = false;
        committed.map_err(|error| self.text(&error))
    }
}

/// Whether a statement begins or ends a transaction; otherwise it is autocommitted.
fn effect(text: &str) -> Effect {
    let mut words = text.split_whitespace().map(str::to_ascii_uppercase);
    match (words.next().as_deref(), words.next().as_deref()) {
        (Some("BEGIN"), None | Some("WORK")) | (Some("START"), Some("TRANSACTION")) => {
            Effect::Begins
        }
        (Some("COMMIT" | "ROLLBACK"), None | Some("WORK")) => Effect::Ends,
        _ => Effect::None,
    }
}

/// The value of a column as an argument; `None` for bytes.
fn of_column(kind: ColumnKind, text: Option<String>) -> Option<Value> {
    let Some(text) = text else {
        return Some(Value::Null);
    };
    Some(match kind {
        // A value of an unsigned column that is too large stays a text.
        ColumnKind::Int => text.parse().map_or(Value::Text(text), Value::Int),
        ColumnKind::Double => text.parse().map_or(Value::Text(text), Value::Double),
        ColumnKind::Text => Value::Text(text),
        ColumnKind::Bytes => return None,
    })
}

fn values(arguments: &[Value]) -> Vec<Argument> {
    let value = |argument: &Value| match argument {
        Value::Int(value) => Argument::Int(*value),
        Value::Double(value) => Argument::Double(*value),
        Value::Text(text) => Argument::Bytes(text.as_bytes().to_vec()),
        Value::Null => Argument::NULL,
    };
    arguments.iter().map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_begins_and_ends_by_its_statements() {
        for (text, expected) in [
            ("begin", Effect::Begins),
            ("START TRANSACTION READ ONLY", Effect::Begins),
            ("COMMIT", Effect::Ends),
            ("rollback work", Effect::Ends),
            ("ROLLBACK TO SAVEPOINT s", Effect::None),
            ("UPDATE t SET x = 1", Effect::None),
        ] {
            assert_eq!(effect(text), expected, "{text}");
        }
    }

    #[test]
    fn arguments_keep_their_order_and_kind() {
        let arguments = [Value::Int(-1), Value::Double(0.5), Value::Null];
        let expected = [Argument::Int(-1), Argument::Double(0.5), Argument::NULL];
        assert_eq!(values(&arguments), expected);
    }
}
