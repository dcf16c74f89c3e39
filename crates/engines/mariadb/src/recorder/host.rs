//! A server on this machine: the disks of its files, and the counters of these disks and of its process.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use host::plain::{self, CountedDisk, DiskCounters};
use model::Duration;
use profile::{Machine, Volume};
use reading::Role;

use super::snapshot::{Facts, Snapshot};
use engine::recorder::process_file;

/// Maximum distance between the start of a server and the time of its pid file.
const START_APART_S: f64 = 60.0;

/// Disks of a server, and the roles on each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Host {
    pub(super) disks: Vec<BTreeSet<Role>>,
    counted: Vec<CountedDisk>,
    process_file: PathBuf,
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
        let server = &snapshot.server;
        let elsewhere = || {
            "the server is on another machine, or its process file cannot be read here".to_owned()
        };
        let process_file = directory(server, "pid_file").ok_or_else(elsewhere)?;
        let written = fs::metadata(&process_file)
            .and_then(|metadata| metadata.modified())
            .map_err(|_| elsewhere())?;
        let written_s = written
            .duration_since(UNIX_EPOCH)
            .map_or(0.0, |time| time.as_secs_f64());
        // Another machine's server may have the same paths.
        let is_same = (written_s - snapshot.started_s()).abs() <= START_APART_S;
        let process = process(&process_file).filter(|_| is_same);
        let process = process.ok_or_else(elsewhere)?;
        plain::processor_time(process).map_err(|_| elsewhere())?;
        let mut roles: BTreeMap<CountedDisk, BTreeSet<Role>> = BTreeMap::new();
        for (role, place) in places(server) {
            let disk = CountedDisk::under(&place)
                .map_err(|error| format!("the disk under {role} files is not known: {error}"))?;
            roles.entry(disk).or_default().insert(role);
        }
        let (counted, disks) = roles.into_iter().unzip();
        Ok(Host {
            disks,
            counted,
            process_file,
        })
    }

    pub(super) fn counters(&self) -> std::io::Result<HostCounters> {
        // Read again: a restarted server has another process.
        let process = process(&self.process_file).ok_or(std::io::ErrorKind::NotFound)?;
        let disks = self.counted.iter().map(|disk| disk.counters());
        Ok(HostCounters {
            disks: disks.collect::<std::io::Result<_>>()?,
            processor: plain::processor_time(process)?,
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

    /// Whether all disks of a role are exclusive to it: their requests are the role's.
    pub(super) fn is_alone(&self, role: Role) -> bool {
        let mut holding = self
            .disks
            .iter()
            .filter(|roles| roles.contains(&role))
            .peekable();
        holding.peek().is_some() && holding.all(|roles| roles.len() == 1)
    }

    #[cfg(test)]
    pub(super) fn of(disks: &[&[Role]]) -> Host {
        Host {
            disks: disks
                .iter()
                .map(|roles| roles.iter().copied().collect())
                .collect(),
            counted: Vec::new(),
            process_file: PathBuf::new(),
        }
    }
}

fn process(file: &Path) -> Option<i32> {
    process_file::text(file)?.trim().parse().ok()
}

/// A path variable; relative ones are below the data directory. `None` if empty.
fn directory(server: &Facts, name: &str) -> Option<PathBuf> {
    let text = server.variable(name);
    (!text.is_empty()).then(|| Path::new(server.variable("datadir")).join(text))
}

/// Directories of temporary files.
pub(super) fn temporary(server: &Facts) -> Vec<PathBuf> {
    let list = server.variable("tmpdir").split(':');
    let list = list.filter(|place| !place.is_empty()).map(PathBuf::from);
    let of_innodb = directory(server, "innodb_tmpdir");
    list.chain(of_innodb).collect()
}

/// File locations according to the server's settings; options of single tables are ignored.
fn places(server: &Facts) -> Vec<(Role, PathBuf)> {
    let data = PathBuf::from(server.variable("datadir"));
    let or_data = |name: &str| directory(server, name).unwrap_or_else(|| data.clone());
    let system = or_data("innodb_data_home_dir");
    let mut places = vec![
        (Role::Data, data.clone()),
        (Role::Data, system.clone()),
        (Role::Log, or_data("innodb_log_group_home_dir")),
    ];
    places.extend(
        temporary(server)
            .into_iter()
            .map(|place| (Role::Temp, place)),
    );
    // `ibtmp1:12M:autoextend`, which may begin with a path.
    let path = server.variable("innodb_temp_data_file_path");
    let file = system.join(path.split(':').next().unwrap_or_default());
    if let Some(place) = file.parent() {
        places.push((Role::Temp, place.to_owned()));
    }
    if server.is_on("log_bin") {
        let file = or_data("log_bin_basename");
        let place = file.parent().map_or_else(|| data.clone(), Path::to_owned);
        places.push((Role::Binlog, place));
    }
    if has_undo(server) {
        places.push((Role::Undo, or_data("innodb_undo_directory")));
    }
    if has_doublewrite(server) {
        let place = directory(server, "innodb_doublewrite_dir").unwrap_or(system);
        places.push((Role::Doublewrite, place));
    }
    places
}

/// Whether undo records have separate tablespaces: MySQL's always do.
pub(super) fn has_undo(server: &Facts) -> bool {
    !server.is_mariadb() || !matches!(server.variable("innodb_undo_tablespaces"), "" | "0" | "1")
}

pub(super) fn has_doublewrite(server: &Facts) -> bool {
    !matches!(server.variable("innodb_doublewrite"), "" | "OFF" | "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(version: &str, variables: &[(&str, &str)]) -> Facts {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Facts {
            version: version.to_owned(),
            variables: variables.iter().map(owned).collect(),
            ..Facts::default()
        }
    }

    #[test]
    fn files_lie_where_the_settings_put_them() {
        let server = facts(
            "10.11.19-MariaDB",
            &[
                ("datadir", "/d/"),
                ("tmpdir", "/t1:/t2"),
                ("innodb_log_group_home_dir", "./"),
                ("innodb_temp_data_file_path", "/t1/ibtmp1:12M:autoextend"),
                ("log_bin", "ON"),
                ("log_bin_basename", "/b/bin"),
                ("innodb_undo_tablespaces", "3"),
                ("innodb_undo_directory", "/u"),
                ("innodb_doublewrite", "ON"),
            ],
        );
        let shown: Vec<String> = places(&server)
            .iter()
            .map(|(role, place)| format!("{role} {}", place.display()))
            .collect();
        assert_eq!(
            shown,
            [
                "data /d/",
                "data /d/",
                "log /d/./",
                "temp /t1",
                "temp /t2",
                "temp /t1",
                "binlog /b",
                "undo /u",
                "doublewrite /d/",
            ]
        );
        let plain = facts("10.11.19-MariaDB", &[("innodb_undo_tablespaces", "0")]);
        assert!(!has_undo(&plain) && !has_doublewrite(&plain));
        assert!(has_undo(&facts("8.4.6", &[])));
    }

    #[test]
    fn a_role_is_alone_where_its_disks_hold_nothing_else() {
        let host = Host::of(&[
            &[Role::Data, Role::Undo],
            &[Role::Log],
            &[Role::Temp],
            &[Role::Temp],
        ]);
        assert!(host.is_alone(Role::Log) && host.is_alone(Role::Temp));
        assert!(!host.is_alone(Role::Data) && !host.is_alone(Role::Binlog));
    }
}
