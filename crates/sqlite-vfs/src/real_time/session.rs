//! One session's connection.

use std::ffi::c_int;
use std::sync::Arc;

use model::Duration;
use model::store::Commit;
use rusqlite::config::DbConfig;
use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, ffi};

use super::activity::Activity;
use super::files::SessionFiles;
use super::members::Members;
use super::setup::DatabaseSpec;
use crate::vfs::Registered;
use host::clock::Clock;

/// A connection, its number among the sessions, and its counters. It may move between threads.
pub struct Session {
    // Closed before the file system is unregistered: fields are dropped in this order.
    connection: Connection,
    files: Registered<SessionFiles>,
    members: Arc<Members>,
    logical_reads_seen: u64,
}

impl Session {
    pub(super) fn new(
        connection: Connection,
        files: Registered<SessionFiles>,
        members: Arc<Members>,
    ) -> Session {
        Session {
            connection,
            files,
            members,
            logical_reads_seen: 0,
        }
    }

    /// The connection.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Runs `work`, a statement, on the connection: the session counts as busy meanwhile, can be
    /// interrupted, and its page requests are counted.
    pub fn work<T>(&mut self, work: impl FnOnce(&Connection) -> T) -> T {
        let status = &self.files.system().session.status;
        status.begin();
        let doing = status.doing(Activity::Computing);
        let result = work(&self.connection);
        drop(doing);
        let seen = logical_reads(&self.connection);
        let before = std::mem::replace(&mut self.logical_reads_seen, seen);
        let database = &self.files.system().database;
        database.count_logical_reads(seen.saturating_sub(before));
        result
    }

    /// Sleeps for `span`, unless it is interrupted before; returns whether it was not.
    pub fn sleep(&self, span: Duration) -> bool {
        let session = &self.files.system().session;
        session.status.begin();
        let mut left = span;
        while left > Duration::ZERO && !session.status.interrupted() {
            let nap = left.min(NAP_MAX);
            let began = session.clock.now();
            Clock::sleep(nap);
            left = left.saturating_sub(session.clock.now() - began);
        }
        left == Duration::ZERO
    }

    /// The cause of SQLite's last error, if it was a file or a volume.
    pub fn take_reason(&self) -> Option<String> {
        self.files.system().database.take_note()
    }

    /// Releases all its application locks after a failed operation.
    pub fn release_locks(&self) {
        let system = self.files.system();
        system.database.locks.release_all(system.session.status.id);
    }

    pub(super) fn set_up(&mut self, spec: &DatabaseSpec) -> rusqlite::Result<()> {
        let connection = &mut self.connection;
        let own = Arc::clone(&self.files.system().session);
        connection.busy_handler(Some(move |_| own.wait_for_file()))?;
        let synchronous = match spec.commit {
            Commit::Durable => "FULL",
            Commit::Relaxed => "OFF",
        };
        let cache_kib = (spec.sort_memory.0 >> 10).max(CACHE_KIB_MIN);
        connection.execute_batch(&format!(
            "PRAGMA page_size = 8192; PRAGMA temp.page_size = 8192; PRAGMA temp_store = FILE; \
             PRAGMA journal_mode = WAL; PRAGMA temp.journal_mode = MEMORY; \
             PRAGMA synchronous = {synchronous}; \
             PRAGMA cache_size = -{cache_kib}; PRAGMA temp.cache_size = -{CACHE_KIB_MIN};"
        ))?;
        // The log must survive the session, so that it continues when the session reconnects.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        rusqlite::vtab::series::load_module(connection)?;
        self.lock_functions()
    }

    fn lock_functions(&self) -> rusqlite::Result<()> {
        let failed = |error| rusqlite::Error::UserFunctionError(Box::new(error));
        let flags = FunctionFlags::SQLITE_UTF8;
        let system = self.files.system();
        let (own, database) = (Arc::clone(&system.session), Arc::clone(&system.database));
        self.connection
            .create_scalar_function("app_lock", 1, flags, move |context| {
                let key: i64 = context.get(0)?;
                database.locks.take(key, &own.status).map_err(failed)?;
                Ok(1_i64)
            })?;
        let (own, database) = (Arc::clone(&system.session), Arc::clone(&system.database));
        self.connection
            .create_scalar_function("app_unlock", 1, flags, move |context| {
                database.locks.release(context.get(0)?, own.status.id);
                Ok(1_i64)
            })
    }
}

/// Longest sleep before a session checks for an interrupt.
const NAP_MAX: Duration = Duration::from_millis(20);

/// A connection's cache for its working set; most memory belongs to the buffer pool. A larger one makes
/// commits on temporary tables slow, since each scans all dirty pages in it.
const CACHE_KIB_MIN: u64 = 512;

impl Drop for Session {
    fn drop(&mut self) {
        self.release_locks();
        self.members.remove(self.files.system().session.status.id);
    }
}

/// Pages that a connection requested from its cache so far, in all its databases.
fn logical_reads(connection: &Connection) -> u64 {
    let status = |which: c_int| {
        let (mut count, mut highest) = (0_i64, 0_i64);
        // SAFETY: the handle is that of an open connection, used on the thread that owns it.
        let result = unsafe {
            let database = connection.handle();
            ffi::sqlite3_db_status64(database, which, &mut count, &mut highest, 0)
        };
        if result == ffi::SQLITE_OK {
            u64::try_from(count).unwrap_or(0)
        } else {
            0
        }
    };
    status(ffi::SQLITE_DBSTATUS_CACHE_HIT as c_int)
        + status(ffi::SQLITE_DBSTATUS_CACHE_MISS as c_int)
}
