//! The acts of a transaction, traced in zero virtual time so that its session can replay them afterwards.
//!
//! Sessions of one database execute their transactions one after the other, each as a whole at the instant it begins,
//! and then replay their traces concurrently. SQLite never sees two writers, and virtual time never sees its lock: a session
//! that was suspended within SQLite would hold the lock of SQLite's one writer, and all others would wait for a lock that no
//! server has.
//!
//! A session with a database of its own needs no trace: pages are requested while SQLite runs, and a statement that runs out
//! of space fails at that page.

use model::Duration;
use model::store::FileId;

/// One act of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// Reads a page of a file.
    Read(FileId, u64),
    /// Writes a page of a file.
    Write(FileId, u64),
    /// Changes a row, which is locked until the commit.
    Change(Row),
    /// Puts bytes into the log, before the transaction commits.
    Log(u64),
    /// Takes an application lock.
    Lock(i64),
    /// Releases an application lock.
    Unlock(i64),
    /// Sleeps.
    Sleep(Duration),
    /// Commits.
    Commit {
        /// Records for the log.
        log_bytes: u64,
        /// Records of the transaction that are already in the log.
        streamed: u64,
        /// Rows changed.
        rows: u64,
    },
}

/// A row of a table, by hashes of its table's name and, without a rowid, of its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Row {
    pub(super) table: u64,
    pub(super) row: i64,
}

/// What only one session can hold at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    /// A changed row, until its transaction has committed.
    Row(Row),
    /// An application lock, until it is released.
    Application(i64),
}

impl Key {
    pub(super) fn is_row(&self) -> bool {
        matches!(self, Key::Row(_))
    }
}

/// The acts of a transaction.
#[derive(Debug, Default)]
pub(super) struct Trace {
    /// Each act, and the CPU time before it.
    pub(super) acts: Vec<(Duration, Act)>,
    /// Pages that it freed. They stay in use until its end, because it may have to replay everything.
    pub(super) freed: Vec<Freed>,
}

/// Pages of a file that are not in use any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Freed {
    /// All pages of the file, and the file itself.
    File(FileId),
    /// Those from this page on.
    From(FileId, u64),
}
