//! Why a file or directory was not written or not used.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why a file or directory was not written or not used.
#[derive(Debug, Error)]
pub enum FileError {
    /// Something exists under the name that this user did not create, or that is of the wrong kind.
    #[error("{} {what}; dbstow will not use it: remove it, or choose another path", path.display())]
    NotOurs {
        /// Its path.
        path: PathBuf,
        /// What is wrong with it, such as `is a symbolic link`.
        what: String,
    },
    /// A directory of ours that others can write to.
    #[error("{} can be written by others (mode {mode:o}); run `chmod go-w` on it, or choose another directory", path.display())]
    OthersWrite {
        /// The directory.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// A directory of ours with other permissions than dbstow gives it.
    #[error(
        "{} has mode {found:o} and not {wanted:o}, and dbstow changes no directory that it did not make; run \
         `chmod {wanted:o}` on it, or choose another directory",
        path.display()
    )]
    OtherMode {
        /// The directory.
        path: PathBuf,
        /// Its permissions.
        found: u32,
        /// Those that dbstow gives it.
        wanted: u32,
    },
    /// A name that would lead elsewhere.
    #[error(
        "\"{}\" is not the name of one file or directory; give a name that is not empty, \".\" or \"..\", and has no \
         separator",
        .0.display()
    )]
    NotPlain(PathBuf),
    /// A directory in which every user can rename our files.
    #[error("{} lets every user rename what is in it; run `chmod +t` on it, or choose another directory", .0.display())]
    NoStickyBit(PathBuf),
    /// A file exists already and must not be replaced.
    #[error("{} is there already; remove it, or give another place", .0.display())]
    Exists(PathBuf),
    /// A failed system call.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

impl FileError {
    pub(crate) fn at(path: &Path) -> impl Fn(io::Error) -> FileError + use<> {
        let path = path.to_owned();
        move |source| FileError::Io {
            path: path.clone(),
            source,
        }
    }
}
