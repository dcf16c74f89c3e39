//! Copies a backup to the volumes of a private server. No link is followed, neither in the backup nor on the volumes.

use std::ffi::OsStr;
use std::path::Path;

use files::{FileError, Folder};

use super::tablespaces;
use engine::EngineError;
use engine::copies;
use engine::managed_server::Owner;

/// What is not copied: settings, rules and states of the server that was backed up. The private server has its own.
const LEFT_OUT: [&str; 15] = [
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
    // The links that a server would make by it lead to the other one's files.
    tablespaces::MAP,
];

/// Directories that have to be there, and whose content is not copied: a slot would keep the log, and tablespaces are copied by themselves.
const EMPTIED: [&str; 3] = ["pg_replslot", "pg_stat_tmp", tablespaces::LINKS];

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
    let is_one = |name: &OsStr, of: &[&str]| of.iter().any(|other| name == *other);
    for name in from.names().map_err(failed)? {
        if is_one(&name, &EMPTIED) {
            copies::made(&to, &name, owner).map_err(failed)?;
        } else if name != LOG && !is_one(&name, &LEFT_OUT) {
            copies::copy(&from, &to, &name, owner).map_err(failed)?;
        }
    }
    for name in log_from.names().map_err(failed)? {
        copies::copy(&log_from, &log_to, &name, owner).map_err(failed)?;
    }
    // Both are ours, and no other user has access to the volumes yet.
    std::os::unix::fs::symlink(log, data.join(LOG))
        .map_err(|error| EngineError::failed("link the log's directory", error))
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
