//! Open files and listings, by the numbers that the kernel knows them by.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{Mutex, RwLock};
use rustix::fs::FileType;
use rustix::io::Errno;

use super::nodes::Node;

/// An open file.
pub(super) struct OpenFile {
    /// The real file.
    pub(super) file: File,
    /// Its inode.
    pub(super) node: Arc<Node>,
    /// Whether a write is done only when it is durable: opened with `O_SYNC` or `O_DSYNC`.
    pub(super) durable: bool,
}

/// An open directory.
pub(super) struct OpenDirectory {
    /// The real directory.
    pub(super) file: File,
    /// What was in it when it was last read from its start.
    pub(super) listing: Mutex<Vec<Listed>>,
}

/// An entry of a directory.
pub(super) struct Listed {
    /// Number of its inode.
    pub(super) number: u64,
    /// What it is.
    pub(super) kind: FileType,
    /// Its name.
    pub(super) name: OsString,
}

/// What is open, by number; numbers are not used again.
pub(super) struct Handles<T> {
    table: RwLock<HashMap<u64, Arc<T>>>,
    next: AtomicU64,
}

impl<T> Handles<T> {
    /// Nothing is open.
    pub(super) fn new() -> Handles<T> {
        Handles {
            table: RwLock::default(),
            next: AtomicU64::new(1),
        }
    }

    /// Opens `value`; its number.
    pub(super) fn open(&self, value: T) -> u64 {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.table.write().insert(number, Arc::new(value));
        number
    }

    /// What is open under a number.
    ///
    /// # Errors
    /// `ESTALE` when nothing is.
    pub(super) fn get(&self, number: u64) -> Result<Arc<T>, Errno> {
        let table = self.table.read();
        table.get(&number).cloned().ok_or(Errno::STALE)
    }

    /// Closes what is open under a number; it lives on while a request of it is under way.
    pub(super) fn close(&self, number: u64) {
        let closed = self.table.write().remove(&number);
        // The real file is closed after the lock is given back.
        drop(closed);
    }
}
