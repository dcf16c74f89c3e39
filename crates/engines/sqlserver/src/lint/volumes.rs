//! Volumes: format, sharing, free space.

use std::collections::{BTreeMap, BTreeSet};

use crate::capture::{Capture, File, FileKind, MountedVolume, TEMPDB};

use super::files::next_step;
use super::locations::{
    at_volume, by_mount, databases, is_azure, is_ephemeral, is_linux, is_system_volume, is_user,
    mount_of, places, supplied, user_files, volume, volumes_missing,
};
use super::sources::{
    AZURE_STORAGE, DBATOOLS_ALLOCATION, DBATOOLS_TEMPDB, PERFKIT, RULESET, TEMPDB_PAGE,
};
use super::{Applies, Rule};
use rules::shown::{bytes, list, percent};
use rules::{Change, Finding, Outcome, Severity};

/// Recommended allocation unit of a volume with database files.
const UNIT: i64 = 64 << 10;
/// Below this share of free space a volume is nearly full. Our choice; none is published for volumes.
const FREE_MIN: f64 = 0.10;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "volume-allocation-unit",
        title: "a volume's allocation unit is not 64 KiB",
        severity: Severity::Low,
        why: "low, as in Microsoft's ruleset, and medium on a virtual machine of Azure",
        says: "NTFS volumes with database files have allocation units of 64 KiB. Exempt: the volume of Windows, Azure's temporary \
               disk (4 KiB), and ReFS, for which this rule is not given. T-SQL cannot see it: give it with --host.",
        sources: &[RULESET, DBATOOLS_ALLOCATION, AZURE_STORAGE],
        applies: Applies::WINDOWS,
        judge: allocation_unit,
    },
    Rule {
        id: "data-on-system-volume",
        title: "databases are on the volume of the operating system",
        severity: Severity::Medium,
        why: "medium: a full system volume stops more than the database, and on Azure its disk is slow and its cache writes back",
        says: "Users' databases and tempdb are not on C:\\. A mount point below C:\\ is another volume. The server's own databases may stay.",
        sources: &[AZURE_STORAGE, DBATOOLS_TEMPDB, RULESET],
        applies: Applies::BOXED,
        judge: on_system_volume,
    },
    Rule {
        id: "data-and-log-together",
        title: "data and log share a volume",
        severity: Severity::Note,
        why: "note: rules ask for two volumes, but the best of 290 measured layouts on one cloud had both on one stripe",
        says: "Data and log of a database are on different volumes. A counter-example is published for AWS: 17 volumes striped, \
               data and log together, were faster than any split.",
        sources: &[RULESET, AZURE_STORAGE, PERFKIT],
        applies: Applies::BOXED,
        judge: data_and_log,
    },
    Rule {
        id: "volume-nearly-full",
        title: "a volume is nearly full",
        severity: Severity::High,
        why: "high where a file's next growth does not fit: writes fail then; medium where all files together do not fit; low below 10 % free",
        says: "The next growth of each file fits its volume, that of all of them together does as well, and 10 % are free (ours).",
        sources: &[TEMPDB_PAGE],
        applies: Applies::BOXED,
        judge: nearly_full,
    },
    Rule {
        id: "ephemeral-volume-holds-data",
        title: "a volume that is lost with its host holds databases",
        severity: Severity::High,
        why: "high: what is on it is gone when the machine is stopped or moved",
        says: "A temporary disk holds tempdb and nothing else.",
        sources: &[AZURE_STORAGE],
        applies: Applies::BOXED,
        judge: ephemeral_data,
    },
];

fn allocation_unit(capture: &Capture) -> Vec<Outcome> {
    let mounts: BTreeSet<&str> = capture
        .files
        .iter()
        .filter_map(|file| mount_of(capture, file))
        .collect();
    if mounts.is_empty() {
        return vec![volumes_missing(capture)];
    }
    mounts
        .into_iter()
        .map(|mount| unit_of(capture, mount))
        .collect()
}

fn unit_of(capture: &Capture, mount: &str) -> Outcome {
    let file_system = volume(capture, mount).map_or("", |volume| &*volume.file_system);
    if is_system_volume(mount) {
        return Outcome::exempt(
            "system-volume",
            format!("{mount} is the volume of Windows, formatted by setup"),
        );
    }
    if file_system.eq_ignore_ascii_case("refs") {
        let why = format!("{mount} is ReFS; the rule is about NTFS");
        return Outcome::exempt("refs", why);
    }
    if is_ephemeral(capture, mount) == Some(true) {
        let why = format!("{mount} is a temporary disk; its 4 KiB are accepted");
        return Outcome::exempt("temporary-disk", why);
    }
    match supplied(capture, mount).and_then(|volume| volume.allocation_unit_bytes) {
        None => Outcome::cannot_tell(
            format!("the allocation unit of {mount}"),
            "--host FILE with allocation_unit_bytes for each volume; on the host `fsutil fsinfo ntfsinfo VOLUME` shows it",
        ),
        Some(UNIT) => Outcome::fine(format!("{mount} has 64 KiB")),
        Some(unit) => {
            let severity = match is_azure(capture) {
                Some(true) => Severity::Medium,
                Some(false) | None => Severity::Low,
            };
            let message = format!("{mount} is formatted with units of {}", bytes(unit));
            Finding::new(severity, message)
                .with("file system", file_system)
                .with("allocation unit", bytes(unit))
                .at([at_volume(mount)])
                .remedy("format the next volume with 64 KiB and move the files there; it cannot be changed in place")
        }
    }
}

fn on_system_volume(capture: &Capture) -> Vec<Outcome> {
    if is_linux(capture) {
        return vec![Outcome::exempt(
            "linux-no-drive-letters",
            "paths of Linux have no drive letters, and T-SQL does not show what disk a mount point is on",
        )];
    }
    let mounts = by_mount(capture, capture.files.iter());
    if mounts.is_empty() {
        return vec![volumes_missing(capture)];
    }
    let there: Vec<&File> = mounts
        .into_iter()
        .filter(|(mount, _)| is_system_volume(mount))
        .flat_map(|(_, files)| files)
        .filter(|file| is_user(file.database_id) || file.database_id == TEMPDB)
        .collect();
    if there.is_empty() {
        return vec![Outcome::fine(
            "neither tempdb nor a user's database is on C:\\",
        )];
    }
    let names = databases(capture, there.iter().copied());
    let verb = if names.len() == 1 { "is" } else { "are" };
    let message = format!(
        "{} {verb} on C:\\, the volume of the operating system",
        list(&names)
    );
    vec![
        Finding::new(Severity::Medium, message)
            .with("files on C:\\", there.len())
            .at(places(capture, there))
            .remedy("move them to another volume; tempdb needs a restart, the others a short time offline"),
    ]
}

fn data_and_log(capture: &Capture) -> Vec<Outcome> {
    let mut kinds: BTreeMap<(&str, i64), BTreeSet<FileKind>> = BTreeMap::new();
    for (mount, files) in by_mount(capture, user_files(capture)) {
        for file in files {
            let key = (mount, file.database_id);
            kinds.entry(key).or_default().insert(file.kind);
        }
    }
    if kinds.is_empty() {
        return vec![match user_files(capture).next() {
            Some(_) => volumes_missing(capture),
            None => Outcome::fine("there are no databases of users"),
        }];
    }
    let mut shared: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
    for ((mount, database), kinds) in kinds {
        if kinds.contains(&FileKind::Rows) && kinds.contains(&FileKind::Log) {
            shared.entry(mount).or_default().push(database);
        }
    }
    if shared.is_empty() {
        return vec![Outcome::fine(
            "no user's database has data and log on one volume",
        )];
    }
    let finding = |(mount, ids): (&str, Vec<i64>)| {
        let names: Vec<String> = ids.iter().map(|id| capture.database(*id)).collect();
        let files = user_files(capture).filter(|file| {
            ids.contains(&file.database_id) && mount_of(capture, file) == Some(mount)
        });
        Finding::new(
            Severity::Note,
            format!("data and log of {} share {mount}", list(&names)),
        ).advises(Change::LogApart)
        .with(format!("databases on {mount}"), names.len())
        .at(places(capture, files))
        .remedy("compare both layouts before buying a volume: together on one stripe has been measured as the better one")
    };
    shared.into_iter().map(finding).collect()
}

fn nearly_full(capture: &Capture) -> Vec<Outcome> {
    if capture.volumes.is_empty() {
        return vec![volumes_missing(capture)];
    }
    let room = |volume: &MountedVolume| room_of(capture, volume);
    capture.volumes.iter().map(room).collect()
}

fn room_of(capture: &Capture, volume: &MountedVolume) -> Outcome {
    let mount = &*volume.mount_point;
    let files: Vec<&File> = capture
        .files
        .iter()
        .filter(|file| mount_of(capture, file) == Some(mount))
        .collect();
    let free = volume.available_bytes;
    let largest = files
        .iter()
        .copied()
        .max_by_key(|file| next_step(file))
        .filter(|file| next_step(file) > free);
    let all = files
        .iter()
        .fold(0_i64, |sum, file| sum.saturating_add(next_step(file)));
    let share = free as f64 / volume.total_bytes.max(1) as f64;
    let left = format!(
        "{} of {} ({})",
        bytes(free),
        bytes(volume.total_bytes),
        percent(share)
    );
    let finding = |severity, message: String| {
        Finding::new(severity, message)
            .with(format!("free on {mount}"), &left)
            .with("next growth of all files on it", bytes(all))
            .at([at_volume(mount)])
    };
    if let Some(file) = largest {
        let name = format!("{}.{}", capture.database(file.database_id), file.name);
        let message = format!(
            "the next growth of {name}, {}, does not fit {mount}",
            bytes(next_step(file))
        );
        return finding(Severity::High, message)
            .at(places(capture, [file]))
            .remedy("make room on the volume, or let the file grow elsewhere, before it is full");
    }
    if all > free {
        let message = format!("{mount} has no room for one growth of each of its files");
        return finding(Severity::Medium, message)
            .remedy("make room, or limit what may grow on it");
    }
    if share < FREE_MIN {
        let message = format!("{mount} has {} free", percent(share));
        return finding(Severity::Low, message).remedy("watch it, or make room");
    }
    Outcome::fine(format!("{mount} has {left} free"))
}

fn ephemeral_data(capture: &Capture) -> Vec<Outcome> {
    let mounts = by_mount(capture, capture.files.iter());
    let ephemeral: Vec<(&str, Vec<&File>)> = mounts
        .iter()
        .filter(|(mount, _)| is_ephemeral(capture, mount) == Some(true))
        .map(|(mount, files)| (*mount, files.clone()))
        .collect();
    let untold: Vec<&str> = mounts
        .keys()
        .filter(|mount| is_ephemeral(capture, mount).is_none() && !is_system_volume(mount))
        .copied()
        .collect();
    let mut outcomes = Vec::new();
    for (mount, files) in ephemeral {
        let lost: Vec<&File> = files
            .into_iter()
            .filter(|file| file.database_id != TEMPDB)
            .collect();
        if lost.is_empty() {
            outcomes.push(Outcome::fine(format!("{mount} holds tempdb alone")));
            continue;
        }
        let names = databases(capture, lost.iter().copied());
        let message = format!(
            "{} will be lost with {mount}, a temporary disk",
            list(&names)
        );
        outcomes.push(
            Finding::new(Severity::High, message)
                .with(format!("files on {mount}"), lost.len())
                .at(places(capture, lost))
                .remedy("move them to a disk that stays, now; then look whether backups are there"),
        );
    }
    if mounts.is_empty() {
        outcomes.push(volumes_missing(capture));
    } else if !untold.is_empty() && is_azure(capture) != Some(false) {
        outcomes.push(Outcome::cannot_tell(
            format!(
                "whether {} keeps its data when the machine is moved",
                list(&untold)
            ),
            "--host FILE with ephemeral = true or false for each volume",
        ));
    } else if outcomes.is_empty() {
        outcomes.push(Outcome::fine("no volume is a temporary disk"));
    }
    outcomes
}
