//! A database in real time: its files, its buffer pool, and the sessions that use it.

use std::ffi::CString;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread::{self, JoinHandle};

use model::Bytes;
use model::store::Role;
use rusqlite::{Connection, OpenFlags};

use super::activity::{Activity, Status};
use super::disks::{Disks, VolumeCount};
use super::files::{Inodes, SessionFiles, SessionState};
use super::members::Members;
use super::pool::{Pool, PoolError};
use super::session::Session;
use super::setup::{DatabaseSpec, WRITERS_MAX};
use super::shared::Shared;
use crate::vfs::Registered;
use host::clock::Clock;
use paced::Pacer;

/// Files on volumes, and the pages of them in memory.
///
/// "Database" as in a server: every SQLite database opened here shares its files and its buffer pool
/// with the others. The files are useless without this value: they hold extents of all databases, and
/// the extent map exists in memory only.
/// databases, and where those are is kept in memory only.
pub struct Database {
    shared: Arc<Shared>,
    files: Arc<Inodes>,
    members: Arc<Members>,
    interrupts: Arc<AtomicU64>,
    clock: Clock,
    spec: DatabaseSpec,
    writers: Vec<JoinHandle<()>>,
}

/// Numbers for the names under which SQLite knows the sessions' file systems.
static NAMES: AtomicU64 = AtomicU64::new(0);

impl Database {
    /// Creates the files, and starts the threads that write pages. With a `pacer`, requests take as long
    /// as its model specifies.
    ///
    /// # Errors
    /// When a file already exists or cannot be created, or a thread cannot be started; files created so
    /// far are removed.
    pub fn create(spec: DatabaseSpec, pacer: Option<Arc<Pacer>>) -> io::Result<Database> {
        let disks = Disks::create(&spec, pacer)?;
        let mut database = Database {
            shared: Arc::new(Shared::new(Pool::new(&spec, disks))),
            files: Arc::default(),
            members: Arc::default(),
            interrupts: Arc::default(),
            clock: Clock::start(),
            spec,
            writers: Vec::new(),
        };
        let count = database.spec.writes_in_flight;
        for number in 0..count.clamp(1, WRITERS_MAX) {
            let shared = Arc::clone(&database.shared);
            let writer = thread::Builder::new()
                .name(format!("page-writer-{number}"))
                .spawn(move || shared.pool.write_behind())?;
            database.writers.push(writer);
        }
        Ok(database)
    }

    /// Opens SQLite's database `name` for session number `session`; its tables belong to role `tables`.
    ///
    /// Two sessions with the same name share a database. Each has a small cache of its own in front of the
    /// buffer pool, a write-ahead log in the log's file, and temporary tables and spills in the temporary
    /// files. The functions `app_lock(key)` and `app_unlock(key)` take and release a lock shared by all sessions.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn open(&self, session: u32, name: &str, tables: Role) -> rusqlite::Result<Session> {
        let status = Status::new(session, &self.interrupts);
        let own = Arc::new(SessionState::new(status, self.clock));
        let number = NAMES.fetch_add(1, Relaxed);
        let vfs = CString::new(format!("dbstow-{number}")).expect("there is no zero in it");
        let files = SessionFiles {
            database: Arc::clone(&self.shared),
            inodes: Arc::clone(&self.files),
            session: Arc::clone(&own),
        };
        let registered = Registered::new(vfs, files);
        let role = match tables {
            Role::Data => "data",
            Role::Temp => "temp",
        };
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let path = format!("{role}/{name}");
        let connection = Connection::open_with_flags_and_vfs(path, flags, registered.name())?;
        self.members.add(own, connection.get_interrupt_handle());
        let mut session = Session::new(connection, registered, Arc::clone(&self.members));
        session.set_up(&self.spec)?;
        Ok(session)
    }

    /// What each session is currently doing, by its number.
    pub fn activities(&self) -> Vec<(u32, Activity)> {
        self.members.activities()
    }

    /// Ends the current statements of all sessions; later ones are not affected.
    pub fn interrupt(&self) {
        self.interrupts.fetch_add(1, Relaxed);
        self.members.interrupt();
        self.shared.locks.wake();
        self.shared.pool.wake();
        self.files.wake();
    }

    /// Writes out everything that is only in memory, and flushes all files.
    ///
    /// # Errors
    /// The error of a real file, now or in an earlier write.
    pub fn sync(&self) -> io::Result<()> {
        self.shared.pool.sync_all().map_err(io_error)
    }

    /// Empties the buffer pool, after writing out what is only in memory.
    ///
    /// # Errors
    /// As for [`Database::sync`].
    pub fn empty_pool(&self) -> io::Result<()> {
        self.shared.pool.empty().map_err(io_error)
    }

    /// Requests to each volume so far, by index.
    pub fn volumes(&self) -> Vec<VolumeCount> {
        self.shared.pool.disks.counts()
    }

    /// Pages that sessions requested from SQLite's caches, in statements that are over.
    pub fn logical_reads(&self) -> u64 {
        self.shared.logical_reads()
    }

    /// Pages read from volumes.
    pub fn physical_reads(&self) -> u64 {
        self.shared.pool.physical_reads()
    }

    /// Size of the buffer pool.
    pub fn memory(&self) -> Bytes {
        self.shared.pool.memory()
    }

    /// Names of page files that go through the operating system's cache.
    pub fn cached_files(&self) -> Vec<String> {
        let files = self.shared.pool.disks.cached();
        files.map(|path| path.display().to_string()).collect()
    }

    /// Stops all writes, for a database that is to be removed: closing its sessions would otherwise wait for writes.
    pub fn abandon(&self) {
        self.shared.pool.close();
        self.interrupt();
    }

    /// Ends the writers and removes the files. Sessions must be closed.
    ///
    /// # Errors
    /// When a file could not be removed.
    pub fn remove(mut self) -> io::Result<()> {
        self.end_writers();
        self.shared.pool.disks.remove()
    }

    fn end_writers(&mut self) {
        self.shared.pool.close();
        for writer in self.writers.drain(..) {
            // A writer's panic has already been reported.
            let _ = writer.join();
        }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        self.end_writers();
    }
}

fn io_error(error: PoolError) -> io::Error {
    match error {
        PoolError::Io(error) => error,
        PoolError::Full(full) => io::Error::other(format!("{full:?}")),
    }
}
