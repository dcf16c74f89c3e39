//! File mode: a directory tree without page cache, where each request of a program is one request to the model.
//!
//! Names, status, creating and deleting cost nothing in the model: a real filesystem keeps those in memory
//! and writes them to its journal, whose traffic is not modelled here. Syncing a directory is a flush.

// Where files lie, which inodes the kernel knows, and what is open.
mod handles;
mod nodes;
mod space;

// Operations on them.
mod attributes;
mod data;
mod tree;

// The kernel's interface to them.
mod filesystem;

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{CWD, Gid, Mode, OFlags, Uid, chownat, openat};
use rustix::process::geteuid;

use super::error::EmulationError;
use super::mounted::{Mounted, Parts};
use super::prepare;
use super::setup::MountSpec;
use super::transport::{MountPoint, MountedFilesystem, Transport};
use files::Folder;
use filesystem::Front;
use handles::Handles;
use host::mounts::SOURCE;
use nodes::Nodes;
use space::Space;
use tree::Tree;

/// Mounts the volume with index `place` of an emulation.
pub(super) fn mount(
    mount: &MountSpec,
    place: usize,
    parts: &Parts,
) -> Result<Box<dyn Mounted>, EmulationError> {
    prepare::mount_point(mount)?;
    let files = prepare::backing(mount)?;
    let lock = prepare::lock(mount)?;
    let failed = |source: std::io::Error| {
        let what = format!(
            "cannot mount volume \"{}\" at {}",
            mount.volume.name,
            mount.directory.display()
        );
        EmulationError::system(what, source)
    };
    let tree = Arc::new(tree(mount, place, &files, parts).map_err(failed)?);
    let front = Front {
        tree: Arc::clone(&tree),
        replies: parts.replies.clone(),
    };
    let at = MountPoint {
        directory: &mount.directory,
        all_users: geteuid().is_root(),
    };
    parts
        .registration
        .mounting(&mount.directory, SOURCE)
        .map_err(failed)?;
    let session = parts
        .transport
        .mount(&at, front, tree, &parts.pace)
        .map_err(failed)?;
    Ok(Box::new(MountedTree {
        name: mount.volume.name.clone(),
        session,
        _lock: lock,
    }))
}

fn tree(mount: &MountSpec, place: usize, files: &Path, parts: &Parts) -> std::io::Result<Tree> {
    if let Some((user, group)) = mount.owner {
        let (user, group) = (Uid::from_raw(user), Gid::from_raw(group));
        let flags = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
        chownat(CWD, files, Some(user), Some(group), flags)?;
    }
    if let Some(mode) = mount.others.mode() {
        let root = Folder::open(files).and_then(|root| root.change_mode(mode));
        root.map_err(std::io::Error::other)?;
    }
    let how = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let root = openat(CWD, files, how, Mode::empty())?;
    let tree = Tree {
        storage: Arc::clone(&parts.storage),
        trace: parts.trace.clone(),
        volume: place,
        name: mount.volume.name.clone(),
        backing: files.canonicalize()?,
        nodes: Nodes::new(root)?,
        space: Space::new(mount.size.0),
        files: Handles::new(),
        directories: Handles::new(),
    };
    tree.take_stock()?;
    Ok(tree)
}

/// A mounted tree.
struct MountedTree {
    name: String,
    session: Box<dyn MountedFilesystem>,
    // After the session: others may use the files once nothing is mounted.
    _lock: File,
}

impl Mounted for MountedTree {
    fn stop(self: Box<Self>) -> Result<(), EmulationError> {
        let MountedTree {
            name,
            session,
            _lock,
        } = *self;
        session.unmount().map_err(|source| EmulationError::Stop {
            volume: name,
            source,
        })
    }
}
