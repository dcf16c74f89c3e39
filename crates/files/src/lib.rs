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

pub mod input;

#[cfg(not(unix))]
#[path = "elsewhere.rs"]
mod folder;
#[cfg(unix)]
mod folder;
mod name;
#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use thiserror::Error;

pub use folder::Folder;
pub use name::PlainName;

/// Prefix of a file that is being written, so that the files of a killed process are recognised.
const PREFIX: &str = ".dbstow-";
/// Its suffix.
const SUFFIX: &str = ".part";

/// Who may read a written file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// As the user's umask allows, as for every result; no other user can write to it, regardless of the umask.
    Umask,
    /// The user only.
    OwnerOnly,
    /// The user and a group, which can only read.
    Group(u32),
}

/// Why a file or directory was not written or not used.
#[derive(Debug, Error)]
pub enum FileError {
    /// Something exists under the name that this user did not create, or that is of the wrong kind.
    #[error("{} {what}; dbstow will not use it: remove it, or choose another path", path.display())]
    NotOurs {
        /// Its path.
        path: PathBuf,
        /// What is wrong with it, such as `is a symbolic link`.
        what: String,
    },
    /// A directory of ours that others can write to.
    #[error("{} can be written by others (mode {mode:o}); run `chmod go-w` on it, or choose another directory", path.display())]
    OthersWrite {
        /// The directory.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// A directory of ours with other permissions than dbstow gives it.
    #[error(
        "{} has mode {found:o} and not {wanted:o}, and dbstow changes no directory that it did not make; run \
         `chmod {wanted:o}` on it, or choose another directory",
        path.display()
    )]
    OtherMode {
        /// The directory.
        path: PathBuf,
        /// Its permissions.
        found: u32,
        /// Those that dbstow gives it.
        wanted: u32,
    },
    /// A name that would lead elsewhere.
    #[error(
        "\"{}\" is not the name of one file or directory; give a name that is not empty, \".\" or \"..\", and has no \
         separator",
        .0.display()
    )]
    NotPlain(PathBuf),
    /// A directory in which every user can rename our files.
    #[error("{} lets every user rename what is in it; run `chmod +t` on it, or choose another directory", .0.display())]
    NoStickyBit(PathBuf),
    /// A file exists already and must not be replaced.
    #[error("{} is there already; remove it, or give another place", .0.display())]
    Exists(PathBuf),
    /// A failed system call.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

impl FileError {
    fn at(path: &Path) -> impl Fn(io::Error) -> FileError + use<> {
        let path = path.to_owned();
        move |source| FileError::Io {
            path: path.clone(),
            source,
        }
    }
}

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

/// `prefix` and an unpredictable number.
pub fn unique_name(prefix: &str) -> String {
    // The keys of a hash map's hasher are std's only source of random numbers.
    format!(
        "{prefix}{:016x}",
        RandomState::new().build_hasher().finish()
    )
}

/// Whether the name is that of a file whose writer was killed.
pub fn is_unfinished(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let number = name
        .strip_prefix(PREFIX)
        .and_then(|rest| rest.strip_suffix(SUFFIX));
    number.is_some_and(|number| {
        number.len() == 16 && number.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

fn unfinished_name() -> String {
    unique_name(PREFIX) + SUFFIX
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
