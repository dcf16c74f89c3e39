//! A directory by its path, where the system does not look up names in an open one.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::{FileError, PlainName, Readers, is_unfinished, unfinished_name};

/// A directory.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// The directory at a path that a user gave.
    ///
    /// # Errors
    /// When it is none.
    pub fn open(path: &Path) -> Result<Folder, FileError> {
        fs::read_dir(path).map_err(FileError::at(path))?;
        Ok(Folder {
            path: path.to_owned(),
        })
    }

    /// The folder at `path` that is about to be filled, made if it is missing, with those above it.
    ///
    /// # Errors
    /// When it is something else, or cannot be made.
    pub fn to_fill(path: &Path, _readers: Readers) -> Result<Folder, FileError> {
        fs::create_dir_all(path).map_err(FileError::at(path))?;
        Folder::open(path)
    }

    /// The same for a folder that must not be there yet.
    ///
    /// # Errors
    /// When something is under that name, or it cannot be made.
    pub fn new_to_fill(path: &Path) -> Result<Folder, FileError> {
        fs::create_dir(path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => FileError::Exists(path.to_owned()),
            _ => FileError::at(path)(error),
        })?;
        Folder::open(path)
    }

    /// The directory at `path`, which keeps what this user makes in it.
    ///
    /// # Errors
    /// When it is none.
    pub fn that_keeps(path: &Path) -> Result<Folder, FileError> {
        Folder::open(path)
    }

    /// Whether it is this user's own, and nobody else may write to it: taken for granted here.
    ///
    /// # Errors
    /// Never.
    pub fn check_own(&self) -> Result<(), FileError> {
        Ok(())
    }

    /// Refuses a link under this path that another user can have put there: never, here.
    ///
    /// # Errors
    /// Never.
    pub fn check_no_foreign_link(_path: &Path) -> Result<(), FileError> {
        Ok(())
    }

    /// The directory `name` in it, made if it is missing; no link.
    ///
    /// # Errors
    /// When it is something else, or cannot be made.
    pub fn own_folder(&self, name: &OsStr, _mode: u32) -> Result<Folder, FileError> {
        let path = self.place(name)?;
        match fs::create_dir(&path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                Err(FileError::at(&path)(error))
            }
            Ok(()) | Err(_) => self.inner(name),
        }
    }

    /// The directory `name` in it, made if it is missing; no link.
    ///
    /// # Errors
    /// When it is something else, or cannot be made.
    pub fn folder(&self, name: &OsStr) -> Result<Folder, FileError> {
        self.own_folder(name, 0)
    }

    /// The directory `name` in it, but no link.
    ///
    /// # Errors
    /// When it is not there, or none.
    pub fn inner(&self, name: &OsStr) -> Result<Folder, FileError> {
        let path = self.place(name)?;
        let metadata = fs::symlink_metadata(&path).map_err(FileError::at(&path))?;
        if !metadata.is_dir() {
            let what = "is not a directory".to_owned();
            return Err(FileError::NotOurs { path, what });
        }
        Ok(Folder { path })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is fit to hold a directory of ours: always, here.
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

    /// Whether something is under that name, whatever it is.
    pub fn holds(&self, name: &OsStr) -> bool {
        self.place(name)
            .is_ok_and(|path| fs::symlink_metadata(path).is_ok())
    }

    /// Writes a file, see [`super::write_whole`].
    ///
    /// # Errors
    /// As there.
    pub fn write(&self, name: &OsStr, bytes: &[u8], _readers: Readers) -> Result<(), FileError> {
        let (path, unfinished) = (self.place(name)?, self.path.join(unfinished_name()));
        let written = filled(&unfinished, bytes).and_then(|()| fs::rename(&unfinished, &path));
        or_removed(&unfinished, written).map_err(FileError::at(&path))
    }

    /// As [`Folder::write`], but does not wait until the disk has it: for a file that is written again and again, which
    /// nobody needs after a power cut, and whose flushes would disturb what is measured.
    ///
    /// # Errors
    /// As there.
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

    /// Writes a file that is not there yet, see [`super::write_new`].
    ///
    /// # Errors
    /// As there.
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
    /// As there.
    pub(super) fn check_new(&self, name: &OsStr) -> Result<(), FileError> {
        let (path, unfinished) = (self.place(name)?, self.path.join(unfinished_name()));
        if self.holds(name) {
            return Err(FileError::Exists(path));
        }
        let made = File::create_new(&unfinished).map(drop);
        made.and_then(|()| fs::remove_file(&unfinished))
            .map_err(FileError::at(&path))
    }

    /// An empty file that takes the place of what is under the name.
    ///
    /// # Errors
    /// As [`super::write_whole`].
    pub(super) fn create(&self, name: &OsStr) -> Result<File, FileError> {
        let path = self.place(name)?;
        File::create(&path).map_err(FileError::at(&path))
    }

    /// A file under that name, made if it is missing; its contents as they are.
    ///
    /// # Errors
    /// When it is no file, or cannot be made.
    pub fn own_file(&self, name: &OsStr) -> Result<File, FileError> {
        let path = self.place(name)?;
        let mut options = File::options();
        options.create(true).truncate(false).read(true).write(true);
        options.open(&path).map_err(FileError::at(&path))
    }

    /// The regular file under that name, but no link; opened for reading.
    ///
    /// # Errors
    /// When there is none, or it is something else.
    pub fn regular_file(&self, name: &OsStr) -> Result<File, FileError> {
        let path = self.place(name)?;
        let metadata = fs::symlink_metadata(&path).map_err(FileError::at(&path))?;
        if !metadata.is_file() {
            let what = "is no regular file".to_owned();
            return Err(FileError::NotOurs { path, what });
        }
        File::open(&path).map_err(FileError::at(&path))
    }

    /// Where `name` is: in it, and nowhere else.
    fn place(&self, name: &OsStr) -> Result<PathBuf, FileError> {
        PlainName::new(name)?;
        Ok(self.path.join(name))
    }

    /// A new, empty file under that name. Open for reading and writing.
    ///
    /// # Errors
    /// When something is under that name, or it cannot be made.
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
    /// When it is there and cannot be removed.
    pub fn remove_file(&self, name: &OsStr) -> Result<(), FileError> {
        let path = self.place(name)?;
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(FileError::at(&path)(error))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Whether `name` is a file that an earlier run did not finish writing: by its name, or as `former`,
    /// which is what it was called once.
    pub fn is_remains(&self, name: &OsStr, former: Option<&str>) -> bool {
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

/// What was begun and failed is taken away.
fn or_removed(path: &Path, written: io::Result<()>) -> io::Result<()> {
    if written.is_err() {
        // What is reported is why it failed.
        let _ = fs::remove_file(path);
    }
    written
}

/// What is written to instead of being replaced: nothing, here.
pub(super) enum StreamKind {}

/// Whether the path is a stream.
pub(super) fn stream_kind(_path: &Path) -> Result<Option<StreamKind>, FileError> {
    Ok(None)
}

/// The stream at `path`, where there is one.
pub(super) fn stream(_path: &Path) -> Result<Option<File>, FileError> {
    Ok(None)
}
