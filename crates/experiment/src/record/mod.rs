//! Results of a trial: one JSON file each, written when the trial ends.
//!
//! These are the wire types. A record holds raw values only; `analysis::findings` derives estimates, verdicts and reasons from
//! records, on any machine, at any later time.

pub mod check;
mod note;
pub mod series;
pub(crate) mod strict;
mod wait;

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use model::{Counts, Duration};
pub use note::Note;
pub use reading::Pacing;
pub use reading::cause::{Cause, Limit};
pub use reading::histogram;
use reading::{DiskReading, LimitReading};
use serde::{Deserialize, Serialize};
pub use wait::{WaitEvent, WaitsOn};

use crate::spec::Role;

/// The name and version of the format.
pub const SCHEMA: &str = "dbstow.record/1";

/// The error of a trial in which no operation completed.
pub const NO_OPERATIONS: &str = "no operation ended within the measured time, so that there are no figures; give it a \
     longer workload.duration, a higher rate, or operations that take less";

/// The engine setting with its share of the machine's page cache; begins with [`NOT_LIMITED`] if it had all of it.
pub const PAGE_CACHE: &str = "page_cache";

/// Prefix of the value of [`PAGE_CACHE`] if it was not limited.
pub const NOT_LIMITED: &str = "not limited";

/// The full record of one trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// [`SCHEMA`].
    pub schema: String,
    /// Version of the program that wrote it.
    pub version: String,
    /// Name of the experiment.
    pub experiment: String,
    /// Digest of the plan this trial belongs to.
    pub plan: String,
    /// `simulate`, `emulate` or `measure`.
    pub mode: String,
    /// Name of the arm.
    pub arm: String,
    /// Block, from 0.
    pub block: u32,
    /// Position of the trial in its block's shuffled order, from 0.
    pub position: u32,
    /// Seed of the trial.
    pub seed: u64,
    /// Uncertain values drawn for its block, by name; simulate only.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub drawn: BTreeMap<String, Drawn>,
    /// Whether it completed.
    pub outcome: Outcome,
    /// Raw values by metric name; the unit is the suffix of the name.
    pub metrics: BTreeMap<String, f64>,
    /// Duration of each phase in (virtual) nanoseconds, in order.
    pub phases: Vec<Phase>,
    /// Time of all sessions in the measured phases, in nanoseconds, by cause.
    pub time_split_ns: BTreeMap<Cause, u64>,
    /// What reached the disks.
    pub volumes: Vec<VolumeRecord>,
    /// Use of each limit.
    pub limits: Vec<LimitRecord>,
    /// Latency of operations: HDR histogram V2, base64, in nanoseconds.
    pub operations: Option<String>,
    /// Per-second series.
    pub series: Series,
    /// Operations that failed, and the first few texts.
    pub errors: Errors,
    /// The engine that ran the workload; `None` in simulate mode, where it is the embedded one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<EngineRecord>,
    /// The engine's own counters over the measured phases; the unit is the suffix of the name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, f64>,
    /// Environment: kernel, filesystems, devices, ..; by name, as text. Real-time modes only.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// Timing accuracy of the emulation; emulate mode only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pacing: Option<Pacing>,
    /// Overhead of dbstow itself; real-time modes only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientRecord>,
    /// Notes of the trial itself, such as a clipped histogram.
    pub notes: Vec<Note>,
}

/// The engine of a trial.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineRecord {
    /// Its name, as `--engine` takes it.
    pub name: String,
    /// Its own version.
    pub version: String,
    /// What "file" means for it, as text.
    pub file: String,
    /// Settings in force that matter for I/O.
    pub settings: BTreeMap<String, String>,
}

/// Overhead of dbstow itself in the measured phases: its sessions and its sampling, not its emulator.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClientRecord {
    /// Processor time of this process.
    pub cpu_ns: u64,
    /// Processors of the machine it ran on.
    pub cores: u32,
    /// Sum over sessions of the time in which the engine waited for the client during an operation.
    pub between_ns: u64,
}

/// The draw of a value that is not known exactly.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drawn {
    /// By how much it was multiplied.
    pub factor: f64,
    /// The factor between things of its kind that it was drawn by: one standard deviation of a log-normal, at least 1.
    pub between: f64,
    /// The typical value, if it is a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub typical_ns: Option<u64>,
}

/// How a trial ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "status")]
pub enum Outcome {
    /// It completed.
    #[default]
    Finished,
    /// It did not complete; this is a result too.
    Failed {
        /// The error that stopped it.
        error: String,
    },
}

/// A phase of a trial: `load`, `quiesce`, `warm-up` or `run`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// Which phase.
    pub name: String,
    /// When it began, from the start of the trial.
    pub start_ns: u64,
    /// When it ended.
    pub end_ns: u64,
    /// Whether it counts in the metrics.
    pub measured: bool,
}

/// What reached the disks of one volume in the measured phases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VolumeRecord {
    /// Its name in the experiment.
    pub name: String,
    /// Catalogue name of its disks.
    pub disk: String,
    /// Number of files of each role that has files here.
    pub files: BTreeMap<Role, u32>,
    /// Its disks, in stripe order.
    pub disks: Vec<DiskRecord>,
}

/// What one disk did in the measured phases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DiskRecord {
    /// `<volume>.<number from 1>`.
    pub name: String,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Flushes.
    pub flushes: u64,
    /// Reads served by the host cache, without the disk.
    pub cache_hits: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Latency of reads: HDR histogram V2, base64, in nanoseconds; `None` when there were none.
    pub read_latency: Option<String>,
    /// Latency of writes.
    pub write_latency: Option<String>,
    /// Times of a real disk as counted by the operating system; `None` for a modelled one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<DiskTimes>,
}

/// Times of a real disk in the measured phases, where single requests are not visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskTimes {
    /// Time in which at least one request was in flight.
    pub busy_ns: u64,
    /// Sum of the latencies of all reads.
    pub read_ns: u64,
    /// Sum of the latencies of all writes.
    pub write_ns: u64,
}

/// Use of one limit in the measured phases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LimitRecord {
    /// Which one: of the machine, or of one disk.
    pub name: Limit,
    /// Which requests it counts.
    pub counts: Counts,
    /// Units that passed: I/Os or bytes.
    pub used: f64,
    /// Units per second allowed, sustained.
    pub rate: f64,
    /// The same as it is documented, where what is allowed was drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub documented: Option<f64>,
    /// `used` as a share of what could have passed at the effective rate, with the available credits.
    pub utilisation: f64,
    /// Burst credits; `None` if the limit has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<BurstRecord>,
}

/// Burst credits of a limit in the measured phases.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BurstRecord {
    /// Units per second while credits last.
    pub rate: f64,
    /// Credits at the start, in units.
    pub credits_start: f64,
    /// Credits at the end.
    pub credits_end: f64,
}

impl From<&DiskReading> for DiskRecord {
    fn from(disk: &DiskReading) -> DiskRecord {
        let text =
            |latency: &Histogram<u64>| (!latency.is_empty()).then(|| histogram::encode(latency));
        let latency = disk.latency.as_ref();
        DiskRecord {
            name: disk.name.clone(),
            reads: disk.reads,
            writes: disk.writes,
            flushes: disk.flushes,
            cache_hits: disk.cache_hits,
            read_bytes: disk.read_bytes,
            write_bytes: disk.write_bytes,
            read_latency: latency.and_then(|latency| text(&latency.reads)),
            write_latency: latency.and_then(|latency| text(&latency.writes)),
            times: disk.busy_ns.map(|busy_ns| DiskTimes {
                busy_ns,
                read_ns: disk.read_ns,
                write_ns: disk.write_ns,
            }),
        }
    }
}

impl LimitRecord {
    /// Use of a limit in `elapsed`.
    pub fn of(limit: &LimitReading, elapsed: Duration) -> LimitRecord {
        let burst = limit.credits.zip(limit.limit.burst);
        LimitRecord {
            name: limit.name.clone(),
            counts: limit.limit.counts,
            used: limit.used as f64,
            rate: limit.rate as f64,
            documented: None,
            utilisation: limit.utilisation(elapsed),
            burst: burst.map(|(credits, burst)| BurstRecord {
                rate: burst.rate as f64,
                credits_start: credits.start as f64,
                credits_end: credits.left as f64,
            }),
        }
    }
}

/// Values per interval, by name, from the start of the trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Length of an interval.
    pub interval_ns: u64,
    /// `operations`, and for each disk `<disk>.reads`, `.read_bytes`, `.read_ns` (sum of latencies), `.writes`,
    /// `.write_bytes` and `.write_ns`. In real time, also of the engine during the run: `counter.<name>`, the increase of a
    /// counter of [`Record::counters`], and `level.<name>`, a level at the interval's end; those that stayed at zero are omitted.
    pub values: BTreeMap<String, Vec<u64>>,
}

/// Operations that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Errors {
    /// How many.
    pub count: u64,
    /// The first few texts.
    pub first: Vec<String>,
}
