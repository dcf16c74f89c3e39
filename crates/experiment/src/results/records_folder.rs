//! The directory of records in a results folder.

use std::io;
use std::path::Path;

use files::{FileError, Folder};

use super::error::ResultsError;

pub(super) const RECORDS: &str = "records";

/// The directory of records in `place`, created if missing: other users can neither remove nor replace it.
pub(super) fn own_records(place: &Folder) -> Result<Folder, FileError> {
    let records = place.folder(RECORDS.as_ref())?;
    records.check_own()?;
    Ok(records)
}

/// Rejects `records` if it is not a directory; it may be missing before the first record.
pub(super) fn check_records(folder: &Path) -> Result<(), ResultsError> {
    let path = folder.join(RECORDS);
    let what = match path.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(ResultsError::io(&path, error)),
        Ok(metadata) if metadata.is_symlink() => "a link",
        Ok(metadata) if metadata.is_file() => "a file",
        Ok(_) => "a FIFO, a socket or a device",
    };
    Err(ResultsError::Records {
        path: path.display().to_string(),
        what,
    })
}

/// Removes only files that `Results::write` wrote.
pub(super) fn remove_records(records: &Folder) -> Result<(), ResultsError> {
    for name in records.names()? {
        if Path::new(&name)
            .extension()
            .is_some_and(|end| end == "json")
        {
            records.remove_file(&name)?;
        }
    }
    Ok(())
}
