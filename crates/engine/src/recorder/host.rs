//! A server on this machine: the disks of its files, and the counters of these disks and of its processes.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;

use host::plain::{self, CountedDisk, DiskCounters};
use model::Duration;
use profile::{Io, Lost, Machine, ServerVolume};

use super::disks::difference;
use super::process_file::process;
use experiment::spec::Role;

/// Maximum distance between two times of a server's start.
const START_APART_S: f64 = 60.0;

/// The disks of a server, and the roles on each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// The roles of the files on each disk.
    pub disks: Vec<BTreeSet<Role>>,
    counted: Vec<CountedDisk>,
    process_file: PathBuf,
}

/// Counters at an instant, in the order of the disks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostCounters {
    /// Of each disk.
    pub disks: Vec<DiskCounters>,
    /// Processor time of the server's processes.
    pub processor: Duration,
}

/// What was counted between two instants.
#[derive(Clone, Debug, PartialEq)]
pub struct HostFigures<'a> {
    /// Processor time of the server's processes.
    pub processor: Duration,
    /// Requests of each disk, with the roles of the files on it; flushes are not counted as writes too.
    pub disks: Vec<(&'a BTreeSet<Role>, Io)>,
}

impl Host {
    /// The server whose process writes this file, and whose files are in these places. `started_apart_s`: seconds between
    /// its start by its own account and by what this machine shows; another machine's server may have the same paths.
    ///
    /// # Errors
    /// As text, why it is not visible here: `elsewhere`, or a disk is not known.
    pub fn find(
        process_file: PathBuf,
        started_apart_s: f64,
        places: impl IntoIterator<Item = (Role, PathBuf)>,
        elsewhere: &str,
    ) -> Result<Host, String> {
        let is_same = started_apart_s.abs() <= START_APART_S;
        let process = process(&process_file).filter(|_| is_same);
        let counted = process.and_then(|process| plain::processor_time(process).ok());
        counted.ok_or(elsewhere)?;
        let mut roles: BTreeMap<CountedDisk, BTreeSet<Role>> = BTreeMap::new();
        for (role, place) in places {
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

    /// The current counters.
    ///
    /// # Errors
    /// When a disk or the server is gone.
    pub(super) fn counters(&self) -> io::Result<HostCounters> {
        // Read again: a restarted server has another process.
        let process = process(&self.process_file).ok_or(io::ErrorKind::NotFound)?;
        let disks = self.counted.iter().map(|disk| disk.counters());
        Ok(HostCounters {
            disks: disks.collect::<io::Result<_>>()?,
            processor: plain::processor_time(process)?,
        })
    }

    /// What was counted between two snapshots.
    ///
    /// # Errors
    /// When one of them has no counters, or a counter shrank.
    pub(super) fn figures(
        &self,
        before: Option<&HostCounters>,
        after: Option<&HostCounters>,
    ) -> Result<HostFigures<'_>, Lost> {
        let (Some(from), Some(until)) = (before, after) else {
            return Err(Lost::Gap);
        };
        // When an ended process is reaped, its time disappears.
        if until.processor < from.processor {
            return Err(Lost::Reset);
        }
        let counters = self.disks.iter().zip(from.disks.iter().zip(&until.disks));
        let disks = counters.map(|(roles, (before, after))| {
            let io = difference(before, after).ok_or(Lost::Reset)?;
            Ok((roles, io.without_flushes_among_writes()))
        });
        Ok(HostFigures {
            processor: until.processor.saturating_sub(from.processor),
            disks: disks.collect::<Result<_, Lost>>()?,
        })
    }

    pub(super) fn machine(&self) -> Machine {
        let (processors, memory) = plain::size();
        Machine {
            name: None,
            processors: u32::try_from(processors).ok().filter(|count| *count > 0),
            memory: Some(memory).filter(|memory| memory.0 > 0),
            cache: None,
            burst_balance: None,
        }
    }

    pub(super) fn volumes(&self) -> Vec<ServerVolume> {
        let volume = |roles: &BTreeSet<Role>| ServerVolume {
            roles: roles.clone(),
            disk: None,
            size: None,
        };
        self.disks.iter().map(volume).collect()
    }

    /// Whether all disks of a role are exclusive to it: their requests are the role's.
    pub fn is_alone(&self, role: Role) -> bool {
        let mut holding = self
            .disks
            .iter()
            .filter(|roles| roles.contains(&role))
            .peekable();
        holding.peek().is_some() && holding.all(|roles| roles.len() == 1)
    }

    /// One with these roles on its disks, for tests.
    #[cfg(any(test, feature = "examples"))]
    pub fn of(disks: &[&[Role]]) -> Host {
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

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn a_processor_time_that_shrank_is_a_reset_and_a_missing_one_a_gap() {
        let host = Host::of(&[]);
        let at = |ms| HostCounters {
            processor: Duration::from_millis(ms),
            ..HostCounters::default()
        };
        let figures = host.figures(Some(&at(10)), Some(&at(30)));
        assert_eq!(
            figures.map(|figures| figures.processor),
            Ok(Duration::from_millis(20))
        );
        assert_eq!(host.figures(Some(&at(30)), Some(&at(10))), Err(Lost::Reset));
        assert_eq!(host.figures(Some(&at(30)), None), Err(Lost::Gap));
    }
}
