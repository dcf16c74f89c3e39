//! Requests of the kernel to a volume in file mode, and their answers.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use fuser::{
    BsdFileFlags, FileHandle, Filesystem, FopenFlags, Generation, INodeNo, KernelConfig, LockOwner,
    OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty,
    ReplyEntry, ReplyLseek, ReplyOpen, ReplyStatfs, ReplyWrite, ReplyXattr, Request, TimeOrNow,
    WriteFlags,
};
use rustix::fs::{AtFlags, FallocateFlags, OFlags, SeekFrom, Stat};
use rustix::io::Errno;

use super::super::transport::{Replies, negotiate};
use super::attributes::{BLOCK, Change, attribute, kind};
use super::tree::{Caller, Found, Tree};

/// How long the kernel may cache attributes and entries: no other process changes the backing directory.
const BELIEVE: Duration = Duration::from_secs(3600);

/// A tree as the kernel sees it.
#[derive(Clone)]
pub(super) struct Front {
    pub(super) tree: Arc<Tree>,
    pub(super) replies: Replies,
}

/// How files are opened: past the page cache, so that each request of a program is one of the volume; with
/// concurrent writers; and without a flush on close.
fn how_open() -> FopenFlags {
    FopenFlags::FOPEN_DIRECT_IO
        | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES
        | FopenFlags::FOPEN_NOFLUSH
}

impl Filesystem for Front {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> std::io::Result<()> {
        negotiate(config);
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        entry(self.tree.lookup(parent.0, name), reply);
    }

    fn forget(&self, _: &Request, number: INodeNo, count: u64) {
        self.tree.nodes.forget(number.0, count, &self.tree.space);
    }

    fn getattr(&self, _: &Request, number: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        let stat = self.tree.nodes.get(number.0).and_then(|node| node.stat());
        attributes(stat, number.0, reply);
    }

    fn setattr(
        &self,
        _: &Request,
        number: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        atime: Option<TimeOrNow>,
        mtime: Option<TimeOrNow>,
        _: Option<SystemTime>,
        handle: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let change = Change {
            mode,
            user: uid,
            group: gid,
            length: size.map(|size| (size, handle.map(|handle| handle.0))),
            accessed: atime,
            modified: mtime,
        };
        attributes(self.tree.change(number.0, &change), number.0, reply);
    }

    fn readlink(&self, _: &Request, number: INodeNo, reply: ReplyData) {
        match self.tree.target(number.0) {
            Ok(target) => reply.data(&target),
            Err(error) => reply.error(code(error)),
        }
    }

    fn mknod(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        device: u32,
        reply: ReplyEntry,
    ) {
        let made = self
            .tree
            .make_node(parent.0, name, mode, device, caller(request));
        entry(made, reply);
    }

    fn mkdir(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        reply: ReplyEntry,
    ) {
        let made = self
            .tree
            .make_directory(parent.0, name, mode, caller(request));
        entry(made, reply);
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        done(self.tree.remove(parent.0, name, AtFlags::empty()), reply);
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        done(self.tree.remove(parent.0, name, AtFlags::REMOVEDIR), reply);
    }

    fn symlink(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        target: &Path,
        reply: ReplyEntry,
    ) {
        let made = self.tree.make_link(parent.0, name, target, caller(request));
        entry(made, reply);
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let flags = rustix::fs::RenameFlags::from_bits_retain(flags.bits());
        let (from, to) = ((parent.0, name), (new_parent.0, new_name));
        done(self.tree.rename(from, to, flags), reply);
    }

    fn link(&self, _: &Request, number: INodeNo, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        entry(self.tree.link(number.0, parent.0, name), reply);
    }

    fn open(&self, _: &Request, number: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        match self.tree.open(number.0, open_flags(flags.0)) {
            Ok(handle) => reply.opened(FileHandle(handle), how_open()),
            Err(error) => reply.error(code(error)),
        }
    }

    fn create(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        let flags = open_flags(flags);
        match self
            .tree
            .create(parent.0, name, mode, flags, caller(request))
        {
            Ok(((node, stat), handle)) => reply.created(
                &BELIEVE,
                &attribute(&stat, node.number),
                Generation(0),
                FileHandle(handle),
                how_open(),
            ),
            Err(error) => reply.error(code(error)),
        }
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: u64,
        length: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        self.replies
            .read(&*self.tree, handle.0, offset, length, reply);
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        self.replies
            .write(&*self.tree, handle.0, offset, data, reply);
    }

    fn fsync(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        data_only: bool,
        reply: ReplyEmpty,
    ) {
        self.replies.sync(&*self.tree, handle.0, data_only, reply);
    }

    /// A file is closed: nothing to do, and no disk to wait for.
    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn release(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        self.tree.files.close(handle.0);
        reply.ok();
    }

    fn opendir(&self, _: &Request, number: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        match self.tree.open_directory(number.0) {
            Ok(handle) => reply.opened(FileHandle(handle), FopenFlags::empty()),
            Err(error) => reply.error(code(error)),
        }
    }

    fn readdir(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let listed = self.tree.list(handle.0, offset, |entry, next| {
            reply.add(INodeNo(entry.number), next, kind(entry.kind), &entry.name)
        });
        match listed {
            Ok(()) => reply.ok(),
            Err(error) => reply.error(code(error)),
        }
    }

    fn releasedir(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        _: OpenFlags,
        reply: ReplyEmpty,
    ) {
        self.tree.directories.close(handle.0);
        reply.ok();
    }

    fn fsyncdir(&self, _: &Request, _: INodeNo, handle: FileHandle, _: bool, reply: ReplyEmpty) {
        match self.tree.sync_directory(handle.0) {
            Ok(due) => self.replies.done(due, reply),
            Err(error) => reply.error(code(error)),
        }
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        match self.tree.room() {
            Ok(room) => reply.statfs(
                room.blocks,
                room.blocks_free,
                room.blocks_free,
                room.files,
                room.files_free,
                BLOCK,
                room.name_max,
                BLOCK,
            ),
            Err(error) => reply.error(code(error)),
        }
    }

    fn fallocate(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let flags = FallocateFlags::from_bits_retain(mode.cast_unsigned());
        let allocated = self
            .tree
            .files
            .get(handle.0)
            .and_then(|open| self.tree.allocate(&open, offset, length, flags));
        done(allocated, reply);
    }

    fn lseek(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: i64,
        whence: i32,
        reply: ReplyLseek,
    ) {
        // The kernel answers every other kind itself.
        let offset = offset.cast_unsigned();
        let to = match whence {
            3 => SeekFrom::Data(offset),
            4 => SeekFrom::Hole(offset),
            _ => return reply.error(fuser::Errno::EINVAL),
        };
        let found = self.tree.files.get(handle.0);
        match found.and_then(|open| rustix::fs::seek(&open.file, to)) {
            Ok(offset) => reply.offset(offset.cast_signed()),
            Err(error) => reply.error(code(error)),
        }
    }

    // Once is enough for the kernel to learn that extended attributes are not supported.

    fn getxattr(&self, _: &Request, _: INodeNo, _: &OsStr, _: u32, reply: ReplyXattr) {
        reply.error(fuser::Errno::ENOSYS);
    }

    fn listxattr(&self, _: &Request, _: INodeNo, _: u32, reply: ReplyXattr) {
        reply.error(fuser::Errno::ENOSYS);
    }

    fn setxattr(
        &self,
        _: &Request,
        _: INodeNo,
        _: &OsStr,
        _: &[u8],
        _: i32,
        _: u32,
        reply: ReplyEmpty,
    ) {
        reply.error(fuser::Errno::ENOSYS);
    }

    fn removexattr(&self, _: &Request, _: INodeNo, _: &OsStr, reply: ReplyEmpty) {
        reply.error(fuser::Errno::ENOSYS);
    }
}

fn caller(request: &Request) -> Caller {
    Caller {
        user: request.uid(),
        group: request.gid(),
    }
}

fn open_flags(flags: i32) -> OFlags {
    OFlags::from_bits_retain(flags.cast_unsigned())
}

fn code(error: Errno) -> fuser::Errno {
    fuser::Errno::from_i32(error.raw_os_error())
}

fn done(result: Result<(), Errno>, reply: ReplyEmpty) {
    match result {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(code(error)),
    }
}

fn entry(found: Result<Found, Errno>, reply: ReplyEntry) {
    match found {
        Ok((node, stat)) => reply.entry(&BELIEVE, &attribute(&stat, node.number), Generation(0)),
        Err(error) => reply.error(code(error)),
    }
}

fn attributes(stat: Result<Stat, Errno>, number: u64, reply: ReplyAttr) {
    match stat {
        Ok(stat) => reply.attr(&BELIEVE, &attribute(&stat, number)),
        Err(error) => reply.error(code(error)),
    }
}
