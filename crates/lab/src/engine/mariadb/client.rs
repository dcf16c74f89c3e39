//! One session's connection: a script's driver.

use std::sync::atomic::Ordering;

use model::{Duration, Instant};
use mysql::prelude::Queryable;
use mysql::{Conn, Error, Params};
use volume::clock::Clock;

use super::server::MariaDb;
use crate::engine::Client;
use workload::{Driver, Statement, Value};

/// Longest that a session sleeps without looking whether it was interrupted.
const SLEEP_MAX: Duration = Duration::from_millis(20);

const INTERRUPTED: &str = "interrupted, because the run is over";

/// The server cannot prepare this kind of statement: `ER_UNSUPPORTED_PS`.
/// Source: <https://mariadb.com/docs/server/reference/error-codes/mariadb-error-codes-1200-to-1299/e1295>, read 2026-11-25.
const NOT_PREPARABLE: u16 = 1295;

/// A session on a MariaDB server. Each statement is prepared when it comes first.
pub(super) struct Session<'a> {
    engine: &'a MariaDb,
    connection: Conn,
    /// By script and index.
    prepared: Vec<Vec<Option<Prepared>>>,
    script: usize,
    statements: u64,
    in_transaction: bool,
    /// Interruptions of the engine when it began.
    interruptions: u64,
    clock: Clock,
}

/// A statement that the server knows.
struct Prepared {
    /// To notice another script under the same number.
    text: String,
    how: How,
    effect: Effect,
}

/// How a statement is sent.
enum How {
    /// By the number that the server gave it.
    Prepared(mysql::Statement),
    /// As text, each time.
    Text,
}

/// What a statement does to the transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    Begins,
    Ends,
    None,
}

impl<'a> Session<'a> {
    /// `interruptions` were counted before the connection was opened, so that none after that is missed.
    pub(super) fn new(engine: &'a MariaDb, connection: Conn, interruptions: u64) -> Session<'a> {
        engine.sessions.lock().insert(connection.connection_id());
        Session {
            engine,
            connection,
            prepared: Vec::new(),
            script: 0,
            statements: 0,
            in_transaction: false,
            interruptions,
            clock: Clock::start(),
        }
    }

    fn execute_statement(
        &mut self,
        index: usize,
        statement: &Statement,
        arguments: &[Value],
    ) -> Result<(), Error> {
        self.prepare(index, statement)?;
        let prepared = self.prepared[self.script][index]
            .as_ref()
            .expect("it was prepared just now");
        match &prepared.how {
            How::Prepared(known) => self.connection.exec_drop(known, parameters(arguments))?,
            How::Text => self.connection.query_drop(&prepared.text)?,
        }
        match prepared.effect {
            Effect::Begins => self.in_transaction = true,
            Effect::Ends => self.in_transaction = false,
            Effect::None => {}
        }
        Ok(())
    }

    fn prepare(&mut self, index: usize, statement: &Statement) -> Result<(), Error> {
        if self.prepared.len() <= self.script {
            self.prepared.resize_with(self.script + 1, Vec::new);
        }
        let script = &mut self.prepared[self.script];
        if script.len() <= index {
            script.resize_with(index + 1, || None);
        }
        if matches!(&script[index], Some(prepared) if prepared.text == statement.text) {
            return Ok(());
        }
        if let Some(Prepared {
            how: How::Prepared(known),
            ..
        }) = script[index].take()
        {
            self.connection.close(known)?;
        }
        let how = match self.connection.prep(&statement.text) {
            Ok(known) => How::Prepared(known),
            Err(Error::MySqlError(refused)) if refused.code == NOT_PREPARABLE => How::Text,
            Err(error) => return Err(error),
        };
        script[index] = Some(Prepared {
            text: statement.text.clone(),
            how,
            effect: effect(&statement.text),
        });
        Ok(())
    }

    fn interrupted(&self) -> bool {
        self.engine.interruptions.load(Ordering::Relaxed) != self.interruptions
    }

    fn text(&self, error: &Error) -> String {
        if let Error::MySqlError(refused) = error {
            return refused.to_string();
        }
        // A loop over a connection that is gone would otherwise spin.
        Clock::sleep(SLEEP_MAX);
        match self.engine.obituary() {
            Some(obituary) => format!("{error}; {obituary}"),
            None => error.to_string(),
        }
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        let mut sessions = self.engine.sessions.lock();
        sessions.remove(&self.connection.connection_id());
    }
}

impl Driver for Session<'_> {
    /// Why the operation failed.
    type Error = String;

    fn statement(
        &mut self,
        index: usize,
        statement: &Statement,
        arguments: &[Value],
    ) -> Result<(), String> {
        if self.interrupted() {
            return Err(INTERRUPTED.to_owned());
        }
        self.statements += 1;
        self.execute_statement(index, statement, arguments)
            .map_err(|error| format!("line {}: {}", statement.line, self.text(&error)))
    }

    fn sleep(&mut self, span: Duration) -> Result<(), String> {
        let end: Instant = self.clock.now() + span;
        loop {
            let left = end.since(self.clock.now());
            if left == Duration::ZERO {
                return Ok(());
            }
            if self.interrupted() {
                return Err(INTERRUPTED.to_owned());
            }
            Clock::sleep(left.min(SLEEP_MAX));
        }
    }
}

impl Client for Session<'_> {
    fn enter(&mut self, script: usize) {
        self.script = script;
    }

    fn roll_back(&mut self) {
        // Where the connection is gone, so are transaction and locks; the next statement says so.
        let _ = self.connection.query_drop("ROLLBACK");
        self.in_transaction = false;
        // Locks of the application outlive a transaction.
        let _ = self.connection.query_drop("DO RELEASE_ALL_LOCKS()");
    }

    fn statements(&self) -> u64 {
        self.statements
    }

    fn settle(&mut self) -> Result<(), String> {
        if !self.in_transaction {
            return Ok(());
        }
        let committed = self.connection.query_drop("COMMIT");
        self.in_transaction = false;
        committed.map_err(|error| self.text(&error))
    }
}

/// Whether a statement begins or ends a transaction; without either, each is one by itself.
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

fn parameters(arguments: &[Value]) -> Params {
    if arguments.is_empty() {
        return Params::Empty;
    }
    let value = |argument: &Value| match argument {
        Value::Int(value) => mysql::Value::Int(*value),
        Value::Double(value) => mysql::Value::Double(*value),
        Value::Text(text) => mysql::Value::Bytes(text.as_bytes().to_vec()),
        Value::Null => mysql::Value::NULL,
    };
    Params::Positional(arguments.iter().map(value).collect())
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
        let expected = vec![
            mysql::Value::Int(-1),
            mysql::Value::Double(0.5),
            mysql::Value::NULL,
        ];
        assert_eq!(parameters(&arguments), Params::Positional(expected));
        assert_eq!(parameters(&[]), Params::Empty);
    }
}
