//! Copies of files by handles: no link is followed, on neither side.

use std::ffi::OsStr;
use std::fs::File;
use std::io;

use files::{FileError, Folder};

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

fn copy_file(mut from: File, mut to: File, owner: Owner) -> io::Result<()> {
    io::copy(&mut from, &mut to)?;
    match owner {
        Some((user, group)) => std::os::unix::fs::fchown(&to, Some(user), Some(group)),
        None => Ok(()),
    }
}
