//! Atomic writes of files, and directories that only this user can write to.
//!
//! Root runs this program in directories that others own, and every user runs it in `/tmp`. Anyone with
//! write access to a directory may create a link, a FIFO or a directory under a name known in advance.
//! Three rules protect root from that:
//!
//! - A file is written under a new name, guaranteed by `O_EXCL`, and renamed. Whatever has the final name, including a
//!   link, is replaced; the target of a link is left unchanged.
//! - A [`Folder`] is held open, and [names](PlainName) are looked up in it: it cannot be replaced in between, and no
//!   name leads out of it. It has the mode that its creator gave it.
//! - An existing file under one of our names is used only if it is owned by this user and not a link.
//!
//! ```
//! use files::{Readers, write_whole};
//!
//! let folder = tempfile::tempdir()?;
//! write_whole(&folder.path().join("report.html"), b"<p>", Readers::Umask)?;
//! assert_eq!(std::fs::read(folder.path().join("report.html"))?, b"<p>");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `docs/security.md` lists every place that writes, and `tests/documents/tidy.rs` holds the program to that list.

mod error;
pub mod input;

#[cfg(not(unix))]
#[path = "elsewhere.rs"]
mod folder;
#[cfg(unix)]
mod folder;
mod name;
mod readers;
#[cfg(test)]
mod tests;
mod unfinished;

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

pub use error::FileError;
pub use folder::Folder;
pub use name::PlainName;
pub use readers::Readers;
pub use unfinished::{is_unfinished, unique_name};

/// Writes a file atomically, replacing whatever has that name, including a link.
///
/// # Errors
/// When the disk is full, or the directory cannot be written.
pub fn write_whole(path: &Path, bytes: &[u8], readers: Readers) -> Result<(), FileError> {
    let (folder, name) = place(path)?;
    folder.write(name, bytes, readers)
}

/// Writes a file atomically, and only if nothing exists under that name.
///
/// # Errors
/// As for [`write_whole`], and when something exists there.
pub fn write_new(path: &Path, bytes: &[u8], readers: Readers) -> Result<(), FileError> {
    let (folder, name) = place(path)?;
    folder.write_new(name, bytes, readers)
}

/// Checks that [`write_new`] can currently write a file there. Leaves nothing behind.
///
/// # Errors
/// When something exists under that name, or no file can be created next to it.
pub fn check_new(path: &Path) -> Result<(), FileError> {
    let (folder, name) = place(path)?;
    folder.check_new(name)
}

/// Creates an empty file for this user only, if nothing exists under that name; open for reading and writing.
///
/// # Errors
/// When something exists there, or the directory cannot be written.
pub fn new_private(path: &Path) -> Result<File, FileError> {
    let (folder, name) = place(path)?;
    folder.new_file(name)
}

/// Writes an output at a path chosen by the user: like [`write_whole`], but a terminal, a FIFO or
/// `/dev/stdout` is written to.
///
/// # Errors
/// As for [`write_whole`], and when the path is a block device or a socket.
pub fn write_named(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    match folder::stream(path)? {
        Some(mut stream) => stream.write_all(bytes).map_err(FileError::at(path)),
        None => write_whole(path, bytes, Readers::Umask),
    }
}

/// Whether [`write_named`] writes to what exists at `path`, instead of replacing it.
pub fn is_stream(path: &Path) -> bool {
    matches!(folder::stream_kind(path), Ok(Some(_)))
}

/// A file to be written incrementally at a path chosen by the user, empty at first; an existing one is
/// treated as by [`write_named`].
///
/// # Errors
/// As for [`write_named`].
pub fn create_named(path: &Path) -> Result<File, FileError> {
    match folder::stream(path)? {
        Some(stream) => Ok(stream),
        None => {
            let (folder, name) = place(path)?;
            folder.create(name)
        }
    }
}

/// The directory of a file, held open, and the file's name in it.
fn place(path: &Path) -> Result<(Folder, &OsStr), FileError> {
    let name = path.file_name().ok_or_else(|| FileError::Io {
        path: path.to_owned(),
        source: io::ErrorKind::IsADirectory.into(),
    })?;
    let parent = path.parent().filter(|path| !path.as_os_str().is_empty());
    let folder = Folder::open(parent.unwrap_or(Path::new(".")));
    // The user named the file, not its folder.
    let folder = folder.map_err(|error| match error {
        FileError::Io { source, .. } => FileError::at(path)(source),
        other => other,
    });
    Ok((folder?, name))
}
