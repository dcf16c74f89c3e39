//! A backup, checked before anything is copied: a prepared `mariadb-backup`, or the data directory of a stopped server.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use files::{Folder, input};
use model::Bytes;
use nix::fcntl::{FcntlArg, fcntl};

use super::configuration;
use crate::trial::Programs;
use crate::trial::find::release_of;
use engine::EngineError;
use engine::copies;
use engine::rehearsed::BackupFacts;

/// Most bytes of a file with settings or facts.
const TEXT_BYTES_MAX: u64 = 1 << 20;

/// Deepest directory: `shop` has one.
const DEPTH_MAX: usize = 4;

/// Files of which a backup has one: `mariadb-backup` changed their names in 11.
const CHECKPOINTS: [&str; 2] = ["mariadb_backup_checkpoints", "xtrabackup_checkpoints"];
const INFO: [&str; 2] = ["mariadb_backup_info", "xtrabackup_info"];
const UPGRADED: [&str; 2] = ["mariadb_upgrade_info", "mysql_upgrade_info"];

/// What is assumed without the server's settings.
const DEFAULTS: &str = "the backup does not say what the server's settings are: they are MariaDB's defaults, such as a buffer pool of 128 MiB; \
                        give them by mariadb --execute 'SHOW GLOBAL VARIABLES' > settings.tsv, and --settings settings.tsv";

/// The default of `innodb_buffer_pool_size`.
/// <https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables>, read 2026-11-28.
const BUFFER_POOL: Bytes = Bytes::mib(128);

/// Setting of the system tablespace's files, in a backup's facts.
pub(crate) const DATA_FILES: &str = "innodb_data_file_path";

/// The kind of a backup that is a data directory.
const STOPPED: &str = "data directory of a stopped server";

/// Whether a backup is the data directory of a stopped server.
pub(crate) fn is_data_directory(facts: &BackupFacts) -> bool {
    facts.kind == STOPPED
}

/// Whether a directory has files of MariaDB, by their names.
pub(crate) fn is_one(backup: &Path) -> bool {
    let names = [&CHECKPOINTS[..], &INFO, &UPGRADED, &["ibdata1"]].concat();
    let holds = |folder: Folder| names.iter().any(|name| folder.holds(name.as_ref()));
    Folder::open(backup).is_ok_and(holds)
}

/// Checks a backup, for the server of `programs`.
///
/// # Errors
/// What it lacks, with the remedy.
pub(crate) fn inspect(backup: &Path, programs: &Programs) -> Result<BackupFacts, EngineError> {
    let refused = |why: String| EngineError::Missing(format!("{}: {why}", backup.display()));
    let folder = Folder::open(backup).map_err(|error| EngineError::Missing(error.to_string()))?;
    let text = |names: &[&str]| {
        let held = names.iter().find(|name| folder.holds(name.as_ref()));
        let read = held.map(|name| input::inside(&folder, name, TEXT_BYTES_MAX));
        read.transpose().map_err(|error| refused(error.to_string()))
    };
    let checkpoints = text(&CHECKPOINTS)?;
    if let Some(checkpoints) = &checkpoints {
        check_prepared(checkpoints, backup).map_err(refused)?;
    }
    let version = match (text(&INFO)?, text(&UPGRADED)?) {
        (Some(info), _) => value(&info, "server_version")
            .unwrap_or_default()
            .to_owned(),
        (None, Some(upgraded)) => upgraded.trim().to_owned(),
        (None, None) => {
            return Err(refused(
                "it has no file that says of which version it is (xtrabackup_info, or mariadb_upgrade_info); give the directory of a prepared \
                 mariadb-backup, or the data directory of a stopped server after mariadb-upgrade"
                    .to_owned(),
            ));
        }
    };
    check_version(&version, programs).map_err(refused)?;
    let is_backup = checkpoints.is_some();
    if !is_backup {
        check_stopped(&folder).map_err(refused)?;
    }
    if folder.inner("mysql".as_ref()).is_err() {
        return Err(refused(
            "it has no directory mysql with the server's accounts; give a backup of all databases"
                .to_owned(),
        ));
    }
    let size = copies::size(&folder, DEPTH_MAX, &check_name).map_err(refused)?;
    let mut settings = BTreeMap::new();
    let of_backup = text(&["backup-my.cnf"])?.unwrap_or_default();
    configuration::add_of_file(&of_backup, &mut settings);
    let of_files = files_of(&folder, value(&of_backup, DATA_FILES)).map_err(refused)?;
    settings.extend(of_files.map(|(name, value)| (name.to_owned(), value)));
    Ok(BackupFacts {
        version: version.split('-').next().unwrap_or_default().to_owned(),
        kind: match is_backup {
            true => "prepared mariadb-backup".to_owned(),
            false => STOPPED.to_owned(),
        },
        size,
        memory: BUFFER_POOL,
        settings,
        changed: CHANGED.map(str::to_owned).to_vec(),
        assumed: vec![DEFAULTS.to_owned()],
        ..BackupFacts::default()
    })
}

/// Adds the server's settings from the text of the file `name`: the answer to `SHOW GLOBAL VARIABLES`. What the backup's own files say
/// of their form stays.
///
/// # Errors
/// When it has none that are taken over.
pub(crate) fn add_settings(
    facts: &mut BackupFacts,
    name: &str,
    text: &str,
) -> Result<(), EngineError> {
    let mut found = BTreeMap::new();
    configuration::add_of_variables(text, &mut found);
    if found.is_empty() {
        return Err(EngineError::Missing(format!(
            "{name}: it has no setting that a rehearsal takes over; write it by mariadb --execute 'SHOW GLOBAL VARIABLES' > settings.tsv"
        )));
    }
    for (name, value) in found {
        facts.settings.entry(name).or_insert(value);
    }
    let memory = facts.settings.get("innodb_buffer_pool_size");
    let memory = memory.and_then(|bytes| bytes.parse().ok());
    facts.memory = memory.map_or(BUFFER_POOL, Bytes);
    facts.assumed.retain(|assumed| assumed != DEFAULTS);
    Ok(())
}

/// What a private server changes.
const CHANGED: [&str; 5] = [
    "it has no network, and listens on a socket of its own",
    "its users log in from localhost, with a password of this rehearsal, and have the rights that they had from any host",
    "it has a user dbstow@localhost more",
    "events, replication and plugins are off: tables of other storage engines than its own cannot be read",
    "statements reach no files, and it has a binary log only where the layout places one",
];

/// `name = value` in a text of such lines.
fn value<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut pairs = text.lines().filter_map(|line| line.split_once('='));
    pairs.find_map(|(key, value)| (key.trim() == name).then(|| value.trim()))
}

/// Checks that a backup has all that was written while it was taken.
fn check_prepared(checkpoints: &str, backup: &Path) -> Result<(), String> {
    match value(checkpoints, "backup_type").unwrap_or_default() {
        "log-applied" | "full-prepared" => Ok(()),
        "incremental" => Err(
            "it is an incremental backup; prepare the full one with it, and give that".to_owned(),
        ),
        _ => Err(format!(
            "it is a backup that is not prepared, so that its files need not fit together; run mariadb-backup --prepare --target-dir={}",
            backup.display()
        )),
    }
}

fn check_version(version: &str, programs: &Programs) -> Result<(), String> {
    if !version.contains("-MariaDB") {
        return Err(format!(
            "it is of version {:?}, which is not MariaDB; MySQL is not rehearsed yet",
            version.escape_debug().to_string()
        ));
    }
    match release_of(version) == release_of(&programs.version) {
        true => Ok(()),
        false => Err(format!(
            "it is of {}, and {} is {}; name the folder of its release's programs with --mariadb-bin",
            version.escape_debug(),
            programs.server.display(),
            programs.version
        )),
    }
}

/// Checks that no server runs on a data directory.
fn check_stopped(folder: &Folder) -> Result<(), String> {
    let remedy = "stop it, or take a backup of it with mariadb-backup and prepare that";
    let names = folder.names().map_err(|error| error.to_string())?;
    let process = names
        .iter()
        .find(|name| name.as_encoded_bytes().ends_with(b".pid"));
    if let Some(name) = process {
        return Err(format!(
            "it has a {}: a server may be running on it; {remedy}",
            name.display()
        ));
    }
    let file = folder.regular_file("ibdata1".as_ref());
    let file = file.map_err(|error| format!("{error}; give a whole data directory"))?;
    match is_locked(&file) {
        true => Err(format!(
            "a server is running on it, which has locked ibdata1; {remedy}"
        )),
        false => Ok(()),
    }
}

/// Whether another process has locked a file for writing.
fn is_locked(file: &File) -> bool {
    let mut lock = libc_lock();
    let asked = fcntl(file, FcntlArg::F_GETLK(&mut lock));
    asked.is_ok() && lock.l_type != nix::libc::F_UNLCK as nix::libc::c_short
}

/// A lock for reading on the whole file.
fn libc_lock() -> nix::libc::flock {
    nix::libc::flock {
        l_type: nix::libc::F_RDLCK as nix::libc::c_short,
        l_whence: nix::libc::SEEK_SET as nix::libc::c_short,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    }
}

/// Refuses what says that tables lie elsewhere, or are of an engine that is not read.
fn check_name(folder: &Folder, name: &OsStr) -> Result<bool, String> {
    if name.as_encoded_bytes().ends_with(b".isl") {
        return Err(format!(
            "{} says that a table lies elsewhere (DATA DIRECTORY), which is not read yet; move the table into the data directory first",
            folder.path().join(name).display()
        ));
    }
    if name == "#rocksdb" {
        return Err("it has tables of MyRocks, which are not read yet".to_owned());
    }
    Ok(true)
}

/// Settings that follow from the files: page size, undo tablespaces, and the system tablespace.
fn files_of(
    folder: &Folder,
    configured: Option<&str>,
) -> Result<impl Iterator<Item = (&'static str, String)>, String> {
    let names = folder.names().map_err(|error| error.to_string())?;
    let is_undo = |name: &str| {
        name.strip_prefix("undo")
            .is_some_and(|rest| rest.len() == 3 && rest.bytes().all(|b| b.is_ascii_digit()))
    };
    let undo = names
        .iter()
        .filter(|name| name.to_str().is_some_and(is_undo))
        .count();
    let data_files: Vec<String> = match configured {
        Some(path) => path
            .split(';')
            .map(|file| file.split(':').next().unwrap_or_default().trim().to_owned())
            .collect(),
        None => (1..)
            .map(|number| format!("ibdata{number}"))
            .take_while(|name| folder.holds(name.as_ref()))
            .collect(),
    };
    let mut page_size = None;
    let mut path = Vec::new();
    for (place, name) in data_files.iter().enumerate() {
        let is_plain = !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
        if !is_plain || name.starts_with('.') {
            return Err(format!(
                "its {DATA_FILES} names {name:?}, and only files in its own directory are read; move it there first"
            ));
        }
        let mut file = folder
            .regular_file(name.as_ref())
            .map_err(|error| format!("{error}; copy the whole directory"))?;
        let bytes = file.metadata().map_err(|error| error.to_string())?.len();
        if place == 0 {
            page_size = page_size_in(&mut file);
        }
        path.push(match place + 1 == data_files.len() {
            false => format!("{name}:{}M", bytes >> 20),
            true => format!("{name}:{}M:autoextend", (bytes >> 20).clamp(1, 12)),
        });
    }
    let page_size = page_size.ok_or(
        "its system tablespace (ibdata1) is missing, or none of InnoDB; copy the whole directory",
    )?;
    Ok([
        ("innodb_page_size", page_size.to_string()),
        ("innodb_undo_tablespaces", undo.to_string()),
        (DATA_FILES, path.join(";")),
    ]
    .into_iter())
}

/// The page size that the first page of a system tablespace states.
/// Source: MariaDB's `storage/innobase/include/fsp0types.h` (`FSP_FLAGS_FCRC32_PAGE_SSIZE`, `FSP_FLAGS_PAGE_SSIZE`), of 10.6, and
/// `fsp0fsp.h` (`FSP_SPACE_FLAGS`).
fn page_size_in(file: &mut File) -> Option<u64> {
    let mut head = [0; 58];
    file.read_exact(&mut head).ok()?;
    let flags = u32::from_be_bytes([head[54], head[55], head[56], head[57]]);
    let size = match flags & 0x10 {
        0 => flags >> 6 & 0xf,
        _ => flags & 0xf,
    };
    match size {
        // 16 KiB, as before other sizes were known.
        0 => Some(16 << 10),
        // 4 KiB to 64 KiB.
        3..=7 => Some(512 << size),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn programs() -> Programs {
        Programs::example("10.11.19-MariaDB")
    }

    /// A directory with these files, and what is said of it.
    fn said(files: &[(&str, &[u8])]) -> Result<BackupFacts, String> {
        let place = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            let path = place.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        inspect(place.path(), &programs()).map_err(|error| error.to_string())
    }

    /// The first page of a system tablespace with these flags.
    fn ibdata(flags: u32) -> Vec<u8> {
        let mut page = vec![0; 12 << 20];
        page[54..58].copy_from_slice(&flags.to_be_bytes());
        page
    }

    #[test]
    fn a_prepared_backup_and_a_stopped_server_are_told_apart_and_others_refused() {
        let system = ibdata(0x15);
        let info: &[u8] =
            b"tool_name = mariadb-backup\nserver_version = 10.11.19-MariaDB-0+deb12u1\n";
        let settings: &[u8] = b"[mysqld]\ninnodb_data_file_path=ibdata1:12M:autoextend\ninnodb_log_file_size=67108864\n";
        let backup = |state: &'static [u8]| {
            said(&[
                ("xtrabackup_checkpoints", state),
                ("xtrabackup_info", info),
                ("ibdata1", &system),
                ("backup-my.cnf", settings),
                ("mysql/db.frm", b"x"),
                ("undo001", b""),
            ])
        };
        let facts = backup(b"backup_type = log-applied\n").unwrap();
        assert_eq!(
            (facts.kind.as_str(), facts.version.as_str()),
            ("prepared mariadb-backup", "10.11.19")
        );
        let setting = |name: &str| facts.settings[name].as_str();
        assert_eq!(setting("innodb_page_size"), "16384");
        assert_eq!(setting("innodb_undo_tablespaces"), "1");
        assert_eq!(setting(DATA_FILES), "ibdata1:12M:autoextend");
        assert_eq!(setting("innodb_log_file_size"), "67108864");
        assert!(
            facts.assumed[0].contains("SHOW GLOBAL VARIABLES"),
            "{facts:?}"
        );
        let error = backup(b"backup_type = full-backuped\n").unwrap_err();
        assert!(
            error.contains("run mariadb-backup --prepare --target-dir=/"),
            "{error}"
        );

        let stopped = |version: &'static [u8], more: (&'static str, &'static [u8])| {
            said(&[
                ("ibdata1", &system),
                ("mysql/db.frm", b"x"),
                ("mysql_upgrade_info", version),
                more,
            ])
        };
        let mut facts = stopped(b"10.11.19-MariaDB", ("a", b"")).unwrap();
        let given = "innodb_page_size\t4096\ninnodb_buffer_pool_size\t1073741824\n";
        add_settings(&mut facts, "settings.tsv", given).unwrap();
        assert_eq!((facts.memory, facts.assumed.len()), (Bytes::gib(1), 0));
        assert_eq!(facts.settings["innodb_page_size"], "16384");
        let error = add_settings(&mut facts, "a.conf", "shared_buffers = 4GB").unwrap_err();
        assert!(error.to_string().starts_with("a.conf: "), "{error}");
        for (version, more, why) in [
            (&b"10.6.20-MariaDB"[..], ("a", &b""[..]), "--mariadb-bin"),
            (b"8.0.36", ("a", b""), "not MariaDB"),
            (
                b"10.11.19-MariaDB",
                ("host.pid", b"1"),
                "a server may be running",
            ),
            (
                b"10.11.19-MariaDB",
                ("shop/t.isl", b"/elsewhere/t.ibd"),
                "DATA DIRECTORY",
            ),
            (b"10.11.19-MariaDB", ("#rocksdb/x", b""), "MyRocks"),
        ] {
            let error = stopped(version, more).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
        let error = said(&[("ibdata1", &system)]).unwrap_err();
        assert!(error.contains("of which version"), "{error}");
        let error = said(&[
            ("mysql_upgrade_info", b"10.11.19-MariaDB"),
            ("mysql/x", b""),
            ("ibdata1", b"short"),
        ])
        .unwrap_err();
        assert!(error.contains("none of InnoDB"), "{error}");
    }

    #[test]
    fn a_system_tablespace_elsewhere_or_a_link_is_refused() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("ibdata1"), ibdata(0x13)).unwrap();
        let folder = Folder::open(place.path()).unwrap();
        let settings = |path| {
            files_of(&folder, path).map(|all| all.map(|(_, value)| value).collect::<Vec<_>>())
        };
        // 4 KiB: 512 << 3.
        assert_eq!(settings(None).unwrap()[0], "4096");
        for path in ["../ibdata1:12M", "/etc/passwd:1M:autoextend", "", "..:1M"] {
            let error = settings(Some(path)).unwrap_err();
            assert!(error.contains("only files in its own directory"), "{error}");
        }
        std::os::unix::fs::symlink("/etc/passwd", place.path().join("x")).unwrap();
        let error = copies::size(&folder, DEPTH_MAX, &check_name).unwrap_err();
        assert!(error.contains("is a symbolic link"), "{error}");
    }

    #[test]
    fn a_file_that_another_process_has_locked_is_seen() {
        let file = tempfile::tempfile().unwrap();
        // A lock of this process does not count.
        assert!(!is_locked(&file));
    }
}
