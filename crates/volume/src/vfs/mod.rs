//! SQLite's file system, as seen from Rust: what executes its requests implements [`FileSystem`] and
//! [`File`], once in virtual time and once in real time.
//!
//! Written by hand over SQLite's C interface, because sleeping, randomness and the current time have to be
//! virtual too, which wrapper crates leave to the operating system. The C side, in [`table`], is the one
//! place with `unsafe` code besides memory shared between connections, in [`shared`].

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
    /// What a rollback or a crash needs.
    Journal,
    /// A write-ahead log.
    Log,
    /// What a statement needs to undo itself; a temporary file to SQLite, a journal by its contents.
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

/// Files by name, and what else SQLite asks of its surroundings.
pub(crate) trait FileSystem: 'static {
    /// An open file.
    type File: File;

    /// Opens a file; one without a name is new, and gone once it is closed.
    fn open(&self, name: Option<&str>, purpose: Purpose, create: bool) -> Result<Self::File, Code>;

    /// Whether there was such a file; it is gone now.
    fn delete(&self, name: &str) -> bool;

    /// Whether there is such a file, and something in it.
    fn exists(&self, name: &str) -> bool;

    /// Lets the session sleep.
    fn sleep(&self, span: model::Duration);

    /// The present instant, counted from the beginning of 2026.
    fn now(&self) -> model::Instant;
}

/// An open file. SQLite uses it from one thread at a time, and closes it by dropping it.
pub(crate) trait File: Sized + 'static {
    /// Whether connections can share memory, which a write-ahead log needs.
    const SHARES_MEMORY: bool;

    /// Reads; how many bytes there were. Those beyond the end are zero.
    fn read(&mut self, buffer: &mut [u8], offset: u64) -> Result<usize, Code>;

    /// Writes all of `data`.
    fn write(&mut self, data: &[u8], offset: u64) -> Result<(), Code>;

    /// Cuts the file off.
    fn truncate(&mut self, length: u64) -> Result<(), Code>;

    /// Makes what was written durable.
    fn sync(&mut self) -> Result<(), Code>;

    /// Length in bytes.
    fn length(&self) -> u64;

    /// Raises the lock towards `level`; whether it was reached.
    fn lock(&mut self, level: Level) -> bool;

    /// Lowers the lock to `level`.
    fn unlock(&mut self, level: Level);

    /// Whether a connection is going to write.
    fn reserved(&self) -> bool;

    /// Memory shared by the connections to this file; `None` where [`File::SHARES_MEMORY`] is false.
    fn shared(&self) -> Option<&shared::Memory> {
        None
    }

    /// Takes or gives back locks on the shared memory; whether that was possible.
    fn lock_shared(&mut self, change: shared::Change) -> bool {
        let shared::Change { .. } = change;
        false
    }
}
