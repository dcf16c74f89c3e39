//! The PostgreSQL servers that `scripts/postgres-versions` fetches.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use lab::engine::postgres::Binaries;
use tempfile::TempDir;

/// The servers; `None` where they cannot be had, which is said.
pub(crate) fn versions() -> Option<Vec<Binaries>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/postgres-versions");
    let output = Command::new(script).output().expect("bash starts");
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        assert!(std::env::var_os("DBSTOW_SKIP_NOTHING").is_none(), "{why}");
        eprintln!("skipped: {why}");
        return None;
    }
    let text = String::from_utf8(output.stdout).unwrap();
    let versions = text.lines().map(|line| {
        let (version, folder) = line.split_once(' ').unwrap();
        let numbers: Vec<&str> = version.split('.').collect();
        Binaries {
            folder: Path::new(folder).join("bin"),
            major: numbers[0].parse().unwrap(),
            version: numbers[..2].join("."),
        }
    });
    Some(versions.collect())
}

/// The programs where another user gets at them, whoever owns the folders above `target`.
pub(crate) fn copied(binaries: &Binaries, place: &TempDir) -> Binaries {
    let source = binaries.folder.parent().unwrap();
    let copied = Command::new("cp")
        .args(["--recursive", "--preserve=mode,links"])
        .arg(source)
        .arg(place.path().join("server"))
        .status();
    assert!(copied.unwrap().success());
    Binaries {
        folder: place.path().join("server/bin"),
        ..binaries.clone()
    }
}

/// A folder for [`copied`].
pub(crate) fn programs_folder() -> TempDir {
    let mut builder = tempfile::Builder::new();
    let folder = builder.prefix("postgres-").tempdir_in("/tmp").unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    folder
}
