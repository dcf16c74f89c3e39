//! An engine's sessions between two clients, and what all of them executed.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use parking_lot::Mutex;
use sqlite_vfs::real_time::Session;

/// Sessions outlive their clients, so data loaded into temporary tables and caches is available in the run.
#[derive(Default)]
pub(crate) struct Sessions {
    /// Sessions without a client, by number.
    pub(crate) parked: Mutex<BTreeMap<u32, Session>>,
    statements: AtomicU64,
}

impl Sessions {
    /// Counts one statement of any session.
    pub(crate) fn count_statement(&self) {
        self.statements.fetch_add(1, Relaxed);
    }

    /// Statements executed so far, in all sessions.
    pub(crate) fn statements(&self) -> u64 {
        self.statements.load(Relaxed)
    }
}
