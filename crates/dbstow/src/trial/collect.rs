//! From what was counted to the record.

use std::collections::BTreeMap;

use model::split::{Part, Spent, TimeSplit};
use model::storage::{Usage, UsageOwner};
use model::store::{Cause, Counters};
use model::{Counts, Duration, Instant, Storage};
use volume::reading::throttle_name;
use volume::virtual_time::Simulation;

use super::meter::{SharedMeter, Totals};
use super::sessions::Tally;
use super::simulate::failed;
use super::{Stage, TrialId};
use crate::record::{
    self, Errors, LimitRecord, Outcome, Phase, Record, Series, VolumeRecord, histogram,
};
use crate::spec::Mode;
use crate::workload::{OperationKind, Workload};

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
    let empty = Record {
        schema: record::SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        experiment: id.experiment.clone(),
        plan: id.plan.clone(),
        mode: Mode::Simulate.to_string(),
        arm: id.arm.clone(),
        block: id.block,
        position: id.position,
        seed: id.seed,
        outcome: Outcome::Finished,
        metrics: BTreeMap::new(),
        phases: Vec::new(),
        time_split_ns: BTreeMap::new(),
        volumes: Vec::new(),
        limits: Vec::new(),
        operations: None,
        series: Series::default(),
        errors: Errors::default(),
        engine: None,
        counters: BTreeMap::new(),
        environment: BTreeMap::new(),
        pacing: None,
        client: None,
        notes: Vec::new(),
    };
    let collected = match result {
        Ok(collected) => collected,
        Err(error) => {
            return Record {
                outcome: failed(error),
                ..empty
            };
        }
    };
    let meter = meter.0.borrow();
    let volumes = volumes(stage, meter.disks());
    let mut metrics = metrics(&collected, workload.operation, &meter.totals());
    metrics.extend(per_disk(&volumes, collected.elapsed()));
    Record {
        metrics,
        time_split_ns: split(&collected.tally.split, &collected.until.machine_limits),
        volumes,
        limits: limits(&collected, stage),
        operations: (collected.tally.operations > 0)
            .then(|| histogram::encode(&collected.tally.latency)),
        series: meter.series(),
        errors: collected.tally.errors.clone(),
        phases: collected.phases,
        ..empty
    }
}

fn metrics(
    collected: &Collected,
    operation: OperationKind,
    totals: &Totals,
) -> BTreeMap<String, f64> {
    let elapsed = collected.elapsed().as_secs_f64();
    let per_s = |count: f64| if elapsed > 0.0 { count / elapsed } else { 0.0 };
    let tally = &collected.tally;
    let operations_per_s = per_s(tally.operations as f64);
    let cpu = collected
        .until
        .cpu
        .saturating_sub(collected.from.cpu)
        .as_secs_f64();
    let counters = (&collected.from.counters, &collected.until.counters);
    let mut metrics = BTreeMap::from([
        ("elapsed_s", elapsed),
        ("operations_per_s", operations_per_s),
        ("batch_requests_per_s", per_s(tally.statements as f64)),
        (
            "logical_reads",
            (collected.until.logical_reads - collected.from.logical_reads) as f64,
        ),
        (
            "physical_reads",
            (counters.1.physical_reads - counters.0.physical_reads) as f64,
        ),
        ("mb_per_s", per_s(totals.bytes as f64 / 1e6)),
        ("iops", per_s(totals.requests as f64)),
        ("read_latency_ms", totals.read_latency_ms),
        ("write_latency_ms", totals.write_latency_ms),
        ("transfer_latency_ms", totals.transfer_latency_ms),
        (
            "transfer_size_kb",
            totals.bytes as f64 / 1e3 / (totals.requests as f64).max(1.0),
        ),
        ("cpu_utilisation", per_s(cpu) / f64::from(collected.cores)),
    ]);
    match operation {
        OperationKind::Operation => {}
        OperationKind::ApplicationRequest => {
            metrics.insert("application_requests_per_s", operations_per_s);
        }
        OperationKind::BusinessTransaction => {
            metrics.insert("business_transactions_per_s", operations_per_s);
        }
    }
    metrics
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// What each disk that holds temp files reads and writes, on average.
fn per_disk(volumes: &[VolumeRecord], elapsed: Duration) -> [(String, f64); 2] {
    let holds_temp = |volume: &&VolumeRecord| volume.files.contains_key("temp");
    let disks: Vec<_> = volumes
        .iter()
        .filter(holds_temp)
        .flat_map(|volume| &volume.disks)
        .collect();
    let mean = |of: fn(&record::DiskRecord) -> u64| {
        let bytes: u64 = disks.iter().map(|disk| of(disk)).sum();
        bytes as f64 / 1e6 / elapsed.as_secs_f64().max(1e-9) / (disks.len() as f64).max(1.0)
    };
    [
        (
            "disk_read_mb_per_s".to_owned(),
            mean(|disk| disk.read_bytes),
        ),
        (
            "disk_write_mb_per_s".to_owned(),
            mean(|disk| disk.write_bytes),
        ),
    ]
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

fn volumes(stage: &Stage, disks: Vec<Vec<record::DiskRecord>>) -> Vec<VolumeRecord> {
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

fn limits(collected: &Collected, stage: &Stage) -> Vec<LimitRecord> {
    let elapsed = collected.elapsed().as_secs_f64();
    let pairs = collected.from.usage.iter().zip(&collected.until.usage);
    pairs
        .map(|(from, until)| {
            let owner = match &until.owner {
                UsageOwner::Machine(name) => format!("machine.{name}"),
                UsageOwner::Disk { volume, disk } => {
                    format!("disk.{}.{}", stage.volumes[*volume].name, disk + 1)
                }
            };
            let used = (until.used - from.used) as f64;
            let allowed = until.rate as f64 * elapsed;
            LimitRecord {
                name: format!("{owner}.{}", until.measure),
                counts: match until.limit.counts {
                    Counts::All => "all",
                    Counts::Reads => "reads",
                    Counts::Writes => "writes",
                }
                .to_owned(),
                used,
                rate: until.rate as f64,
                utilisation: if allowed > 0.0 { used / allowed } else { 0.0 },
            }
        })
        .collect()
}
