//! Files that are written whole or not at all, and directories that this user alone writes to.
//!
//! Root runs this program in directories that others own, and every user runs it in `/tmp`. Whoever may
//! write to a directory may put a link, a FIFO or a directory of their own under a name that is known
//! beforehand. Three rules keep root from acting on it:
//!
//! - A file is written under a new name, which `O_EXCL` makes sure of, and renamed. What is there under the
//!   final name, a link too, is replaced; what a link leads to is left as it was.
//! - A [`Folder`] is held open, and [names](PlainName) are looked up in it: it cannot be exchanged meanwhile, and no name
//!   leads out of it. Its mode is that of whoever made it.
//! - What is found under a name of ours is used only if it is this user's own and no link.
//!
//! `docs/security.md` lists every place that writes, and `tests/tidy.rs` holds the program to that list.

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

/// Begins the name of a file that is being written, so that what a kill leaves is known as ours.
const PREFIX: &str = ".dbstow-";
/// Ends it.
const SUFFIX: &str = ".part";

/// Who may read a file that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// Whom the user's mask lets, as with every result; nobody else writes to it, whatever the mask.
    Umask,
    /// The user alone.
    OwnerOnly,
    /// The user and a group, which reads only.
    Group(u32),
}

/// Why a file or directory was not written or not used.
#[derive(Debug, Error)]
pub enum FileError {
    /// Something is under the name that this user did not put there, or that is not what it should be.
    #[error("{} {what}; dbstow will not use it: remove it, or choose another path", path.display())]
    NotOurs {
        /// Where.
        path: PathBuf,
        /// What is wrong with it, as `is a symbolic link`.
        what: String,
    },
    /// A directory of ours that others can write to.
    #[error("{} can be written by others (mode {mode:o}); run `chmod go-w` on it, or choose another directory", path.display())]
    OthersWrite {
        /// Which directory.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// A directory of ours that is not as dbstow makes it.
    #[error(
        "{} has mode {found:o} and not {wanted:o}, and dbstow changes no directory that it did not make; run \
         `chmod {wanted:o}` on it, or choose another directory",
        path.display()
    )]
    OtherMode {
        /// Which directory.
        path: PathBuf,
        /// Its permissions.
        found: u32,
        /// Those that it is made with.
        wanted: u32,
    },
    /// A name that would lead elsewhere.
    #[error(
        "\"{}\" is not the name of one file or directory; give a name that is not empty, \".\" or \"..\", and has no \
         separator",
        .0.display()
    )]
    NotPlain(PathBuf),
    /// A directory in which every user can rename what is ours.
    #[error("{} lets every user rename what is in it; run `chmod +t` on it, or choose another directory", .0.display())]
    NoStickyBit(PathBuf),
    /// There is a file already that must not be replaced.
    #[error("{} is there already; remove it, or give another place", .0.display())]
    Exists(PathBuf),
    /// The system refused something.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which file or directory.
        path: PathBuf,
        /// Why.
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

/// Writes a file whole or not at all, in the place of what is under that name: also of a link.
///
/// # Errors
/// When the disk is full, or the directory cannot be written.
pub fn write_whole(path: &Path, bytes: &[u8], readers: Readers) -> Result<(), FileError> {
    let (folder, name) = place(path)?;
    folder.write(name, bytes, readers)
}

/// Writes a file whole or not at all, and only if nothing is under that name.
///
/// # Errors
/// As [`write_whole`], and when something is.
pub fn write_new(path: &Path, bytes: &[u8], readers: Readers) -> Result<(), FileError> {
    let (folder, name) = place(path)?;
    folder.write_new(name, bytes, readers)
}

/// Checks that [`write_new`] can write a file there as things are now. Nothing stays.
///
/// # Errors
/// When something is under that name, or no file can be made beside it.
pub fn check_new(path: &Path) -> Result<(), FileError> {
    let (folder, name) = place(path)?;
    folder.check_new(name)
}

/// Makes an empty file for this user alone, only if nothing is under that name; open for reading and writing.
///
/// # Errors
/// When something is, or the directory cannot be written.
pub fn new_private(path: &Path) -> Result<File, FileError> {
    let (folder, name) = place(path)?;
    folder.new_file(name)
}

/// Writes what a user wants at a path of their own choice: as [`write_whole`], but a terminal, a FIFO or
/// `/dev/stdout` is written to.
///
/// # Errors
/// As [`write_whole`], and when the path is a block device or a socket.
pub fn write_named(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    match folder::stream(path)? {
        Some(mut stream) => stream.write_all(bytes).map_err(FileError::at(path)),
        None => write_whole(path, bytes, Readers::Umask),
    }
}

/// Whether [`write_named`] writes to what is at `path`, instead of replacing it.
pub fn is_stream(path: &Path) -> bool {
    matches!(folder::stream_kind(path), Ok(Some(_)))
}

/// A file to be written bit by bit at a path of the user's choice, empty at first; what is there is treated
/// as by [`write_named`].
///
/// # Errors
/// As [`write_named`].
pub fn create_named(path: &Path) -> Result<File, FileError> {
    match folder::stream(path)? {
        Some(stream) => Ok(stream),
        None => {
            let (folder, name) = place(path)?;
            folder.create(name)
        }
    }
}

/// `prefix` and a number that nobody can know beforehand.
pub fn unique_name(prefix: &str) -> String {
    // The keys of a hash map's hasher are the random numbers that std has.
    format!(
        "{prefix}{:016x}",
        RandomState::new().build_hasher().finish()
    )
}

/// Whether a file of this name was being written when its writer was killed.
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

/// The directory that a file is in, held open, and the file's name there.
fn place(path: &Path) -> Result<(Folder, &OsStr), FileError> {
    let name = path.file_name().ok_or_else(|| FileError::Io {
        path: path.to_owned(),
        source: io::ErrorKind::IsADirectory.into(),
    })?;
    let parent = path.parent().filter(|path| !path.as_os_str().is_empty());
    let folder = Folder::open(parent.unwrap_or(Path::new(".")));
    // What was asked for is the file.
    let folder = folder.map_err(|error| match error {
        FileError::Io { source, .. } => FileError::at(path)(source),
        other => other,
    });
    Ok((folder?, name))
}
