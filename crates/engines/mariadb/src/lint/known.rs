//! What a capture contains about directories and the time covered by its counters, and messages for missing data.

use rules::{Location, Outcome};

use crate::capture::{Capture, MountedVolume, Places};

/// The shortest time that rates are computed from. Our choice: the first hour is warm-up.
pub(super) const HOURS_MIN: f64 = 1.0;

/// File systems that are in memory.
const MEMORY: [&str; 2] = ["tmpfs", "ramfs"];
/// Network file systems, by name prefix.
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

/// Disks of virtual machines (virtio, Xen), by name prefix: their drivers report every disk as rotational, unless the host says
/// otherwise.
const VIRTUAL: [&str; 2] = ["vd", "xvd"];

/// Whether a volume is in memory.
pub(super) fn in_memory(volume: &MountedVolume) -> bool {
    MEMORY.contains(&volume.file_system.as_str())
}

/// Whether a volume is on another machine.
pub(super) fn over_network(volume: &MountedVolume) -> bool {
    let kind = volume.file_system.as_str();
    NETWORK.iter().any(|start| kind.starts_with(start))
}

/// Whether a volume is a container's writable layer.
pub(super) fn is_layer(volume: &MountedVolume) -> bool {
    LAYERS.contains(&volume.file_system.as_str())
}

/// Whether two directories share a device: by their volumes' disks if known; a directory always shares its own.
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

/// Whether the volume of a directory is solid-state, if the kernel can know it.
pub(super) fn solid_state(capture: &Capture, path: &str) -> Option<bool> {
    let supplied = capture.supplied(path).and_then(|volume| volume.solid_state);
    supplied.or_else(|| {
        let volume = capture.volume(path)?;
        let is_virtual = |disk: &String| VIRTUAL.iter().any(|start| disk.starts_with(start));
        let guessed = volume.disks.iter().any(is_virtual);
        volume.solid_state.filter(|solid| *solid || !guessed)
    })
}

/// Whether a directory is on ZFS, which is copy-on-write.
pub(super) fn is_on_zfs(capture: &Capture, path: &str) -> bool {
    let volume = capture.volume(path);
    volume.is_some_and(|volume| volume.file_system == "zfs")
}

/// The largest write that the volume of a directory guarantees to be atomic.
pub(super) fn atomic_write(capture: &Capture, path: &str) -> Option<u64> {
    let supplied = capture
        .supplied(path)
        .and_then(|volume| volume.atomic_write_bytes);
    supplied.or_else(|| capture.volume(path)?.atomic_write_bytes)
}

/// Hours that the counters cover.
///
/// # Errors
/// With the outcome to report, if they are too few for a rate.
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
/// With the outcome to report, if the capture lacks it.
pub(super) fn data(capture: &Capture) -> Result<String, Outcome> {
    Places::of(capture)
        .data
        .ok_or_else(|| variable_missing("datadir"))
}

/// The outcome if the volumes of directories are unknown.
pub(super) fn volumes_missing(what: &str) -> Outcome {
    Outcome::cannot_tell(
        what,
        "run dbstow on the server's own machine (in its container, where it is in one), as a user who can see its pid_file, \
         with its socket or 127.0.0.1 in --server",
    )
}

/// The outcome if a disk's capabilities are unknown.
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

/// A directory as the location of a finding.
pub(super) fn at(capture: &Capture, path: &str) -> Location {
    Location {
        path: Some(path.to_owned()),
        volume: capture
            .volume(path)
            .map(|volume| volume.mount_point.clone()),
        ..Location::default()
    }
}

/// A byte count as text.
pub(super) fn bytes(count: u64) -> String {
    rules::shown::bytes(i64::try_from(count).unwrap_or(i64::MAX))
}
