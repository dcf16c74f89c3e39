//! How much of every limit an arm used, and how much its sessions waited for I/O that the limit governs.

use std::collections::{BTreeMap, BTreeSet};

use super::disks::utilisation;
use super::split::Split;
use experiment::record::{Limit, LimitRecord, Record, VolumeRecord};
use experiment::spec::Role;
use model::Counts;
use reading::cause::{Io, Owner};

/// One limit of an arm.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LimitUse {
    /// Its name as used by causes: shared by all disks where it is a disk's.
    pub(super) limit: Limit,
    /// The disk, where it is a disk's.
    pub(super) disk: Option<String>,
    /// Share of it that was used, mean over trials.
    pub(super) utilisation: f64,
    /// Share of the sessions' time spent waiting for the kinds of I/O that it governs.
    pub(super) waited: f64,
}

/// Every limit of an arm, the most used first.
pub(super) fn limits(trials: &[&Record], split: &Split) -> Vec<LimitUse> {
    let Some(first) = trials.first() else {
        return Vec::new();
    };
    let names: BTreeSet<&Limit> = first.limits.iter().map(|limit| &limit.name).collect();
    let mut limits: Vec<LimitUse> = names
        .into_iter()
        .map(|limit| limit_use(limit, first, trials, split))
        .collect();
    limits.sort_by(|a, b| b.utilisation.total_cmp(&a.utilisation));
    limits
}

/// Used share of each of the machine's own limits, mean over trials, by name: `cached.throughput`.
pub(super) fn machine_limits(trials: &[&Record]) -> BTreeMap<String, f64> {
    let limits = trials.first().map_or(&[][..], |first| &first.limits);
    limits
        .iter()
        .filter_map(|limit| match (&limit.name.owner, limit.name.measure) {
            (Owner::Machine(name), Some(measure)) => {
                let name = format!("{name}.{}", measure.name());
                Some((name, utilisation(&limit.name, trials)))
            }
            (Owner::Machine(_) | Owner::Disk(_) | Owner::Disks, _) => None,
        })
        .collect()
}

fn limit_use(name: &Limit, first: &Record, trials: &[&Record], split: &Split) -> LimitUse {
    let (limit, disk) = match &name.owner {
        Owner::Disk(disk) => {
            let any = Limit {
                owner: Owner::Disks,
                measure: name.measure,
            };
            (any, Some(disk.as_str()))
        }
        Owner::Disks | Owner::Machine(_) => (name.clone(), None),
    };
    LimitUse {
        limit,
        disk: disk.map(str::to_owned),
        utilisation: utilisation(name, trials),
        waited: kinds(name, disk, first)
            .into_iter()
            .map(|io| split.waited(io))
            .sum(),
    }
}

/// The kinds of waits that I/O under this limit can cause.
fn kinds(limit: &Limit, disk: Option<&str>, record: &Record) -> BTreeSet<Io> {
    let counted = counted(limit, &record.limits);
    let Some(disk) = disk else {
        return counted;
    };
    let holds = |volume: &&VolumeRecord| volume.disks.iter().any(|d| d.name == disk);
    let Some(volume) = record.volumes.iter().find(holds) else {
        return counted;
    };
    counted.intersection(&kinds_on(volume)).copied().collect()
}

/// The kinds that the limit counts at its busiest.
fn counted(limit: &Limit, limits: &[LimitRecord]) -> BTreeSet<Io> {
    let busiest = limits
        .iter()
        .filter(|record| record.name == *limit)
        .max_by(|a, b| a.utilisation.total_cmp(&b.utilisation));
    match busiest.map(|limit| limit.counts) {
        Some(Counts::Reads) => BTreeSet::from([Io::Read]),
        Some(Counts::Writes) => BTreeSet::from([Io::Write, Io::Log]),
        Some(Counts::All) | None => BTreeSet::from(Io::ALL),
    }
}

/// The kinds that files of these roles can cause.
fn kinds_on(volume: &VolumeRecord) -> BTreeSet<Io> {
    let holds = |role: Role| volume.files.get(&role).is_some_and(|files| *files > 0);
    let mut kinds = BTreeSet::new();
    if holds(Role::Log) || holds(Role::Binlog) {
        kinds.insert(Io::Log);
    }
    let pages = [Role::Data, Role::Temp, Role::Undo, Role::Doublewrite];
    if pages.into_iter().any(holds) {
        kinds.extend([Io::Read, Io::Write]);
    }
    kinds
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::examples::{limit, split_of, trial};

    fn limits_of(record: &Record) -> Vec<LimitUse> {
        limits(&[record], &Split::of(&[record]))
    }

    #[test]
    fn a_disk_with_log_files_alone_is_waited_for_by_log_writes_alone() {
        let mut record = trial("p30", 0, 100.0);
        record.time_split_ns = split_of(&[("read.service", 900), ("log.service", 100)]);
        record.volumes[0].files = [(Role::Log, 1)].into();
        record.limits = vec![limit("disk.temp.1.iops", Counts::All, 0.99)];

        let limit = limits_of(&record).remove(0);

        assert_eq!(limit.limit.to_string(), "disk.iops");
        assert_eq!(limit.disk.as_deref(), Some("temp.1"));
        assert!((limit.waited - 0.1).abs() < 1e-12);
    }

    #[test]
    fn of_two_directions_the_busier_counts() {
        let mut record = trial("p30", 0, 100.0);
        record.time_split_ns = split_of(&[("read.service", 700), ("write.service", 300)]);
        record.limits = vec![
            limit("machine.pd.iops", Counts::Reads, 0.2),
            limit("machine.pd.iops", Counts::Writes, 0.95),
        ];

        let limit = limits_of(&record).remove(0);

        assert_eq!(limit.utilisation, 0.95);
        assert!((limit.waited - 0.3).abs() < 1e-12);
    }
}
