//! How much of every limit an arm used, and how much its sessions waited for I/O that the limit governs.

use std::collections::{BTreeMap, BTreeSet};

use super::disks::utilisation;
use super::split::Split;
use experiment::record::{LimitRecord, Record, VolumeRecord};

/// One limit of an arm.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LimitUse {
    /// `machine.<limit>.<measure>` or `disk.<measure>`, as causes name it.
    pub(super) name: String,
    /// The disk, where it is a disk's.
    pub(super) disk: Option<String>,
    /// Share of it that was used, mean over trials.
    pub(super) utilisation: f64,
    /// Share of the sessions' time that was spent waiting for I/O of the kinds that it governs.
    pub(super) waited: f64,
}

/// Every limit of an arm, the most used first.
pub(super) fn limits(trials: &[&Record], split: &Split) -> Vec<LimitUse> {
    let Some(first) = trials.first() else {
        return Vec::new();
    };
    let names: BTreeSet<&str> = first
        .limits
        .iter()
        .map(|limit| limit.name.as_str())
        .collect();
    let mut limits: Vec<LimitUse> = names
        .into_iter()
        .map(|name| limit_use(name, first, trials, split))
        .collect();
    limits.sort_by(|a, b| b.utilisation.total_cmp(&a.utilisation));
    limits
}

/// Share of each of the machine's own limits that was used, mean over trials.
pub(super) fn machine_limits(trials: &[&Record]) -> BTreeMap<String, f64> {
    let limits = trials.first().map_or(&[][..], |first| &first.limits);
    limits
        .iter()
        .filter_map(|limit| {
            let name = limit.name.strip_prefix("machine.")?;
            Some((name.to_owned(), utilisation(&limit.name, trials)))
        })
        .collect()
}

fn limit_use(full: &str, first: &Record, trials: &[&Record], split: &Split) -> LimitUse {
    let disk = disk_of(full);
    let name = match (disk, full.rsplit_once('.')) {
        (Some(_), Some((_, measure))) => format!("disk.{measure}"),
        (Some(_) | None, _) => full.to_owned(),
    };
    let kinds = kinds(full, disk, first);
    LimitUse {
        name,
        disk: disk.map(str::to_owned),
        utilisation: utilisation(full, trials),
        waited: kinds.iter().map(|kind| split.waited(kind)).sum(),
    }
}

/// The disk in `disk.<disk name>.<measure>`; its name may have dots.
fn disk_of(limit: &str) -> Option<&str> {
    let (disk, _measure) = limit.strip_prefix("disk.")?.rsplit_once('.')?;
    Some(disk)
}

/// The kinds of waits that I/O under this limit can cause.
fn kinds(limit: &str, disk: Option<&str>, record: &Record) -> BTreeSet<&'static str> {
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
fn counted(limit: &str, limits: &[LimitRecord]) -> BTreeSet<&'static str> {
    let busiest = limits
        .iter()
        .filter(|record| record.name == limit)
        .max_by(|a, b| a.utilisation.total_cmp(&b.utilisation));
    match busiest.map(|limit| limit.counts.as_str()) {
        Some("reads") => BTreeSet::from(["read"]),
        Some("writes") => BTreeSet::from(["write", "log"]),
        Some(_) | None => BTreeSet::from(["read", "write", "log"]),
    }
}

/// The kinds that files of these roles can cause.
fn kinds_on(volume: &VolumeRecord) -> BTreeSet<&'static str> {
    let holds = |role: &str| volume.files.get(role).is_some_and(|files| *files > 0);
    let mut kinds = BTreeSet::new();
    if holds("log") {
        kinds.insert("log");
    }
    if holds("data") || holds("temp") {
        kinds.extend(["read", "write"]);
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
        record.volumes[0].files = [("log".into(), 1)].into();
        record.limits = vec![limit("disk.temp.1.iops", "all", 0.99)];

        let limit = limits_of(&record).remove(0);

        assert_eq!(limit.name, "disk.iops");
        assert_eq!(limit.disk.as_deref(), Some("temp.1"));
        assert!((limit.waited - 0.1).abs() < 1e-12);
    }

    #[test]
    fn of_two_directions_the_busier_counts() {
        let mut record = trial("p30", 0, 100.0);
        record.time_split_ns = split_of(&[("read.service", 700), ("write.service", 300)]);
        record.limits = vec![
            limit("machine.pd.iops", "reads", 0.2),
            limit("machine.pd.iops", "writes", 0.95),
        ];

        let limit = limits_of(&record).remove(0);

        assert_eq!(limit.utilisation, 0.95);
        assert!((limit.waited - 0.3).abs() < 1e-12);
    }
}
