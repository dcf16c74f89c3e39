//! Linux: `/proc`, `/sys` and the page cache.

mod activity;
mod cache;
mod cgroup;
mod counted;
mod device;
mod device_info;
mod firmware;
mod kernel_file;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use procfs::process::MountInfo;

pub(super) use activity::Activity;
pub(super) use cache::forget;
pub(super) use counted::{disk_counters, processor_time, watched};
use device::{Device, Disk};
pub(super) use device_info::device_info;
use kernel_file::{mounts, text};

use reading::{DiskReading, fact};

/// Bytes in a sector of `/proc/diskstats`, whatever the device's own.
///
/// Source: <https://docs.kernel.org/block/stat.html>, read 2026-11-21.
const SECTOR_BYTES: u64 = 512;

const NS_PER_MS: u64 = 1_000_000;

/// What a disk's queue reports, as files of `/sys/block/<disk>`.
const QUEUE: [(&str, &str); 10] = [
    ("model", "device/model"),
    ("vendor", "device/vendor"),
    ("rotational", "queue/rotational"),
    ("scheduler", "queue/scheduler"),
    ("nr_requests", "queue/nr_requests"),
    ("read_ahead_kb", "queue/read_ahead_kb"),
    ("write_cache", "queue/write_cache"),
    ("logical block", "queue/logical_block_size"),
    ("physical block", "queue/physical_block_size"),
    ("largest request kB", "queue/max_sectors_kb"),
];

/// Where a directory is.
#[derive(Debug)]
pub(super) struct MountedOn {
    mount: Result<MountInfo, String>,
    device: Result<Device, String>,
}

impl MountedOn {
    /// The location of `directory`, as precisely as can be determined.
    pub(super) fn of(directory: &Path) -> MountedOn {
        MountedOn {
            mount: mount_of(directory).map_err(|why| why.to_string()),
            device: Device::under(Path::new("/sys"), directory).map_err(|why| why.to_string()),
        }
    }

    /// Whether both are on one device, and so have the same counters.
    pub(super) fn same_device(&self, other: &MountedOn) -> bool {
        match (&self.device, &other.device) {
            (Ok(own), Ok(other)) => own.number == other.number,
            (_, _) => false,
        }
    }

    /// Whether a disk is under both.
    pub(super) fn shares_disk(&self, other: &MountedOn) -> bool {
        match (&self.device, &other.device) {
            (Ok(own), Ok(other)) => !own.disks.is_disjoint(&other.disks),
            (_, _) => false,
        }
    }

    /// The counters of the device; `None` where it has none.
    ///
    /// # Errors
    /// When `/proc/diskstats` cannot be read, or the device is gone.
    pub(super) fn reading(&self, volume: usize, name: &str) -> io::Result<Option<DiskReading>> {
        let Ok(device) = &self.device else {
            return Ok(None);
        };
        let counted = counters_of(device.number)?;
        Ok(Some(DiskReading {
            volume,
            name: name.into(),
            reads: counted.reads,
            writes: counted.writes,
            flushes: counted.flushes.unwrap_or(0),
            cache_hits: 0,
            read_bytes: counted.sectors_read * SECTOR_BYTES,
            write_bytes: counted.sectors_written * SECTOR_BYTES,
            read_ns: counted.time_reading * NS_PER_MS,
            write_ns: counted.time_writing * NS_PER_MS,
            busy_ns: Some(counted.time_in_progress * NS_PER_MS),
            in_flight: counted.in_progress,
            spent_ns: BTreeMap::new(),
            latency: None,
        }))
    }

    /// Filesystem, mount, device and the queues of its disks.
    pub(super) fn facts(&self) -> BTreeMap<String, String> {
        let mut facts = BTreeMap::new();
        match &self.mount {
            Ok(mount) => facts.extend(mount_facts(mount)),
            Err(why) => {
                facts.insert("filesystem".into(), format!("unknown: {why}"));
            }
        }
        match &self.device {
            Ok(device) => facts.extend(device_facts(device)),
            Err(why) => {
                facts.insert("device".into(), format!("unknown: {why}"));
                facts.insert("counters".into(), "none: the device is unknown".into());
            }
        }
        facts
    }
}

/// This machine's limits and the cloud it is in.
pub(super) fn machine() -> BTreeMap<String, String> {
    let mut facts = cgroup::limits();
    facts.extend(firmware::facts(Path::new("/sys/class/dmi/id")));
    facts
}

/// The mount of `directory`: the innermost above it, and the last of several at one point.
fn mount_of(directory: &Path) -> io::Result<MountInfo> {
    let directory = fs::canonicalize(directory)?;
    let mounts = mounts()?.into_iter();
    mounts
        .filter(|mount| directory.starts_with(&mount.mount_point))
        .max_by_key(|mount| mount.mount_point.components().count())
        .ok_or_else(|| io::Error::other("no mount holds it"))
}

fn counters_of((major, minor): device::Number) -> io::Result<procfs::DiskStat> {
    let all = procfs::diskstats().map_err(io::Error::other)?;
    all.into_iter()
        .find(|disk| {
            let number = (u32::try_from(disk.major), u32::try_from(disk.minor));
            number == (Ok(major), Ok(minor))
        })
        .ok_or_else(|| io::Error::other(format!("/proc/diskstats has no device {major}:{minor}")))
}

fn mount_facts(mount: &MountInfo) -> [(String, String); 3] {
    let mut options: Vec<String> = mount
        .mount_options
        .iter()
        .chain(&mount.super_options)
        .map(|(name, value)| match value {
            Some(value) => format!("{name}={value}"),
            None => name.clone(),
        })
        .collect();
    options.sort();
    options.dedup();
    let point = mount.mount_point.display();
    [
        ("filesystem".into(), mount.fs_type.clone()),
        ("mount".into(), point.to_string()),
        ("mount options".into(), options.join(",")),
    ]
}

fn device_facts(device: &Device) -> BTreeMap<String, String> {
    let (major, minor) = device.number;
    let names: Vec<&str> = device.disks.iter().map(|disk| disk.name.as_str()).collect();
    let on = match names.as_slice() {
        [one] if *one == device.name => String::new(),
        names => format!(" on {}", names.join(", ")),
    };
    let mut facts = BTreeMap::from([
        (
            "device".to_owned(),
            format!("{} ({major}:{minor}){on}", device.name),
        ),
        (fact::DISKS.to_owned(), names.join(", ")),
    ]);
    let alone = device.disks.len() == 1;
    for disk in &device.disks {
        let whose = if alone {
            String::new()
        } else {
            format!("{} ", disk.name)
        };
        let queue = queue_facts(disk).into_iter();
        facts.extend(queue.map(|(name, value)| (format!("{whose}{name}"), value)));
    }
    facts
}

fn queue_facts(disk: &Disk) -> Vec<(&'static str, String)> {
    let known = QUEUE.iter().map(|(name, file)| {
        let value = text(&disk.folder.join(file))?;
        Some((*name, chosen(&value)))
    });
    known.flatten().collect()
}

/// The selected value in brackets, where a file lists alternatives: `none [mq-deadline]`.
fn chosen(value: &str) -> String {
    let inside = value
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'));
    inside.map_or(value, |(chosen, _)| chosen).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_schedulers_the_one_in_brackets_is_in_force() {
        assert_eq!(chosen("none [mq-deadline] kyber"), "mq-deadline");
        assert_eq!(chosen("write back"), "write back");
    }

    #[test]
    fn the_mount_is_the_innermost() {
        let mount = mount_of(Path::new("/proc/self")).unwrap();

        assert_eq!(mount.fs_type, "proc");
    }
}
