//! The result of plain I/O, and its record.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use model::{Bytes, Duration};

use experiment::record::{
    Cause, DiskRecord, EngineRecord, LimitRecord, Note, Phase, Record, Series, VolumeRecord,
    histogram,
};

/// Requests of one kind completed in the measured time.
#[derive(Clone, Debug, PartialEq)]
pub struct Tally {
    /// Bytes moved.
    pub bytes: Bytes,
    /// Their latencies, in nanoseconds.
    pub latency: Histogram<u64>,
}

/// The result of plain I/O.
#[derive(Clone, Debug, PartialEq)]
pub struct RawOutcome {
    /// Warm-up and run, from the start of the requests.
    pub phases: Vec<Phase>,
    /// Length of the measured time.
    pub elapsed: Duration,
    /// Reads.
    pub reads: Tally,
    /// Writes.
    pub writes: Tally,
    /// Flushes.
    pub flushes: Tally,
    /// What the disks did, by volume; a real directory counts as one disk.
    pub disks: Vec<Vec<DiskRecord>>,
    /// Use of each modelled limit; empty if the volumes are directories.
    pub limits: Vec<LimitRecord>,
    /// How the time of all slots was spent; all of it is service with fio, which does not report parts.
    pub time_split_ns: BTreeMap<Cause, u64>,
    /// Completed requests per second, from the start; simulated only.
    pub series: Series,
    /// fio, or the model in its place.
    pub engine: EngineRecord,
    /// End time reported by fio, in seconds since 1970; `None` when simulated.
    pub ended_s: Option<u64>,
    /// Share of one processor that fio's busiest thread used, 0 to 1; `None` when simulated.
    pub client_busy: Option<f64>,
    /// Remarks for the user.
    pub notes: Vec<String>,
}

impl Tally {
    /// An empty tally.
    pub(crate) fn new() -> Tally {
        Tally {
            bytes: Bytes::ZERO,
            latency: histogram::empty(),
        }
    }

    /// Number of requests.
    pub fn count(&self) -> u64 {
        self.latency.len()
    }

    pub(crate) fn add(&mut self, latency: Duration, bytes: Bytes) {
        self.bytes.0 = self.bytes.0.saturating_add(bytes.0);
        histogram::record(&mut self.latency, latency);
    }

    pub(crate) fn merge(&mut self, other: &Tally) {
        self.bytes.0 = self.bytes.0.saturating_add(other.bytes.0);
        self.latency
            .add(&other.latency)
            .expect("a histogram that grows takes any other");
    }

    fn mean_ms(&self) -> f64 {
        if self.latency.is_empty() {
            0.0
        } else {
            self.latency.mean() / 1e6
        }
    }

    /// The latencies for a record; `None` without any.
    pub(crate) fn text(&self) -> Option<String> {
        (!self.latency.is_empty()).then(|| histogram::encode(&self.latency))
    }
}

impl RawOutcome {
    /// Reads and writes together, which count as operations.
    pub fn transfers(&self) -> Tally {
        let mut both = self.reads.clone();
        both.merge(&self.writes);
        both
    }

    /// Whether no requests completed in the measured time.
    pub fn is_empty(&self) -> bool {
        [&self.reads, &self.writes, &self.flushes]
            .iter()
            .all(|tally| tally.count() == 0)
    }

    /// The metrics, by name.
    pub fn metrics(&self) -> BTreeMap<String, f64> {
        let elapsed = self.elapsed.as_secs_f64();
        let per_s = |amount: f64| if elapsed > 0.0 { amount / elapsed } else { 0.0 };
        let both = self.transfers();
        let (count, bytes) = (both.count() as f64, both.bytes.0 as f64);
        let metrics = [
            ("elapsed_s", elapsed),
            ("operations_per_s", per_s(count)),
            ("iops", per_s(count)),
            ("mb_per_s", per_s(bytes / 1e6)),
            ("read_latency_ms", self.reads.mean_ms()),
            ("write_latency_ms", self.writes.mean_ms()),
            ("transfer_latency_ms", both.mean_ms()),
            ("transfer_size_kb", bytes / 1e3 / count.max(1.0)),
        ];
        metrics.map(|(name, value)| (name.to_owned(), value)).into()
    }

    /// The record of a trial: `blank`, which identifies the trial, with the result filled in.
    ///
    /// `volumes` are the arm's, in the order of the files' volume indexes; their disks are filled in.
    pub fn fill(self, blank: Record, volumes: Vec<VolumeRecord>) -> Record {
        let metrics = self.metrics();
        let operations = self.transfers().text();
        let volumes = volumes.into_iter().zip(self.disks);
        Record {
            metrics,
            operations,
            phases: self.phases,
            time_split_ns: self.time_split_ns,
            volumes: volumes
                .map(|(volume, disks)| VolumeRecord { disks, ..volume })
                .collect(),
            limits: self.limits,
            series: self.series,
            engine: Some(self.engine),
            notes: (blank.notes.into_iter())
                .chain(self.notes.into_iter().map(Note::Other))
                .collect(),
            ..blank
        }
    }
}
