//! A mounted volume, whatever its front, and what all volumes of an emulation share.

use std::io;
use std::sync::Arc;

use super::contents::Kept;
use super::error::EmulationError;
use super::fault::Fault;
use super::pace::Pace;
use super::trace::Trace;
use super::transport::{Chosen, Replies};
use host::orphans::Registration;
use paced::PacedStorage;

/// Reported when a volume in file mode does not support a request.
const BLOCK_ONLY: &str = "only a volume in block mode can do that";

/// A mounted volume; dropping it tears it down without reporting failures.
pub(super) trait Mounted: Send + Sync {
    /// Tears it down.
    ///
    /// # Errors
    /// When something is left, or it was unmounted while a program used it.
    fn stop(self: Box<Self>) -> Result<(), EmulationError>;

    /// Writes back and drops what the kernel caches of its files. Returns what could not be done.
    ///
    /// # Errors
    /// When the volume is gone.
    fn drop_caches(&mut self) -> io::Result<Vec<String>> {
        // Without a page cache, there is nothing to drop.
        Ok(Vec::new())
    }

    /// Unmounts it and mounts it again, as after a restart of its machine. Clears pending faults.
    ///
    /// # Errors
    /// When it is in use, or cannot be mounted any more, or is not in block mode.
    fn mount_again(&mut self) -> io::Result<()> {
        Err(io::Error::other(BLOCK_ONLY))
    }

    /// Makes a future request fail, once.
    ///
    /// # Errors
    /// When it is not in block mode.
    fn arm(&self, _: Fault) -> io::Result<()> {
        Err(io::Error::other(BLOCK_ONLY))
    }

    /// How many requests have failed on demand.
    fn failed(&self) -> u64 {
        0
    }

    /// The first problem with its real files, human-readable.
    fn problem(&self) -> Option<String> {
        None
    }
}

/// What all fronts of an emulation share.
pub(super) struct Parts {
    /// The model.
    pub(super) storage: Arc<PacedStorage>,
    /// How replies are paced.
    pub(super) pace: Arc<Pace>,
    /// Answers requests that come through a filesystem.
    pub(super) replies: Replies,
    /// How requests come.
    pub(super) transport: Chosen,
    /// Log of every request.
    pub(super) trace: Option<Arc<Trace>>,
    /// What happens to written bytes.
    pub(super) kept: Kept,
    /// Registers what outlives this process.
    pub(super) registration: Arc<Registration>,
}
