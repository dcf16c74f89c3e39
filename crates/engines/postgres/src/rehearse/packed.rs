//! A base backup in tar format: `base.tar`, `pg_wal.tar` and an archive of each tablespace, as `pg_basebackup --format=tar` writes them, or compressed by gzip.
//!
//! Archives are read as a stream; what is in them goes to a volume of dbstow's own, by handles that follow no link.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Component, Path, PathBuf};

use files::{FileError, Folder};
use flate2::read::MultiGzDecoder;
use model::Bytes;
use tar::{Archive, Entry, EntryType};

use super::backup::{ON_DATA_VOLUMES, check_version};
use super::dump::of_gzip;
use super::tablespaces;
use crate::trial::Binaries;
use engine::EngineError;
use engine::rehearsed::{BackupFacts, RestoreVolume};

/// The archive of the data directory, and that of the log that was written meanwhile.
const BASE: &str = "base.tar";
const LOG: &str = "pg_wal.tar";

/// Where the log belongs in a data directory.
const LOG_FOLDER: &str = "pg_wal";

/// Endings of archives that are not read, and what decompresses them.
const COMPRESSED: [(&str, &str); 2] = [(".lz4", "lz4 -d"), (".zst", "zstd -d")];

/// Deepest entry: `base/5/16384` has three parts.
const DEPTH_MAX: usize = 8;

/// Most bytes of `PG_VERSION`.
const VERSION_BYTES: u64 = 64;

/// Most entries: a thousand databases of ten thousand files each.
const ENTRIES_MAX: u64 = 10_000_000;

/// Whether a backup is in archives.
pub(crate) fn is_packed(backup: &Path) -> bool {
    let Ok(folder) = Folder::open(backup) else {
        return false;
    };
    let of_base = |ending: &str| folder.holds(format!("{BASE}{ending}").as_ref());
    ["", ".gz", ".lz4", ".zst"].into_iter().any(of_base)
}

/// Checks a backup in archives, for the server of `binaries`: its size is an estimate.
///
/// # Errors
/// What it lacks, with the remedy.
pub(crate) fn inspect(backup: &Path, binaries: &Binaries) -> Result<BackupFacts, EngineError> {
    let refused = |why: String| EngineError::Missing(format!("{}: {why}", backup.display()));
    let folder = Folder::open(backup).map_err(|error| EngineError::Missing(error.to_string()))?;
    check_names(&folder).map_err(&refused)?;
    let mut size = Bytes::ZERO;
    let tablespaces = of_tablespaces(&folder).map_err(&refused)?;
    let archives = tablespaces.iter().map(|archive| &**archive);
    for archive in [BASE, LOG].into_iter().chain(archives) {
        let Some((mut file, is_compressed)) = open(&folder, archive).map_err(&refused)? else {
            continue;
        };
        let length = file
            .metadata()
            .map(|metadata| metadata.len())
            .and_then(|length| match is_compressed {
                true => of_gzip(&mut file, length),
                false => Ok(length),
            });
        let length = length.map_err(|error| refused(format!("{archive}: {error}")))?;
        size = Bytes(size.0.saturating_add(length));
    }
    let version = version(&folder).map_err(&refused)?;
    check_version(&version, binaries).map_err(&refused)?;
    Ok(BackupFacts {
        version,
        kind: "base backup in tar format".to_owned(),
        size,
        is_packed: true,
        changed: match tablespaces.is_empty() {
            true => Vec::new(),
            false => vec![ON_DATA_VOLUMES.to_owned()],
        },
        ..BackupFacts::default()
    })
}

/// Unpacks a backup into a new directory of the volume, and its tablespaces into others.
///
/// # Errors
/// When an archive is damaged, or has an entry that does not belong in a data directory.
pub(crate) fn unpack(
    backup: &Path,
    on: &RestoreVolume<'_>,
) -> Result<(PathBuf, BTreeMap<String, PathBuf>), EngineError> {
    let failed = |why: String| EngineError::failed(format!("unpack {}", backup.display()), why);
    let refused = |error: FileError| failed(error.to_string());
    let from = Folder::open(backup).map_err(refused)?;
    let volume = Folder::open(on.directory).map_err(refused)?;
    let data = volume.new_folder("cluster".as_ref()).map_err(refused)?;
    let unpack = |archive: &str, place: &dyn Fn() -> Result<Folder, FileError>| {
        let opened = open(&from, archive).map_err(failed)?;
        let Some((file, is_compressed)) = opened else {
            return Ok(None);
        };
        (on.observe)(&format!("unpacking {archive}"));
        let to = place().map_err(refused)?;
        let unpacked = unpack_archive(&mut stream(file, is_compressed), &to, on.interrupted);
        unpacked.map_err(|why| failed(format!("{archive}: {why}")))?;
        Ok::<_, EngineError>(Some(to.path().to_owned()))
    };
    unpack(BASE, &|| volume.inner("cluster".as_ref()))?;
    unpack(LOG, &|| data.folder(LOG_FOLDER.as_ref()))?;
    let mut elsewhere = BTreeMap::new();
    for archive in of_tablespaces(&from).map_err(failed)? {
        let name = archive.trim_end_matches(".tar").to_owned();
        let place = || volume.new_folder(format!("tablespace_{name}").as_ref());
        if let Some(place) = unpack(&archive, &place)? {
            elsewhere.insert(name, place);
        }
    }
    tablespaces::check_map(&data, &elsewhere).map_err(failed)?;
    Ok((data.path().to_owned(), elsewhere))
}

/// Refuses what cannot be read, before anything is.
fn check_names(folder: &Folder) -> Result<(), String> {
    for name in folder.names().map_err(|error| error.to_string())? {
        let name = name.to_string_lossy();
        let compressed = COMPRESSED.iter();
        for (ending, program) in compressed {
            if name.ends_with(ending) {
                return Err(format!(
                    "{} is in a form that is not read; decompress it ({program}), or take the backup with pg_basebackup --gzip",
                    name.escape_debug()
                ));
            }
        }
    }
    Ok(())
}

/// The archives of tablespaces, without what compression adds to their names: `16384.tar`.
fn of_tablespaces(folder: &Folder) -> Result<Vec<String>, String> {
    let names = folder.names().map_err(|error| error.to_string())?;
    let names = names.iter().filter_map(|name| name.to_str());
    let archives = names.map(|name| name.strip_suffix(".gz").unwrap_or(name));
    let is_one = |name: &&str| name.strip_suffix(".tar").is_some_and(tablespaces::is_name);
    let all: BTreeSet<&str> = archives.filter(is_one).collect();
    Ok(all.into_iter().map(str::to_owned).collect())
}

/// An archive, and whether it is compressed; `None`: it is not there.
fn open(folder: &Folder, archive: &str) -> Result<Option<(File, bool)>, String> {
    for (ending, is_compressed) in [("", false), (".gz", true)] {
        let name = format!("{archive}{ending}");
        if folder.holds(name.as_ref()) {
            let file = folder.regular_file(name.as_ref());
            return match file {
                Ok(file) => Ok(Some((file, is_compressed))),
                Err(error) => Err(error.to_string()),
            };
        }
    }
    Ok(None)
}

fn stream(file: File, is_compressed: bool) -> Box<dyn Read> {
    let file = BufReader::with_capacity(1 << 18, file);
    match is_compressed {
        true => Box::new(MultiGzDecoder::new(file)),
        false => Box::new(file),
    }
}

/// The version in the archive of the data directory.
fn version(folder: &Folder) -> Result<String, String> {
    let Some((file, is_compressed)) = open(folder, BASE)? else {
        return Err(format!("it has no {BASE}"));
    };
    let damaged = |error: io::Error| format!("{BASE}: {error}; take the backup again");
    let mut archive = Archive::new(stream(file, is_compressed));
    for entry in archive.entries().map_err(damaged)? {
        let entry = entry.map_err(damaged)?;
        if parts(&entry)? == ["PG_VERSION"] {
            let mut text = String::new();
            let read = entry.take(VERSION_BYTES).read_to_string(&mut text);
            read.map_err(damaged)?;
            return Ok(text.trim().to_owned());
        }
    }
    Err(format!(
        "{BASE} has no PG_VERSION; give the directory that pg_basebackup --format=tar has made"
    ))
}

fn unpack_archive(
    from: &mut dyn Read,
    to: &Folder,
    interrupted: &dyn Fn() -> bool,
) -> Result<(), String> {
    let damaged = |error: io::Error| format!("{error}; take the backup again");
    let mut archive = Archive::new(from);
    let mut count = 0;
    for entry in archive.entries().map_err(damaged)? {
        let mut entry = entry.map_err(damaged)?;
        if interrupted() {
            return Err("interrupted".to_owned());
        }
        count += 1;
        if count > ENTRIES_MAX {
            return Err(format!("it has more than {ENTRIES_MAX} entries"));
        }
        let parts = parts(&entry)?;
        let named = parts.join("/");
        match (entry.header().entry_type(), parts.split_last()) {
            (EntryType::XGlobalHeader, _) | (EntryType::Directory, None) => {}
            (EntryType::Directory, Some(_)) => {
                inner(to, &parts)?;
            }
            (EntryType::Regular | EntryType::Continuous, Some((name, folders))) => {
                let place = inner(to, folders)?;
                let place = place.as_ref().unwrap_or(to);
                let made = place.new_file(name.as_ref());
                let mut made = made.map_err(|error| error.to_string())?;
                let length = entry.size();
                let copied = io::copy(&mut entry, &mut made);
                let copied =
                    copied.map_err(|error| format!("{}: {error}", named.escape_debug()))?;
                if copied != length {
                    return Err(format!(
                        "{} is cut off; take the backup again",
                        named.escape_debug()
                    ));
                }
            }
            (kind, _) => {
                return Err(format!(
                    "{} is {}, and a data directory in an archive has only files and directories",
                    named.escape_debug(),
                    described(kind)
                ));
            }
        }
    }
    match count {
        0 => Err("it is empty; take the backup again".to_owned()),
        _ => Ok(()),
    }
}

/// The parts of an entry's path, none of which leads elsewhere.
fn parts<R: Read>(entry: &Entry<'_, R>) -> Result<Vec<String>, String> {
    let path = entry.path().map_err(|error| error.to_string())?;
    let refused = |why: &str| format!("{:?} {why}", path.display().to_string());
    let mut parts = Vec::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::Normal(name) => {
                let name = name.to_str();
                parts.push(
                    name.ok_or_else(|| refused("is not a name of PostgreSQL's"))?
                        .to_owned(),
                );
            }
            Component::Prefix(_) | Component::RootDir | Component::ParentDir => {
                return Err(refused("leads out of the backup"));
            }
        }
    }
    match parts.len() > DEPTH_MAX {
        true => Err(refused("lies too deep for a file of PostgreSQL")),
        false => Ok(parts),
    }
}

/// The directory of these names, created where it is missing; `None`: the first one itself.
fn inner(to: &Folder, names: &[String]) -> Result<Option<Folder>, String> {
    let mut place: Option<Folder> = None;
    for name in names {
        let next = place.as_ref().unwrap_or(to).folder(name.as_ref());
        place = Some(next.map_err(|error| error.to_string())?);
    }
    Ok(place)
}

fn described(kind: EntryType) -> &'static str {
    match kind {
        EntryType::Symlink | EntryType::Link => "a link",
        EntryType::Char | EntryType::Block => "a device",
        EntryType::Fifo => "a FIFO",
        _ => "an entry of another kind",
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tar::{Builder, Header};

    use super::*;

    /// An archive with an entry of this name and kind, as no library would write it.
    fn archive(entries: &[(&str, EntryType, &str)]) -> Vec<u8> {
        let mut builder = Builder::new(Vec::new());
        for (name, kind, text) in entries {
            let mut header = Header::new_ustar();
            header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_entry_type(*kind);
            header.set_size(text.len() as u64);
            header.set_mode(0o600);
            header.set_cksum();
            builder.append(&header, text.as_bytes()).unwrap();
        }
        builder.into_inner().unwrap()
    }

    fn unpacked(bytes: &[u8]) -> (tempfile::TempDir, Result<(), String>) {
        let place = tempfile::tempdir().unwrap();
        let to = Folder::open(place.path()).unwrap();
        let done = unpack_archive(&mut &*bytes, &to, &|| false);
        (place, done)
    }

    #[test]
    fn files_and_directories_are_unpacked() {
        let (place, done) = unpacked(&archive(&[
            ("backup_label", EntryType::Regular, "START"),
            ("./base/", EntryType::Directory, ""),
            ("base/5/1", EntryType::Regular, "a page"),
        ]));
        done.unwrap();
        let text = fs::read_to_string(place.path().join("base/5/1"));
        assert_eq!(text.unwrap(), "a page");
    }

    #[test]
    fn what_leads_out_of_a_backup_or_is_no_file_is_refused() {
        for (name, kind, why) in [
            ("/etc/passwd", EntryType::Regular, "leads out"),
            ("base/../../passwd", EntryType::Regular, "leads out"),
            ("pg_tblspc/16384", EntryType::Symlink, "is a link"),
            ("base/1", EntryType::Link, "is a link"),
            ("base/1", EntryType::Char, "is a device"),
            ("base/1", EntryType::Fifo, "is a FIFO"),
            ("a/b/c/d/e/f/g/h/i", EntryType::Regular, "too deep"),
        ] {
            let (_place, done) = unpacked(&archive(&[(name, kind, "")]));
            let said = done.unwrap_err();
            assert!(said.contains(why), "{name}: {said}");
        }
        let twice = [("base/1", EntryType::Regular, "x"); 2];
        assert!(unpacked(&archive(&twice)).1.is_err());
        let whole = archive(&[("base/1", EntryType::Regular, "some text")]);
        assert!(unpacked(&whole[..515]).1.is_err());
        assert!(unpacked(&[]).1.is_err());
    }

    #[test]
    fn an_archive_has_a_version_and_what_is_not_read_is_refused_with_the_remedy() {
        let binaries = Binaries {
            folder: "/usr/lib/postgresql/15/bin".into(),
            major: 15,
            version: "15.1".to_owned(),
        };
        let place = tempfile::tempdir().unwrap();
        let bytes = archive(&[("PG_VERSION", EntryType::Regular, "15\n")]);
        assert!(!is_packed(place.path()));
        fs::write(place.path().join(BASE), &bytes).unwrap();
        fs::write(place.path().join("16384.tar"), &bytes).unwrap();
        assert!(is_packed(place.path()));
        let facts = inspect(place.path(), &binaries).unwrap();
        assert_eq!(
            (&*facts.version, facts.size),
            ("15", Bytes(2 * bytes.len() as u64))
        );

        let refused = || inspect(place.path(), &binaries).unwrap_err().to_string();
        let other = archive(&[("PG_VERSION", EntryType::Regular, "14\n")]);
        fs::write(place.path().join(BASE), other).unwrap();
        assert!(refused().contains("of PostgreSQL 14"), "{}", refused());
        fs::write(place.path().join("pg_wal.tar.zst"), "").unwrap();
        assert!(refused().contains("zstd -d"), "{}", refused());
    }
}
