//! One session's connection: a script's driver.

use std::sync::atomic::Ordering;

use model::{Duration, Instant};
use sqlserver::session::{Argument, Driver as Connection, Failure, Session as _};
use volume::clock::Clock;

use super::SqlServer;
use super::tell::in_words;
use crate::engine::Client;
use workload::{Driver, Statement, Value};

/// Longest that a session sleeps without looking whether it was interrupted.
const SLEEP_MAX: Duration = Duration::from_millis(20);

const INTERRUPTED: &str = "interrupted, because the run is over";

/// A session on a SQL Server. It gives its connection back in the end: temporary tables live as long as the
/// connection does, and what loaded them is not what runs on them.
pub(super) struct Session<'a> {
    engine: &'a SqlServer,
    number: u32,
    /// There until it is dropped.
    connection: Option<Connection>,
    statements: u64,
    /// Interruptions of the engine when it began.
    interruptions: u64,
    clock: Clock,
}

impl<'a> Session<'a> {
    pub(super) fn new(
        engine: &'a SqlServer,
        number: u32,
        connection: Connection,
        interruptions: u64,
    ) -> Session<'a> {
        Session {
            engine,
            number,
            connection: Some(connection),
            statements: 0,
            interruptions,
            clock: Clock::start(),
        }
    }

    fn connection(&mut self) -> &mut Connection {
        self.connection
            .as_mut()
            .expect("it is there until the session is dropped")
    }

    fn interrupted(&self) -> bool {
        self.engine.interruptions.load(Ordering::Relaxed) != self.interruptions
    }

    fn end(&mut self, how: &str) -> Result<(), Failure> {
        let ended = self.connection().batch(how, None)?;
        ended.refused().map(|_| ())
    }
}

impl Driver for Session<'_> {
    /// Why the operation failed.
    type Error = String;

    fn statement(
        &mut self,
        _index: usize,
        statement: &Statement,
        arguments: &[Value],
    ) -> Result<(), String> {
        if self.interrupted() {
            return Err(INTERRUPTED.to_owned());
        }
        self.statements += 1;
        let arguments: Vec<Argument> = arguments.iter().map(argument).collect();
        let done = self.connection().statement(&statement.text, &arguments);
        done.map(|_| ()).map_err(|failure| {
            if matches!(failure, Failure::Lost(_) | Failure::OutOfStep(_)) {
                // A loop over a connection that is gone would otherwise spin.
                Clock::sleep(SLEEP_MAX);
            }
            format!("line {}: {}", statement.line, in_words(&failure))
        })
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
    /// Statements are known by their text.
    fn enter(&mut self, _script: usize) {}

    fn roll_back(&mut self) {
        // Where the connection is gone, so is the transaction; the next statement says so.
        let _ = self.end("IF @@TRANCOUNT > 0 ROLLBACK;");
    }

    fn statements(&self) -> u64 {
        self.statements
    }

    fn settle(&mut self) -> Result<(), String> {
        if !self.connection().in_transaction() {
            return Ok(());
        }
        self.end("IF @@TRANCOUNT > 0 COMMIT;")
            .map_err(|failure| failure.to_string())
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        if let Some(connection) = self
            .connection
            .take()
            .filter(|connection| connection.is_usable())
        {
            self.engine.keep_connection(self.number, connection);
        }
    }
}

fn argument(value: &Value) -> Argument {
    match value {
        Value::Int(value) => Argument::Int(*value),
        Value::Double(value) => Argument::Float(*value),
        Value::Text(text) => Argument::Text(text.to_string()),
        Value::Null => Argument::Null,
    }
}
