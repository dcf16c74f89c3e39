//! A volume that is mounted, whatever its front, and what all volumes of an emulation share.

use std::io;
use std::sync::Arc;

use super::contents::Kept;
use super::error::EmulationError;
use super::fault::Fault;
use super::orphans::Registration;
use super::pace::Pace;
use super::trace::Trace;
use super::transport::{Chosen, Replies};
use crate::paced_storage::PacedStorage;

/// What is said of a volume in file mode that cannot do what is asked.
const BLOCK_ONLY: &str = "only a volume in block mode can do that";

/// A volume that is mounted; dropping it takes it down as far as that can be done without an answer.
pub(super) trait Mounted: Send + Sync {
    /// Takes it down.
    ///
    /// # Errors
    /// When something is left, or was taken from a program that used it.
    fn stop(self: Box<Self>) -> Result<(), EmulationError>;

    /// Writes back and forgets what the kernel caches of its files. Gives what could not be done.
    ///
    /// # Errors
    /// When the volume is gone.
    fn drop_caches(&mut self) -> io::Result<Vec<String>> {
        // Without a page cache, nothing is to be forgotten.
        Ok(Vec::new())
    }

    /// Unmounts it and mounts it again, as after its machine has started anew. From then on no request fails on demand.
    ///
    /// # Errors
    /// When it is in use, or cannot be mounted any more, or is not in block mode.
    fn mount_again(&mut self) -> io::Result<()> {
        Err(io::Error::other(BLOCK_ONLY))
    }

    /// Has a request fail that is still to come, once.
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

    /// The first thing that went wrong with its real files, for people.
    fn trouble(&self) -> Option<String> {
        None
    }
}

/// What all fronts of an emulation share.
pub(super) struct Parts {
    /// The model.
    pub(super) storage: Arc<PacedStorage>,
    /// How replies are paced.
    pub(super) pace: Arc<Pace>,
    /// What answers requests that come through a filesystem.
    pub(super) replies: Replies,
    /// How requests come.
    pub(super) transport: Chosen,
    /// Where every request is written down.
    pub(super) trace: Option<Arc<Trace>>,
    /// What becomes of what is written.
    pub(super) kept: Kept,
    /// Where is written down what outlives this process.
    pub(super) registration: Arc<Registration>,
}
