//! The inodes that the kernel knows, each held by an `O_PATH` descriptor.
//!
//! An inode's number is the one in the backing filesystem, so that listings and status agree; only the
//! root is 1, as FUSE requires. A held descriptor keeps a number from being reused for another file.
//! Listings contain no status: one that does (readdirplus) would create a node for every entry.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::RwLock;
use rustix::fs::{FileType, Stat, fstat};
use rustix::io::Errno;

use super::space::{Region, Space};

/// The root's number.
pub(super) const ROOT: u64 = 1;

/// An inode.
pub(super) struct Node {
    /// Its number.
    pub(super) number: u64,
    /// An `O_PATH` descriptor of it.
    pub(super) descriptor: OwnedFd,
    /// Where it lies in the volume, if it is a regular file.
    pub(super) region: Option<Arc<Region>>,
}

/// All inodes that the kernel knows.
pub(super) struct Nodes {
    device: u64,
    table: RwLock<HashMap<u64, Known>>,
}

struct Known {
    node: Arc<Node>,
    /// The kernel's lookup count: references that it has not forgotten yet.
    lookups: u64,
}

impl Node {
    /// A path to the inode that survives renames and deletion.
    pub(super) fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.descriptor.as_raw_fd()))
    }

    /// Its status.
    ///
    /// # Errors
    /// When the backing filesystem returns none.
    pub(super) fn stat(&self) -> Result<Stat, Errno> {
        fstat(&self.descriptor)
    }
}

impl Nodes {
    /// The inodes of a tree with root `root`.
    ///
    /// # Errors
    /// When the root has no status.
    pub(super) fn new(root: OwnedFd) -> Result<Nodes, Errno> {
        let stat = fstat(&root)?;
        let node = Arc::new(Node {
            number: ROOT,
            descriptor: root,
            region: None,
        });
        Ok(Nodes {
            device: stat.st_dev,
            table: RwLock::new(HashMap::from([(ROOT, Known { node, lookups: 1 })])),
        })
    }

    /// The inode of this number.
    ///
    /// # Errors
    /// `ESTALE` when the kernel never looked it up.
    pub(super) fn get(&self, number: u64) -> Result<Arc<Node>, Errno> {
        match self.table.read().get(&number) {
            Some(known) => Ok(Arc::clone(&known.node)),
            None => Err(Errno::STALE),
        }
    }

    /// Adds the inode that `descriptor` names, which is about to be returned to the kernel.
    ///
    /// # Errors
    /// `EXDEV` when something else is mounted there.
    pub(super) fn adopt(
        &self,
        descriptor: OwnedFd,
        space: &Space,
    ) -> Result<(Arc<Node>, Stat), Errno> {
        let stat = fstat(&descriptor)?;
        if stat.st_dev != self.device {
            return Err(Errno::XDEV);
        }
        let mut table = self.table.write();
        match table.entry(stat.st_ino) {
            Entry::Occupied(mut known) => {
                known.get_mut().lookups += 1;
                Ok((Arc::clone(&known.get().node), stat))
            }
            Entry::Vacant(place) => {
                let regular = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
                let node = Arc::new(Node {
                    number: stat.st_ino,
                    descriptor,
                    region: regular.then(|| space.region(&stat)),
                });
                place.insert(Known {
                    node: Arc::clone(&node),
                    lookups: 1,
                });
                Ok((node, stat))
            }
        }
    }

    /// Drops `count` lookups of an inode; a deleted file's space is then free.
    pub(super) fn forget(&self, number: u64, count: u64, space: &Space) {
        if number == ROOT {
            return;
        }
        let mut table = self.table.write();
        let Some(known) = table.get_mut(&number) else {
            return;
        };
        known.lookups = known.lookups.saturating_sub(count);
        if known.lookups > 0 {
            return;
        }
        if known.node.stat().is_ok_and(|stat| stat.st_nlink == 0) {
            space.delete(number);
        }
        table.remove(&number);
    }
}
