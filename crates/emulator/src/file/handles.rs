//! Open files and listings, by the kernel's handle numbers.

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
    /// Whether a write must be durable before it is done: opened with `O_SYNC` or `O_DSYNC`.
    pub(super) durable: bool,
}

/// An open directory.
pub(super) struct OpenDirectory {
    /// The real directory.
    pub(super) file: File,
    /// Its content when it was last read from the start.
    pub(super) listing: Mutex<Vec<Listed>>,
}

/// An entry of a directory.
pub(super) struct Listed {
    /// Number of its inode.
    pub(super) number: u64,
    /// Its type.
    pub(super) kind: FileType,
    /// Its name.
    pub(super) name: OsString,
}

/// Open files or directories, by number; numbers are not reused.
pub(super) struct Handles<T> {
    table: RwLock<HashMap<u64, Arc<T>>>,
    next: AtomicU64,
}

impl<T> Handles<T> {
    /// An empty table.
    pub(super) fn new() -> Handles<T> {
        Handles {
            table: RwLock::default(),
            next: AtomicU64::new(1),
        }
    }

    /// Opens `value`; returns its number.
    pub(super) fn open(&self, value: T) -> u64 {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.table.write().insert(number, Arc::new(value));
        number
    }

    /// The value open under a number.
    ///
    /// # Errors
    /// `ESTALE` when the number is not open.
    pub(super) fn get(&self, number: u64) -> Result<Arc<T>, Errno> {
        let table = self.table.read();
        table.get(&number).cloned().ok_or(Errno::STALE)
    }

    /// Closes a number; the value lives on while one of its requests is in progress.
    pub(super) fn close(&self, number: u64) {
        let closed = self.table.write().remove(&number);
        // The real file is closed after the lock is released.
        drop(closed);
    }
}
