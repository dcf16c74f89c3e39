//! Bytes at the disks that neither this program nor its children requested.
//!
//! Two bounds, both from above. First, the bytes of the disks minus own bytes: that includes filesystem
//! journals, and earlier changes that are written back now. Second, the bytes requested by all other
//! processes, which includes their bytes at other disks, and counts pages changed twice and written once
//! twice. The smaller one is the better one.
//!
//! Own bytes are what the control group of this program counts per device, if it has one of its own;
//! otherwise what `/proc/<pid>/io` counts for this process and its descendants, over all devices together.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use procfs::ProcError;
use procfs::process::{Process, all_processes};

use super::device::Number;
use super::{MountedOn, SECTOR_BYTES, cgroup, counters_of};

/// Volumes whose disks' bytes cannot be distinguished.
#[derive(Debug, PartialEq, Eq)]
struct Together {
    volumes: Vec<String>,
    watched: BTreeSet<Number>,
}

/// The monitored volumes, and how own bytes are counted.
#[derive(Debug)]
pub(crate) struct Activity {
    together: Vec<Together>,
    own_group: Option<PathBuf>,
}

impl Activity {
    /// Monitors the disks of `places`, each with the name of its volume.
    pub(crate) fn of<'a>(places: impl Iterator<Item = (&'a str, &'a MountedOn)>) -> Activity {
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

    /// How own bytes are distinguished from others', as text.
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

    /// `device_bytes.<volumes>`, `other_bytes.<volumes>` and, for users who may read it,
    /// `foreign_bytes.<volumes>`; only differences are meaningful, not single values.
    ///
    /// # Errors
    /// When the counters of the disks or of own processes cannot be read.
    pub(crate) fn counters(&self) -> io::Result<BTreeMap<String, f64>> {
        let mut counters = BTreeMap::new();
        if self.together.is_empty() {
            return Ok(counters);
        }
        let processes = ProcessBytes::now()?;
        for part in &self.together {
            let volumes = part.volumes.join("+");
            let mut note = |name: &str, bytes: f64| {
                counters.insert(format!("{name}.{volumes}"), bytes);
            };
            let at_device = device_bytes(&part.watched)?;
            let own = match &self.own_group {
                Some(group) => group_bytes(group, &part.watched)?,
                None => processes.own,
            };
            note("device_bytes", at_device as f64);
            note("other_bytes", at_device as f64 - own as f64);
            if let Some(foreign) = processes.foreign {
                note("foreign_bytes", foreign as f64);
            }
        }
        Ok(counters)
    }
}

/// Groups volumes that share a disk; all form one group if own bytes are not known per device.
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

fn device_bytes(watched: &BTreeSet<Number>) -> io::Result<u64> {
    let bytes = watched.iter().map(|number| {
        let counted = counters_of(*number)?;
        Ok((counted.sectors_read + counted.sectors_written) * SECTOR_BYTES)
    });
    bytes.sum()
}

fn group_bytes(group: &Path, watched: &BTreeSet<Number>) -> io::Result<u64> {
    let bytes = watched.iter().map(|number| cgroup::bytes(group, *number));
    bytes.sum()
}

/// Bytes that processes requested so far. A child's bytes are added to its parent's once the parent has
/// reaped it, so nothing is lost when it ends.
struct ProcessBytes {
    /// This process and its descendants.
    own: u64,
    /// All others; `None` if this user may not inspect some of them.
    foreign: Option<u64>,
}

impl ProcessBytes {
    fn now() -> io::Result<ProcessBytes> {
        let own = Process::myself().map_err(io::Error::other)?.pid();
        let parents = processes()?;
        let mut total = ProcessBytes {
            own: 0,
            foreign: Some(0),
        };
        for pid in parents.keys() {
            let bytes = bytes_of(*pid);
            if !descends(&parents, *pid, own) {
                let foreign = total.foreign.zip(bytes.ok());
                total.foreign = foreign.map(|(sum, bytes)| sum + bytes);
                continue;
            }
            total.own += bytes.map_err(|why| {
                let what = format!("the bytes of process {pid}, which this program started: {why}");
                io::Error::other(what)
            })?;
        }
        Ok(total)
    }
}

/// Bytes that a process requested; zero for one that has ended.
fn bytes_of(pid: i32) -> Result<u64, ProcError> {
    match Process::new(pid).and_then(|process| process.io()) {
        Ok(io) => Ok(io.read_bytes + io.write_bytes),
        Err(ProcError::NotFound(_)) => Ok(0),
        // The file existed, but its process has ended.
        Err(ProcError::Io(why, _)) if why.raw_os_error() == Some(libc::ESRCH) => Ok(0),
        Err(why) => Err(why),
    }
}

/// The parent of every process.
fn processes() -> io::Result<BTreeMap<i32, i32>> {
    let all = all_processes().map_err(io::Error::other)?;
    // A process that ends in the meantime is skipped.
    let living = all.filter_map(|process| process.and_then(|process| process.stat()).ok());
    Ok(living.map(|stat| (stat.pid, stat.ppid)).collect())
}

/// Whether `pid` is `ancestor` or one of its descendants.
fn descends(parents: &BTreeMap<i32, i32>, pid: i32, ancestor: i32) -> bool {
    let mut at = Some(pid);
    // No chain is longer than the number of processes, whatever changed while they were read.
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
