//! What the sessions of a database, their files and the writers share.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use parking_lot::Mutex;

use super::app_lock::AppLocks;
use super::pool::Pool;

/// The buffer pool and the application locks of a database.
pub(super) struct Shared {
    pub(super) pool: Pool,
    pub(super) locks: AppLocks,
    logical_reads: AtomicU64,
    noted: Mutex<Option<String>>,
}

impl Shared {
    pub(super) fn new(pool: Pool) -> Shared {
        Shared {
            pool,
            locks: AppLocks::default(),
            logical_reads: AtomicU64::new(0),
            noted: Mutex::default(),
        }
    }

    /// Keeps the cause of a failed request, which SQLite does not.
    pub(super) fn note(&self, why: &str) {
        let mut noted = self.noted.lock();
        *noted = Some(why.to_owned());
    }

    pub(super) fn take_note(&self) -> Option<String> {
        let mut noted = self.noted.lock();
        noted.take()
    }

    pub(super) fn count_logical_reads(&self, more: u64) {
        self.logical_reads.fetch_add(more, Relaxed);
    }

    /// Pages that sessions requested from SQLite's caches, in statements that are over.
    pub(super) fn logical_reads(&self) -> u64 {
        self.logical_reads.load(Relaxed)
    }
}
