//! The file that lists what a process created.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::process::Identity;
use files::{Readers, write_whole};

/// What a process created outside of itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Made {
    /// The owning process.
    pub(super) owner: Identity,
    /// The process that started its owner: an emulator ends with it.
    #[serde(default)]
    pub(super) parent: Option<Identity>,
    /// Mounts, in the order in which they were created.
    pub(super) mounts: Vec<Mount>,
    /// Backing files of loop devices.
    pub(super) loops: Vec<PathBuf>,
    /// Directories, each after its parent.
    pub(super) directories: Vec<Directory>,
    /// Where processes of servers run.
    #[serde(default)]
    pub(super) work: Vec<Work>,
    /// Control groups.
    #[serde(default)]
    pub(super) groups: Vec<PathBuf>,
}

/// A mount.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Mount {
    /// The mount point.
    pub(super) directory: PathBuf,
    /// The device, or the source name of a FUSE file system.
    pub(super) source: String,
}

/// A directory.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Directory {
    /// Its path.
    pub(super) path: PathBuf,
    /// Its identity; not known before it is created.
    pub(super) inode: Option<Inode>,
    /// A file in it that is locked by its user, if the directory may already exist.
    #[serde(default)]
    pub(super) mark: Option<String>,
    /// Whether its contents are removed with it.
    pub(super) with_contents: bool,
}

/// Identifies a directory beyond its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Inode {
    /// Device it lies on.
    pub(super) device: u64,
    /// Its inode number there.
    pub(super) number: u64,
}

/// Processes of a server, identified by their working directory.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Work {
    /// The server's display name.
    pub(super) name: String,
    /// The working directory of its processes is this one, or one beneath it; without links.
    pub(super) directory: PathBuf,
    /// The user they run as.
    pub(super) user: u32,
}

impl Inode {
    pub(super) fn of(metadata: &fs::Metadata) -> Inode {
        Inode {
            device: metadata.dev(),
            number: metadata.ino(),
        }
    }
}

/// Its name in a process's folder.
pub(super) const FILE: &str = "made.json";

impl Made {
    /// An empty list.
    pub(super) fn of(owner: Identity) -> Made {
        Made {
            owner,
            parent: Identity::parent(),
            mounts: Vec::new(),
            loops: Vec::new(),
            directories: Vec::new(),
            work: Vec::new(),
            groups: Vec::new(),
        }
    }

    /// Writes it into `folder` atomically.
    pub(super) fn write(&self, folder: &Path) -> io::Result<()> {
        let text = serde_json::to_vec_pretty(self)?;
        write_whole(&folder.join(FILE), &text, Readers::OwnerOnly).map_err(io::Error::other)
    }

    /// Reads it from `folder`.
    pub(super) fn read(folder: &Path) -> io::Result<Made> {
        Ok(serde_json::from_slice(&fs::read(folder.join(FILE))?)?)
    }
}
