//! A backup, checked before anything is copied: `pg_basebackup` in plain format, or unpacked, or the data directory of a stopped server.

use std::ffi::OsStr;
use std::path::Path;

use files::{Folder, input};
use host::child;
use model::Bytes;

use super::configuration::Configuration;
use super::tablespaces;
use crate::trial::Binaries;
use engine::EngineError;
use engine::copies;
use engine::rehearsed::BackupFacts;

/// Most bytes of a settings file.
const SETTINGS_BYTES_MAX: u64 = 1 << 20;

/// The default of `shared_buffers`.
/// <https://www.postgresql.org/docs/18/runtime-config-resource.html>, read 2026-11-28.
const SHARED_BUFFERS: Bytes = Bytes::mib(128);

/// What every private server changes.
pub(crate) const LETS_IN: &str = "it has no network, listens on a socket of its own, and lets in only dbstow, as the users of the log";

/// The same of tablespaces.
pub(super) const ON_DATA_VOLUMES: &str =
    "its tablespaces are on the placement's data volumes, in turn";

/// Checks a backup, for the server of `binaries`.
///
/// # Errors
/// What it lacks, with the remedy.
pub(crate) fn inspect(backup: &Path, binaries: &Binaries) -> Result<BackupFacts, EngineError> {
    let refused = |why: String| EngineError::Missing(format!("{}: {why}", backup.display()));
    let folder = Folder::open(backup).map_err(|error| EngineError::Missing(error.to_string()))?;
    let read = |name: &str| input::inside(&folder, name, SETTINGS_BYTES_MAX);
    let version = read("PG_VERSION").map_err(|_| {
        refused("it has no PG_VERSION; give the directory of a base backup (pg_basebackup) or of a stopped server".to_owned())
    })?;
    let version = version.trim().to_owned();
    check_version(&version, binaries).map_err(&refused)?;
    let is_base = folder.holds("backup_label".as_ref());
    if folder.holds("postmaster.pid".as_ref()) {
        return Err(refused(
            "it has a postmaster.pid: a server may be running on it; stop that, or take a base backup of it with pg_basebackup".to_owned(),
        ));
    }
    let state = state(backup, binaries).map_err(&refused)?;
    let is_stopped = state.starts_with("shut down");
    if !is_base && !is_stopped {
        return Err(refused(format!(
            "its server was \"{state}\" when it was copied, and it has no backup_label, so that its files need not fit together; take a \
             base backup with pg_basebackup, or stop the server first"
        )));
    }
    check_log(&folder, is_base).map_err(&refused)?;
    let elsewhere = tablespaces::linked(&folder).map_err(&refused)?;
    let size = size_of(&folder).map_err(&refused)?;
    let mut configuration = Configuration::default();
    let mut has_settings = false;
    for name in ["postgresql.conf", "postgresql.auto.conf"] {
        if folder.holds(name.as_ref()) {
            let text = read(name).map_err(|error| refused(error.to_string()))?;
            configuration.add(name, &text);
            has_settings |= name == "postgresql.conf";
        }
    }
    let mut changed = vec![
        LETS_IN.to_owned(),
        "it has a superuser dbstow more".to_owned(),
    ];
    if !has_settings {
        changed.push("it has no postgresql.conf (Debian keeps it in /etc/postgresql): settings are PostgreSQL's defaults".to_owned());
    }
    for signal in ["standby.signal", "recovery.signal"] {
        if folder.holds(signal.as_ref()) {
            changed.push(format!(
                "{signal} is left out: it follows no server and fetches no log"
            ));
        }
    }
    if !elsewhere.is_empty() {
        changed.push(ON_DATA_VOLUMES.to_owned());
    }
    changed.extend(configuration.changed);
    let memory = configuration.kept.get("shared_buffers");
    Ok(BackupFacts {
        version,
        kind: match is_base {
            true => "base backup".to_owned(),
            false => "data directory of a stopped server".to_owned(),
        },
        size,
        memory: memory
            .and_then(|text| size_of_setting(text))
            .unwrap_or(SHARED_BUFFERS),
        settings: configuration.kept,
        changed,
        elsewhere,
        ..BackupFacts::default()
    })
}

/// Checks that the programs are of a backup's major version.
pub(super) fn check_version(version: &str, binaries: &Binaries) -> Result<(), String> {
    match version == binaries.major.to_string() {
        true => Ok(()),
        false => Err(format!(
            "it is of PostgreSQL {}, and {} has version {}; name the programs of its version with --postgres-bin",
            version.escape_debug(),
            binaries.folder.display(),
            binaries.version
        )),
    }
}

/// The state of its server, in PostgreSQL's words.
fn state(backup: &Path, binaries: &Binaries) -> Result<String, String> {
    let output = child::command(binaries.program("pg_controldata"))
        .env("LC_ALL", "C")
        .arg("-D")
        .arg(backup)
        .output()
        .map_err(|error| format!("pg_controldata: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("Database cluster state:"));
    match (output.status.success(), line) {
        (true, Some(state)) => Ok(state.trim().to_owned()),
        _ => {
            let said = String::from_utf8_lossy(&output.stderr);
            let said = said.lines().next().unwrap_or_default();
            Err(format!(
                "its global/pg_control cannot be read ({said}); take the backup again"
            ))
        }
    }
}

/// Checks that the log is there, without which a base backup never becomes consistent.
fn check_log(folder: &Folder, is_base: bool) -> Result<(), String> {
    let log = folder.inner("pg_wal".as_ref()).map_err(|error| {
        format!("{error}; give a backup whose pg_wal is a directory in it (pg_basebackup without --waldir)")
    })?;
    let names = log.names().map_err(|error| error.to_string())?;
    let is_segment = |name: &OsStr| {
        let name = name.as_encoded_bytes();
        name.len() == 24 && name.iter().all(u8::is_ascii_hexdigit)
    };
    match names.iter().any(|name| is_segment(name)) {
        true => Ok(()),
        false if is_base => Err("its pg_wal is empty: without the log that was written meanwhile, a base backup cannot start; take it with \
                                 pg_basebackup --wal-method=stream"
            .to_owned()),
        false => Err("its pg_wal is empty; copy the whole data directory".to_owned()),
    }
}

/// The size of all files of a data directory.
pub(super) fn size_of(folder: &Folder) -> Result<Bytes, String> {
    copies::size(folder, tablespaces::DEPTH_MAX, &|inside, name| {
        // Its links were looked at.
        Ok(inside.path() != folder.path() || name != tablespaces::LINKS)
    })
}

/// A size as in a settings file: `128MB`, `16384` pages of 8 KiB.
fn size_of_setting(text: &str) -> Option<Bytes> {
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().ok()?;
    let unit: u64 = match unit.trim() {
        "" => 8 << 10,
        "B" => 1,
        "kB" => 1 << 10,
        "MB" => 1 << 20,
        "GB" => 1 << 30,
        "TB" => 1 << 40,
        _ => return None,
    };
    number.checked_mul(unit).map(Bytes)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn sizes_are_read_in_postgresql_s_units() {
        assert_eq!(size_of_setting("128MB"), Some(Bytes::mib(128)));
        assert_eq!(size_of_setting("16384"), Some(Bytes::mib(128)));
        assert_eq!(size_of_setting("many"), None);
    }

    #[test]
    fn what_is_no_backup_or_of_another_version_is_refused_with_the_remedy() {
        let place = tempfile::tempdir().unwrap();
        let binaries = Binaries {
            folder: "/usr/lib/postgresql/15/bin".into(),
            major: 15,
            version: "15.1".to_owned(),
        };
        let refused = || inspect(place.path(), &binaries).unwrap_err().to_string();
        assert!(
            refused().contains("it has no PG_VERSION; give the directory"),
            "{}",
            refused()
        );
        fs::write(place.path().join("PG_VERSION"), "14\n").unwrap();
        assert!(
            refused().contains("it is of PostgreSQL 14, and"),
            "{}",
            refused()
        );
        fs::write(place.path().join("PG_VERSION"), "15\n").unwrap();
        fs::write(place.path().join("postmaster.pid"), "").unwrap();
        assert!(
            refused().contains("a server may be running"),
            "{}",
            refused()
        );
    }

    #[test]
    fn a_link_in_a_backup_is_refused() {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir(place.path().join("base")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", place.path().join("base/1")).unwrap();
        let folder = Folder::open(place.path()).unwrap();
        let refused = size_of(&folder).unwrap_err();
        assert!(refused.contains("is a symbolic link"), "{refused}");
    }
}
