//! Devices, FIFOs and this program's own open files, which are written to instead of being replaced.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, openat};
use rustix::process::geteuid;

use super::kind;
use crate::FileError;

/// A file that is written to instead of being replaced.
pub(crate) enum StreamKind {
    /// A file that this program has open, by descriptor number.
    OwnDescriptor(u32),
    /// A terminal or another device, or a FIFO.
    Special,
}

/// Whether the path is a stream: the name of one of this program's open files, or a device or FIFO that
/// no other user created. A link to one is not a stream; it is replaced, wherever it leads.
pub(crate) fn stream_kind(path: &Path) -> Result<Option<StreamKind>, FileError> {
    if let Some(number) = own_descriptor(path) {
        return Ok(Some(StreamKind::OwnDescriptor(number)));
    }
    let Ok(metadata) = fs::symlink_metadata(path) else {
        return Ok(None);
    };
    let kind = metadata.file_type();
    let not_ours = |what: String| {
        let path = path.to_owned();
        Err(FileError::NotOurs { path, what })
    };
    if kind.is_block_device() || kind.is_socket() {
        return not_ours("is a block device or a socket, not a regular file".to_owned());
    }
    if !kind.is_fifo() && !kind.is_char_device() {
        return Ok(None);
    }
    // Another user's FIFO could block this program for ever.
    let owner = metadata.uid();
    let is_trusted = owner == geteuid().as_raw() || kind.is_char_device() && owner == 0;
    match is_trusted {
        true => Ok(Some(StreamKind::Special)),
        false => not_ours(format!("is a FIFO or device of user {owner}")),
    }
}

/// The number in paths such as `/dev/fd/N`.
fn own_descriptor(path: &Path) -> Option<u32> {
    match path.to_str()? {
        "/dev/stdout" => Some(1),
        "/dev/stderr" => Some(2),
        name => {
            let number = name.strip_prefix("/dev/fd/");
            let number = number.or_else(|| name.strip_prefix("/proc/self/fd/"));
            number?.parse().ok()
        }
    }
}

/// The stream at `path`, if it is one.
pub(crate) fn stream(path: &Path) -> Result<Option<File>, FileError> {
    let at = FileError::at(path);
    let opened = match stream_kind(path)? {
        None => return Ok(None),
        Some(StreamKind::OwnDescriptor(1)) => io::stdout().as_fd().try_clone_to_owned(),
        Some(StreamKind::OwnDescriptor(2)) => io::stderr().as_fd().try_clone_to_owned(),
        Some(StreamKind::OwnDescriptor(number)) => {
            let own = format!("/dev/fd/{number}");
            let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CLOEXEC;
            openat(CWD, own, flags, Mode::empty()).map_err(io::Error::from)
        }
        Some(StreamKind::Special) => {
            let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            openat(CWD, path, flags, Mode::empty()).map_err(io::Error::from)
        }
    };
    let opened = opened.map_err(&at)?;
    let is_regular =
        kind(&fstat(&opened).map_err(|error| at(error.into()))?) == FileType::RegularFile;
    if is_regular && own_descriptor(path).is_none() {
        let what = "was replaced by another file".to_owned();
        let path = path.to_owned();
        return Err(FileError::NotOurs { path, what });
    }
    Ok(Some(File::from(opened)))
}
