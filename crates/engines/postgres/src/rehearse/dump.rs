//! Dumps in `pg_dump`'s directory format, checked before anything is made.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use files::{FileError, Folder};
use model::Bytes;

use super::header::Header;
use crate::trial::Binaries;
use engine::EngineError;
use engine::copies;
use engine::managed_server::Owner;
use engine::rehearsed::BackupFacts;

/// Its table of contents.
pub(crate) const CONTENTS: &str = "toc.dat";

/// Bytes of a table of contents that its header may take: the names in it are short.
const HEADER_BYTES: u64 = 64 << 10;

/// What a database takes for each byte of text in its dump: rows have headers and pages free space, and indexes are not in a dump.
/// Assumed; what it takes in fact is known once it is restored.
const GROWTH: f64 = 2.0;

/// How many bytes of text a compressed byte has, where the file does not say. Assumed.
const COMPRESSION: u64 = 6;

/// Databases that every cluster has for itself.
const TEMPLATES: [&str; 2] = ["template0", "template1"];

/// A dump that was checked.
pub(crate) struct Dump {
    pub(crate) header: Header,
    /// Its text, uncompressed: an estimate.
    text: Bytes,
    /// Its files.
    size: Bytes,
}

/// Checks dumps, for the programs of `binaries`.
///
/// # Errors
/// What one of them lacks, with the remedy.
pub(crate) fn inspect(dumps: &[PathBuf], binaries: &Binaries) -> Result<BackupFacts, EngineError> {
    let mut facts = BackupFacts {
        version: binaries.major.to_string(),
        ..BackupFacts::default()
    };
    let mut names: Vec<String> = Vec::new();
    for path in dumps {
        let refused = |why: String| EngineError::Missing(format!("{}: {why}", path.display()));
        let dump = checked(path, binaries).map_err(refused)?;
        let Header {
            database, server, ..
        } = dump.header;
        if names.contains(&database) {
            return Err(refused(format!(
                "it is of database {}, of which another dump is given; leave one out",
                database.escape_debug()
            )));
        }
        if major(&server) != Some(binaries.major) {
            facts.assumed.push(format!(
                "{}: its server was PostgreSQL {}, and PostgreSQL {} is rehearsed, which may plan statements otherwise: give the \
                 programs of its version by --postgres-bin",
                database.escape_debug(),
                server.escape_debug(),
                binaries.version
            ));
        }
        let grown = (dump.text.0 as f64 * GROWTH) as u64;
        facts.size = Bytes(
            facts
                .size
                .0
                .saturating_add(grown)
                .saturating_add(dump.size.0),
        );
        names.push(database);
    }
    facts.kind = format!("restored from a dump of {}", names.join(", "));
    facts.databases = Some(names);
    Ok(facts)
}

/// Copies the files of a dump into the empty directory `to`, for the user that restores it. No link is followed.
///
/// # Errors
/// When one cannot be copied, or is not a regular file.
pub(crate) fn copy(dump: &Path, to: &Path, owner: Option<Owner>) -> Result<(), FileError> {
    let (from, to) = (Folder::open(dump)?, Folder::open(to)?);
    for name in from.names()? {
        from.regular_file(&name)?;
        copies::copy(&from, &to, &name, owner)?;
    }
    Ok(())
}

fn checked(path: &Path, binaries: &Binaries) -> Result<Dump, String> {
    if path.is_file() {
        return Err(
            "it is a file; give the directory of a dump in directory format (pg_dump --format=directory), whose tables are restored \
             beside each other"
                .to_owned(),
        );
    }
    let folder = Folder::open(path).map_err(|error| error.to_string())?;
    if !folder.holds(CONTENTS.as_ref()) {
        return Err(format!(
            "it has no {CONTENTS}; give the directory that pg_dump --format=directory has made"
        ));
    }
    let contents = folder.regular_file(CONTENTS.as_ref());
    let contents = contents.map_err(|error| error.to_string())?;
    let mut first = Vec::new();
    let read = contents.take(HEADER_BYTES).read_to_end(&mut first);
    read.map_err(|error| format!("{CONTENTS}: {error}"))?;
    let header = Header::parse(&first).map_err(|why| format!("{CONTENTS}: {why}"))?;
    check_version(&header, binaries)?;
    if TEMPLATES.contains(&header.database.as_str()) {
        return Err(format!(
            "it is a dump of {}, which every cluster has for itself; dump the one that the log's sessions are in",
            header.database
        ));
    }
    let (mut text, mut size) = (0_u64, 0_u64);
    for name in folder.names().map_err(|error| error.to_string())? {
        let file = folder.regular_file(&name);
        let mut file =
            file.map_err(|error| format!("{error}; a dump in directory format has only files"))?;
        let length = file.metadata().map_err(|error| error.to_string())?.len();
        let is = |suffix: &str| name.as_encoded_bytes().ends_with(suffix.as_bytes());
        let uncompressed = match () {
            () if is(".gz") => of_gzip(&mut file, length).map_err(|error| error.to_string())?,
            () if is(".zst") || is(".lz4") => length.saturating_mul(COMPRESSION),
            () => length,
        };
        text = text.saturating_add(uncompressed);
        size = size.saturating_add(length);
    }
    Ok(Dump {
        header,
        text: Bytes(text),
        size: Bytes(size),
    })
}

/// The uncompressed length of a file of gzip, of which its end has the lowest 32 bits (RFC 1952, section 2.3.1): where more could
/// be in it, what is usual.
pub(super) fn of_gzip(file: &mut File, length: u64) -> io::Result<u64> {
    let Some(end) = length.checked_sub(4) else {
        return Ok(0);
    };
    let mut lowest = [0; 4];
    file.seek(SeekFrom::Start(end))?;
    file.read_exact(&mut lowest)?;
    let lowest = u64::from(u32::from_le_bytes(lowest));
    let usual = length.saturating_mul(COMPRESSION);
    Ok(match usual > u64::from(u32::MAX) {
        true => lowest.max(usual),
        false => lowest,
    })
}

/// The latest version of the archive that programs of a major version read (`K_VERS_MAX` in `pg_backup_archiver.h` of PostgreSQL's
/// source, read 2026-11-28).
fn newest_archive(major: u32) -> (u8, u8) {
    match major {
        ..=15 => (1, 14),
        16 => (1, 15),
        17.. => (1, 16),
    }
}

fn check_version(header: &Header, binaries: &Binaries) -> Result<(), String> {
    let newest = newest_archive(binaries.major);
    let (server, program) = (major(&header.server), major(&header.program));
    let newer = server
        .into_iter()
        .chain(program)
        .find(|major| *major > binaries.major);
    if newer.is_none() && header.archive <= newest {
        return Ok(());
    }
    Err(format!(
        "it was made by pg_dump {} of a server of version {}, and {} has version {}, which does not restore newer ones; name the \
         programs of its version with --postgres-bin",
        header.program.escape_debug(),
        header.server.escape_debug(),
        binaries.folder.display(),
        binaries.version
    ))
}

/// The major version in `15.18 (Debian 15.18-0+deb12u1)`.
fn major(version: &str) -> Option<u32> {
    let end = version.find(|c: char| !c.is_ascii_digit());
    version[..end.unwrap_or(version.len())].parse().ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn binaries(major: u32) -> Binaries {
        Binaries {
            folder: format!("/usr/lib/postgresql/{major}/bin").into(),
            major,
            version: format!("{major}.1"),
        }
    }

    /// A dump of a database by the programs of a major version, whose tables have this many bytes.
    fn dump(database: &str, major: u32, bytes: usize) -> tempfile::TempDir {
        let place = tempfile::tempdir().unwrap();
        let archive = newest_archive(major);
        let header = Header::example(database, archive, &format!("{major}.2"));
        fs::write(place.path().join(CONTENTS), header).unwrap();
        fs::write(place.path().join("1.dat"), vec![b'x'; bytes]).unwrap();
        place
    }

    #[test]
    fn a_dump_has_a_database_and_a_size_and_an_older_one_is_said_to_be_planned_otherwise() {
        let (shop, old) = (dump("shop", 15, 1 << 20), dump("old", 13, 0));
        let both = [shop.path().to_owned(), old.path().to_owned()];
        let facts = inspect(&both, &binaries(15)).unwrap();
        assert_eq!(
            facts.databases,
            Some(vec!["shop".to_owned(), "old".to_owned()])
        );
        // The copy of the dump, and twice its text.
        assert!(facts.size > Bytes::mib(3) && facts.size < Bytes(3 << 20 | 4096));
        assert_eq!(facts.assumed.len(), 1);
        assert!(facts.assumed[0].starts_with("old: its server was PostgreSQL 13.2, and"));

        let twice = [both[0].clone(), both[0].clone()];
        let refused = inspect(&twice, &binaries(15)).unwrap_err().to_string();
        assert!(refused.contains("another dump is given"), "{refused}");
    }

    #[test]
    fn what_is_no_dump_or_a_newer_one_is_refused_with_the_remedy() {
        let refused = |dump: &Path, major| {
            let refused = inspect(&[dump.to_owned()], &binaries(major));
            refused.unwrap_err().to_string()
        };
        let newer = dump("shop", 17, 0);
        let said = refused(newer.path(), 15);
        assert!(said.contains("made by pg_dump 17.2 of a server"), "{said}");
        assert!(said.contains("--postgres-bin"), "{said}");
        let said = refused(dump("template1", 15, 0).path(), 15);
        assert!(said.contains("every cluster has for itself"), "{said}");
        let said = refused(&newer.path().join(CONTENTS), 15);
        assert!(said.contains("--format=directory"), "{said}");
        let empty = tempfile::tempdir().unwrap();
        let said = refused(empty.path(), 15);
        assert!(said.contains("it has no toc.dat"), "{said}");
        fs::write(empty.path().join(CONTENTS), "CREATE TABLE").unwrap();
        let said = refused(empty.path(), 15);
        assert!(said.contains("not an archive of pg_dump"), "{said}");
    }

    #[test]
    fn a_link_in_a_dump_is_not_followed() {
        let shop = dump("shop", 15, 0);
        std::os::unix::fs::symlink("/etc/passwd", shop.path().join("2.dat")).unwrap();
        let dumps = [shop.path().to_owned()];
        let refused = inspect(&dumps, &binaries(15)).unwrap_err().to_string();
        assert!(refused.contains("is a symbolic link"), "{refused}");
        let to = tempfile::tempdir().unwrap();
        let refused = copy(shop.path(), to.path(), None).unwrap_err().to_string();
        assert!(refused.contains("is a symbolic link"), "{refused}");
    }

    #[test]
    fn the_end_of_a_compressed_file_says_how_long_it_was() {
        let mut file = tempfile::tempfile().unwrap();
        io::Write::write_all(&mut file, &[0, 0, 0, 0, 0, 0, 16, 0]).unwrap();
        assert_eq!(of_gzip(&mut file, 8).unwrap(), 1 << 20);
        // Of 1 GiB compressed, more than 4 GiB.
        assert_eq!(of_gzip(&mut file, 8).unwrap(), 1 << 20);
    }
}
