//! Why a run in real time cannot begin.

use std::path::PathBuf;

use model::Bytes;

use super::work_dir::WorkDirError;
use engine::EngineError;

/// Why a run cannot have its volumes where it should.
#[derive(Debug, thiserror::Error)]
pub enum VolumesError {
    /// A directory cannot be used.
    #[error(transparent)]
    WorkDir(#[from] WorkDirError),
    /// The server cannot be used.
    #[error(transparent)]
    Server(#[from] EngineError),
    /// There is too little room.
    #[error(
        "{directory} has {free} free, and the volumes of an arm may take {needed}; make room, or give another directory"
    )]
    Full {
        /// Which directory.
        directory: PathBuf,
        /// What is free.
        free: Bytes,
        /// What may be needed.
        needed: Bytes,
    },
    /// The system refused something.
    #[error("{what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        /// Why it did not work.
        source: std::io::Error,
    },
}
