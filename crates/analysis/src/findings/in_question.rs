//! The files that a comparison is about: those that its two arms place differently.

use std::collections::BTreeMap;

use experiment::record::{Record, VolumeRecord};
use experiment::spec::Role;

/// The counters of an engine that counts by role: `files.<role>.reads` and `.writes`.
const PREFIX: &str = "files";

/// Roles whose files differ in volumes, disks or number.
pub(super) fn roles(one: &Record, other: &Record) -> Vec<Role> {
    let (one, other) = (places(one), places(other));
    let differs = |role: &Role| one.get(role) != other.get(role);
    Role::ALL.into_iter().filter(differs).collect()
}

/// Volume, kind and number of disks, and number of files, by role.
fn places(record: &Record) -> BTreeMap<Role, Vec<(&str, &str, usize, u32)>> {
    let mut places: BTreeMap<Role, Vec<_>> = BTreeMap::new();
    for volume in &record.volumes {
        for (role, files) in volume.files.iter().filter(|(_, files)| **files > 0) {
            let place = (&*volume.name, &*volume.disk, volume.disks.len(), *files);
            places.entry(*role).or_default().push(place);
        }
    }
    places
}

/// The volumes that hold files of `roles`.
pub(super) fn volumes<'a>(
    record: &'a Record,
    roles: &'a [Role],
) -> impl Iterator<Item = &'a VolumeRecord> {
    let holds = |volume: &&VolumeRecord| {
        let files = |role: &Role| volume.files.get(role).is_some_and(|files| *files > 0);
        roles.iter().any(files)
    };
    record.volumes.iter().filter(holds)
}

/// Requests of all disks that hold files of `roles`, at least those of the files; `None` where they are not counted.
pub(super) fn requests_of_disks(record: &Record, roles: &[Role]) -> Option<f64> {
    let mut sum = 0;
    for volume in volumes(record, roles) {
        if volume.disks.is_empty() {
            return None;
        }
        let disks = volume.disks.iter();
        sum += disks.map(|disk| disk.reads + disk.writes).sum::<u64>();
    }
    Some(sum as f64)
}

/// Bytes that the disks of these files transferred.
pub(super) fn bytes(record: &Record, roles: &[Role]) -> f64 {
    let disks = volumes(record, roles).flat_map(|volume| &volume.disks);
    disks
        .map(|disk| (disk.read_bytes + disk.write_bytes) as f64)
        .sum()
}

/// Requests of the files of `roles`, where the engine counts them.
pub(super) fn requests_by_role(record: &Record, roles: &[Role]) -> Option<f64> {
    let of = |role: &Role| {
        let count = |what| {
            let name = format!("{PREFIX}.{role}.{what}");
            record.counters.get(&name).copied()
        };
        Some(count("reads")? + count("writes")?)
    };
    let counts: Vec<f64> = roles.iter().filter_map(of).collect();
    (!counts.is_empty()).then(|| counts.iter().sum())
}
