//! The volume of a file, and its user-supplied properties.
//!
//! A volume is determined by what the server reported for the file, or else by the longest mount point that is a prefix of the
//! path: `C:\mnt\data\a.mdf` is on `C:\mnt\data\` if a volume is mounted there, not on `C:\`.

use std::collections::{BTreeMap, BTreeSet};

use crate::capture::{Capture, File, FileKind, MountedVolume, TEMPDB, Unanswered, VolumeFacts};
use crate::tsql::question::{self, Question};

use rules::{Location, Outcome};

/// Databases above this number are not the server's own.
const SYSTEM_LAST: i64 = 4;

/// Whether a database is not one of the server's own.
pub(super) fn is_user(database: i64) -> bool {
    database > SYSTEM_LAST
}

/// Files of databases that are not the server's own.
pub(super) fn user_files(capture: &Capture) -> impl Iterator<Item = &File> {
    capture
        .files
        .iter()
        .filter(|file| is_user(file.database_id))
}

/// Data files of tempdb, as of the next start.
pub(super) fn tempdb_data(capture: &Capture) -> Vec<&File> {
    let files = capture.tempdb();
    files.filter(|file| file.kind == FileKind::Rows).collect()
}

/// Whether it runs on Linux.
pub(super) fn is_linux(capture: &Capture) -> bool {
    capture.machine.platform.eq_ignore_ascii_case("linux")
}

/// Whether it runs on Windows; servers before 2017 do not report it, but run only there.
pub(super) fn is_windows(capture: &Capture) -> bool {
    capture.machine.platform.eq_ignore_ascii_case("windows")
        || capture.machine.platform.is_empty() && capture.identity.major() <= 13
}

/// Whether it is an Azure virtual machine: as supplied by the user, or as captured, or false if it is not a virtual machine.
pub(super) fn is_azure(capture: &Capture) -> Option<bool> {
    let supplied = capture.supplied.as_ref().and_then(|volume| volume.azure);
    let bare = capture.machine.virtual_machine.eq_ignore_ascii_case("none");
    supplied
        .or(capture.machine.azure)
        .or(if bare { Some(false) } else { None })
}

/// The mount point of a file's volume; `None`: unknown. A drive without a captured volume counts as a volume, if others were
/// captured.
pub(super) fn mount_of<'a>(capture: &'a Capture, file: &'a File) -> Option<&'a str> {
    let known = capture.volume_of(file).filter(|_| !moves(capture, file));
    let mounts = capture.volumes.iter().map(|volume| &*volume.mount_point);
    let supplied = supplied_volumes(capture).map(|volume| &*volume.mount_point);
    let any = !capture.volumes.is_empty();
    known
        .map(|volume| &*volume.mount_point)
        .or_else(|| longest(mounts.chain(supplied), &file.path))
        .or_else(|| drive(&file.path).filter(|_| any))
}

/// `T:\` of `T:\tempdb\tempdb.mdf`.
fn drive(path: &str) -> Option<&str> {
    let drive = path.get(..3)?;
    let letter = drive.chars().next()?.is_ascii_alphabetic();
    (letter && drive.ends_with(":\\")).then_some(drive)
}

/// Whether a file of tempdb will be elsewhere after the next start.
pub(super) fn moves(capture: &Capture, file: &File) -> bool {
    file.database_id == TEMPDB
        && capture
            .tempdb_in_use
            .iter()
            .any(|used| used.id == file.id && !same_path(&used.path, &file.path))
}

/// Whether two paths are the same in their kind of file system.
pub(super) fn same_path(one: &str, other: &str) -> bool {
    normal(one) == normal(other)
}

/// The longest mount point that is a prefix of `path`.
pub(super) fn longest<'a>(mounts: impl Iterator<Item = &'a str>, path: &str) -> Option<&'a str> {
    let path = normal(path);
    mounts
        .filter(|mount| path.starts_with(&folder(mount)))
        .max_by_key(|mount| folder(mount).len())
}

/// User-supplied properties of a volume.
pub(super) fn supplied<'a>(capture: &'a Capture, mount: &str) -> Option<&'a VolumeFacts> {
    supplied_volumes(capture).find(|volume| folder(&volume.mount_point) == folder(mount))
}

/// Volumes with user-supplied properties.
pub(super) fn supplied_volumes(capture: &Capture) -> impl Iterator<Item = &VolumeFacts> {
    capture.supplied.iter().flat_map(|host| &host.volumes)
}

/// Whether a volume loses its contents when the machine is moved; `None`: not supplied.
pub(super) fn is_ephemeral(capture: &Capture, mount: &str) -> Option<bool> {
    supplied(capture, mount).and_then(|volume| volume.ephemeral)
}

/// The captured volume of a mount point.
pub(super) fn volume<'a>(capture: &'a Capture, mount: &str) -> Option<&'a MountedVolume> {
    let mut volumes = capture.volumes.iter();
    volumes.find(|volume| folder(&volume.mount_point) == folder(mount))
}

/// Whether it is the Windows boot volume, by its usual letter.
pub(super) fn is_system_volume(mount: &str) -> bool {
    folder(mount) == "c:\\"
}

/// Files by mount point; those with an unknown volume are skipped.
pub(super) fn by_mount<'a>(
    capture: &'a Capture,
    files: impl Iterator<Item = &'a File>,
) -> BTreeMap<&'a str, Vec<&'a File>> {
    let mut mounts: BTreeMap<&str, Vec<&File>> = BTreeMap::new();
    for file in files {
        if let Some(mount) = mount_of(capture, file) {
            mounts.entry(mount).or_default().push(file);
        }
    }
    mounts
}

/// A file as the location of a finding.
pub(super) fn place(capture: &Capture, file: &File) -> Location {
    Location {
        database: Some(capture.database(file.database_id)),
        file: Some(file.name.clone()),
        path: Some(file.path.clone()),
        volume: mount_of(capture, file).map(str::to_owned),
    }
}

/// Files as locations.
pub(super) fn places<'a>(
    capture: &Capture,
    files: impl IntoIterator<Item = &'a File>,
) -> Vec<Location> {
    let files = files.into_iter();
    files.map(|file| place(capture, file)).collect()
}

/// A volume as the location of a finding.
pub(super) fn at_volume(mount: &str) -> Location {
    Location {
        volume: Some(mount.to_owned()),
        ..Location::default()
    }
}

/// Names of the databases of some files, without duplicates.
pub(super) fn databases<'a>(
    capture: &Capture,
    files: impl IntoIterator<Item = &'a File>,
) -> Vec<String> {
    let files = files.into_iter();
    let ids: BTreeSet<i64> = files.map(|file| file.database_id).collect();
    ids.into_iter().map(|id| capture.database(id)).collect()
}

/// What to say where nothing is known of the machine.
pub(super) fn machine_missing(capture: &Capture, what: &str) -> Outcome {
    missing(
        capture,
        &question::MACHINE,
        what,
        "capture again as a login that may read sys.dm_os_sys_info (VIEW SERVER STATE)",
    )
}

/// What to say where the files' volumes are not known.
pub(super) fn volumes_missing(capture: &Capture) -> Outcome {
    missing(
        capture,
        &question::VOLUMES,
        "the volumes that the files are on",
        "--host FILE with mount_point for each volume, or capture again as a login with VIEW SERVER STATE (2022 and later: VIEW SERVER PERFORMANCE STATE)",
    )
}

/// The outcome if the files of tempdb are unknown.
pub(super) fn tempdb_missing(capture: &Capture) -> Outcome {
    missing(
        capture,
        &question::FILES,
        "the files of tempdb",
        "capture again as a login with VIEW ANY DEFINITION",
    )
}

/// The failure of a query; `None` if it succeeded.
pub(super) fn refusal<'a>(capture: &'a Capture, question: &Question) -> Option<&'a Unanswered> {
    let mut unanswered = capture.unanswered.iter();
    unanswered.find(|unanswered| unanswered.question == question.name)
}

/// The outcome if a part of the capture is empty: with the server's error if `question` failed.
pub(super) fn missing(capture: &Capture, question: &Question, what: &str, how: &str) -> Outcome {
    match refusal(capture, question) {
        Some(refused) if refused.timed_out() => Outcome::cannot_tell(
            what,
            format!(
                "capture again with a longer --timeout; the server did not answer in time: {}",
                refused.why
            ),
        ),
        Some(refused) if refused.remedy.is_empty() => {
            Outcome::cannot_tell(what, format!("{how}; the server said: {}", refused.why))
        }
        Some(refused) => Outcome::cannot_tell(what, refused.remedy.clone()),
        None => Outcome::cannot_tell(what, how),
    }
}

/// A normalized path: Windows ignores case and accepts both slashes, Linux does neither.
fn normal(path: &str) -> String {
    let mut start = path.chars();
    let drive = start.next().is_some_and(|c| c.is_ascii_alphabetic()) && start.next() == Some(':');
    if drive || path.starts_with("\\\\") {
        path.replace('/', "\\").to_lowercase()
    } else {
        path.to_owned()
    }
}

/// A normalized mount point, with a trailing separator.
fn folder(mount: &str) -> String {
    let mut folder = normal(mount);
    let separator = if folder.contains('\\') || folder.ends_with(':') {
        '\\'
    } else {
        '/'
    };
    if !folder.ends_with(separator) {
        folder.push(separator);
    }
    folder
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_point_beats_the_drive_it_lies_on() {
        let mounts = ["C:\\", "C:\\mnt\\data\\", "C:\\mnt"];
        let at = |path| longest(mounts.into_iter(), path);
        assert_eq!(at("c:\\MNT\\Data\\a.mdf"), Some("C:\\mnt\\data\\"));
        assert_eq!(at("C:\\mnt\\database\\a.mdf"), Some("C:\\mnt"));
        assert_eq!(at("C:\\mntother\\a.mdf"), Some("C:\\"));
        assert_eq!(at("D:\\a.mdf"), None);
    }

    #[test]
    fn linux_paths_keep_their_case() {
        let mounts = ["/", "/var/opt/mssql", "/Var/opt/mssql/data"];
        let at = |path| longest(mounts.into_iter(), path);
        assert_eq!(at("/var/opt/mssql/data/a.mdf"), Some("/var/opt/mssql"));
        assert_eq!(at("/srv/a.mdf"), Some("/"));
    }
}
