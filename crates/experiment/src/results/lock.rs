//! Who may write to a results folder: one run, or any number of trials that share it.

use std::fs::{File, TryLockError};
use std::io::{Read as _, Write as _};

use files::Folder;

use super::error::ResultsError;

pub(super) const LOCK: &str = "dbstow.lock";

/// Claims the folder for this run.
pub(super) fn lock(folder: &Folder) -> Result<File, ResultsError> {
    let path = folder.path().join(LOCK);
    let at = |source| ResultsError::io(&path, source);
    let mut file = folder.own_file(LOCK.as_ref())?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(in_use(folder, file)),
        Err(TryLockError::Error(source)) => return Err(at(source)),
    }
    file.set_len(0).map_err(at)?;
    writeln!(file, "{}", std::process::id()).map_err(at)?;
    Ok(file)
}

/// Excludes runs from the folder; other trials may share it. A file system without locks excludes no process, which is safe for
/// trials: each writes its own files. A run is rejected there.
pub(super) fn lock_shared(folder: &Folder) -> Result<Option<File>, ResultsError> {
    let file = folder.own_file(LOCK.as_ref())?;
    match file.try_lock_shared() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(in_use(folder, file)),
        Err(TryLockError::Error(_)) => return Ok(None),
    }
    // The process id of an earlier run; harmless if it remains.
    let _ = file.set_len(0);
    Ok(Some(file))
}

/// The error with the holder of the lock in `file`.
fn in_use(folder: &Folder, mut file: File) -> ResultsError {
    // Some systems do not allow other processes to read a locked file.
    let mut by = String::new();
    let _ = file.read_to_string(&mut by);
    ResultsError::InUse {
        folder: folder.path().display().to_string(),
        by: by
            .trim()
            .parse()
            .map_or_else(|_| String::new(), |pid: u32| format!(" (process {pid})")),
    }
}
