//! Why volumes could not be emulated, or not be torn down.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why volumes could not be emulated, or not be torn down.
#[derive(Debug, Error)]
pub enum EmulationError {
    /// The kernel has no FUSE.
    #[error(
        "this machine has no /dev/fuse: load the kernel's module with `modprobe fuse`; in a container, start it with `--device /dev/fuse`"
    )]
    NoDevice,
    /// The user may not open it.
    #[error(
        "/dev/fuse may not be opened: run as root, or let every user open it with `chmod 0666 /dev/fuse`, as distributions do"
    )]
    NoPermission,
    /// Not root, and the helper is missing.
    #[error("only root can mount without fusermount3: install the package fuse3, or run as root")]
    NoHelper,
    /// Two volumes of the same name, or a volume without disks.
    #[error("volume \"{volume}\": {why}")]
    Spec {
        /// Its name.
        volume: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The mount point does not exist or is not empty.
    #[error("cannot mount volume \"{volume}\" at {path}: {why}")]
    MountPoint {
        /// Name of the volume.
        volume: String,
        /// Where it was to be mounted.
        path: PathBuf,
        /// What is wrong with it, and what to do.
        why: String,
    },
    /// The backing directory belongs to another user, or cannot be used.
    #[error("cannot keep volume \"{volume}\" in {path}: {why}")]
    Backing {
        /// Name of the volume.
        volume: String,
        /// The directory.
        path: PathBuf,
        /// What is wrong with it, and what to do.
        why: String,
    },
    /// The requested transport is not available.
    #[error("requests cannot go by io_uring: {0}; choose the transport \"fuser\"")]
    Transport(io::Error),
    /// A volume could not be torn down, or was still in use.
    #[error("volume \"{volume}\": {source}")]
    Stop {
        /// Its name.
        volume: String,
        /// Why.
        source: io::Error,
    },
    /// Something is left on the machine.
    #[error("{0}")]
    Left(String),
    /// Another failure.
    #[error("{what}: {source}")]
    System {
        /// The operation.
        what: String,
        /// The cause.
        source: io::Error,
    },
}

impl EmulationError {
    /// An error of the operation `what`, caused by `source`.
    pub(super) fn system(what: impl Into<String>, source: io::Error) -> EmulationError {
        EmulationError::System {
            what: what.into(),
            source,
        }
    }
}

/// What is not registered could not be cleaned up after a kill, so nothing is started without it.
pub(super) fn not_written_down(error: io::Error) -> EmulationError {
    EmulationError::system("cannot write down what is about to be made", error)
}
