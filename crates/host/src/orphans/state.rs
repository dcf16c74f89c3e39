//! The directory in which processes of this user record what they make.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use files::{FileError, Folder};
use rustix::fs::{FlockOperation, flock};
use rustix::process::geteuid;

/// Where this user's emulations are recorded; created if missing.
pub(super) fn state_directory() -> io::Result<PathBuf> {
    let user = geteuid();
    let directory = match std::env::var_os("XDG_RUNTIME_DIR").filter(|path| !path.is_empty()) {
        _ if user.is_root() => PathBuf::from("/run/dbstow"),
        Some(runtime) => PathBuf::from(runtime).join("dbstow"),
        None => std::env::temp_dir().join(format!("dbstow-{}", user.as_raw())),
    };
    let (Some(parent), Some(name)) = (directory.parent(), directory.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    private_folder(parent, name).map_err(io::Error::other)?;
    Ok(directory)
}

/// The directory `name` in `parent`, accessible to this user only. One writable by others is refused: its
/// content cannot be trusted.
pub(super) fn private_folder(parent: &Path, name: &OsStr) -> Result<Folder, FileError> {
    let parent = Folder::open(parent)?;
    parent.check_parent()?;
    parent.own_folder(name, 0o700)
}

/// Folders of the state directory, a process's later ones first: they may depend on earlier ones.
pub(super) fn folders(state: &Path) -> io::Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(state)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            folders.push(entry.path());
        }
    }
    folders.sort_by(|one, other| other.cmp(one));
    Ok(folders)
}

/// Locks the state directory against concurrent cleanup and registration, until it is dropped.
pub(super) fn lock(state: &Path) -> io::Result<File> {
    let file = Folder::open(state).and_then(|state| state.own_file("lock".as_ref()));
    let file = file.map_err(io::Error::other)?;
    flock(&file, FlockOperation::LockExclusive)?;
    Ok(file)
}
