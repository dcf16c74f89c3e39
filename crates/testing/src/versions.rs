//! The PostgreSQL servers that `scripts/other-servers` fetches.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::other_servers::{copy, other_servers};
use postgres::Binaries;
use tempfile::TempDir;

/// The servers; `None`, with a message, where they are not available.
pub fn versions() -> Option<Vec<Binaries>> {
    let versions = other_servers("postgres")?.into_iter();
    let binaries = versions.map(|(version, folder)| {
        let numbers: Vec<&str> = version.split('.').collect();
        Binaries {
            folder: folder.join("bin"),
            major: numbers[0].parse().unwrap(),
            version: numbers[..2].join("."),
        }
    });
    Some(binaries.collect())
}

/// The programs where another user can access them, as not every user can enter the folders above `target`.
pub fn copied(binaries: &Binaries, place: &TempDir) -> Binaries {
    let source = binaries.folder.parent().unwrap();
    copy(source, &place.path().join("server"));
    Binaries {
        folder: place.path().join("server/bin"),
        ..binaries.clone()
    }
}

/// A folder for [`copied`].
pub fn programs_folder() -> TempDir {
    let mut builder = tempfile::Builder::new();
    let folder = builder.prefix("postgres-").tempdir_in("/tmp").unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    folder
}
