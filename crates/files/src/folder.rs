//! A directory that is held open: names are looked up in it, wherever it has been moved.

mod fill;
mod stream;
mod write;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, fchmod, fchown, fstat, mkdirat, openat,
    statat, unlinkat,
};
use rustix::io::Errno;
use rustix::process::{Gid, Uid, geteuid};

pub(super) use self::stream::{stream, stream_kind};
use super::{FileError, PlainName};

/// How many names are tried before a conflict is reported.
const NAMES_MAX: u32 = 16;

/// Bits of a mode that let other users write.
const OTHERS_WRITE: u32 = 0o022;

/// A directory that is held open.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    handle: OwnedFd,
}

impl Folder {
    /// The directory at a path given by the user: links are followed.
    ///
    /// # Errors
    /// When it is not a directory, or cannot be opened.
    pub fn open(path: &Path) -> Result<Folder, FileError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = openat(CWD, path, flags, Mode::empty());
        Ok(Folder {
            path: path.to_owned(),
            handle: handle.map_err(|error| FileError::at(path)(error.into()))?,
        })
    }

    /// The directory `name` in it, created if missing, with `mode` regardless of the umask. An existing one
    /// must be owned by this user, not be a link, not be writable by others, and have that mode: it is not changed.
    ///
    /// # Errors
    /// When it is not, or cannot be created.
    pub fn own_folder(&self, name: &OsStr, mode: u32) -> Result<Folder, FileError> {
        let path = self.place(name)?;
        let at = |error: Errno| FileError::at(&path)(error.into());
        let is_made = match mkdirat(&self.handle, name, Mode::from_raw_mode(raw(mode))) {
            Ok(()) => true,
            Err(Errno::EXIST) => false,
            Err(error) => return Err(at(error)),
        };
        let folder = self.inner(name)?;
        folder.check_own()?;
        let found = permissions(&fstat(&folder.handle).map_err(at)?);
        match found & 0o777 == mode {
            true => {}
            // The umask removed some of it.
            false if is_made => folder.change_mode(mode)?,
            false => {
                return Err(FileError::OtherMode {
                    path,
                    found,
                    wanted: mode,
                });
            }
        }
        Ok(folder)
    }

    /// Creates the directory `name` in it, for this user only.
    ///
    /// # Errors
    /// When something exists under that name, or it cannot be created.
    pub fn new_folder(&self, name: &OsStr) -> Result<Folder, FileError> {
        let path = self.place(name)?;
        mkdirat(&self.handle, name, Mode::from_raw_mode(0o700)).map_err(|error| match error {
            Errno::EXIST => FileError::Exists(path.clone()),
            error => FileError::at(&path)(error.into()),
        })?;
        let folder = self.inner(name)?;
        // The owner of this directory may have replaced it.
        let stat = fstat(&folder.handle).map_err(|error| FileError::at(&path)(error.into()))?;
        folder.check_owner(&path, &stat)?;
        Ok(folder)
    }

    /// Changes the owner of the directory itself.
    ///
    /// # Errors
    /// When this user is not permitted to.
    pub fn change_owner(&self, user: u32, group: u32) -> Result<(), FileError> {
        let (user, group) = (Uid::from_raw(user), Gid::from_raw(group));
        fchown(&self.handle, Some(user), Some(group))
            .map_err(|error| FileError::at(&self.path)(error.into()))
    }

    /// Changes the permissions of the directory itself.
    ///
    /// # Errors
    /// When this user is not permitted to.
    pub fn change_mode(&self, mode: u32) -> Result<(), FileError> {
        fchmod(&self.handle, Mode::from_raw_mode(raw(mode)))
            .map_err(|error| FileError::at(&self.path)(error.into()))
    }

    /// The directory `name` in it, created if missing; of any owner, but not a link.
    ///
    /// # Errors
    /// When it is not a directory, or cannot be created.
    pub fn folder(&self, name: &OsStr) -> Result<Folder, FileError> {
        self.place(name)?;
        // Regardless of the umask, no other user can write to it.
        match mkdirat(&self.handle, name, Mode::from_raw_mode(0o755)) {
            Ok(()) | Err(Errno::EXIST) => self.inner(name),
            Err(error) => Err(FileError::at(&self.path.join(name))(error.into())),
        }
    }

    /// The directory `name` in it, of any owner, but not a link.
    ///
    /// # Errors
    /// When it does not exist, or is not a directory.
    pub fn inner(&self, name: &OsStr) -> Result<Folder, FileError> {
        let path = self.place(name)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match openat(&self.handle, name, flags, Mode::empty()) {
            Ok(handle) => Ok(Folder { path, handle }),
            // A link is not followed, and therefore not a directory.
            Err(error @ (Errno::LOOP | Errno::NOTDIR | Errno::MLINK)) => {
                match statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(stat) => {
                        let (kind, owner) = (described(&stat), stat.st_uid);
                        let what = format!("is {kind} of user {owner}, not a directory");
                        Err(FileError::NotOurs { path, what })
                    }
                    Err(_) => Err(FileError::at(&path)(error.into())),
                }
            }
            Err(error) => Err(FileError::at(&path)(error.into())),
        }
    }

    /// Its path when it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Checks that it can hold a directory of ours: not every user may replace it.
    ///
    /// # Errors
    /// When every user can.
    pub fn check_parent(&self) -> Result<(), FileError> {
        let stat = fstat(&self.handle).map_err(|error| FileError::at(&self.path)(error.into()))?;
        let mode = permissions(&stat);
        if mode & 0o002 != 0 && mode & 0o1000 == 0 {
            return Err(FileError::NoStickyBit(self.path.clone()));
        }
        Ok(())
    }

    /// Names of everything in it.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn names(&self) -> Result<Vec<OsString>, FileError> {
        let at = |error: Errno| FileError::at(&self.path)(error.into());
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.handle).map_err(at)? {
            let name = entry.map_err(at)?.file_name().to_bytes().to_vec();
            if name != b"." && name != b".." {
                names.push(OsString::from_vec(name));
            }
        }
        names.sort();
        Ok(names)
    }

    /// Whether anything exists under that name; always false for a name that leads elsewhere.
    pub fn holds(&self, name: &OsStr) -> bool {
        PlainName::new(name).is_ok()
            && statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// A file owned by this user under that name, created with owner-only access if missing: regular, and
    /// without further links. Open for reading and writing, existing content is kept.
    ///
    /// # Errors
    /// When it is something else, or cannot be created.
    pub fn own_file(&self, name: &OsStr) -> Result<File, FileError> {
        let path = self.place(name)?;
        let make = OFlags::CREATE | OFlags::EXCL;
        // Another run may create or remove it between the two checks.
        for _ in 0..NAMES_MAX {
            match self.open_file(name, make) {
                Err(Errno::EXIST) => {}
                Err(error) => return Err(FileError::at(&path)(error.into())),
                Ok(file) => return Ok(file),
            }
            if let Some(file) = self.found_file(name)? {
                return Ok(file);
            }
        }
        Err(FileError::Exists(path))
    }

    /// The file under that name, as for [`Folder::own_file`], if it exists.
    ///
    /// # Errors
    /// When it is something else, or cannot be opened.
    pub fn found_file(&self, name: &OsStr) -> Result<Option<File>, FileError> {
        let path = self.place(name)?;
        match self.open_file(name, OFlags::empty()) {
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(self.refused(name, error)),
            Ok(file) => {
                let stat = fstat(&file).map_err(|error| FileError::at(&path)(error.into()))?;
                self.check_file(&path, &stat)?;
                Ok(Some(file))
            }
        }
    }

    /// The regular file under that name, of any owner, but not a link; opened for reading, without blocking on the
    /// writer of a FIFO.
    ///
    /// # Errors
    /// When it does not exist, or is something else.
    pub fn regular_file(&self, name: &OsStr) -> Result<File, FileError> {
        let path = self.place(name)?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = openat(&self.handle, name, flags, Mode::empty());
        let stat = match &file {
            Ok(file) => fstat(file),
            // The target of a link is not checked, and a socket cannot be opened.
            Err(_) => statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW),
        };
        let stat = stat.map_err(|error| FileError::at(&path)(error.into()))?;
        if kind(&stat) != FileType::RegularFile {
            let what = format!("is {}, no regular file", described(&stat));
            return Err(FileError::NotOurs { path, what });
        }
        let file = file.map_err(|error| FileError::at(&path)(error.into()))?;
        Ok(File::from(file))
    }

    /// The path of `name` in it, which cannot lead elsewhere.
    fn place(&self, name: &OsStr) -> Result<PathBuf, FileError> {
        PlainName::new(name)?;
        Ok(self.path.join(name))
    }

    /// A new, empty file under that name, for this user only. Open for reading and writing.
    ///
    /// # Errors
    /// When something exists under that name, or it cannot be created.
    pub fn new_file(&self, name: &OsStr) -> Result<File, FileError> {
        let path = self.place(name)?;
        let made = self.open_file(name, OFlags::CREATE | OFlags::EXCL);
        made.map_err(|error| match error {
            Errno::EXIST => FileError::Exists(path.clone()),
            error => FileError::at(&path)(error.into()),
        })
    }

    fn open_file(&self, name: &OsStr, more: OFlags) -> Result<File, Errno> {
        // Without NONBLOCK, a FIFO would block until it has a reader.
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | more;
        let file = openat(&self.handle, name, flags, Mode::from_raw_mode(0o600))?;
        Ok(File::from(file))
    }

    fn refused(&self, name: &OsStr, error: Errno) -> FileError {
        let path = self.path.join(name);
        match statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => match self.check_file(&path, &stat) {
                Err(refused) => refused,
                Ok(()) => FileError::at(&path)(error.into()),
            },
            Err(_) => FileError::at(&path)(error.into()),
        }
    }

    fn check_file(&self, path: &Path, stat: &Stat) -> Result<(), FileError> {
        let refused = |what| {
            let path = path.to_owned();
            Err(FileError::NotOurs { path, what })
        };
        if kind(stat) != FileType::RegularFile {
            return refused(format!("is {}, no regular file", described(stat)));
        }
        self.check_owner(path, stat)?;
        match stat.st_nlink {
            1 => Ok(()),
            links => refused(format!("has {links} names (hard links)")),
        }
    }

    fn check_owner(&self, path: &Path, stat: &Stat) -> Result<(), FileError> {
        if stat.st_uid == geteuid().as_raw() {
            return Ok(());
        }
        let (owner, own) = (stat.st_uid, geteuid().as_raw());
        let what = format!("belongs to user {owner}, and not to {own}, who runs this");
        let path = path.to_owned();
        Err(FileError::NotOurs { path, what })
    }

    /// Removes a file or a link by its name.
    ///
    /// # Errors
    /// When it exists and cannot be removed.
    pub fn remove_file(&self, name: &OsStr) -> Result<(), FileError> {
        let path = self.place(name)?;
        match unlinkat(&self.handle, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(FileError::at(&path)(error.into())),
        }
    }
}

fn kind(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

fn described(stat: &Stat) -> &'static str {
    match kind(stat) {
        FileType::RegularFile => "a file",
        FileType::Directory => "a directory",
        FileType::Symlink => "a symbolic link",
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        FileType::CharacterDevice => "a device",
        FileType::BlockDevice => "a block device",
        _ => "something else",
    }
}

#[allow(clippy::useless_conversion, reason = "its width differs by system")]
fn permissions(stat: &Stat) -> u32 {
    u32::from(stat.st_mode) & 0o7777
}

/// A mode in the type of the system call.
#[allow(
    clippy::useless_conversion,
    clippy::unnecessary_fallible_conversions,
    reason = "its width differs by system"
)]
fn raw(mode: u32) -> rustix::fs::RawMode {
    mode.try_into().unwrap_or(0o700)
}
