//! From what was counted in virtual time to the record.

use std::collections::BTreeMap;

use model::split::{Part, Spent, TimeSplit};
use model::storage::{Usage, UsageOwner};
use model::store::{Cause, Counters};
use model::{Duration, Instant, Storage};
use reading::throttle_name;
use volume::virtual_time::Simulation;

use super::super::collect::{self, Counted};
use super::super::sessions::Tally;
use super::super::{Stage, TrialId};
use super::meter::SharedMeter;
use experiment::record::{DiskRecord, LimitRecord, Phase, Record, VolumeRecord, histogram};
use experiment::spec::Mode;
use workload::Workload;

/// Counters at an instant.
pub(super) struct Snapshot {
    usage: Vec<Usage>,
    counters: Counters,
    logical_reads: u64,
    cpu: Duration,
    /// Names of the machine's limits.
    machine_limits: Vec<String>,
}

impl Snapshot {
    /// As they are at `now`.
    pub(super) fn take(simulation: &Simulation, now: Instant) -> Snapshot {
        simulation.with_store(|store| {
            store.advance(now);
            Snapshot {
                usage: store.storage().usage(),
                counters: store.counters(),
                logical_reads: simulation.logical_reads(),
                cpu: simulation.cpu_busy(),
                machine_limits: machine_limits(store.storage()),
            }
        })
    }
}

fn machine_limits(storage: &Storage) -> Vec<String> {
    storage.machine_limit_names().map(str::to_owned).collect()
}

/// Everything a finished trial counted.
pub(super) struct Collected {
    pub(super) tally: Tally,
    pub(super) split: TimeSplit,
    pub(super) from: Snapshot,
    pub(super) until: Snapshot,
    pub(super) phases: Vec<Phase>,
    pub(super) cores: u32,
}

/// The record of a trial.
pub(super) fn record(
    id: &TrialId,
    stage: &Stage,
    workload: &Workload,
    meter: &SharedMeter,
    result: Result<Collected, String>,
) -> Record {
    let checked = result.and_then(|collected| {
        collect::check_operations(&collected.tally)?;
        Ok(collected)
    });
    let collected = match checked {
        Ok(collected) => collected,
        Err(error) => return collect::failed(id, Mode::Simulate, error),
    };
    let meter = meter.0.borrow();
    let elapsed = collect::measured(&collected.phases);
    let volumes = volumes(stage, meter.disks());
    let counted = Counted {
        transfers: Some(meter.transfers()),
        ..counted(&collected, elapsed)
    };
    let mut metrics = collect::metrics(&counted, workload.operation);
    metrics.extend(collect::per_disk(&volumes, elapsed));
    let tally = &collected.tally;
    Record {
        metrics,
        time_split_ns: split(&collected.split, &collected.until.machine_limits),
        volumes,
        limits: limits(&collected, stage, elapsed),
        operations: (tally.operations > 0).then(|| histogram::encode(&tally.latency)),
        series: meter.series(tally.ended.clone()),
        errors: tally.errors.clone(),
        phases: collected.phases,
        ..collect::blank(id, Mode::Simulate)
    }
}

fn counted(collected: &Collected, elapsed: Duration) -> Counted {
    let Collected { from, until, .. } = collected;
    let cpu = until.cpu.saturating_sub(from.cpu).as_secs_f64();
    let all_cores = elapsed.as_secs_f64() * f64::from(collected.cores);
    let physical_reads = until.counters.physical_reads - from.counters.physical_reads;
    Counted {
        elapsed,
        operations: collected.tally.operations,
        statements: collected.tally.statements,
        logical_reads: Some((until.logical_reads - from.logical_reads) as f64),
        physical_reads: Some(physical_reads as f64),
        transfers: None,
        cpu_utilisation: Some(if all_cores > 0.0 {
            cpu / all_cores
        } else {
            0.0
        }),
    }
}

fn split(split: &TimeSplit, machine_limits: &[String]) -> BTreeMap<String, u64> {
    let mut named: BTreeMap<String, u64> = BTreeMap::new();
    for (spent, time) in split.iter() {
        *named.entry(spent_name(spent, machine_limits)).or_default() += time.as_nanos();
    }
    named
}

fn spent_name(spent: Spent, machine_limits: &[String]) -> String {
    match spent {
        Spent::Cpu => "cpu".to_owned(),
        Spent::CpuQueued => "cpu.queued".to_owned(),
        Spent::Lock => "lock".to_owned(),
        Spent::Think => "think".to_owned(),
        Spent::Waiting(cause, part) => {
            let cause = match cause {
                Cause::Read => "read",
                Cause::Write => "write",
                Cause::Log => "log",
            };
            match part {
                Part::Service => format!("{cause}.service"),
                Part::Queued => format!("{cause}.queued"),
                Part::Throttled(by) => {
                    format!("{cause}.throttled.{}", throttle_name(by, machine_limits))
                }
            }
        }
    }
}

fn volumes(stage: &Stage, disks: Vec<Vec<DiskRecord>>) -> Vec<VolumeRecord> {
    let volumes = stage
        .volumes
        .iter()
        .zip(&stage.disks)
        .zip(&stage.files)
        .zip(disks);
    volumes
        .map(|(((volume, disk), files), disks)| VolumeRecord {
            name: volume.name.clone(),
            disk: disk.clone(),
            files: files.clone(),
            disks,
        })
        .collect()
}

fn limits(collected: &Collected, stage: &Stage, elapsed: Duration) -> Vec<LimitRecord> {
    let pairs = collected.from.usage.iter().zip(&collected.until.usage);
    pairs
        .map(|(from, until)| {
            let owner = match &until.owner {
                UsageOwner::Machine(name) => format!("machine.{name}"),
                UsageOwner::Disk { volume, disk } => {
                    format!("disk.{}.{}", stage.volumes[*volume].name, disk + 1)
                }
            };
            let name = format!("{owner}.{}", until.measure);
            let used = until.used - from.used;
            collect::limit(name, until.limit.counts, used, until.rate, elapsed)
        })
        .collect()
}
