//! Totals over all disks of a process: monotonic sums, although each trial has its own disks.

use std::collections::BTreeMap;

use experiment::record::{LimitRecord, Record, histogram};
use model::{Duration, Operation};
use reading::cause::{Limit, Spent};
use reading::{DiskReading, Latencies, Pacing, Reading};

use super::{Latency, OTHER};

/// Maximum number of disks with separate metrics; the others are aggregated. A machine has a hundred at most, but each
/// arm of a sweep may name its own.
const DISKS_MAX: usize = 128;

/// Maximum number of limits with separate metrics; others are left out.
const LIMITS_MAX: usize = 2 * DISKS_MAX;

/// The clock that measures time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClockKind {
    /// This machine's clock.
    #[default]
    Real,
    /// A simulation's clock.
    Virtual,
}

impl ClockKind {
    /// Its name in labels.
    pub fn name(self) -> &'static str {
        match self {
            ClockKind::Real => "real",
            ClockKind::Virtual => "virtual",
        }
    }
}

/// Sums over all readings of disks and limits, by one clock.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    pub(super) clock: ClockKind,
    /// Time covered by the readings.
    pub(super) span: Duration,
    pub(super) disks: BTreeMap<DiskName, Disk>,
    pub(super) limits: BTreeMap<Limit, LimitTotal>,
    pub(super) pacing: Option<PacingTotal>,
}

/// Identity of a disk.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DiskName {
    pub(super) volume: String,
    pub(super) disk: String,
}

/// Totals of one disk.
#[derive(Clone, Debug, Default)]
pub(super) struct Disk {
    pub(super) reads: Requests,
    pub(super) writes: Requests,
    pub(super) flushes: Requests,
    pub(super) cache_hits: u64,
    pub(super) busy_ns: Option<u64>,
    /// Requests in flight at the last reading; `None` before any.
    pub(super) in_flight: Option<u64>,
    pub(super) spent_ns: BTreeMap<Spent, u64>,
}

/// Requests of one kind.
#[derive(Clone, Debug, Default)]
pub(super) struct Requests {
    pub(super) count: u64,
    pub(super) bytes: u64,
    /// Sum of their latencies; `None` where not counted.
    pub(super) time_ns: Option<u64>,
    pub(super) latency: Option<Latency>,
}

/// Use of a limit, and its current value.
#[derive(Clone, Debug)]
pub(super) struct LimitTotal {
    pub(super) used: u64,
    pub(super) rate: f64,
    pub(super) utilisation: f64,
    pub(super) credits: Option<f64>,
}

/// Timing accuracy of an emulator.
#[derive(Clone, Debug, Default)]
pub(super) struct PacingTotal {
    pub(super) transport: String,
    pub(super) requests: u64,
    pub(super) late: u64,
    pub(super) error: Latency,
    pub(super) cpu_ns: u64,
}

impl Totals {
    /// Zero totals, by this clock.
    pub fn new(clock: ClockKind) -> Totals {
        Totals {
            clock,
            ..Totals::default()
        }
    }

    /// Adds what was `done` in a `span`: the difference between two readings.
    pub fn add(&mut self, done: &Reading, span: Duration) {
        self.span += span;
        for disk in &done.disks {
            self.disk(&disk.name).add(disk);
        }
        for limit in &done.limits {
            self.limit(&LimitRecord::of(limit, span));
        }
        if let Some(pacing) = &done.pacing {
            self.pacing.get_or_insert_default().add(pacing);
        }
    }

    /// Its disks are idle: the last second shows no activity.
    pub fn idle(&mut self) {
        for in_flight in self.disks.values_mut().flat_map(|disk| &mut disk.in_flight) {
            *in_flight = 0;
        }
        for limit in self.limits.values_mut() {
            limit.utilisation = 0.0;
        }
    }

    /// Adds the disk figures that a trial recorded in its measured phases, where none were read while it ran.
    pub fn add_record(&mut self, record: &Record) {
        let measured = record.phases.iter().filter(|phase| phase.measured);
        let spans = measured.map(|phase| phase.end_ns.saturating_sub(phase.start_ns));
        self.span += Duration::from_nanos(spans.sum());
        for recorded in record.volumes.iter().flat_map(|volume| &volume.disks) {
            let disk = self.disk(&recorded.name);
            disk.cache_hits += recorded.cache_hits;
            disk.reads.add(recorded.reads, recorded.read_bytes);
            disk.writes.add(recorded.writes, recorded.write_bytes);
            disk.flushes.add(recorded.flushes, 0);
            disk.reads.add_text(recorded.read_latency.as_deref());
            disk.writes.add_text(recorded.write_latency.as_deref());
            if let Some(times) = recorded.times {
                *disk.busy_ns.get_or_insert_default() += times.busy_ns;
                *disk.reads.time_ns.get_or_insert_default() += times.read_ns;
                *disk.writes.time_ns.get_or_insert_default() += times.write_ns;
            }
        }
        for limit in &record.limits {
            self.limit(limit);
        }
        if let Some(pacing) = &record.pacing {
            self.pacing.get_or_insert_default().add(pacing);
        }
    }

    /// The disk called `<volume>.<number>`.
    fn disk(&mut self, name: &str) -> &mut Disk {
        let volume = name.rsplit_once('.').map_or(name, |(volume, _)| volume);
        let mut name = DiskName {
            volume: volume.to_owned(),
            disk: name.to_owned(),
        };
        if self.disks.len() >= DISKS_MAX && !self.disks.contains_key(&name) {
            name = DiskName {
                volume: OTHER.to_owned(),
                disk: OTHER.to_owned(),
            };
        }
        self.disks.entry(name).or_default()
    }

    fn limit(&mut self, limit: &LimitRecord) {
        let is_known = self.limits.contains_key(&limit.name);
        if !is_known && self.limits.len() >= LIMITS_MAX {
            return;
        }
        let before = self.limits.get(&limit.name).map_or(0, |total| total.used);
        let total = LimitTotal {
            used: before + limit.used as u64,
            rate: limit.rate,
            utilisation: limit.utilisation,
            credits: limit.burst.map(|burst| burst.credits_end),
        };
        self.limits.insert(limit.name.clone(), total);
    }
}

impl Disk {
    fn add(&mut self, done: &DiskReading) {
        self.reads.add(done.reads, done.read_bytes);
        self.writes.add(done.writes, done.write_bytes);
        self.flushes.add(done.flushes, 0);
        *self.reads.time_ns.get_or_insert_default() += done.read_ns;
        *self.writes.time_ns.get_or_insert_default() += done.write_ns;
        self.cache_hits += done.cache_hits;
        if let Some(busy) = done.busy_ns {
            *self.busy_ns.get_or_insert_default() += busy;
        }
        self.in_flight = Some(done.in_flight);
        for (spent, ns) in &done.spent_ns {
            *self.spent_ns.entry(spent.clone()).or_default() += ns;
        }
        if let Some(Latencies {
            reads,
            writes,
            flushes,
        }) = &done.latency
        {
            self.reads.latency.get_or_insert_default().add(reads);
            self.writes.latency.get_or_insert_default().add(writes);
            self.flushes.latency.get_or_insert_default().add(flushes);
        }
    }

    /// Its requests by kind.
    pub(super) fn operations(&self) -> [(Operation, &Requests); 3] {
        [
            (Operation::Read, &self.reads),
            (Operation::Write, &self.writes),
            (Operation::Flush, &self.flushes),
        ]
    }
}

impl Requests {
    fn add(&mut self, count: u64, bytes: u64) {
        self.count += count;
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// Adds a record's histogram; a damaged one is left out.
    fn add_text(&mut self, text: Option<&str>) {
        if let Some(Ok(histogram)) = text.map(histogram::decode) {
            self.latency.get_or_insert_default().add(&histogram);
        }
    }
}

impl PacingTotal {
    fn add(&mut self, done: &Pacing) {
        self.transport.clone_from(&done.transport);
        self.requests += done.requests;
        self.late += done.late;
        self.error.add(&done.error);
        self.cpu_ns += done.cpu_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disks_at_rest_keep_what_they_counted() {
        let name = DiskName {
            volume: "d".to_owned(),
            disk: "d.1".to_owned(),
        };
        let disk = Disk {
            cache_hits: 3,
            in_flight: Some(2),
            ..Disk::default()
        };
        let limit = Limit::of_disk("d.1", reading::cause::Measure::Iops);
        let used = LimitTotal {
            used: 5,
            rate: 100.0,
            utilisation: 0.05,
            credits: Some(7.0),
        };
        let mut totals = Totals {
            disks: BTreeMap::from([(name.clone(), disk)]),
            limits: BTreeMap::from([(limit.clone(), used)]),
            ..Totals::new(ClockKind::Real)
        };

        totals.idle();

        let disk = &totals.disks[&name];
        assert_eq!((disk.cache_hits, disk.in_flight), (3, Some(0)));
        let limit = &totals.limits[&limit];
        assert_eq!((limit.used, limit.credits), (5, Some(7.0)));
        assert!(limit.utilisation <= 0.0, "{limit:?}");
    }
}
