//! Bytes at the disks that neither this program nor what it started asked for.
//!
//! Own bytes are what the control group of this program counts by device, where it has one of its own;
//! otherwise what `/proc/<pid>/io` counts of this process and its descendants, over all devices together.
//! Both count a write when the page becomes dirty or is written back, filesystems add their journals, and
//! a page that is changed twice is written once: the difference means something from some tens of
//! megabytes on, and where it is a good part of the whole.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use procfs::process::{Process, all_processes};

use super::device::Number;
use super::{Place, SECTOR_BYTES, cgroup, counters_of};

/// Volumes whose disks' bytes cannot be told apart.
#[derive(Debug, PartialEq, Eq)]
struct Together {
    volumes: Vec<String>,
    watched: BTreeSet<Number>,
}

/// What is watched, and how own bytes are counted.
#[derive(Debug)]
pub(crate) struct Activity {
    together: Vec<Together>,
    own_group: Option<PathBuf>,
}

impl Activity {
    /// Watches the disks of `places`, each with the name of its volume.
    pub(crate) fn of<'a>(places: impl Iterator<Item = (&'a str, &'a Place)>) -> Activity {
        let own = std::process::id();
        let own_group = processes().ok().and_then(|parents| {
            let own = i32::try_from(own).ok()?;
            cgroup::counting(|pid| descends(&parents, pid, own) || descends(&parents, own, pid))
        });
        let watched = places.filter_map(|(volume, place)| {
            let device = place.device.as_ref().ok()?;
            Some((volume, device.watched()))
        });
        Activity {
            together: together(watched, own_group.is_some()),
            own_group,
        }
    }

    /// How own bytes are told from others', in words.
    pub(crate) fn basis(&self) -> String {
        match (&self.own_group, self.together.is_empty()) {
            (_, true) => "not looked for: no device is known".into(),
            (Some(_), false) => "by the bytes of this program's control group".into(),
            (None, false) => {
                "by the bytes of this process and its descendants; a server that it did not start counts \
                 as other"
                    .into()
            }
        }
    }

    /// `device_bytes.<volumes>` and `other_bytes.<volumes>`; a single value of the second means nothing,
    /// only how it grows.
    ///
    /// # Errors
    /// When the counters of the disks or of own processes cannot be read.
    pub(crate) fn counters(&self) -> io::Result<BTreeMap<String, f64>> {
        let mut counters = BTreeMap::new();
        for part in &self.together {
            let mut at_device = 0;
            for number in &part.watched {
                let counted = counters_of(*number)?;
                at_device += (counted.sectors_read + counted.sectors_written) * SECTOR_BYTES;
            }
            let own = match &self.own_group {
                Some(group) => group_bytes(group, &part.watched)?,
                None => family_bytes()?,
            };
            let volumes = part.volumes.join("+");
            counters.insert(format!("device_bytes.{volumes}"), at_device as f64);
            let other = at_device as f64 - own as f64;
            counters.insert(format!("other_bytes.{volumes}"), other);
        }
        Ok(counters)
    }
}

/// Volumes on one disk are together, and all are where own bytes are not known by device.
fn together<'a>(
    watched: impl Iterator<Item = (&'a str, Number)>,
    by_device: bool,
) -> Vec<Together> {
    let mut parts: Vec<Together> = Vec::new();
    for (volume, number) in watched {
        let with = parts
            .iter_mut()
            .find(|part| !by_device || part.watched.contains(&number));
        match with {
            Some(part) => {
                part.volumes.push(volume.to_owned());
                part.watched.insert(number);
            }
            None => parts.push(Together {
                volumes: vec![volume.to_owned()],
                watched: BTreeSet::from([number]),
            }),
        }
    }
    parts
}

fn group_bytes(group: &Path, watched: &BTreeSet<Number>) -> io::Result<u64> {
    let bytes = watched.iter().map(|number| cgroup::bytes(group, *number));
    bytes.sum()
}

/// Bytes of this process and all that descend from it. What a child did is its parent's once the parent
/// has collected it, so that nothing is lost when it ends.
fn family_bytes() -> io::Result<u64> {
    let own = Process::myself().map_err(io::Error::other)?.pid();
    let parents = processes()?;
    let family = parents.keys().filter(|pid| descends(&parents, **pid, own));
    let mut bytes = 0;
    for pid in family {
        let counted = Process::new(*pid).and_then(|process| process.io());
        match counted {
            Ok(io) => bytes += io.read_bytes + io.write_bytes,
            Err(procfs::ProcError::NotFound(_)) => {}
            Err(why) => {
                return Err(io::Error::other(format!(
                    "the bytes of process {pid}, which this program started: {why}"
                )));
            }
        }
    }
    Ok(bytes)
}

/// The parent of every process.
fn processes() -> io::Result<BTreeMap<i32, i32>> {
    let all = all_processes().map_err(io::Error::other)?;
    // A process that ends in the meantime has no parent any more.
    let living = all.filter_map(|process| process.and_then(|process| process.stat()).ok());
    Ok(living.map(|stat| (stat.pid, stat.ppid)).collect())
}

/// Whether `pid` is `ancestor` or comes from it.
fn descends(parents: &BTreeMap<i32, i32>, pid: i32, ancestor: i32) -> bool {
    let mut at = Some(pid);
    // No chain is longer than there are processes, whatever changed while they were read.
    for _ in 0..=parents.len() {
        match at {
            Some(pid) if pid == ancestor => return true,
            Some(pid) => at = parents.get(&pid).copied(),
            None => return false,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(watched: &[(&str, Number)], by_device: bool) -> Vec<String> {
        let parts = together(watched.iter().copied(), by_device);
        parts.iter().map(|part| part.volumes.join("+")).collect()
    }

    #[test]
    fn volumes_on_one_disk_are_counted_together() {
        let watched = [("d", (8, 0)), ("f", (8, 16)), ("g", (8, 0))];

        assert_eq!(names(&watched, true), ["d+g", "f"]);
    }

    #[test]
    fn without_counters_by_device_all_volumes_are_counted_together() {
        assert_eq!(names(&[("d", (8, 0)), ("f", (8, 16))], false), ["d+f"]);
    }

    #[test]
    fn descent_goes_over_generations_and_ends_in_a_circle() {
        let parents = BTreeMap::from([(2, 1), (3, 2), (4, 3), (7, 8), (8, 7)]);

        assert!(descends(&parents, 4, 2));
        assert!(descends(&parents, 2, 2));
        assert!(!descends(&parents, 2, 4));
        assert!(!descends(&parents, 7, 1));
    }
}
