//! What a session executes, as CPU time: counted on its connection, never measured.

use std::cell::Cell;
use std::ffi::c_int;

use model::Duration;
use rusqlite::{Connection, ffi};

use super::Session;
use crate::virtual_time::tape::Work;

impl Session {
    /// Starts counting the work of `connection`, until [`Session::detach`].
    pub fn attach(&self, connection: &Connection) {
        // SAFETY: the handle is used only to read counters, and only until `detach`, which the caller
        // must call before it closes the connection.
        self.database.set(unsafe { connection.handle() });
        self.forget_reads();
    }

    /// The same for a connection to a shared database.
    pub fn attach_shared(&self, connection: &Connection) {
        self.attach(connection);
        self.shares_cache.set(true);
    }

    /// Counts and spends outstanding work, and forgets the connection.
    pub fn detach(&self) {
        self.settle();
        self.database.set(std::ptr::null_mut());
    }

    /// Counts one statement.
    pub fn statement(&self) {
        self.statements.set(self.statements.get() + 1);
    }

    /// Logical reads since the last call.
    fn take_reads(&self) -> u64 {
        if self.database.get().is_null() {
            return self.replayed_reads.take();
        }
        // A shared cache counts the reads of all sessions; only those during a trace belong to this one.
        let is_observed = self.in_time() || self.tapes();
        if self.shares_cache.get() && is_observed && !self.traces() {
            return 0;
        }
        let seen = logical_reads(self.database.get());
        seen.saturating_sub(self.logical_reads_seen.replace(seen))
    }

    pub(super) fn forget_reads(&self) {
        self.logical_reads_seen
            .set(logical_reads(self.database.get()));
    }

    pub(super) fn owe(&self, work: Duration) {
        self.owed.set(self.owed.get() + work);
    }

    /// Work done since the last call, as CPU time.
    pub(super) fn take_work(&self) -> Duration {
        self.cost(self.take_counts())
    }

    /// Work done since the last call, not counted in the simulation; without the rows that it changed.
    pub(super) fn take_counts(&self) -> Work {
        Work {
            steps: self.steps.take(),
            statements: self.statements.take(),
            reads: self.take_reads(),
            rows: 0,
        }
    }

    /// Counts work that another session did, as if this one had done it.
    pub(super) fn put_back(&self, work: Work) {
        let add = |to: &Cell<u64>, count| to.set(to.get() + count);
        add(&self.steps, work.steps);
        add(&self.statements, work.statements);
        add(&self.replayed_reads, work.reads);
        add(&self.unlogged_rows, work.rows);
    }

    /// Counts `work` in the simulation, and returns its CPU time.
    pub(super) fn cost(&self, work: Work) -> Duration {
        let logical_reads = &self.world.logical_reads;
        logical_reads.set(logical_reads.get() + work.reads);
        let costs = &self.world.costs;
        costs.vm_step * work.steps
            + costs.statement * work.statements
            + costs.logical_read * work.reads
    }
}

/// Pages that a connection requested from its cache so far, in all its databases.
fn logical_reads(database: *mut ffi::sqlite3) -> u64 {
    if database.is_null() {
        return 0;
    }
    let status = |which: c_int| {
        let (mut count, mut highest) = (0_i64, 0_i64);
        // SAFETY: the handle is that of an open connection (see `attach`), used on its own thread.
        let result =
            unsafe { ffi::sqlite3_db_status64(database, which, &mut count, &mut highest, 0) };
        if result == ffi::SQLITE_OK {
            u64::try_from(count).unwrap_or(0)
        } else {
            0
        }
    };
    status(ffi::SQLITE_DBSTATUS_CACHE_HIT as c_int)
        + status(ffi::SQLITE_DBSTATUS_CACHE_MISS as c_int)
}
