//! A folder that dbstow fills: results, advice, scripts, pages, the bytes of a volume.
//!
//! Who runs dbstow in a directory that others write to, such as `/tmp`, may find a link or a folder of theirs under the
//! name, since that is known or guessed. Through the one, files would be written wherever it leads; in the other, its
//! owner could replace them, a script too that somebody runs afterwards.

use std::ffi::OsStr;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, fstat, mkdirat, openat, statat};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::{Folder, OTHERS_WRITE, kind, permissions, raw};
use crate::{FileError, Readers};

impl Folder {
    /// The folder at `path` that is about to be filled, made if it is missing, with those above it. One that is there must be
    /// this user's own and closed to the writing of others. It may be reached by a link of this user's or root's in a
    /// directory that nobody else writes to.
    ///
    /// # Errors
    /// When it is not, every user could put another one in its place, or it cannot be made.
    pub fn to_fill(path: &Path, readers: Readers) -> Result<Folder, FileError> {
        let Some((parent, name)) = parts(path) else {
            // `.`, `..` or `/`: a directory that nobody can have put there.
            let folder = Folder::open(path)?;
            folder.check_own()?;
            return Ok(folder);
        };
        above(parent, readers)?.own_at(name, path, readers)
    }

    /// The same for a folder that must not be there yet.
    ///
    /// # Errors
    /// When something is under that name, every user could put another one in its place, or it cannot be made.
    pub fn new_to_fill(path: &Path) -> Result<Folder, FileError> {
        let (parent, name) = parts(path).ok_or_else(|| FileError::Exists(path.to_owned()))?;
        let parent = Folder::open(parent)?;
        parent.check_parent()?;
        parent.new_folder(name)
    }

    /// The directory at `path`, in which what this user makes can be replaced or removed by no other but root.
    ///
    /// # Errors
    /// When another user can, has put a link there, or it cannot be opened.
    pub fn that_keeps(path: &Path) -> Result<Folder, FileError> {
        let folder = match parts(path) {
            None => Folder::open(path)?,
            Some((parent, name)) => Folder::open(parent)?.found_at(name, path)?,
        };
        let stat = folder.stat()?;
        if !is_trusted(&stat) {
            let owner = stat.st_uid;
            let what = format!("belongs to user {owner}, who could replace what is written in it");
            let path = path.to_owned();
            return Err(FileError::NotOurs { path, what });
        }
        match is_written_by_others(&stat) && permissions(&stat) & 0o1000 == 0 {
            true => Err(folder.others_write(&stat)),
            false => Ok(folder),
        }
    }

    /// Whether it is this user's own, and nobody else may write to it.
    ///
    /// # Errors
    /// When it is not.
    pub fn check_own(&self) -> Result<(), FileError> {
        let stat = self.stat()?;
        self.check_owner(&self.path, &stat)?;
        match is_written_by_others(&stat) {
            true => Err(self.others_write(&stat)),
            false => Ok(()),
        }
    }

    /// Refuses a link under this path that another user can have put there. Anything else is fine, and nothing too.
    ///
    /// # Errors
    /// When there is such a link.
    pub fn check_no_foreign_link(path: &Path) -> Result<(), FileError> {
        let Some((parent, name)) = parts(path) else {
            return Ok(());
        };
        let Ok(parent) = Folder::open(parent) else {
            return Ok(());
        };
        match statat(&parent.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(there) if kind(&there) == FileType::Symlink => {
                parent.behind_link(name, path, &there).map(|_| ())
            }
            _ => Ok(()),
        }
    }

    /// The directory `name` in it, which `path` leads to.
    fn own_at(&self, name: &OsStr, path: &Path, readers: Readers) -> Result<Folder, FileError> {
        self.check_parent()?;
        let at = |error: Errno| FileError::at(path)(error.into());
        // The user's mask may take from it.
        let mode = match readers {
            Readers::Umask => 0o755,
            Readers::OwnerOnly | Readers::Group(_) => 0o700,
        };
        match mkdirat(&self.handle, name, Mode::from_raw_mode(raw(mode))) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(at(error)),
        }
        let folder = self.found_at(name, path)?;
        folder.check_own()?;
        Ok(folder)
    }

    /// The directory `name` in it, which `path` leads to; behind a link that can be trusted, too.
    fn found_at(&self, name: &OsStr, path: &Path) -> Result<Folder, FileError> {
        let there = statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW);
        let there = there.map_err(|error| FileError::at(path)(error.into()))?;
        let found = match kind(&there) {
            FileType::Symlink => self.behind_link(name, path, &there)?,
            // Whatever else it is, or has become since.
            _ => self.inner(name)?,
        };
        Ok(Folder {
            path: path.to_owned(),
            ..found
        })
    }

    /// What a link leads to that nobody but this user or root can have put there.
    fn behind_link(&self, name: &OsStr, path: &Path, link: &Stat) -> Result<Folder, FileError> {
        let refused = |what: String| {
            let path = path.to_owned();
            Err(FileError::NotOurs { path, what })
        };
        if !is_trusted(link) {
            return refused(format!("is a symbolic link of user {}", link.st_uid));
        }
        let parent = self.stat()?;
        // Where they can, others may have given a link of this user's another name.
        if !is_trusted(&parent) || is_written_by_others(&parent) {
            let what = "is a symbolic link in a directory that others can write to";
            return refused(what.to_owned());
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match openat(&self.handle, name, flags, Mode::empty()) {
            Ok(handle) => Ok(Folder {
                path: path.to_owned(),
                handle,
            }),
            Err(Errno::NOENT) => refused("is a symbolic link that leads to nothing".to_owned()),
            Err(error) => Err(FileError::at(path)(error.into())),
        }
    }

    fn others_write(&self, stat: &Stat) -> FileError {
        FileError::OthersWrite {
            path: self.path.clone(),
            mode: permissions(stat),
        }
    }

    fn stat(&self) -> Result<Stat, FileError> {
        fstat(&self.handle).map_err(|error| FileError::at(&self.path)(error.into()))
    }
}

/// The directory that a folder lies in or will lie in. One that is there is the one that the user means, behind links too;
/// one that is made is treated like the folder.
fn above(path: &Path, readers: Readers) -> Result<Folder, FileError> {
    match Folder::open(path) {
        Err(FileError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
            Folder::to_fill(path, readers)
        }
        opened => opened,
    }
}

/// The directory that `path` lies in, and its name there, if it has one.
fn parts(path: &Path) -> Option<(&Path, &OsStr)> {
    let name = path.file_name()?;
    let parent = path.parent().filter(|path| !path.as_os_str().is_empty());
    Some((parent.unwrap_or(Path::new(".")), name))
}

/// Whether nobody but this user and root decides about it.
fn is_trusted(stat: &Stat) -> bool {
    [0, geteuid().as_raw()].contains(&stat.st_uid)
}

fn is_written_by_others(stat: &Stat) -> bool {
    permissions(stat) & OTHERS_WRITE != 0
}
