//! What all records have in common, whatever was counted and how.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use model::Duration;
use reading::{DiskReading, Latencies, Reading, histogram};

use super::sessions::{Tally, Timeless};
use super::{Stage, TrialId};
use experiment::record::{self, DiskRecord, LimitRecord, Outcome, Phase, Record, VolumeRecord};
use experiment::spec::{Mode, Role};
use workload::OperationKind;

/// A record that only identifies its trial.
pub(super) fn blank(id: &TrialId, mode: Mode) -> Record {
    Record {
        schema: record::SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        experiment: id.experiment.clone(),
        plan: id.plan.clone(),
        mode: mode.to_string(),
        arm: id.arm.clone(),
        block: id.block,
        position: id.position,
        seed: id.seed,
        ..Record::default()
    }
}

/// Rejects the results of sessions whose data was not loaded, without any successful operation, or with an endless
/// loop: they have no figures.
pub(super) fn check_operations(tally: &Tally) -> Result<(), String> {
    if let Some(error) = &tally.load_failed {
        return Err(format!("the data could not be loaded: {error}"));
    }
    if let Some(Timeless { script, error }) = &tally.timeless {
        let why = match error {
            Some(error) => {
                format!(" and fail ({error}), so that a duration never ends; fix the script")
            }
            None => ", so that a duration never ends; let the script do something in every case, give the disks a limit or \
                     a latency, the processor a cost (engine.cpu), or the workload a number of operations"
                .to_owned(),
        };
        return Err(format!("operations of {script} take no time at all{why}"));
    }
    match (tally.operations, tally.errors.count) {
        (0, 0) => Err(record::NO_OPERATIONS.to_owned()),
        (0, _) => Err(format!(
            "no operation succeeded: {}",
            tally.errors.first.join("; ")
        )),
        (_, _) => Ok(()),
    }
}

/// The record of a trial that did not complete.
pub(super) fn failed(id: &TrialId, mode: Mode, error: String) -> Record {
    Record {
        outcome: Outcome::Failed { error },
        ..blank(id, mode)
    }
}

/// Counters of the measured phases; `None` if they are not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Counted {
    pub(super) elapsed: Duration,
    pub(super) operations: u64,
    pub(super) statements: u64,
    pub(super) logical_reads: Option<f64>,
    pub(super) physical_reads: Option<f64>,
    pub(super) transfers: Option<Transfers>,
    /// Busy share of all cores.
    pub(super) cpu_utilisation: Option<f64>,
}

/// Reads and writes of all disks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Transfers {
    pub(super) reads: u64,
    pub(super) writes: u64,
    /// Bytes of both.
    pub(super) bytes: u64,
    /// Mean latency of reads, in milliseconds; 0 without any.
    pub(super) read_latency_ms: f64,
    /// Mean latency of writes.
    pub(super) write_latency_ms: f64,
}

impl Transfers {
    /// The same, with latencies no finer than their counters.
    pub(super) fn in_whole_ms(self) -> Transfers {
        Transfers {
            read_latency_ms: self.read_latency_ms.round(),
            write_latency_ms: self.write_latency_ms.round(),
            ..self
        }
    }

    fn requests(&self) -> f64 {
        (self.reads + self.writes) as f64
    }

    /// Mean latency of reads and writes.
    fn latency_ms(&self) -> f64 {
        let both =
            self.read_latency_ms * self.reads as f64 + self.write_latency_ms * self.writes as f64;
        both / self.requests().max(1.0)
    }
}

/// The metrics, by name.
pub(super) fn metrics(counted: &Counted, operation: OperationKind) -> BTreeMap<String, f64> {
    let elapsed = counted.elapsed.as_secs_f64();
    let per_s = |count: f64| if elapsed > 0.0 { count / elapsed } else { 0.0 };
    let operations_per_s = per_s(counted.operations as f64);
    let mut metrics = BTreeMap::from([
        ("elapsed_s", elapsed),
        ("operations_per_s", operations_per_s),
        ("batch_requests_per_s", per_s(counted.statements as f64)),
    ]);
    match operation {
        OperationKind::Operation => None,
        OperationKind::ApplicationRequest => {
            metrics.insert("application_requests_per_s", operations_per_s)
        }
        OperationKind::BusinessTransaction => {
            metrics.insert("business_transactions_per_s", operations_per_s)
        }
    };
    let engine = [
        ("logical_reads", counted.logical_reads),
        ("physical_reads", counted.physical_reads),
        ("cpu_utilisation", counted.cpu_utilisation),
    ];
    metrics.extend(
        engine
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    if let Some(transfers) = &counted.transfers {
        metrics.extend([
            ("mb_per_s", per_s(transfers.bytes as f64 / 1e6)),
            ("iops", per_s(transfers.requests())),
            ("read_latency_ms", transfers.read_latency_ms),
            ("write_latency_ms", transfers.write_latency_ms),
            ("transfer_latency_ms", transfers.latency_ms()),
            (
                "transfer_size_kb",
                transfers.bytes as f64 / 1e3 / transfers.requests().max(1.0),
            ),
        ]);
    }
    metrics
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// Average reads and writes of each disk that holds temp files.
pub(super) fn per_disk(volumes: &[VolumeRecord], elapsed: Duration) -> [(String, f64); 2] {
    let holds_temp = |volume: &&VolumeRecord| volume.files.contains_key(&Role::Temp);
    let disks: Vec<_> = volumes
        .iter()
        .filter(holds_temp)
        .flat_map(|volume| &volume.disks)
        .collect();
    let mean = |of: fn(&DiskRecord) -> u64| {
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

/// Activity at the disks of each volume; `disks` names them.
pub(super) fn volumes(stage: &Stage, disks: &[String], done: &Reading) -> Vec<VolumeRecord> {
    let volumes = stage.volumes.iter().zip(&stage.files).zip(disks);
    let volume =
        |(place, ((volume, files), disk)): (usize, ((&model::VolumeSpec, &_), &String))| {
            let own = done.disks.iter().filter(|disk| disk.volume == place);
            VolumeRecord {
                name: volume.name.clone(),
                disk: disk.clone(),
                files: Clone::clone(files),
                disks: own.map(DiskRecord::from).collect(),
            }
        };
    volumes.enumerate().map(volume).collect()
}

/// Usage of every limit in `elapsed`.
pub(super) fn limits(done: &Reading, elapsed: Duration) -> Vec<LimitRecord> {
    let limits = done.limits.iter();
    limits
        .map(|limit| LimitRecord::of(limit, elapsed))
        .collect()
}

/// Reads and writes of all disks; `None` if they are not counted.
pub(super) fn transfers(disks: &[DiskReading]) -> Option<Transfers> {
    if disks.is_empty() {
        return None;
    }
    let sum = |of: fn(&DiskReading) -> u64| disks.iter().map(of).fold(0, u64::saturating_add);
    let (reads, writes) = (sum(|disk| disk.reads), sum(|disk| disk.writes));
    Some(Transfers {
        reads,
        writes,
        bytes: sum(|disk| disk.read_bytes.saturating_add(disk.write_bytes)),
        read_latency_ms: mean_ms(disks, reads, |disk| disk.read_ns, |latency| &latency.reads),
        write_latency_ms: mean_ms(
            disks,
            writes,
            |disk| disk.write_ns,
            |latency| &latency.writes,
        ),
    })
}

/// Mean latency of this many requests. In virtual time it is that of the distribution; real time has exact sums.
fn mean_ms(
    disks: &[DiskReading],
    count: u64,
    sum_ns: fn(&DiskReading) -> u64,
    latency: fn(&Latencies) -> &Histogram<u64>,
) -> f64 {
    let simulated = disks.iter().filter(|disk| disk.busy_ns.is_none());
    let mut all = histogram::empty();
    for seen in simulated.filter_map(|disk| disk.latency.as_ref()) {
        all.add(latency(seen))
            .expect("a histogram that grows takes any other");
    }
    if !all.is_empty() {
        return all.mean() / 1e6;
    }
    let ns = disks.iter().map(sum_ns).fold(0, u64::saturating_add);
    ns as f64 / 1e6 / (count as f64).max(1.0)
}

/// How long the measured phases took.
pub(super) fn measured(phases: &[Phase]) -> Duration {
    let measured = phases.iter().filter(|phase| phase.measured);
    Duration::from_nanos(
        measured
            .map(|phase| phase.end_ns.saturating_sub(phase.start_ns))
            .sum(),
    )
}
