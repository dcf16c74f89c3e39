//! A FUSE filesystem of one file: the image of a volume.

use std::ffi::OsStr;
use std::io;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use fuser::{
    Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo,
    KernelConfig, LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory, ReplyEmpty,
    ReplyEntry, ReplyOpen, ReplyWrite, Request, WriteFlags,
};
use model::Bytes;
use rustix::fs::FallocateFlags;

use super::super::image::NAME;
use super::super::transport::{Replies, negotiate};
use super::data::Data;

/// How long the kernel may cache attributes and entries: nothing here ever changes.
const FOREVER: Duration = Duration::from_secs(24 * 3600);

/// The image's inode; the root has number 1.
const IMAGE: INodeNo = INodeNo(2);

/// Its only handle, shared by all openers.
const HANDLE: FileHandle = FileHandle(1);

/// The filesystem.
#[derive(Clone)]
pub(super) struct OneFile {
    size: Bytes,
    data: Arc<Data>,
    replies: Replies,
}

impl OneFile {
    /// A filesystem whose file has `size`.
    pub(super) fn new(size: Bytes, data: Arc<Data>, replies: Replies) -> OneFile {
        OneFile {
            size,
            data,
            replies,
        }
    }

    fn attributes(&self, inode: INodeNo) -> Option<FileAttr> {
        let (kind, perm, size, nlink) = match inode {
            INodeNo::ROOT => (FileType::Directory, 0o500, 0, 2),
            IMAGE => (FileType::RegularFile, 0o600, self.size.0, 1),
            _ => return None,
        };
        Some(FileAttr {
            ino: inode,
            size,
            blocks: size / 512,
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind,
            perm,
            nlink,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        })
    }
}

impl Filesystem for OneFile {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        negotiate(config);
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match self.attributes(IMAGE) {
            Some(image) if parent == INodeNo::ROOT && name == NAME => {
                reply.entry(&FOREVER, &image, Generation(0));
            }
            _ => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(inode) {
            Some(attributes) => reply.attr(&FOREVER, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn readdir(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let entries = [
            (INodeNo::ROOT, FileType::Directory, "."),
            (INodeNo::ROOT, FileType::Directory, ".."),
            (IMAGE, FileType::RegularFile, NAME),
        ];
        let rest = (1..)
            .zip(entries)
            .skip(usize::try_from(offset).unwrap_or(usize::MAX));
        for (next, (inode, kind, name)) in rest {
            if reply.add(inode, next, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn open(&self, _: &Request, inode: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        match inode {
            IMAGE => reply.opened(
                HANDLE,
                FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES,
            ),
            _ => reply.error(Errno::EISDIR),
        }
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let left = self.size.0.saturating_sub(offset);
        let size = size.min(u32::try_from(left).unwrap_or(u32::MAX));
        self.replies
            .read(&*self.data, handle.0, offset, size, reply);
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
        // A disk does not grow.
        if offset.saturating_add(data.len() as u64) > self.size.0 {
            reply.error(Errno::ENOSPC);
        } else {
            self.replies
                .write(&*self.data, handle.0, offset, data, reply);
        }
    }

    fn fsync(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        data_only: bool,
        reply: ReplyEmpty,
    ) {
        self.replies.sync(&*self.data, handle.0, data_only, reply);
    }

    /// Used by a loop device to discard; not modelled, since no vendor publishes its cost.
    fn fallocate(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let frees = FallocateFlags::PUNCH_HOLE | FallocateFlags::ZERO_RANGE;
        let mode = FallocateFlags::from_bits_retain(mode.cast_unsigned());
        if !mode.intersects(frees) || offset.saturating_add(length) > self.size.0 {
            reply.error(Errno::EOPNOTSUPP);
            return;
        }
        match self.data.discard(offset, length) {
            Ok(()) => reply.ok(),
            Err(error) => reply.error(Errno::from_i32(error.0)),
        }
    }
}
