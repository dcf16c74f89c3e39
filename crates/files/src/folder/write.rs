//! A file is written whole, under a temporary name, before it has its own: no other process sees a part of it.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, fchmod, fchown, fsync, linkat, openat, renameat, statat,
    unlinkat,
};
use rustix::io::Errno;
use rustix::process::{Gid, geteuid};

use super::{Folder, NAMES_MAX, kind};
use crate::unfinished::{is_unfinished, unfinished_name};
use crate::{FileError, PlainName, Readers};

/// A file under a temporary name; removed unless it was given its final one.
struct Unfinished<'a> {
    folder: &'a Folder,
    name: String,
    file: File,
}

/// How long writing a file waits.
#[derive(Clone, Copy)]
enum Until {
    /// Until other processes can see it.
    Seen,
    /// Until it would survive a power cut.
    OnDisk,
}

impl Folder {
    /// Writes a file, see [`crate::write_whole`].
    ///
    /// # Errors
    /// As for that function.
    pub fn write(&self, name: &OsStr, bytes: &[u8], readers: Readers) -> Result<(), FileError> {
        let path = self.place(name)?;
        let unfinished = self.filled(&path, bytes, readers, Until::OnDisk)?;
        renameat(&self.handle, unfinished.name.as_str(), &self.handle, name)
            .map_err(|error| FileError::at(&path)(error.into()))?;
        self.sync()
    }

    /// Like [`Folder::write`], but does not wait until the data is on disk: for a file that is rewritten often, is not
    /// needed after a power cut, and whose flushes would disturb the measurement.
    ///
    /// # Errors
    /// As for that function.
    pub fn write_often(
        &self,
        name: &OsStr,
        bytes: &[u8],
        readers: Readers,
    ) -> Result<(), FileError> {
        let path = self.place(name)?;
        let unfinished = self.filled(&path, bytes, readers, Until::Seen)?;
        renameat(&self.handle, unfinished.name.as_str(), &self.handle, name)
            .map_err(|error| FileError::at(&path)(error.into()))
    }

    /// Writes a file that does not exist yet, see [`crate::write_new`].
    ///
    /// # Errors
    /// As there.
    pub fn write_new(&self, name: &OsStr, bytes: &[u8], readers: Readers) -> Result<(), FileError> {
        let path = self.place(name)?;
        let unfinished = self.filled(&path, bytes, readers, Until::OnDisk)?;
        match self.name_new(&unfinished.name, name) {
            Ok(()) => self.sync(),
            Err(Errno::EXIST) => Err(FileError::Exists(path)),
            Err(error) => Err(FileError::at(&path)(error.into())),
        }
    }

    /// Checks that a file can be written, see [`crate::check_new`].
    ///
    /// # Errors
    /// As for that function.
    pub(crate) fn check_new(&self, name: &OsStr) -> Result<(), FileError> {
        let path = self.place(name)?;
        if self.holds(name) {
            return Err(FileError::Exists(path));
        }
        let unfinished = self.unfinished(Readers::OwnerOnly);
        unfinished.map(drop).map_err(FileError::at(&path))
    }

    /// Gives a file its name, unless that exists.
    fn name_new(&self, unfinished: &str, name: &OsStr) -> Result<(), Errno> {
        let here = &self.handle;
        match linkat(here, unfinished, here, name, AtFlags::empty()) {
            #[cfg(target_os = "linux")]
            Err(Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS) => {
                // A file system without hard links.
                let flags = rustix::fs::RenameFlags::NOREPLACE;
                rustix::fs::renameat_with(here, unfinished, here, name, flags)
            }
            other => other,
        }
    }

    /// Creates an empty file that replaces whatever has that name.
    ///
    /// # Errors
    /// As [`crate::write_whole`].
    pub(crate) fn create(&self, name: &OsStr) -> Result<File, FileError> {
        let path = self.place(name)?;
        let at = |error: io::Error| FileError::at(&path)(error);
        let unfinished = self.unfinished(Readers::Umask).map_err(at)?;
        renameat(&self.handle, unfinished.name.as_str(), &self.handle, name)
            .map_err(|error| at(error.into()))?;
        unfinished.file.try_clone().map_err(at)
    }

    /// Whether `name` is a file that an earlier run of this user did not finish writing: by its name,
    /// or by the name `former`, which earlier versions used.
    pub fn is_unfinished_file(&self, name: &OsStr, former: Option<&str>) -> bool {
        if PlainName::new(name).is_err() {
            return false;
        }
        let by_name = is_unfinished(name) || former.is_some_and(|former| name == former);
        let stat = || statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW);
        by_name
            && stat().is_ok_and(|stat| {
                kind(&stat) == FileType::RegularFile && stat.st_uid == geteuid().as_raw()
            })
    }

    fn filled(
        &self,
        path: &Path,
        bytes: &[u8],
        readers: Readers,
        until: Until,
    ) -> Result<Unfinished<'_>, FileError> {
        let fill = || {
            let mut unfinished = self.unfinished(readers)?;
            unfinished.file.write_all(bytes)?;
            if let Readers::Group(group) = readers {
                fchown(&unfinished.file, None, Some(Gid::from_raw(group)))?;
                fchmod(&unfinished.file, Mode::from_raw_mode(0o640))?;
            }
            match until {
                Until::Seen => {}
                Until::OnDisk => unfinished.file.sync_all()?,
            }
            Ok(unfinished)
        };
        fill().map_err(FileError::at(path))
    }

    fn unfinished(&self, readers: Readers) -> io::Result<Unfinished<'_>> {
        let mode = Mode::from_raw_mode(match readers {
            // Regardless of the umask, no other user can write to it.
            Readers::Umask => 0o644,
            Readers::OwnerOnly | Readers::Group(_) => 0o600,
        });
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut taken = Errno::EXIST;
        for _ in 0..NAMES_MAX {
            let name = unfinished_name();
            match openat(&self.handle, name.as_str(), flags, mode) {
                Ok(file) => {
                    let file = File::from(file);
                    return Ok(Unfinished {
                        folder: self,
                        name,
                        file,
                    });
                }
                Err(Errno::EXIST) => {}
                Err(error) => {
                    taken = error;
                    break;
                }
            }
        }
        Err(taken.into())
    }

    /// Makes created and renamed entries durable.
    fn sync(&self) -> Result<(), FileError> {
        match fsync(&self.handle) {
            // Not every file system supports it.
            Ok(()) | Err(Errno::INVAL | Errno::OPNOTSUPP | Errno::ROFS) => Ok(()),
            Err(error) => Err(FileError::at(&self.path)(error.into())),
        }
    }
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        // Once it is renamed, nothing has this name.
        let _ = unlinkat(&self.folder.handle, self.name.as_str(), AtFlags::empty());
    }
}
