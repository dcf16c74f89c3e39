//! A volume's directories and files: names, status and open files, over the backing directory.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use rustix::fs::{
    AtFlags, CWD, Dir, Mode, OFlags, RenameFlags, Stat, chmodat, chownat, fchmod, linkat, mkdirat,
    mknodat, openat, readlinkat, renameat_with, symlinkat, unlinkat,
};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::super::trace::Trace;
use super::handles::{Handles, Listed, OpenDirectory, OpenFile};
use super::nodes::{Node, Nodes, ROOT};
use super::space::Space;
use paced::PacedStorage;

/// The permission bits of a mode, without the file type.
const PERMISSIONS: u32 = 0o7777;

/// Bits with which a program runs as its file's owner or group. Files of a volume never have them: they are written by
/// this process, as root, for which the kernel would keep the bits when another user changes the content.
const SET_ID: u32 = 0o6000;

/// Inherited by entries of a directory: they get its group, and directories this bit too.
const SET_GROUP: u32 = 0o2000;

/// Flags of an open file that its real file must not have. `O_APPEND`: the kernel passes the offset of
/// each write itself, and a real file would ignore it. `O_DIRECT`: buffers are not aligned here, and the
/// page cache is what makes the real file fast. The others have already taken effect.
const NOT_PASSED_ON: OFlags = OFlags::APPEND
    .union(OFlags::DIRECT)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CREATE)
    .union(OFlags::EXCL)
    .union(OFlags::TRUNC)
    .union(OFlags::NOCTTY);

/// A volume in file mode.
pub(super) struct Tree {
    pub(super) storage: Arc<PacedStorage>,
    pub(super) trace: Option<Arc<Trace>>,
    /// Index of the volume in the emulation.
    pub(super) volume: usize,
    pub(super) name: String,
    /// Where the real files are.
    pub(super) backing: PathBuf,
    pub(super) nodes: Nodes,
    pub(super) space: Space,
    pub(super) files: Handles<OpenFile>,
    pub(super) directories: Handles<OpenDirectory>,
}

/// The user who creates something.
#[derive(Clone, Copy)]
pub(super) struct Caller {
    pub(super) user: u32,
    pub(super) group: u32,
}

/// What the kernel receives for an inode.
pub(super) type Found = (Arc<Node>, Stat);

impl Tree {
    /// The inode of a name.
    pub(super) fn lookup(&self, parent: u64, name: &OsStr) -> Result<Found, Errno> {
        let parent = self.nodes.get(parent)?;
        self.adopt(&parent, name)
    }

    fn adopt(&self, parent: &Node, name: &OsStr) -> Result<Found, Errno> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let descriptor = openat(&parent.descriptor, name, flags, Mode::empty())?;
        self.nodes.adopt(descriptor, &self.space)
    }

    /// Creates a directory.
    pub(super) fn make_directory(
        &self,
        parent: u64,
        name: &OsStr,
        mode: u32,
        caller: Caller,
    ) -> Result<Found, Errno> {
        let parent = self.nodes.get(parent)?;
        mkdirat(
            &parent.descriptor,
            name,
            Mode::from_raw_mode(mode & PERMISSIONS),
        )?;
        let inherited = parent.stat()?.st_mode & SET_GROUP;
        self.hand_over(&parent, name, caller)?;
        let found = self.adopt(&parent, name)?;
        self.set_mode(&found.0, mode | inherited)?;
        let stat = found.0.stat()?;
        Ok((found.0, stat))
    }

    /// Creates a file that is neither a directory nor a symbolic link.
    pub(super) fn make_node(
        &self,
        parent: u64,
        name: &OsStr,
        mode: u32,
        device: u32,
        caller: Caller,
    ) -> Result<Found, Errno> {
        let parent = self.nodes.get(parent)?;
        let kind = rustix::fs::FileType::from_raw_mode(mode);
        let permissions = Mode::from_raw_mode(mode & PERMISSIONS & !SET_ID);
        mknodat(
            &parent.descriptor,
            name,
            kind,
            permissions,
            u64::from(device),
        )?;
        self.hand_over(&parent, name, caller)?;
        let found = self.adopt(&parent, name)?;
        self.set_mode(&found.0, mode)?;
        let stat = found.0.stat()?;
        Ok((found.0, stat))
    }

    /// Creates a symbolic link to `target`.
    pub(super) fn make_link(
        &self,
        parent: u64,
        name: &OsStr,
        target: &Path,
        caller: Caller,
    ) -> Result<Found, Errno> {
        let parent = self.nodes.get(parent)?;
        symlinkat(target, &parent.descriptor, name)?;
        self.hand_over(&parent, name, caller)?;
        self.adopt(&parent, name)
    }

    /// Creates and opens a file; returns the number of the open file.
    pub(super) fn create(
        &self,
        parent: u64,
        name: &OsStr,
        mode: u32,
        flags: OFlags,
        caller: Caller,
    ) -> Result<(Found, u64), Errno> {
        let parent = self.nodes.get(parent)?;
        let how = (flags & (OFlags::RWMODE | OFlags::EXCL | OFlags::TRUNC))
            | OFlags::CREATE
            | OFlags::NOFOLLOW
            | OFlags::CLOEXEC
            | durable(flags);
        let permissions = Mode::from_raw_mode(mode & PERMISSIONS & !SET_ID);
        let file = openat(&parent.descriptor, name, how, permissions)?;
        // This process has its own umask, not the caller's.
        fchmod(&file, permissions)?;
        self.hand_over(&parent, name, caller)?;
        // By the open file, not by its name, which may lead elsewhere by now.
        let by_number = format!("/proc/self/fd/{}", file.as_raw_fd());
        let descriptor = openat(
            CWD,
            by_number,
            OFlags::PATH | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        let found = self.nodes.adopt(descriptor, &self.space)?;
        let handle = self.open_file(file, &found.0, flags);
        Ok((found, handle))
    }

    /// Transfers a new file to the caller.
    fn hand_over(&self, parent: &Node, name: &OsStr, caller: Caller) -> Result<(), Errno> {
        // Without root everything belongs to the one user who can use the volume.
        if !geteuid().is_root() {
            return Ok(());
        }
        let group_is_parents = parent.stat()?.st_mode & SET_GROUP != 0;
        let group = (!group_is_parents).then(|| rustix::fs::Gid::from_raw(caller.group));
        let user = Some(rustix::fs::Uid::from_raw(caller.user));
        chownat(
            &parent.descriptor,
            name,
            user,
            group,
            AtFlags::SYMLINK_NOFOLLOW,
        )
    }

    /// Sets permissions, without [`SET_ID`] except for directories.
    pub(super) fn set_mode(&self, node: &Node, mode: u32) -> Result<(), Errno> {
        let is_directory = |stat: Stat| {
            rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::Directory
        };
        let mode = match mode & SET_ID != 0 && !is_directory(node.stat()?) {
            true => mode & !SET_ID,
            false => mode,
        };
        let mode = Mode::from_raw_mode(mode & PERMISSIONS);
        chmodat(CWD, node.path(), mode, AtFlags::empty())
    }

    /// Removes a name; that of a directory depending on `flags`.
    pub(super) fn remove(&self, parent: u64, name: &OsStr, flags: AtFlags) -> Result<(), Errno> {
        let parent = self.nodes.get(parent)?;
        unlinkat(&parent.descriptor, name, flags)
    }

    /// Renames.
    pub(super) fn rename(
        &self,
        from: (u64, &OsStr),
        to: (u64, &OsStr),
        flags: RenameFlags,
    ) -> Result<(), Errno> {
        let (old, new) = (self.nodes.get(from.0)?, self.nodes.get(to.0)?);
        renameat_with(&old.descriptor, from.1, &new.descriptor, to.1, flags)
    }

    /// Adds a hard link to an inode.
    pub(super) fn link(&self, number: u64, parent: u64, name: &OsStr) -> Result<Found, Errno> {
        let (node, parent) = (self.nodes.get(number)?, self.nodes.get(parent)?);
        // Only root can link by descriptor alone.
        let follow = AtFlags::SYMLINK_FOLLOW;
        linkat(CWD, node.path(), &parent.descriptor, name, follow)?;
        self.adopt(&parent, name)
    }

    /// The target of a symbolic link.
    pub(super) fn target(&self, number: u64) -> Result<Vec<u8>, Errno> {
        let node = self.nodes.get(number)?;
        Ok(readlinkat(&node.descriptor, c"", Vec::new())?.into_bytes())
    }

    /// Opens a file; returns its number.
    pub(super) fn open(&self, number: u64, flags: OFlags) -> Result<u64, Errno> {
        let node = self.nodes.get(number)?;
        let how = flags.difference(NOT_PASSED_ON) | OFlags::CLOEXEC;
        let file = openat(CWD, node.path(), how, Mode::empty())?;
        Ok(self.open_file(file, &node, flags))
    }

    fn open_file(&self, file: OwnedFd, node: &Arc<Node>, flags: OFlags) -> u64 {
        self.files.open(OpenFile {
            file: File::from(file),
            node: Arc::clone(node),
            durable: !durable(flags).is_empty(),
        })
    }

    /// Opens a directory; returns its number.
    pub(super) fn open_directory(&self, number: u64) -> Result<u64, Errno> {
        let node = self.nodes.get(number)?;
        let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let file = openat(CWD, node.path(), how, Mode::empty())?;
        Ok(self.directories.open(OpenDirectory {
            file: File::from(file),
            listing: Mutex::default(),
        }))
    }

    /// Passes entries of an open directory to `add` from the one at `offset` on, each with the offset of
    /// the next, until `add` reports that it is full.
    pub(super) fn list(
        &self,
        handle: u64,
        offset: u64,
        mut add: impl FnMut(&Listed, u64) -> bool,
    ) -> Result<(), Errno> {
        let open = self.directories.get(handle)?;
        let mut listing = open.listing.lock();
        if offset == 0 {
            *listing = listed(open.file.as_fd())?;
        }
        let from = usize::try_from(offset).unwrap_or(usize::MAX);
        for (place, entry) in listing.iter().enumerate().skip(from) {
            if add(entry, place as u64 + 1) {
                break;
            }
        }
        Ok(())
    }

    /// Truncates or extends a file.
    pub(super) fn set_length(
        &self,
        node: &Arc<Node>,
        open: Option<u64>,
        length: u64,
    ) -> Result<(), Errno> {
        let region = node.region.as_deref().ok_or(Errno::INVAL)?;
        let file = match open {
            Some(handle) => self.files.get(handle)?,
            None => {
                let how = OFlags::WRONLY | OFlags::CLOEXEC;
                let file = openat(CWD, node.path(), how, Mode::empty())?;
                Arc::new(OpenFile {
                    file: File::from(file),
                    node: Arc::clone(node),
                    durable: false,
                })
            }
        };
        // An extended file has a hole there, which takes no space.
        self.space.grow(region, 0, || {
            rustix::fs::ftruncate(&file.file, length)?;
            rustix::fs::fstat(&file.file)
        })
    }

    /// Path of a file below the volume's root; the last one it had if it is deleted.
    pub(super) fn path_below_root(&self, node: &Node) -> String {
        let Ok(path) = readlinkat(CWD, node.path(), Vec::new()) else {
            return String::new();
        };
        let bytes = path.into_bytes();
        let bytes = bytes.strip_suffix(b" (deleted)").unwrap_or(&bytes);
        let path = Path::new(OsStr::from_bytes(bytes));
        let below = path.strip_prefix(&self.backing).unwrap_or(path);
        below.to_string_lossy().into_owned()
    }

    /// Counts the space of existing files from an earlier emulation.
    pub(super) fn take_stock(&self) -> Result<(), Errno> {
        let root = self.nodes.get(ROOT)?;
        let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut directories = vec![openat(CWD, root.path(), how, Mode::empty())?];
        while let Some(directory) = directories.pop() {
            for entry in listed(directory.as_fd())? {
                if entry.name == "." || entry.name == ".." {
                    continue;
                }
                match entry.kind {
                    rustix::fs::FileType::Directory => {
                        let how = how | OFlags::NOFOLLOW;
                        directories.push(openat(&directory, &entry.name, how, Mode::empty())?);
                    }
                    rustix::fs::FileType::RegularFile => {
                        let no_follow = AtFlags::SYMLINK_NOFOLLOW;
                        let stat = rustix::fs::statat(&directory, &entry.name, no_follow)?;
                        self.space.region(&stat);
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

/// Those of `flags` that make each write durable.
fn durable(flags: OFlags) -> OFlags {
    flags & (OFlags::SYNC | OFlags::DSYNC)
}

fn listed(directory: impl AsFd) -> Result<Vec<Listed>, Errno> {
    let entries = Dir::read_from(directory)?;
    let listed = entries.map(|entry| {
        let entry = entry?;
        Ok(Listed {
            number: entry.ino(),
            kind: entry.file_type(),
            name: OsString::from_vec(entry.file_name().to_bytes().to_vec()),
        })
    });
    listed.collect()
}
