//! Why a run in real time cannot begin.

use std::path::PathBuf;

use model::Bytes;

use super::work_dir::WorkDirError;
use engine::EngineError;

/// Why a run cannot place its volumes.
#[derive(Debug, thiserror::Error)]
pub enum VolumesError {
    /// A directory cannot be used.
    #[error(transparent)]
    WorkDir(#[from] WorkDirError),
    /// The server cannot be used.
    #[error(transparent)]
    Server(#[from] EngineError),
    /// Not enough space.
    #[error(
        "{directory} has {free} free, and the volumes of an arm may take {needed}; make room, or give another directory"
    )]
    Full {
        /// The directory.
        directory: PathBuf,
        /// Free space.
        free: Bytes,
        /// Space that may be needed.
        needed: Bytes,
    },
    /// A system call failed.
    #[error("{what}: {source}")]
    Io {
        /// The operation.
        what: String,
        /// The cause.
        source: std::io::Error,
    },
}
