//! Status of files and of the volume: changing and reporting it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fuser::{FileAttr, FileType, INodeNo, TimeOrNow};
use rustix::fs::{
    AtFlags, Gid, Stat, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT, Uid, chownat, fstatvfs,
    utimensat,
};
use rustix::io::Errno;

use super::nodes::{Node, ROOT};
use super::tree::Tree;

/// Block size in the status of files and of the volume.
pub(super) const BLOCK: u32 = 4096;

/// Changes to an inode's status.
pub(super) struct Change {
    pub(super) mode: Option<u32>,
    pub(super) user: Option<u32>,
    pub(super) group: Option<u32>,
    /// The new length, and the open file through which it is set, if any.
    pub(super) length: Option<(u64, Option<u64>)>,
    pub(super) accessed: Option<TimeOrNow>,
    pub(super) modified: Option<TimeOrNow>,
}

/// Size of a volume, in blocks of [`BLOCK`].
pub(super) struct Room {
    pub(super) blocks: u64,
    pub(super) blocks_free: u64,
    pub(super) files: u64,
    pub(super) files_free: u64,
    pub(super) name_max: u32,
}

impl Tree {
    /// Changes an inode's status; returns the status after it.
    pub(super) fn change(&self, number: u64, change: &Change) -> Result<Stat, Errno> {
        let node = self.nodes.get(number)?;
        if change.user.is_some() || change.group.is_some() {
            let user = change.user.map(Uid::from_raw);
            let group = change.group.map(Gid::from_raw);
            chownat(&node.descriptor, c"", user, group, AtFlags::EMPTY_PATH)?;
        }
        // After the owner, whose change clears bits of the mode.
        if let Some(mode) = change.mode {
            self.set_mode(&node, mode)?;
        }
        if let Some((length, open)) = change.length {
            self.set_length(&node, open, length)?;
        }
        // After the length, whose change sets a time.
        if change.accessed.is_some() || change.modified.is_some() {
            set_times(&node, change)?;
        }
        node.stat()
    }

    /// Size and free space of the volume: no more free space than the backing filesystem has.
    pub(super) fn room(&self) -> Result<Room, Errno> {
        let backing = fstatvfs(&self.nodes.get(ROOT)?.descriptor)?;
        let (capacity, used) = (self.space.capacity(), self.space.used());
        let there = backing.f_bavail.saturating_mul(backing.f_frsize);
        let free = capacity.saturating_sub(used).min(there);
        // A size beyond any disk's stands for the backing filesystem's size.
        let total = capacity.min(used.saturating_add(backing.f_blocks * backing.f_frsize));
        Ok(Room {
            blocks: total / u64::from(BLOCK),
            blocks_free: free / u64::from(BLOCK),
            files: backing.f_files,
            files_free: backing.f_favail,
            name_max: u32::try_from(backing.f_namemax).unwrap_or(255),
        })
    }
}

fn set_times(node: &Node, change: &Change) -> Result<(), Errno> {
    let times = Timestamps {
        last_access: timespec(change.accessed),
        last_modification: timespec(change.modified),
    };
    utimensat(&node.descriptor, c"", &times, AtFlags::EMPTY_PATH)
}

fn timespec(time: Option<TimeOrNow>) -> Timespec {
    let special = |tv_nsec| Timespec { tv_sec: 0, tv_nsec };
    match time {
        None => special(UTIME_OMIT),
        Some(TimeOrNow::Now) => special(UTIME_NOW),
        Some(TimeOrNow::SpecificTime(time)) => since_epoch(time),
    }
}

fn since_epoch(time: SystemTime) -> Timespec {
    let seconds = |s: u64| i64::try_from(s).unwrap_or(i64::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => Timespec {
            tv_sec: seconds(after.as_secs()),
            tv_nsec: after.subsec_nanos().into(),
        },
        Err(before) => {
            let before = before.duration();
            // Nanoseconds count forward even before the epoch.
            let (borrow, nanoseconds) = match before.subsec_nanos() {
                0 => (0, 0),
                part => (1, 1_000_000_000 - part),
            };
            Timespec {
                tv_sec: -seconds(before.as_secs()) - borrow,
                tv_nsec: nanoseconds.into(),
            }
        }
    }
}

/// A status as reported to the kernel, for the inode that it knows as `number`.
pub(super) fn attribute(stat: &Stat, number: u64) -> FileAttr {
    FileAttr {
        // Always the number it was looked up by: the root's differs from that of its directory.
        ino: INodeNo(if number == ROOT { ROOT } else { stat.st_ino }),
        size: u64::try_from(stat.st_size).unwrap_or(0),
        blocks: u64::try_from(stat.st_blocks).unwrap_or(0),
        atime: time(stat.st_atime, stat.st_atime_nsec),
        mtime: time(stat.st_mtime, stat.st_mtime_nsec),
        ctime: time(stat.st_ctime, stat.st_ctime_nsec),
        crtime: UNIX_EPOCH,
        kind: kind(rustix::fs::FileType::from_raw_mode(stat.st_mode)),
        perm: (stat.st_mode & 0o7777) as u16,
        nlink: u32::try_from(stat.st_nlink).unwrap_or(u32::MAX),
        uid: stat.st_uid,
        gid: stat.st_gid,
        rdev: u32::try_from(stat.st_rdev).unwrap_or(0),
        blksize: BLOCK,
        flags: 0,
    }
}

fn time(seconds: i64, nanoseconds: u64) -> SystemTime {
    let part = Duration::from_nanos(nanoseconds);
    let whole = Duration::from_secs(seconds.unsigned_abs());
    match seconds >= 0 {
        true => UNIX_EPOCH + whole + part,
        false => UNIX_EPOCH - whole + part,
    }
}

/// The file type of an inode.
pub(super) fn kind(kind: rustix::fs::FileType) -> FileType {
    match kind {
        rustix::fs::FileType::Directory => FileType::Directory,
        rustix::fs::FileType::Symlink => FileType::Symlink,
        rustix::fs::FileType::Fifo => FileType::NamedPipe,
        rustix::fs::FileType::Socket => FileType::Socket,
        rustix::fs::FileType::CharacterDevice => FileType::CharDevice,
        rustix::fs::FileType::BlockDevice => FileType::BlockDevice,
        rustix::fs::FileType::RegularFile | rustix::fs::FileType::Unknown => FileType::RegularFile,
    }
}
