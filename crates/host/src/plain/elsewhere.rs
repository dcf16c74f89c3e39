//! Windows and macOS, with what the `sysinfo` crate provides: bytes of whole disks.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use sysinfo::Disks;

use reading::DiskReading;

/// What is not counted here, as text.
const BYTES_ALONE: &str =
    "bytes alone: requests, flushes and latencies of disks are not counted on this system";

/// Where a directory is.
#[derive(Debug)]
pub(super) struct MountedOn {
    disk: Result<Disk, String>,
}

#[derive(Debug)]
struct Disk {
    mount: PathBuf,
    facts: BTreeMap<String, String>,
}

impl MountedOn {
    /// The location of `directory`, as precisely as can be determined.
    pub(super) fn of(directory: &Path) -> MountedOn {
        MountedOn {
            disk: disk_of(directory).map_err(|why| why.to_string()),
        }
    }

    /// Whether both are on one filesystem, and so have the same counters.
    pub(super) fn same_device(&self, other: &MountedOn) -> bool {
        match (&self.disk, &other.disk) {
            (Ok(own), Ok(other)) => own.mount == other.mount,
            (_, _) => false,
        }
    }

    /// Whether both share a disk: only known if they are on the same filesystem.
    pub(super) fn shares_disk(&self, other: &MountedOn) -> bool {
        self.same_device(other)
    }

    /// The bytes of the disk; `None` if it is not known.
    ///
    /// # Errors
    /// When the disk is gone.
    pub(super) fn reading(&self, volume: usize, name: &str) -> io::Result<Option<DiskReading>> {
        let Ok(own) = &self.disk else {
            return Ok(None);
        };
        let disks = disks()?;
        let disk = disks.iter().find(|disk| disk.mount_point() == own.mount);
        let disk =
            disk.ok_or_else(|| io::Error::other(format!("{} is gone", own.mount.display())))?;
        let usage = disk.usage();
        Ok(Some(DiskReading {
            volume,
            name: name.into(),
            read_bytes: usage.total_read_bytes,
            write_bytes: usage.total_written_bytes,
            ..DiskReading::default()
        }))
    }

    /// Filesystem, mount and kind of disk.
    pub(super) fn facts(&self) -> BTreeMap<String, String> {
        match &self.disk {
            Ok(disk) => disk.facts.clone(),
            Err(why) => BTreeMap::from([("device".into(), format!("unknown: {why}"))]),
        }
    }
}

/// Everything but the sizes. Disks have no names here that would show that two filesystems share one.
pub(super) fn device_info(directory: &Path) -> io::Result<super::DeviceInfo> {
    let disk = disk_of(directory)?;
    let fact = |name: &str| disk.facts.get(name).cloned().unwrap_or_default();
    Ok(super::DeviceInfo {
        file_system: fact("filesystem"),
        mount_point: disk.mount.clone(),
        disks: Vec::new(),
        solid_state: None,
        atomic_write: None,
        size: model::Bytes::ZERO,
        free: model::Bytes::ZERO,
    })
}

fn disks() -> io::Result<Disks> {
    Disks::new_with_refreshed_list().map_err(|why| io::Error::other(format!("{why:?}")))
}

/// The disk mounted innermost above `directory`.
fn disk_of(directory: &Path) -> io::Result<Disk> {
    let directory = std::fs::canonicalize(directory)?;
    let disks = disks()?;
    let above = disks.iter().filter(|disk| {
        // Windows writes a canonical path as `\\?\C:\..`, and its mount points without that prefix.
        let mount = std::fs::canonicalize(disk.mount_point());
        mount.is_ok_and(|mount| directory.starts_with(mount))
    });
    let disk = above
        .max_by_key(|disk| disk.mount_point().components().count())
        .ok_or_else(|| io::Error::other("the system lists no disk that holds it"))?;
    let text = |text: &std::ffi::OsStr| text.to_string_lossy().into_owned();
    let facts = [
        ("device", text(disk.name())),
        ("filesystem", text(disk.file_system())),
        ("mount", disk.mount_point().display().to_string()),
        ("kind", disk.kind().to_string()),
        ("counters", BYTES_ALONE.into()),
    ];
    Ok(Disk {
        mount: disk.mount_point().to_owned(),
        facts: facts.map(|(name, value)| (name.to_owned(), value)).into(),
    })
}

/// Nothing beyond what every platform reports.
pub(super) fn machine() -> BTreeMap<String, String> {
    BTreeMap::new()
}

/// This system cannot drop its cache of single files: returns a message to that effect.
pub(super) fn forget(_directory: &Path) -> io::Result<Vec<String>> {
    Ok(vec![
        "this system cannot be asked to let go what it caches of files".into(),
    ])
}

/// Empty: this system does not count which process's bytes reach a disk.
#[derive(Debug)]
pub(crate) struct Activity;

impl Activity {
    pub(crate) fn of<'a>(_places: impl Iterator<Item = (&'a str, &'a MountedOn)>) -> Activity {
        Activity
    }

    pub(crate) fn basis(&self) -> String {
        "not looked for: this system does not count whose bytes reach a disk".into()
    }

    pub(crate) fn counters(&self) -> io::Result<BTreeMap<String, f64>> {
        Ok(BTreeMap::new())
    }
}

pub(super) fn watched(_: &Path) -> io::Result<(u32, u32)> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn disk_counters(_: (u32, u32)) -> io::Result<super::disk_counters::DiskCounters> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn processor_time(_: i32) -> io::Result<model::Duration> {
    Err(io::ErrorKind::Unsupported.into())
}
