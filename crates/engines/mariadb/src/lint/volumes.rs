//! Volumes that are unsuitable for a server's files, by their file system or their host's cache.

use rules::{Finding, Outcome, Severity};

use super::known::{at, in_memory, is_layer, over_network, volumes_missing};
use super::sources::{
    AWS_INSTANCE_STORE, AZURE_DISK_PERFORMANCE, DOCKER_DRIVERS, MYSQL_DIRECTORIES,
};
use super::{Applies, Rule};
use crate::capture::{Capture, MountedVolume, Places};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "data-on-network-file-system",
        title: "the server's files are on a network file system",
        severity: Severity::Medium,
        why: "medium: every flush waits for the network, and locks are not reliable on every implementation; storage vendors \
              support it on some",
        says: "Data, redo log, undo and binary log are on local or block storage, not on NFS, SMB or the like.",
        sources: &[MYSQL_DIRECTORIES],
        applies: Applies::BOTH,
        judge: network,
    },
    Rule {
        id: "data-on-volatile-file-system",
        title: "the server's files are lost when its machine or container is",
        severity: Severity::High,
        why: "high: what is on it is gone after a restart of the machine, or when the container is removed",
        says: "Data, redo log, undo and binary log are neither in memory (tmpfs), nor in a container's writable layer (overlay), nor on a \
               disk that is empty after a stop, as those inside a cloud's machine are. Only --host says so of a disk.",
        sources: &[AWS_INSTANCE_STORE, DOCKER_DRIVERS],
        applies: Applies::BOTH,
        judge: volatile,
    },
    Rule {
        id: "log-cache-writes-back",
        title: "the host's cache writes back under a log",
        severity: Severity::Medium,
        why: "medium: it makes no commit faster, as its flush waits for the disk and for all that the cache still holds",
        says: "Redo log and binary log are not on a volume whose host cache is read-write. Only --host says which cache a volume has.",
        sources: &[AZURE_DISK_PERFORMANCE],
        applies: Applies::BOTH,
        judge: written_back,
    },
];

/// Directories of persistent files, with their contents.
fn lasting(places: &Places) -> Vec<(&str, Vec<&'static str>)> {
    let all = [
        ("data", &places.data),
        ("redo log", &places.redo),
        ("undo", &places.undo),
        ("binary log", &places.binlog),
    ];
    let mut held: Vec<(&str, Vec<&'static str>)> = Vec::new();
    for (what, path) in all {
        let Some(path) = path else { continue };
        match held.iter_mut().find(|(known, _)| known == path) {
            Some((_, whats)) => whats.push(what),
            None => held.push((path, vec![what])),
        }
    }
    held
}

/// A finding for each directory whose volume matches; `found` creates it from the contents, the path and the volume.
fn each(
    capture: &Capture,
    so: fn(&MountedVolume) -> bool,
    found: impl Fn(&str, &str, &MountedVolume) -> Outcome,
) -> Vec<Outcome> {
    let places = Places::of(capture);
    let held = lasting(&places);
    let mut outcomes = Vec::new();
    let mut unseen = Vec::new();
    for (path, whats) in &held {
        match capture.volume(path) {
            Some(volume) if so(volume) => outcomes.push(found(&whats.join(", "), path, volume)),
            Some(_) => {}
            None => unseen.extend(whats),
        }
    }
    if held.is_empty() {
        unseen.push("data");
    }
    if !unseen.is_empty() {
        let what = format!("the file system under {}", unseen.join(", "));
        outcomes.push(volumes_missing(&what));
    }
    if outcomes.is_empty() {
        let kinds = held.iter().filter_map(|(path, _)| capture.volume(path));
        let mut kinds: Vec<&str> = kinds.map(|volume| volume.file_system.as_str()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        outcomes.push(Outcome::fine(kinds.join(", ")));
    }
    outcomes
}

fn written_back(capture: &Capture) -> Vec<Outcome> {
    let places = Places::of(capture);
    let logs = [("redo log", &places.redo), ("binary log", &places.binlog)];
    if logs.iter().all(|(_, path)| path.is_none()) {
        return vec![volumes_missing("the volume of redo log and binary log")];
    }
    let found = logs.into_iter().filter_map(|(what, path)| {
        let path = path.as_deref()?;
        let supplied = capture.supplied(path)?;
        let cache = supplied.host_cache.as_deref()?;
        (cache == "read-write").then(|| {
            let mount = &supplied.mount_point;
            Finding::new(
                Severity::Medium,
                format!("{what} on {mount}, whose host cache writes back: a commit waits for the disk all the same"),
            )
            .with(format!("host cache of {mount}"), cache)
            .at([at(capture, path)])
            .remedy("set the host cache of its disks to none")
        })
    });
    let found: Vec<Outcome> = found.collect();
    match found.is_empty() {
        true => vec![Outcome::fine(
            "no volume with a log is known to have a host cache that writes back",
        )],
        false => found,
    }
}

fn network(capture: &Capture) -> Vec<Outcome> {
    each(capture, over_network, |what, path, volume| {
        let kind = &volume.file_system;
        Finding::new(
            Severity::Medium,
            format!("{what} on {kind}, a network file system"),
        )
        .with("mount point", &volume.mount_point)
        .at([at(capture, path)])
        .remedy("move it to a local disk or a block device, or look up what the storage's vendor supports for InnoDB")
    })
}

fn volatile(capture: &Capture) -> Vec<Outcome> {
    let so = |volume: &MountedVolume| in_memory(volume) || is_layer(volume);
    let mut outcomes = each(capture, so, |what, path, volume| {
        let kind = match in_memory(volume) {
            true => "a file system in memory",
            false => "a container's writable layer",
        };
        Finding::new(
            Severity::High,
            format!("{what} on {}, {kind}", volume.file_system),
        )
        .with("mount point", &volume.mount_point)
        .at([at(capture, path)])
        .remedy("move it to a disk, in a container to a volume that is mounted into it")
    });
    let emptied = emptied(capture);
    if !emptied.is_empty() {
        outcomes.retain(|outcome| !matches!(outcome, Outcome::Fine { .. }));
    }
    outcomes.extend(emptied);
    outcomes
}

/// A finding for each directory on a disk that loses its contents, as its owner says.
fn emptied(capture: &Capture) -> Vec<Outcome> {
    let places = Places::of(capture);
    let held = lasting(&places).into_iter().filter_map(|(path, whats)| {
        let supplied = capture.supplied(path)?;
        (supplied.ephemeral == Some(true)).then(|| {
            let mount = &supplied.mount_point;
            let what = whats.join(", ");
            Finding::new(
                Severity::High,
                format!("{what} on {mount}, which is empty after the machine was stopped or moved"),
            )
            .with("mount point", mount)
            .at([at(capture, path)])
            .remedy("move it to an attached disk; temporary files may stay")
        })
    });
    held.collect()
}
