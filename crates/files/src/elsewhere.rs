//! A directory by its path, on systems that cannot look up names relative to an open directory.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::unfinished::{is_unfinished, unfinished_name};
use super::{FileError, PlainName, Readers};

/// A directory.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// The directory at a path given by the user.
    ///
    /// # Errors
    /// When it is not a directory.
    pub fn open(path: &Path) -> Result<Folder, FileError> {
        fs::read_dir(path).map_err(FileError::at(path))?;
        Ok(Folder {
            path: path.to_owned(),
        })
    }

    /// The folder at `path`, about to be filled; created if missing, with its parents.
    ///
    /// # Errors
    /// When it is something else, or cannot be created.
    pub fn to_fill(path: &Path, _readers: Readers) -> Result<Folder, FileError> {
        fs::create_dir_all(path).map_err(FileError::at(path))?;
        Folder::open(path)
    }

    /// The same for a folder that must not exist yet.
    ///
    /// # Errors
    /// When something exists under that name, or it cannot be created.
    pub fn new_to_fill(path: &Path) -> Result<Folder, FileError> {
        fs::create_dir(path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => FileError::Exists(path.to_owned()),
            _ => FileError::at(path)(error),
        })?;
        Folder::open(path)
    }

    /// The directory at `path`, in which this user's files are safe.
    ///
    /// # Errors
    /// When it is not a directory.
    pub fn that_keeps(path: &Path) -> Result<Folder, FileError> {
        Folder::open(path)
    }

    /// Checks that it is owned by this user and not writable by others: assumed here.
    ///
    /// # Errors
    /// Never.
    pub fn check_own(&self) -> Result<(), FileError> {
        Ok(())
    }

    /// Refuses a link under this path that another user could have created: never fails here.
    ///
    /// # Errors
    /// Never.
    pub fn check_no_foreign_link(_path: &Path) -> Result<(), FileError> {
        Ok(())
    }

    /// The directory `name` in it, created if missing; not a link.
    ///
    /// # Errors
    /// When it is something else, or cannot be created.
    pub fn own_folder(&self, name: &OsStr, _mode: u32) -> Result<Folder, FileError> {
        let path = self.place(name)?;
        match fs::create_dir(&path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                Err(FileError::at(&path)(error))
            }
            Ok(()) | Err(_) => self.inner(name),
        }
    }

    /// The directory `name` in it, created if missing; not a link.
    ///
    /// # Errors
    /// When it is something else, or cannot be created.
    pub fn folder(&self, name: &OsStr) -> Result<Folder, FileError> {
        self.own_folder(name, 0)
    }

    /// The directory `name` in it, but not a link.
    ///
    /// # Errors
    /// When it does not exist, or is not a directory.
    pub fn inner(&self, name: &OsStr) -> Result<Folder, FileError> {
        let path = self.place(name)?;
        let metadata = fs::symlink_metadata(&path).map_err(FileError::at(&path))?;
        if !metadata.is_dir() {
            let what = "is not a directory".to_owned();
            return Err(FileError::NotOurs { path, what });
        }
        Ok(Folder { path })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Checks that it can hold a directory of ours: always, here.
    ///
    /// # Errors
    /// Never.
    pub fn check_parent(&self) -> Result<(), FileError> {
        Ok(())
    }

    /// Names of everything in it.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn names(&self) -> Result<Vec<OsString>, FileError> {
        let at = FileError::at(&self.path);
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path).map_err(&at)? {
            names.push(entry.map_err(&at)?.file_name());
        }
        names.sort();
        Ok(names)
    }

    /// Whether anything exists under that name.
    pub fn holds(&self, name: &OsStr) -> bool {
        self.place(name)
            .is_ok_and(|path| fs::symlink_metadata(path).is_ok())
    }

    /// Writes a file, see [`super::write_whole`].
    ///
    /// # Errors
    /// As for that function.
    pub fn write(&self, name: &OsStr, bytes: &[u8], _readers: Readers) -> Result<(), FileError> {
        let (path, unfinished) = (self.place(name)?, self.path.join(unfinished_name()));
        let written = filled(&unfinished, bytes).and_then(|()| fs::rename(&unfinished, &path));
        or_removed(&unfinished, written).map_err(FileError::at(&path))
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
        _readers: Readers,
    ) -> Result<(), FileError> {
        let (path, unfinished) = (self.place(name)?, self.path.join(unfinished_name()));
        let written = File::create_new(&unfinished)
            .and_then(|mut file| file.write_all(bytes))
            .and_then(|()| fs::rename(&unfinished, &path));
        or_removed(&unfinished, written).map_err(FileError::at(&path))
    }

    /// Writes a file that does not exist yet, see [`super::write_new`].
    ///
    /// # Errors
    /// As for that function.
    pub fn write_new(
        &self,
        name: &OsStr,
        bytes: &[u8],
        _readers: Readers,
    ) -> Result<(), FileError> {
        let path = self.place(name)?;
        let mut file = File::create_new(&path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => FileError::Exists(path.clone()),
            _ => FileError::at(&path)(error),
        })?;
        let written = file.write_all(bytes).and_then(|()| file.sync_all());
        or_removed(&path, written).map_err(FileError::at(&path))
    }

    /// Checks that a file can be written, see [`super::check_new`].
    ///
    /// # Errors
    /// As for that function.
    pub(super) fn check_new(&self, name: &OsStr) -> Result<(), FileError> {
        let (path, unfinished) = (self.place(name)?, self.path.join(unfinished_name()));
        if self.holds(name) {
            return Err(FileError::Exists(path));
        }
        let made = File::create_new(&unfinished).map(drop);
        made.and_then(|()| fs::remove_file(&unfinished))
            .map_err(FileError::at(&path))
    }

    /// Creates an empty file that replaces whatever has that name.
    ///
    /// # Errors
    /// As [`super::write_whole`].
    pub(super) fn create(&self, name: &OsStr) -> Result<File, FileError> {
        let path = self.place(name)?;
        File::create(&path).map_err(FileError::at(&path))
    }

    /// A file under that name, created if missing; existing content is kept.
    ///
    /// # Errors
    /// When it is not a file, or cannot be created.
    pub fn own_file(&self, name: &OsStr) -> Result<File, FileError> {
        let path = self.place(name)?;
        let mut options = File::options();
        options.create(true).truncate(false).read(true).write(true);
        options.open(&path).map_err(FileError::at(&path))
    }

    /// The regular file under that name, but not a link; opened for reading.
    ///
    /// # Errors
    /// When it does not exist, or is something else.
    pub fn regular_file(&self, name: &OsStr) -> Result<File, FileError> {
        let path = self.place(name)?;
        let metadata = fs::symlink_metadata(&path).map_err(FileError::at(&path))?;
        if !metadata.is_file() {
            let what = "is not a regular file".to_owned();
            return Err(FileError::NotOurs { path, what });
        }
        File::open(&path).map_err(FileError::at(&path))
    }

    /// The path of `name` in it, which cannot lead elsewhere.
    fn place(&self, name: &OsStr) -> Result<PathBuf, FileError> {
        PlainName::new(name)?;
        Ok(self.path.join(name))
    }

    /// A new, empty file under that name. Open for reading and writing.
    ///
    /// # Errors
    /// When something exists under that name, or it cannot be created.
    pub fn new_file(&self, name: &OsStr) -> Result<File, FileError> {
        let path = self.place(name)?;
        let mut options = File::options();
        options.create_new(true).read(true).write(true);
        options.open(&path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => FileError::Exists(path.clone()),
            _ => FileError::at(&path)(error),
        })
    }

    /// Removes a file or a link by its name.
    ///
    /// # Errors
    /// When it exists and cannot be removed.
    pub fn remove_file(&self, name: &OsStr) -> Result<(), FileError> {
        let path = self.place(name)?;
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(FileError::at(&path)(error))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Whether `name` is a file that an earlier run did not finish writing: by its name, or by the
    /// name `former`, which earlier versions used.
    pub fn is_unfinished_file(&self, name: &OsStr, former: Option<&str>) -> bool {
        let by_name = is_unfinished(name) || former.is_some_and(|former| name == former);
        let found = || fs::symlink_metadata(self.place(name).ok()?).ok();
        by_name && found().is_some_and(|found| found.is_file())
    }
}

fn filled(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Removes a file that was begun and failed.
fn or_removed(path: &Path, written: io::Result<()>) -> io::Result<()> {
    if written.is_err() {
        // The failure itself is reported.
        let _ = fs::remove_file(path);
    }
    written
}

/// Files that are written to instead of being replaced: none, here.
pub(super) enum StreamKind {}

/// Whether the path is a stream.
pub(super) fn stream_kind(_path: &Path) -> Result<Option<StreamKind>, FileError> {
    Ok(None)
}

/// The stream at `path`, if it is one.
pub(super) fn stream(_path: &Path) -> Result<Option<File>, FileError> {
    Ok(None)
}
