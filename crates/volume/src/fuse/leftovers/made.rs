//! The file that says what a process made.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::process::Identity;

/// What a process made outside of itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Made {
    /// Whose it is.
    pub(super) owner: Identity,
    /// Mounts, in the order in which they were made.
    pub(super) mounts: Vec<Mount>,
    /// Backing files of loop devices.
    pub(super) loops: Vec<PathBuf>,
    /// Directories, each after the one it lies in.
    pub(super) directories: Vec<Directory>,
    /// Servers.
    pub(super) servers: Vec<Server>,
}

/// A mount.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Mount {
    /// Where.
    pub(super) directory: PathBuf,
    /// The device, or the name that a FUSE file system gives.
    pub(super) source: String,
}

/// A directory.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Directory {
    /// Where.
    pub(super) path: PathBuf,
    /// Device it lies on.
    pub(super) device: u64,
    /// Its inode there.
    pub(super) inode: u64,
    /// Whether its contents go with it.
    pub(super) with_contents: bool,
}

/// A server.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Server {
    /// What people call it.
    pub(super) name: String,
    /// Its process.
    pub(super) process: Identity,
}

/// Its name in a process's folder.
pub(super) const FILE: &str = "made.json";

impl Made {
    /// Nothing yet.
    pub(super) fn of(owner: Identity) -> Made {
        Made {
            owner,
            mounts: Vec::new(),
            loops: Vec::new(),
            directories: Vec::new(),
            servers: Vec::new(),
        }
    }

    /// Writes it into `folder`, whole or not at all.
    pub(super) fn write(&self, folder: &Path) -> io::Result<()> {
        let mut file = tempfile::Builder::new().prefix("new").tempfile_in(folder)?;
        serde_json::to_writer_pretty(&mut file, self)?;
        file.flush()?;
        file.persist(folder.join(FILE))?;
        Ok(())
    }

    /// Reads it from `folder`.
    pub(super) fn read(folder: &Path) -> io::Result<Made> {
        Ok(serde_json::from_slice(&fs::read(folder.join(FILE))?)?)
    }
}
