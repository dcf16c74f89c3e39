//! A folder that dbstow fills: results, advice, scripts, pages, the bytes of a volume.
//!
//! In a directory that others can write to, such as `/tmp`, another user may have created a link or a folder under the
//! name, since that is known or guessable. Through a link, files would be written to its target; in a folder, its owner
//! could replace them, including a script that is run afterwards.

use std::ffi::OsStr;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, fstat, mkdirat, openat, statat};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::{Folder, OTHERS_WRITE, kind, permissions, raw};
use crate::{FileError, Readers};

impl Folder {
    /// The folder at `path`, about to be filled; created if missing, with its parents. An existing one must be owned by
    /// this user and not writable by others. It may be reached through a link owned by this user or root in a directory
    /// that no other user can write to.
    ///
    /// # Errors
    /// When it is not, every user could replace it, or it cannot be created.
    pub fn to_fill(path: &Path, readers: Readers) -> Result<Folder, FileError> {
        let Some((parent, name)) = parts(path) else {
            // `.`, `..` or `/`: a directory that no other user can have created.
            let folder = Folder::open(path)?;
            folder.check_own()?;
            return Ok(folder);
        };
        above(parent, readers)?.own_at(name, path, readers)
    }

    /// The same for a folder that must not exist yet.
    ///
    /// # Errors
    /// When something exists under that name, every user could replace it, or it cannot be created.
    pub fn new_to_fill(path: &Path) -> Result<Folder, FileError> {
        let (parent, name) = parts(path).ok_or_else(|| FileError::Exists(path.to_owned()))?;
        let parent = Folder::open(parent)?;
        parent.check_parent()?;
        parent.new_folder(name)
    }

    /// The directory at `path`, in which only root can replace or remove this user's files.
    ///
    /// # Errors
    /// When another user can, or has created a link there, or it cannot be opened.
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

    /// Checks that it is owned by this user and not writable by others.
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

    /// Refuses a link under this path that another user could have created. Anything else is fine, including nothing.
    ///
    /// # Errors
    /// When such a link exists.
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
        // The user's umask may restrict it.
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

    /// The directory `name` in it, which `path` leads to; also through a trusted link.
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

    /// The target of a link that only this user or root can have created.
    fn behind_link(&self, name: &OsStr, path: &Path, link: &Stat) -> Result<Folder, FileError> {
        let refused = |what: String| {
            let path = path.to_owned();
            Err(FileError::NotOurs { path, what })
        };
        if !is_trusted(link) {
            return refused(format!("is a symbolic link of user {}", link.st_uid));
        }
        let parent = self.stat()?;
        // If they can, others may have renamed a link of this user.
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

/// The parent directory of a folder. An existing one is the one that the user named, links followed; a new one is
/// treated like the folder.
fn above(path: &Path, readers: Readers) -> Result<Folder, FileError> {
    match Folder::open(path) {
        Err(FileError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
            Folder::to_fill(path, readers)
        }
        opened => opened,
    }
}

/// The parent directory of `path`, and its name in it, if it has one.
fn parts(path: &Path) -> Option<(&Path, &OsStr)> {
    let name = path.file_name()?;
    let parent = path.parent().filter(|path| !path.as_os_str().is_empty());
    Some((parent.unwrap_or(Path::new(".")), name))
}

/// Whether only this user and root control it.
fn is_trusted(stat: &Stat) -> bool {
    [0, geteuid().as_raw()].contains(&stat.st_uid)
}

fn is_written_by_others(stat: &Stat) -> bool {
    permissions(stat) & OTHERS_WRITE != 0
}
