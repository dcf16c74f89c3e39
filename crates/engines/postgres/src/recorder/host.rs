//! A server on this machine: the disks of its files, and the counters of disks and processors.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use host::plain::{self, CountedDisk, DiskCounters};
use model::Duration;
use profile::{Machine, Volume};
use reading::Role;

use super::snapshot::Snapshot;
use engine::recorder::process_file;

/// Maximum distance between the start of a server and of its process.
const START_APART_S: f64 = 60.0;

/// Disks of a server, and the roles on each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Host {
    pub(super) disks: Vec<BTreeSet<Role>>,
    counted: Vec<CountedDisk>,
    data_directory: String,
}

/// Counters at an instant, in the order of the disks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HostCounters {
    pub(super) disks: Vec<DiskCounters>,
    pub(super) processor: Duration,
}

impl Host {
    /// Locates the server on this machine.
    ///
    /// # Errors
    /// As text, why it is not visible here.
    pub(super) fn find(snapshot: &Snapshot) -> Result<Host, String> {
        let elsewhere = "it is on another machine, or its data directory cannot be read here";
        let setting = |name: &str| snapshot.settings.get(name).map(String::as_str);
        let directory = setting("data_directory").ok_or(elsewhere)?;
        let file = process_file(directory).ok_or(elsewhere)?;
        let is_same = file.port == setting("port").unwrap_or_default()
            && (file.started_s - snapshot.started_s).abs() <= START_APART_S;
        if !is_same || plain::processor_time(file.process).is_err() {
            return Err(elsewhere.to_owned());
        }
        let unknown =
            |error: std::io::Error| format!("the disks of its files are not known: {error}");
        let mut roles: BTreeMap<CountedDisk, BTreeSet<Role>> = BTreeMap::new();
        let mut put = |path: &Path, role: Role| -> Result<(), String> {
            let disk = CountedDisk::under(path).map_err(unknown)?;
            roles.entry(disk).or_default().insert(role);
            Ok(())
        };
        let data = Path::new(directory);
        put(data, Role::Data)?;
        put(&data.join("pg_wal"), Role::Log)?;
        let temp = names(setting("temp_tablespaces").unwrap_or_default());
        for (name, place) in &snapshot.tablespaces {
            let is_temp = temp.contains(name);
            let path = if place.is_empty() {
                data
            } else {
                Path::new(place)
            };
            put(path, if is_temp { Role::Temp } else { Role::Data })?;
        }
        if temp.is_empty() {
            put(data, Role::Temp)?;
        }
        let (counted, disks) = roles.into_iter().unzip();
        Ok(Host {
            disks,
            counted,
            data_directory: directory.to_owned(),
        })
    }

    pub(super) fn counters(&self) -> std::io::Result<HostCounters> {
        // Read again: a restarted server has another process.
        let file = process_file(&self.data_directory).ok_or(std::io::ErrorKind::NotFound)?;
        let disks = self.counted.iter().map(|disk| disk.counters());
        Ok(HostCounters {
            disks: disks.collect::<std::io::Result<_>>()?,
            processor: plain::processor_time(file.process)?,
        })
    }

    pub(super) fn machine(&self) -> Machine {
        let (processors, memory) = plain::size();
        Machine {
            name: None,
            processors: u32::try_from(processors).ok().filter(|count| *count > 0),
            memory: Some(memory).filter(|memory| memory.0 > 0),
        }
    }

    pub(super) fn volumes(&self) -> Vec<Volume> {
        let volume = |roles: &BTreeSet<Role>| Volume {
            roles: roles.clone(),
            disk: None,
            size: None,
        };
        self.disks.iter().map(volume).collect()
    }

    #[cfg(test)]
    pub(super) fn of(disks: &[&[Role]]) -> Host {
        Host {
            disks: disks
                .iter()
                .map(|roles| roles.iter().copied().collect())
                .collect(),
            counted: Vec::new(),
            data_directory: String::new(),
        }
    }
}

struct ProcessFile {
    process: i32,
    started_s: f64,
    port: String,
}

/// `postmaster.pid`: process, directory, start, port, one per line.
fn process_file(directory: &str) -> Option<ProcessFile> {
    let text = process_file::text(&Path::new(directory).join("postmaster.pid"))?;
    let mut lines = text.lines().map(str::trim);
    Some(ProcessFile {
        process: lines.next()?.parse().ok()?,
        started_s: lines.nth(1)?.parse().ok()?,
        port: lines.next()?.to_owned(),
    })
}

/// A list of names, quoted or not.
fn names(list: &str) -> Vec<String> {
    let names = list
        .split(',')
        .map(|name| name.trim().trim_matches('"').to_owned());
    names.filter(|name| !name.is_empty()).collect()
}
