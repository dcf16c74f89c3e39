//! One session's connection to the real engine.

use model::Duration;
use sqlite_vfs::real_time::Session;

use super::argument::{TableError, check_parameters, step_through, table};
use super::sessions::Sessions;
use engine::NOT_LOADED;
use engine::{Client, Table};
use workload::{Driver, Statement, Value};

/// Statements that begin a transaction without a lock mode.
const BEGIN: [&str; 2] = ["BEGIN", "BEGIN TRANSACTION"];

/// A session that is returned to its engine on drop, with its temporary tables and its cache, so that loaded data is available in
/// the run.
pub(crate) struct SqliteClient<'a> {
    sessions: &'a Sessions,
    number: u32,
    /// Whether other sessions write to its database too.
    written_together: bool,
    /// `None` once returned.
    session: Option<Session>,
    statements: u64,
}

impl<'a> SqliteClient<'a> {
    pub(crate) fn new(
        sessions: &'a Sessions,
        number: u32,
        written_together: bool,
        session: Session,
    ) -> SqliteClient<'a> {
        SqliteClient {
            sessions,
            number,
            written_together,
            session: Some(session),
            statements: 0,
        }
    }

    fn session(&mut self) -> &mut Session {
        self.session.as_mut().expect("it goes back in `drop` only")
    }
}

/// Why a statement failed, with the remedy.
fn reason(session: &mut Session, error: &rusqlite::Error) -> String {
    let reason = session.take_reason().unwrap_or_else(|| error.to_string());
    match reason.contains("no such table") {
        true => format!("{reason}; {NOT_LOADED}"),
        false => reason,
    }
}

impl Driver for SqliteClient<'_> {
    /// Why the operation failed.
    type Error = String;

    fn statement(
        &mut self,
        _: usize,
        statement: &Statement,
        arguments: &[Value],
    ) -> Result<(), String> {
        self.statements += 1;
        self.sessions.count_statement();
        let text = match statement.text.as_str() {
            // A transaction that has read can no longer write once another one has written.
            text if self.written_together
                && BEGIN.iter().any(|begin| text.eq_ignore_ascii_case(begin)) =>
            {
                "BEGIN IMMEDIATE"
            }
            text => text,
        };
        let session = self.session();
        let result = session.work(|connection| {
            let mut prepared = connection.prepare_cached(text)?;
            check_parameters(&prepared)?;
            step_through(&mut prepared, arguments)
        });
        result.map_err(|error| format!("line {}: {}", statement.line, reason(session, &error)))
    }

    fn sleep(&mut self, span: Duration) -> Result<(), String> {
        if self.session().sleep(span) {
            Ok(())
        } else {
            Err("interrupted while asleep".to_owned())
        }
    }
}

impl Client for SqliteClient<'_> {
    /// Statements are prepared once by their text.
    fn enter(&mut self, _: usize) {}

    fn roll_back(&mut self) {
        let session = self.session();
        session.work(|connection| {
            if !connection.is_autocommit() {
                // If the rollback fails, SQLite has already rolled back.
                let _ = connection.execute_batch("ROLLBACK");
            }
        });
        session.release_locks();
    }

    fn statements(&self) -> u64 {
        self.statements
    }

    fn table(&mut self, query: &str) -> Result<Table, String> {
        let session = self.session();
        let result = session.work(|connection| table(connection, query));
        result.map_err(|error| match error {
            TableError::Sqlite(error) => reason(session, &error),
            TableError::TooLarge => error.to_string(),
        })
    }
}

impl Drop for SqliteClient<'_> {
    fn drop(&mut self) {
        self.roll_back();
        if let Some(session) = self.session.take() {
            self.sessions.parked.lock().insert(self.number, session);
        }
    }
}
