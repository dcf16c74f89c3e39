//! SQLite's file system interface in Rust: implementations provide [`FileSystem`] and [`File`], once
//! in virtual time and once in real time.
//!
//! Written by hand over SQLite's C interface, because sleeping, randomness and the current time must be
//! virtual too, which wrapper crates leave to the operating system. The C side, in [`table`], is the only
//! `unsafe` code besides memory shared between connections, in [`shared`].

mod lock;
pub(crate) mod shared;
mod table;

pub(crate) use lock::{Level, Locks};
use rusqlite::ffi;
pub(crate) use table::Registered;

/// A result code of SQLite that is not `SQLITE_OK`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Code(pub(crate) i32);

/// Reads and writes shorter than a sector are counters and headers; a real engine has none.
pub(crate) const FREE_BELOW: usize = 512;

/// Milliseconds of the Julian day number of 2026-01-01, where virtual time begins.
const EPOCH_MS: i64 = 212_633_985_600_000;

/// What SQLite opens a file for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A main database: tables and indexes.
    Database,
    /// Needed for a rollback or after a crash.
    Journal,
    /// A write-ahead log.
    Log,
    /// Needed by a statement to undo itself; a temporary file to SQLite, a journal by its contents.
    StatementJournal,
    /// Everything else that is temporary: tables, sorts, intermediate results.
    Temporary,
}

impl Purpose {
    /// From the flags of `xOpen`.
    fn of(flags: i32) -> Purpose {
        match flags {
            _ if flags & ffi::SQLITE_OPEN_MAIN_DB != 0 => Purpose::Database,
            _ if flags & ffi::SQLITE_OPEN_WAL != 0 => Purpose::Log,
            _ if flags & ffi::SQLITE_OPEN_SUBJOURNAL != 0 => Purpose::StatementJournal,
            _ if flags & (ffi::SQLITE_OPEN_MAIN_JOURNAL | ffi::SQLITE_OPEN_SUPER_JOURNAL) != 0 => {
                Purpose::Journal
            }
            _ => Purpose::Temporary,
        }
    }
}

/// Files by name, and the other services that SQLite requests.
pub(crate) trait FileSystem: 'static {
    /// An open file.
    type File: File;

    /// Opens a file; one without a name is new, and removed when it is closed.
    fn open(&self, name: Option<&str>, purpose: Purpose, create: bool) -> Result<Self::File, Code>;

    /// Deletes a file; returns whether it existed.
    fn delete(&self, name: &str) -> bool;

    /// Whether such a file exists and is not empty.
    fn exists(&self, name: &str) -> bool;

    /// Makes the session sleep.
    fn sleep(&self, span: model::Duration);

    /// The current instant, counted from the beginning of 2026.
    fn now(&self) -> model::Instant;
}

/// An open file. SQLite uses it from one thread at a time, and closes it by dropping it.
pub(crate) trait File: Sized + 'static {
    /// Whether connections can share memory, which a write-ahead log needs.
    const SHARES_MEMORY: bool;

    /// Reads; returns the number of bytes available. Those beyond the end are zero.
    fn read(&mut self, buffer: &mut [u8], offset: u64) -> Result<usize, Code>;

    /// Writes all of `data`.
    fn write(&mut self, data: &[u8], offset: u64) -> Result<(), Code>;

    /// Truncates the file.
    fn truncate(&mut self, length: u64) -> Result<(), Code>;

    /// Makes what was written durable.
    fn sync(&mut self) -> Result<(), Code>;

    /// Length in bytes.
    fn length(&self) -> u64;

    /// Raises the lock towards `level`; returns whether it was reached.
    fn lock(&mut self, level: Level) -> bool;

    /// Lowers the lock to `level`.
    fn unlock(&mut self, level: Level);

    /// Whether a connection is about to write.
    fn reserved(&self) -> bool;

    /// Memory shared by the connections to this file; `None` where [`File::SHARES_MEMORY`] is false.
    fn shared(&self) -> Option<&shared::Memory> {
        None
    }

    /// Takes or releases locks on the shared memory; returns whether that was possible.
    fn lock_shared(&mut self, change: shared::Change) -> bool {
        let shared::Change { .. } = change;
        false
    }
}
