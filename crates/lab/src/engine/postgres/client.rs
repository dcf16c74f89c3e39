//! One session's connection: a script's driver.

use std::error::Error;
use std::fmt::Write;
use std::sync::atomic::Ordering;

use bytes::BytesMut;
use model::{Duration, Instant};
use postgres_protocol::IsNull;
use volume::clock::Clock;

use super::server::Postgres;
use super::tablespaces::{self, Which};
use super::wire::{Connection, Failure};
use crate::engine::Client;
use workload::{Driver, Statement, Tables, Value};

/// Longest that a session sleeps without looking whether it was interrupted.
const SLEEP_MAX: Duration = Duration::from_millis(20);

/// A session on a PostgreSQL server. Each statement is prepared when it comes first.
pub(super) struct Session<'a> {
    engine: &'a Postgres,
    connection: Connection,
    /// By script and index.
    prepared: Vec<Vec<Option<Prepared>>>,
    script: usize,
    statements: u64,
    /// Interruptions of the engine when it began.
    interruptions: u64,
    clock: Clock,
}

/// A statement that the server knows.
struct Prepared {
    name: String,
    /// To notice another script under the same number.
    text: String,
}

impl<'a> Session<'a> {
    /// `interruptions` were counted before the connection was opened, so that none after that is missed.
    pub(super) fn new(
        engine: &'a Postgres,
        connection: Connection,
        interruptions: u64,
    ) -> Session<'a> {
        Session {
            engine,
            connection,
            prepared: Vec::new(),
            script: 0,
            statements: 0,
            interruptions,
            clock: Clock::start(),
        }
    }

    fn execute_statement(
        &mut self,
        index: usize,
        statement: &Statement,
        arguments: &[Value],
    ) -> Result<(), Failure> {
        self.prepare(index, statement)?;
        let prepared = self.prepared[self.script][index]
            .as_ref()
            .expect("it was prepared just now");
        let made_table = self.connection.execute(&prepared.name, arguments, put)?;
        if made_table {
            let tablespaces = &self.engine.tablespaces;
            tablespaces::spread(
                &mut self.connection,
                tablespaces,
                Tables::Temp,
                Which::Temporary,
            )?;
        }
        Ok(())
    }

    fn prepare(&mut self, index: usize, statement: &Statement) -> Result<(), Failure> {
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
        let name = format!("{}_{index}", self.script);
        self.connection.prepare(&name, &statement.text)?;
        script[index] = Some(Prepared {
            name,
            text: statement.text.clone(),
        });
        Ok(())
    }

    fn interrupted(&self) -> bool {
        self.engine.interruptions.load(Ordering::Relaxed) != self.interruptions
    }

    fn text(&self, failure: Failure) -> String {
        match failure {
            Failure::Refused { .. } | Failure::Tls(_) => failure.to_string(),
            Failure::Lost(_) => {
                // A loop over a connection that is gone would otherwise spin.
                Clock::sleep(SLEEP_MAX);
                match self.engine.obituary() {
                    Some(obituary) => format!("{failure}; {obituary}"),
                    None => failure.to_string(),
                }
            }
        }
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
            .map_err(|failure| format!("line {}: {}", statement.line, self.text(failure)))
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

const INTERRUPTED: &str = "interrupted, because the run is over";

impl Client for Session<'_> {
    fn enter(&mut self, script: usize) {
        self.script = script;
    }

    fn roll_back(&mut self) {
        // Where the connection is gone, so are transaction and locks; the next statement says so.
        if self.connection.in_transaction() {
            let _ = self.connection.query("ROLLBACK");
        }
        // Locks of the application outlive a transaction.
        let _ = self.connection.query("SELECT pg_advisory_unlock_all()");
    }

    fn statements(&self) -> u64 {
        self.statements
    }

    fn settle(&mut self) -> Result<(), String> {
        if !self.connection.in_transaction() {
            return Ok(());
        }
        self.connection
            .query("COMMIT")
            .map(|_| ())
            .map_err(|failure| self.text(failure))
    }
}

/// Puts an argument down as text, whose type the server infers.
fn put(value: &Value, buffer: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Send + Sync>> {
    match value {
        Value::Int(value) => write!(buffer, "{value}")?,
        Value::Double(value) => write!(buffer, "{value}")?,
        Value::Text(text) => buffer.extend_from_slice(text.as_bytes()),
        Value::Null => return Ok(IsNull::Yes),
    }
    Ok(IsNull::No)
}
