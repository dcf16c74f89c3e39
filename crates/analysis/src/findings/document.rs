//! The document of findings, as `--format json` prints it (`schema/findings.schema.json`).

use std::collections::BTreeMap;

use experiment::question::{Fitted, Published, Warning};
use experiment::record::Cause;
use experiment::spec::{Mode, Role};
use serde::{Deserialize, Serialize};

use super::bound_by::BoundBy;
use super::comparison::{Comparison, NoiseFloor, Ratio, StopsHelping};
use super::survived::Survived;

/// The name and version of the format.
pub const SCHEMA: &str = "dbstow.findings/1";

/// Ids of warnings that limit the rest of the findings.
const LEADING: [&str; 15] = [
    "failed-trials",
    "errors",
    "too-little-io",
    "same-disk",
    "shared-device",
    "default-decides",
    "no-write-back",
    "one-writer",
    "number-of-files",
    "burst-credits",
    "late",
    "published-contradicts",
    "not-as-asked",
    "not-exercised",
    "paused",
];

/// The whole document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// [`SCHEMA`].
    pub schema: String,
    /// Name of the experiment.
    pub experiment: String,
    /// The question it asks.
    pub question: String,
    /// Where the published figures come from, when there are any.
    pub source: Option<String>,
    /// `simulate`, `emulate` or `measure`.
    pub mode: String,
    /// Seed of the plan.
    pub seed: u64,
    /// Blocks that were planned.
    pub blocks: u32,
    /// One entry per placement (or per placement at a setting), in the order of the experiment file.
    pub arms: Vec<Arm>,
    /// Baseline against each other arm, by the experiment's main metric.
    pub comparisons: Vec<Comparison>,
    /// Where more of a swept key stops helping, one entry per sweep.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stops_helping: Vec<StopsHelping>,
    /// Where prices are known: of each set of compared arms, the cheapest that is worse than the best by at most the
    /// margin.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cheapest: Vec<Cheapest>,
    /// How close predictions are to published figures for the same settings; simulate only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreement: Option<Agreement>,
    /// Spread between identical twins of the baseline, where `--aa` ran: the noise floor.
    pub noise_floor: Option<NoiseFloor>,
    /// Parameters that were fitted to published figures.
    pub fitted: Vec<Fitted>,
    /// Changes to the experiment for this run, as text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// Caveats, with cause and remedy.
    pub warnings: Vec<Warning>,
    /// The engine that ran the workload; real-time modes only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<Engine>,
    /// Where the trials ran: facts common to all, by name, as text. Real-time modes only.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// Timing accuracy over all trials; emulate mode only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lateness: Option<Lateness>,
}

impl Findings {
    /// The warnings that limit the rest, which must be read first; and the others.
    pub fn warnings_by_weight(&self) -> (Vec<&Warning>, Vec<&Warning>) {
        let leads = |warning: &&Warning| LEADING.contains(&warning.id.as_str());
        self.warnings.iter().partition(leads)
    }

    /// How far the widest interval of a ratio reaches to either side of it, as a share of the ratio: 0.02 for 2 %; `None` if nothing
    /// is compared, or a comparison has one block only.
    pub fn widest_interval(&self) -> Option<f64> {
        let has_interval = |compared: &Comparison| compared.blocks > 1;
        let reach = |Ratio { mean, low, high }: Ratio| (high / mean).max(mean / low) - 1.0;
        match self.comparisons.iter().all(has_interval) {
            true => self
                .comparisons
                .iter()
                .map(|compared| reach(compared.ratio))
                .max_by(f64::total_cmp),
            false => None,
        }
    }

    /// The mode, where this version knows it.
    pub fn mode(&self) -> Option<Mode> {
        let known = [Mode::Simulate, Mode::Emulate, Mode::Measure];
        known.into_iter().find(|mode| mode.name() == self.mode)
    }
}

/// How close predictions are to published figures, over all arms without fitted parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// Number of figures compared, over all metrics.
    pub figures: u32,
    /// Median deviation, as a share of the published figure.
    pub median: f64,
    /// Largest deviation: a share of the published figure, with its sign.
    pub worst: f64,
    /// Its arm and metric.
    pub worst_of: String,
    /// The experiment's main metric.
    pub metric: String,
    /// The figures of the main metric, including fitted arms.
    pub points: Vec<PublishedPoint>,
}

/// A published figure beside ours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PublishedPoint {
    /// Name of the arm.
    pub arm: String,
    /// The published value.
    pub published: f64,
    /// Our mean.
    pub ours: f64,
    /// Whether a parameter was fitted to this arm's published figures.
    pub fitted: bool,
}

/// The engine of the trials.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Engine {
    /// Its name, such as `sqlite` or `raw`.
    pub name: String,
    /// Its own version.
    pub version: String,
    /// What "file" means for it, as text.
    pub file: String,
}

/// The timing accuracy of an emulator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lateness {
    /// How requests reached it: `fuser` or `io_uring`.
    pub transport: String,
    /// Requests answered.
    pub requests: u64,
    /// Share of them whose real files took longer than the model allowed.
    pub late: f64,
    /// Timing error of replies that had to be delayed: median.
    pub error_p50_ms: f64,
    /// 99th percentile of that error.
    pub error_p99_ms: f64,
    /// Mean of that error: no mean latency is off by more.
    pub error_mean_ms: f64,
    /// Mean latency of the disks in these trials, for comparison; `None` without any request.
    pub latency_mean_ms: Option<f64>,
    /// Mean number of processors that the emulator itself kept busy.
    pub cores: f64,
}

/// One arm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Arm {
    /// Its name.
    pub name: String,
    /// Trials that finished.
    pub trials: u32,
    /// Trials that failed.
    pub trials_failed: u32,
    /// Estimates by metric name, with the interval between trials.
    pub metrics: BTreeMap<String, Metric>,
    /// Whether uncertain values were drawn for its trials, so that these intervals hold them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub drawn: bool,
    /// The published value for this arm: a number, or text such as `"<1"`.
    pub published: BTreeMap<String, Published>,
    /// Whether a parameter was fitted to this arm's published figures.
    pub fitted: bool,
    /// What its disks did.
    pub volumes: Vec<ArmVolume>,
    /// Used share of each of the machine's own limits, by name (`cached.throughput`).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub machine_limits: BTreeMap<String, f64>,
    /// Share of all sessions' time by cause, without the measure of a machine limit; the shares sum to 1.
    pub time_split: BTreeMap<Cause, f64>,
    /// What limited it: a limit, or the largest part of the sessions' time.
    pub bound_by: BoundBy,
    /// The next limit, were that removed.
    pub next: Option<BoundBy>,
    /// The reason in a sentence.
    pub reason: String,
    /// Price of its disks a month, with their requests, in US dollars, where all prices are known.
    pub usd_per_month: Option<f64>,
    /// What of that is for requests, as if those of its trials went on all month; absent where these cost nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests_usd_per_month: Option<f64>,
    /// Whether the price includes its machine: where arms have different machines.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub with_machine: bool,
    /// Whether that is the machine's price with Windows in place of Linux.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub with_windows: bool,
    /// The source of the list prices, their region, and the date.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub price_lists: Vec<String>,
    /// The engine's own counters over the measured time, by name; real-time modes only.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, Metric>,
    /// A drill's findings for it; absent where none was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub survived: Option<Survived>,
}

/// An estimate with its interval and unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// Mean over trials.
    pub mean: f64,
    /// Lower end of the 95 % interval between trials; equal to the mean for a single trial.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// `s`, `1/s`, `MB/s`, `ms`, `kB` or empty for a count.
    pub unit: String,
}

/// One volume of an arm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArmVolume {
    /// The experiment's name for it.
    pub name: String,
    /// Catalogue name of its disks.
    pub disk: String,
    /// Files by role.
    pub files: BTreeMap<Role, u32>,
    /// Its disks.
    pub disks: Vec<Disk>,
}

/// One disk of an arm: means over trials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Disk {
    /// `<volume>.<number from 1>`.
    pub name: String,
    /// Reads per second of the measured time.
    pub read_iops: f64,
    /// Writes per second.
    pub write_iops: f64,
    /// Megabytes (10⁶) read per second.
    pub read_mb_per_s: f64,
    /// Megabytes written per second.
    pub write_mb_per_s: f64,
    /// Latency of reads.
    pub read_latency_ms: Option<Latency>,
    /// Latency of writes.
    pub write_latency_ms: Option<Latency>,
    /// Used share of the disk's own limits.
    pub utilisation: Utilisation,
    /// Share of its reads served by the machine's host cache; `None` where that is zero, as without a host cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_hits: Option<f64>,
    /// The operating system's counters for a real disk; `None` for a modelled one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted: Option<Counted>,
}

/// A real disk's times, means over trials.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counted {
    /// Share of the measured time in which at least one request was in flight. A disk that serves many at once can be
    /// busy all the time and still have capacity left.
    pub busy: f64,
    /// Mean latency of reads; `None` when there were none.
    pub read_mean_ms: Option<f64>,
    /// Mean latency of writes.
    pub write_mean_ms: Option<f64>,
}

/// Mean and percentiles over all requests of all trials, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 99th percentile.
    pub p99: f64,
}

/// Used share of a disk's own limits; 0 where it has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Utilisation {
    /// Of the IOPS limit.
    pub iops: f64,
    /// Of the throughput limit.
    pub throughput: f64,
}

/// The arm to buy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cheapest {
    /// Its name.
    pub arm: String,
    /// Price of its disks a month, in US dollars.
    pub usd_per_month: f64,
    /// Whether prices include the machines.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub with_machine: bool,
    /// The best arm; the same one where no cheaper one is as good.
    pub best: String,
    /// Price of that one's disks a month, where known.
    pub best_usd_per_month: Option<f64>,
    /// Worse by up to this share counts as good.
    pub margin: f64,
    /// Arms that are statistically tied with the best: where `arm` is the best, those of any price; else those that cost
    /// less.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undecided: Vec<Undecided>,
    /// Whether an arm that was compared was faster than its disks or its machine sustain, on burst credits.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub on_credits: bool,
    /// The cheapest with these credits spent; `None` without credits, or where that cannot be estimated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sustained: Option<CheapestSustained>,
}

/// The cheapest arm once burst credits are spent, estimated from sustained rates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheapestSustained {
    /// Its name.
    pub arm: String,
    /// Price of its disks a month, in US dollars.
    pub usd_per_month: f64,
}

/// An arm that may be as good as the best.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Undecided {
    /// Its name.
    pub arm: String,
    /// Price of its disks a month, in US dollars.
    pub usd_per_month: f64,
    /// Total blocks that would settle it; `None` where 1,000 would not be enough.
    pub blocks_needed: Option<u32>,
}
