//! SQLite in virtual time as a script's driver: one session's connection, with its statements kept prepared.

use std::collections::HashMap;

use model::Duration;
use rusqlite::{Connection, Statement as Prepared};
use sqlite_vfs::virtual_time::Session;

use super::argument::{TableError, check_parameters, step_through, table};
use engine::Table;
use workload::{Database, Driver, Statement, Value, Workload};

/// Work done by a session so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Statements executed: what SQL Server counts as batch requests.
    pub statements: u64,
    /// Rows changed.
    pub rows_changed: u64,
}

/// A session's connection in virtual time.
pub struct SqliteDriver<'a> {
    session: &'a Session,
    connection: &'a Connection,
    /// By script and index of the statement in it.
    prepared: HashMap<(usize, usize), Prepared<'a>>,
    script: usize,
    /// Whether other sessions write to its database too.
    shared: bool,
    changes_seen: u64,
    /// Rows changed since the last commit.
    uncommitted: u64,
    work: Work,
}

impl<'a> SqliteDriver<'a> {
    /// A driver of `connection` for a workload. If sessions share a database, the time of transactions is charged after they have
    /// ended.
    pub fn new(
        session: &'a Session,
        connection: &'a Connection,
        workload: &Workload,
    ) -> SqliteDriver<'a> {
        let shared = workload.database == Database::Shared;
        match shared {
            true => session.attach_shared(connection),
            false => session.attach(connection),
        }
        session.log_per_row(workload.run.log_bytes_per_row);
        SqliteDriver {
            session,
            connection,
            prepared: HashMap::new(),
            script: 0,
            shared,
            changes_seen: connection.total_changes(),
            uncommitted: 0,
            work: Work::default(),
        }
    }

    /// Selects the script of the next statements.
    pub fn enter(&mut self, script: usize) {
        self.script = script;
    }

    /// Work done so far.
    pub fn work(&self) -> Work {
        self.work
    }

    /// Ends a failed operation: rolls back its changes and releases its locks.
    pub fn roll_back(&mut self) {
        if !self.connection.is_autocommit() {
            // If the rollback fails, SQLite has already rolled back.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        self.forget_changes();
        self.session.unlock_all();
    }

    /// A transaction was rolled back: its time is charged, but nothing is committed.
    fn forget_changes(&mut self) {
        self.changes_seen = self.connection.total_changes();
        self.uncommitted = 0;
        self.session.roll_back();
    }

    /// Ends an operation, with its CPU time spent.
    ///
    /// # Errors
    /// When it leaves a transaction open, which would block all others in a shared database.
    pub fn end_operation(&mut self) -> Result<(), String> {
        if self.shared && !self.connection.is_autocommit() {
            return Err("a transaction is left open; end it with COMMIT".to_owned());
        }
        self.session.settle();
        Ok(())
    }

    /// The rows of a query of the workload, not counted as a statement.
    ///
    /// # Errors
    /// When it fails, or its result is too large.
    pub fn table(&mut self, query: &str) -> Result<Table, String> {
        if self.shared {
            self.session.trace();
        }
        let table = table(self.connection, query).map_err(|error| match error {
            TableError::Sqlite(error) => self.reason(&error),
            TableError::TooLarge => error.to_string(),
        })?;
        self.count_changes()?;
        self.end_operation()?;
        Ok(table)
    }

    fn step_through(
        &mut self,
        index: usize,
        statement: &Statement,
        arguments: &[Value],
    ) -> rusqlite::Result<()> {
        let key = (self.script, index);
        if !self.prepared.contains_key(&key) {
            let prepared = self.connection.prepare(&statement.text)?;
            check_parameters(&prepared)?;
            self.prepared.insert(key, prepared);
        }
        let prepared = self.prepared.get_mut(&key).expect("it was prepared above");
        step_through(prepared, arguments)
    }

    /// Counts changes, and commits them once no transaction is open.
    fn count_changes(&mut self) -> Result<(), String> {
        let changes = self.connection.total_changes();
        let rows = changes.saturating_sub(std::mem::replace(&mut self.changes_seen, changes));
        self.uncommitted += rows;
        self.work.rows_changed += rows;
        if !self.connection.is_autocommit() {
            return Ok(());
        }
        let rows = std::mem::take(&mut self.uncommitted);
        let committed = match rows {
            0 => Ok(()),
            rows => self.session.commit(rows),
        };
        committed
            .and_then(|()| self.session.replay())
            .map_err(|full| full.to_string())
    }

    fn reason(&self, error: &rusqlite::Error) -> String {
        let full = self.session.take_full().map(|full| full.to_string());
        let why = full.or_else(|| self.session.take_spool_error());
        why.unwrap_or_else(|| error.to_string())
    }
}

/// Whether a statement rolls back the transaction; a rollback to a savepoint leaves it open.
fn is_rollback(text: &str) -> bool {
    let word = text.split_whitespace().next();
    word.is_some_and(|word| word.eq_ignore_ascii_case("ROLLBACK"))
}

impl Driver for SqliteDriver<'_> {
    /// Why the operation failed.
    type Error = String;

    fn statement(
        &mut self,
        index: usize,
        statement: &Statement,
        arguments: &[Value],
    ) -> Result<(), String> {
        if self.shared {
            self.session.trace();
        }
        self.session.statement();
        self.work.statements += 1;
        self.step_through(index, statement, arguments)
            .map_err(|error| format!("line {}: {}", statement.line, self.reason(&error)))?;
        if is_rollback(&statement.text) && self.connection.is_autocommit() {
            self.forget_changes();
            return Ok(());
        }
        self.count_changes()
    }

    fn sleep(&mut self, span: Duration) -> Result<(), String> {
        self.session.sleep(span);
        Ok(())
    }
}

impl Drop for SqliteDriver<'_> {
    fn drop(&mut self) {
        self.session.detach();
    }
}
