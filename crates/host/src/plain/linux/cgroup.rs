//! The control groups of this process: their limits and counters.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use procfs::process::{MountInfo, Process};

use super::device::Number;
use super::kernel_file::{mounts, text};

/// Limits of version 2, one file each.
const UNIFIED: [&str; 3] = ["io.max", "memory.max", "cpu.max"];

/// Limits of version 1: controller and file.
const SPLIT: [(&str, &str); 6] = [
    ("memory", "memory.limit_in_bytes"),
    ("cpu", "cpu.cfs_quota_us"),
    ("blkio", "blkio.throttle.read_bps_device"),
    ("blkio", "blkio.throttle.write_bps_device"),
    ("blkio", "blkio.throttle.read_iops_device"),
    ("blkio", "blkio.throttle.write_iops_device"),
];

/// A folder of a control group, and its mount.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Group {
    folder: PathBuf,
    mount: PathBuf,
}

/// Limits in force on this process, its group's own and those above it.
pub(super) fn limits() -> BTreeMap<String, String> {
    let mut limits = BTreeMap::new();
    if let Some(group) = unified() {
        for file in UNIFIED {
            note(&mut limits, &group, file);
        }
    }
    for (controller, file) in SPLIT {
        if let Some(group) = split(controller) {
            note(&mut limits, &group, file);
        }
    }
    if limits.is_empty() {
        limits.insert("cgroup limits".into(), "none".into());
    }
    limits
}

/// The version 2 group of this process, if it counts its bytes per device and holds only `family`.
///
/// The root group counts everything, and is therefore useless here. Version 1 does not attribute
/// writes that went through the page cache.
pub(super) fn counting(family: impl Fn(i32) -> bool) -> Option<PathBuf> {
    let folder = unified()?.folder;
    // Only the root group has no type.
    let counts = folder.join("cgroup.type").exists() && folder.join("io.stat").exists();
    let members = fs::read_to_string(folder.join("cgroup.procs")).ok()?;
    let own = members
        .lines()
        .all(|pid| pid.parse::<i32>().is_ok_and(&family));
    (counts && own).then_some(folder)
}

/// Bytes that the group of `folder` read and wrote at the device so far.
///
/// # Errors
/// When the group is gone.
pub(super) fn bytes(folder: &Path, number: Number) -> io::Result<u64> {
    let counted = fs::read_to_string(folder.join("io.stat"))?;
    Ok(bytes_in(&counted, number))
}

/// A device that the group never used has no line.
fn bytes_in(counted: &str, (major, minor): Number) -> u64 {
    let device = format!("{major}:{minor} ");
    let line = counted.lines().find_map(|line| line.strip_prefix(&device));
    let fields = line.unwrap_or_default().split_whitespace();
    let bytes = fields.filter_map(|field| {
        let (name, value) = field.split_once('=')?;
        matches!(name, "rbytes" | "wbytes").then(|| value.parse::<u64>().ok())?
    });
    bytes.sum()
}

fn note(limits: &mut BTreeMap<String, String>, group: &Group, file: &str) {
    let levels = group.folder.ancestors();
    let inside = levels.take_while(|folder| folder.starts_with(&group.mount));
    let set: Vec<String> = inside
        .filter_map(|folder| {
            let value = limiting(&text(&folder.join(file))?)?;
            let level = folder.strip_prefix(&group.mount).ok()?;
            Some(format!("{value} (/{})", level.display()))
        })
        .collect();
    if !set.is_empty() {
        limits.insert(format!("cgroup {file}"), set.join("; "));
    }
}

/// `value` on one line, unless it means "unlimited".
fn limiting(value: &str) -> Option<String> {
    // Version 1 represents unlimited memory as the largest whole number of pages.
    let huge = value.parse::<u64>().is_ok_and(|bytes| bytes > 1 << 62);
    let unlimited = value.starts_with("max") || value == "-1" || huge;
    (!unlimited).then(|| value.replace('\n', ", "))
}

fn unified() -> Option<Group> {
    let path = path_of(|_, hierarchy| hierarchy == 0)?;
    let mount = mount_of(|mount| mount.fs_type == "cgroup2")?;
    Some(group(&mount, &path))
}

fn split(controller: &str) -> Option<Group> {
    let path = path_of(|controllers, _| controllers.iter().any(|own| own == controller))?;
    let mount = mount_of(|mount| {
        mount.fs_type == "cgroup" && mount.super_options.contains_key(controller)
    })?;
    Some(group(&mount, &path))
}

/// The folder of `path`; the mount may show only part of the hierarchy.
fn group(mount: &MountInfo, path: &str) -> Group {
    let inside = path.strip_prefix(mount.root.as_str()).unwrap_or(path);
    let inside = inside.trim_start_matches('/');
    Group {
        folder: mount.mount_point.join(inside),
        mount: mount.mount_point.clone(),
    }
}

fn path_of(wanted: impl Fn(&[String], u32) -> bool) -> Option<String> {
    let groups = Process::myself().and_then(|own| own.cgroups()).ok()?;
    let mut groups = groups.0.into_iter();
    groups
        .find(|group| wanted(&group.controllers, group.hierarchy))
        .map(|group| group.pathname)
}

fn mount_of(wanted: impl Fn(&MountInfo) -> bool) -> Option<MountInfo> {
    mounts().ok()?.into_iter().find(|mount| wanted(mount))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_counts_its_reads_and_writes_at_one_device() {
        let counted = "8:16 rbytes=7 wbytes=7\n\
                       8:1 rbytes=1459200 wbytes=314773504 rios=192 wios=353 dbytes=9 dios=1\n";

        assert_eq!(bytes_in(counted, (8, 1)), 1_459_200 + 314_773_504);
        assert_eq!(bytes_in(counted, (8, 10)), 0);
    }

    #[test]
    fn limits_of_the_groups_above_are_in_force_too() {
        let mount = tempfile::tempdir().unwrap();
        let folder = mount.path().join("system.slice/dbstow.scope");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("memory.max"), "max\n").unwrap();
        fs::write(mount.path().join("system.slice/memory.max"), "1048576\n").unwrap();
        let group = Group {
            folder,
            mount: mount.path().to_owned(),
        };

        let mut limits = BTreeMap::new();
        note(&mut limits, &group, "memory.max");

        assert_eq!(limits["cgroup memory.max"], "1048576 (/system.slice)");
    }

    #[test]
    fn no_limit_is_not_recorded() {
        assert_eq!(limiting("max 100000"), None);
        assert_eq!(limiting("-1"), None);
        assert_eq!(limiting("9223372036854771712"), None);
        assert_eq!(
            limiting("8:0 rbps=1\n8:16 wbps=2").unwrap(),
            "8:0 rbps=1, 8:16 wbps=2"
        );
    }
}
