//! What a capture knows of directories and of the time that its counters cover, and what to say where it does not.

use rules::{Location, Outcome};

use crate::capture::{Capture, Places, Volume};

/// The shortest time that rates are taken from. Ours: what happens in the first hour is a warm-up.
pub(super) const HOURS_MIN: f64 = 1.0;

/// File systems that are in memory.
const MEMORY: [&str; 2] = ["tmpfs", "ramfs"];
/// File systems over a network, by how their names begin.
const NETWORK: [&str; 9] = [
    "nfs",
    "cifs",
    "smb",
    "ceph",
    "glusterfs",
    "fuse.glusterfs",
    "fuse.sshfs",
    "lustre",
    "9p",
];
/// File systems of containers' writable layers.
const LAYERS: [&str; 3] = ["overlay", "aufs", "fuse.fuse-overlayfs"];

/// Disks of virtual machines (virtio, Xen), by how their names begin: their drivers call every disk one with moving parts, unless the
/// host says otherwise.
const VIRTUAL: [&str; 2] = ["vd", "xvd"];

/// Whether a volume is in memory.
pub(super) fn in_memory(volume: &Volume) -> bool {
    MEMORY.contains(&volume.file_system.as_str())
}

/// Whether a volume is on another machine.
pub(super) fn over_network(volume: &Volume) -> bool {
    let kind = volume.file_system.as_str();
    NETWORK.iter().any(|start| kind.starts_with(start))
}

/// Whether a volume is a container's writable layer.
pub(super) fn is_layer(volume: &Volume) -> bool {
    LAYERS.contains(&volume.file_system.as_str())
}

/// Whether two directories share a device: by their volumes' disks where these are known; one directory always does.
pub(super) fn share(capture: &Capture, one: &str, other: &str) -> Option<bool> {
    if one == other {
        return Some(true);
    }
    let (one, other) = (capture.volume(one)?, capture.volume(other)?);
    if one.mount_point == other.mount_point {
        return Some(true);
    }
    if in_memory(one) || in_memory(other) {
        return Some(false);
    }
    if one.disks.is_empty() || other.disks.is_empty() {
        return None;
    }
    Some(one.disks.iter().any(|disk| other.disks.contains(disk)))
}

/// Whether the volume of a directory has no moving parts, as far as the kernel can know it.
pub(super) fn solid_state(capture: &Capture, path: &str) -> Option<bool> {
    let told = capture.told(path).and_then(|told| told.solid_state);
    told.or_else(|| {
        let volume = capture.volume(path)?;
        let is_virtual = |disk: &String| VIRTUAL.iter().any(|start| disk.starts_with(start));
        let guessed = volume.disks.iter().any(is_virtual);
        volume.solid_state.filter(|solid| *solid || !guessed)
    })
}

/// Whether a directory is on ZFS, which writes elsewhere what changes.
pub(super) fn is_on_zfs(capture: &Capture, path: &str) -> bool {
    let volume = capture.volume(path);
    volume.is_some_and(|volume| volume.file_system == "zfs")
}

/// The largest write that the volume of a directory promises to make whole or not at all.
pub(super) fn atomic_write(capture: &Capture, path: &str) -> Option<u64> {
    let told = capture.told(path).and_then(|told| told.atomic_write_bytes);
    told.or_else(|| capture.volume(path)?.atomic_write_bytes)
}

/// Hours that the counters cover.
///
/// # Errors
/// With what to say, where they are too few for a rate.
pub(super) fn hours(capture: &Capture) -> Result<f64, Outcome> {
    let Some(uptime) = capture.counter("Uptime") else {
        return Err(counter_missing("Uptime"));
    };
    let hours = uptime as f64 / 3600.0;
    if hours < HOURS_MIN {
        return Err(Outcome::cannot_tell(
            format!("rates: the server started {} min ago", uptime / 60),
            "capture again when it has run under its usual load for an hour or more",
        ));
    }
    Ok(hours)
}

/// The server's data directory, for rules about a single volume.
///
/// # Errors
/// With what to say, where the capture has none.
pub(super) fn data(capture: &Capture) -> Result<String, Outcome> {
    Places::of(capture)
        .data
        .ok_or_else(|| variable_missing("datadir"))
}

/// What to say where it is not known what volumes directories are on.
pub(super) fn volumes_missing(what: &str) -> Outcome {
    Outcome::cannot_tell(
        what,
        "run dbstow on the server's own machine (in its container, where it is in one), as a user who can see its pid_file, \
         with its socket or 127.0.0.1 in --server",
    )
}

/// What to say where it is not known what a disk can do.
pub(super) fn disk_missing(what: &str, key: &str) -> Outcome {
    Outcome::cannot_tell(
        what,
        format!("--host FILE with the volume's mount_point, and its disk or {key}"),
    )
}

pub(super) fn variable_missing(name: &str) -> Outcome {
    Outcome::cannot_tell(
        format!("{name}: the capture does not have this variable"),
        "capture again with `dbstow doctor`; a release without the variable cannot be checked",
    )
}

pub(super) fn counter_missing(name: &str) -> Outcome {
    Outcome::cannot_tell(
        format!("{name}: the capture does not have this counter"),
        "capture again with `dbstow doctor`; a release without the counter cannot be checked",
    )
}

/// A directory as a place of a finding.
pub(super) fn at(capture: &Capture, path: &str) -> Location {
    Location {
        path: Some(path.to_owned()),
        volume: capture
            .volume(path)
            .map(|volume| volume.mount_point.clone()),
        ..Location::default()
    }
}

/// A count as an amount of bytes in words.
pub(super) fn bytes(count: u64) -> String {
    rules::shown::bytes(i64::try_from(count).unwrap_or(i64::MAX))
}
