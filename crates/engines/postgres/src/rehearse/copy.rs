//! Copies a backup to the volumes of a private server. No link is followed, neither in the backup nor on the volumes.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::Path;

use files::{FileError, Folder};

use engine::EngineError;
use engine::managed_server::Owner;

/// What is not copied: settings, rules and states of the server that was backed up. The private server has its own.
const LEFT_OUT: [&str; 14] = [
    "postgresql.conf",
    "postgresql.auto.conf",
    "pg_hba.conf",
    "pg_ident.conf",
    "postmaster.pid",
    "postmaster.opts",
    "standby.signal",
    "recovery.signal",
    "recovery.conf",
    "recovery.done",
    "current_logfiles",
    "log",
    "pg_log",
    "backup_manifest",
];

/// Directories that have to be there, and whose content is not copied: a slot would keep the log.
const EMPTIED: [&str; 2] = ["pg_replslot", "pg_stat_tmp"];

/// The log's directory in a data directory.
const LOG: &str = "pg_wal";

/// Copies `backup` into the empty directory `data`, and its log into the empty directory `log`.
///
/// # Errors
/// When a file cannot be copied, or is none.
pub(crate) fn copy(
    backup: &Path,
    (data, log): (&Path, &Path),
    owner: Option<Owner>,
) -> Result<(), EngineError> {
    let failed = |error: FileError| EngineError::failed("copy the backup", error);
    let from = Folder::open(backup).map_err(failed)?;
    let to = Folder::open(data).map_err(failed)?;
    let log_to = Folder::open(log).map_err(failed)?;
    let log_from = from.inner(LOG.as_ref()).map_err(failed)?;
    let is_left_out = |name: &OsStr| name == LOG || LEFT_OUT.iter().any(|other| name == *other);
    copy_all(&from, &to, owner, &is_left_out).map_err(failed)?;
    copy_all(&log_from, &log_to, owner, &|_| false).map_err(failed)?;
    // Both are ours, and no other user has access to the volumes yet.
    std::os::unix::fs::symlink(log, data.join(LOG))
        .map_err(|error| EngineError::failed("link the log's directory", error))
}

fn copy_all(
    from: &Folder,
    to: &Folder,
    owner: Option<Owner>,
    is_left_out: &dyn Fn(&OsStr) -> bool,
) -> Result<(), FileError> {
    for name in from.names()? {
        if is_left_out(&name) {
            continue;
        }
        match from.inner(&name) {
            Ok(inner) => {
                let made = to.new_folder(&name)?;
                if let Some((user, group)) = owner {
                    made.change_owner(user, group)?;
                }
                // Only a data directory itself has them.
                if !EMPTIED.iter().any(|emptied| name == *emptied) {
                    copy_all(&inner, &made, owner, &|_| false)?;
                }
            }
            Err(_) => copy_file(from.regular_file(&name)?, to.new_file(&name)?, owner)
                .map_err(|error| io_error(to.path(), &name, error))?,
        }
    }
    Ok(())
}

/// Copies a file, and gives the copy to `owner`.
pub(super) fn copy_file(mut from: File, mut to: File, owner: Option<Owner>) -> io::Result<()> {
    io::copy(&mut from, &mut to)?;
    match owner {
        Some((user, group)) => std::os::unix::fs::fchown(&to, Some(user), Some(group)),
        None => Ok(()),
    }
}

fn io_error(folder: &Path, name: &OsStr, source: io::Error) -> FileError {
    FileError::Io {
        path: folder.join(name),
        source,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn files_are_copied_without_settings_and_the_log_lies_apart() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        for folder in ["b/base/5", "b/pg_wal/archive_status", "data", "wal"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        for file in [
            "PG_VERSION",
            "postgresql.auto.conf",
            "base/5/1",
            "pg_wal/000000010000000000000001",
        ] {
            fs::write(at("b").join(file), file).unwrap();
        }
        copy(&at("b"), (&at("data"), &at("wal")), None).unwrap();
        assert_eq!(fs::read_to_string(at("data/base/5/1")).unwrap(), "base/5/1");
        assert!(!at("data/postgresql.auto.conf").exists());
        assert_eq!(fs::read_link(at("data/pg_wal")).unwrap(), at("wal"));
        assert!(at("wal/000000010000000000000001").exists());
        assert!(at("wal/archive_status").is_dir());
        assert!(at("b/postgresql.auto.conf").exists());

        std::os::unix::fs::symlink("/etc/passwd", at("b/base/5/2")).unwrap();
        fs::create_dir_all(at("data2")).unwrap();
        fs::create_dir_all(at("wal2")).unwrap();
        let refused = copy(&at("b"), (&at("data2"), &at("wal2")), None).unwrap_err();
        assert!(
            refused.to_string().contains("is a symbolic link"),
            "{refused}"
        );
    }
}
