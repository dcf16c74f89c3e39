//! Copies of files by handles: no link is followed, on neither side.

use std::ffi::OsStr;
use std::fs::File;
use std::io;

use files::{FileError, Folder};
use model::Bytes;

/// User and group of copies; `None`: dbstow's own.
type Owner = Option<(u32, u32)>;

/// Copies a file, or a directory with all that is in it, and gives the copy to `owner`.
///
/// # Errors
/// When something is neither, or cannot be copied.
pub fn copy(from: &Folder, to: &Folder, name: &OsStr, owner: Owner) -> Result<(), FileError> {
    match from.inner(name) {
        Ok(inner) => {
            let made = made(to, name, owner)?;
            let mut names = inner.names()?.into_iter();
            names.try_for_each(|name| copy(&inner, &made, &name, owner))
        }
        Err(_) => {
            copy_file(from.regular_file(name)?, to.new_file(name)?, owner).map_err(|source| {
                FileError::Io {
                    path: to.path().join(name),
                    source,
                }
            })
        }
    }
}

/// Makes an empty directory of `owner`.
///
/// # Errors
/// When it exists, or cannot be made.
pub fn made(to: &Folder, name: &OsStr, owner: Owner) -> Result<Folder, FileError> {
    let made = to.new_folder(name)?;
    if let Some((user, group)) = owner {
        made.change_owner(user, group)?;
    }
    Ok(made)
}

/// The size of all files in a directory with at most `deepest` levels of directories below it. `accept` refuses names, and says which do
/// not count; links and special files that count are refused.
///
/// # Errors
/// Why something is refused, or cannot be read.
pub fn size(
    folder: &Folder,
    deepest: usize,
    accept: &dyn Fn(&Folder, &OsStr) -> Result<bool, String>,
) -> Result<Bytes, String> {
    let mut size: u64 = 0;
    for name in folder.names().map_err(|error| error.to_string())? {
        if !accept(folder, &name)? {
            continue;
        }
        match (folder.inner(&name), deepest.checked_sub(1)) {
            (Ok(inner), Some(deepest)) => {
                size = self::size(&inner, deepest, accept)?.0.saturating_add(size)
            }
            (Ok(inner), None) => {
                let path = inner.path().display();
                return Err(format!("{path} lies too deep for a directory of a server"));
            }
            (Err(_), _) => {
                let file = folder.regular_file(&name);
                let file = file.map_err(|error| {
                    format!("{error}; a data directory has only files and directories")
                })?;
                let length = file.metadata().map_err(|error| error.to_string())?.len();
                // A hostile backup may have holes as large as a file can be.
                size = length.saturating_add(size);
            }
        }
    }
    Ok(Bytes(size))
}

fn copy_file(mut from: File, mut to: File, owner: Owner) -> io::Result<()> {
    io::copy(&mut from, &mut to)?;
    match owner {
        Some((user, group)) => std::os::unix::fs::fchown(&to, Some(user), Some(group)),
        None => Ok(()),
    }
}
