//! What a run asked of its store: page references, commits and sleeps, and the CPU time between them.
//!
//! A trace holds no instants. When each event takes place follows from the disks, the memory and the
//! processors it is replayed over; see [`crate::replay`].

use alloc::vec::Vec;

use crate::store::Role;
use crate::time::Duration;

/// The events of a run, session by session.
///
/// Not recorded: which statement caused an event, and locks. A file that is dropped keeps its number, and a
/// later one gets the next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// What each file is for, in the order of their creation.
    pub files: Vec<Role>,
    /// What was done before the run began, in no time: it gives pages their places and fills the caches.
    ///
    /// A page that is neither loaded nor written by the run has no place: reading it costs nothing.
    pub loaded: Vec<Access>,
    /// What the buffer pool and the host's cache hold of that when the run begins.
    pub start: Start,
    /// Each session's events, in its order.
    pub sessions: Vec<Vec<Event>>,
    /// How often a session had to wait for a lock.
    pub lock_waits: u64,
    /// Whether two sessions wrote one file, as far as the recorder saw.
    pub shared_writes: bool,
}

/// What is still in memory once loading is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// In the buffer pool.
    pub pool: Temperature,
    /// In the host's cache.
    pub host_cache: Temperature,
}

/// Whether a cache keeps what loading left in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Temperature {
    /// It is emptied.
    Cold,
    /// It does.
    #[default]
    Warm,
}

/// CPU time, and then an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Counted since the session's last event; it is not yet spent.
    pub cpu: Duration,
    /// What comes after it.
    pub access: Access,
}

/// One thing that a session asks for. A file is its place in [`Trace::files`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A page of a file.
    Read {
        /// The file.
        file: u32,
        /// The page, from 0.
        page: u64,
    },
    /// A whole page of a file, changed.
    Write {
        /// The file.
        file: u32,
        /// The page, from 0.
        page: u64,
    },
    /// A file cut off or, from page 0, dropped: its dirty pages will never be written.
    Release {
        /// The file.
        file: u32,
        /// The first page that is gone.
        first: u64,
    },
    /// The end of a transaction.
    Commit {
        /// Its log records.
        log_bytes: u64,
        /// Rows whose old versions are kept.
        rows: u32,
    },
    /// A pause. One of zero spends the CPU time after a session's last access.
    Sleep(Duration),
}

// A trace has as many events as a run has page references, so their size is its size.
const _: () = assert!(size_of::<Event>() == 24);

impl Event {
    /// An access after `cpu`.
    pub const fn new(cpu: Duration, access: Access) -> Event {
        Event { cpu, access }
    }
}

impl Access {
    /// The file that it changes, if any.
    pub const fn writes(&self) -> Option<u32> {
        match self {
            Access::Write { file, .. } | Access::Release { file, .. } => Some(*file),
            Access::Read { .. } | Access::Commit { .. } | Access::Sleep(_) => None,
        }
    }

    /// The file that it touches, if any.
    pub const fn file(&self) -> Option<u32> {
        match self {
            Access::Read { file, .. }
            | Access::Write { file, .. }
            | Access::Release { file, .. } => Some(*file),
            Access::Commit { .. } | Access::Sleep(_) => None,
        }
    }
}
