//! Watches every request to a disk during the measured time.

use std::cell::RefCell;
use std::rc::Rc;

use hdrhistogram::Histogram;
use model::storage::DiskPlace;
use model::{Completion, Duration, Instant, Observer, Operation, Request};

use super::super::collect::Transfers;
use experiment::record::series::{self, DiskSeries, Points};
use experiment::record::{DiskRecord, Series, histogram};

/// Latencies of one kind of request at one disk. Memory is taken for the first one: most disks of a machine with
/// thousands are idle.
#[derive(Default)]
struct Latencies(Option<Histogram<u64>>);

impl Latencies {
    fn record(&mut self, latency: Duration) {
        histogram::record(self.0.get_or_insert_with(histogram::empty), latency);
    }

    fn text(&self) -> Option<String> {
        self.0.as_ref().map(histogram::encode)
    }

    fn add_to(&self, sum: &mut Histogram<u64>) {
        if let Some(own) = &self.0 {
            sum.add(own)
                .expect("a histogram that grows takes any other");
        }
    }
}

/// What one disk did.
struct DiskMeter {
    reads: u64,
    writes: u64,
    flushes: u64,
    cache_hits: u64,
    read_bytes: u64,
    write_bytes: u64,
    read_latency: Latencies,
    write_latency: Latencies,
    series: DiskSeries,
}

impl DiskMeter {
    /// One of so many `disks`.
    fn new(disks: usize) -> DiskMeter {
        DiskMeter {
            reads: 0,
            writes: 0,
            flushes: 0,
            cache_hits: 0,
            read_bytes: 0,
            write_bytes: 0,
            read_latency: Latencies::default(),
            write_latency: Latencies::default(),
            series: DiskSeries::of(disks),
        }
    }

    fn count(&mut self, place: DiskPlace, request: &Request, completion: &Completion) {
        let latency = completion.latency();
        match request.operation {
            Operation::Read => {
                self.reads += 1;
                self.cache_hits += u64::from(place.cache_hit);
                self.read_bytes = self.read_bytes.saturating_add(request.length.0);
                self.read_latency.record(latency);
            }
            Operation::Write => {
                self.writes += 1;
                self.write_bytes = self.write_bytes.saturating_add(request.length.0);
                self.write_latency.record(latency);
            }
            Operation::Flush => self.flushes += 1,
        }
    }
}

/// Counts, latencies and series by disk.
pub(super) struct Meter {
    names: Vec<Vec<String>>,
    disks: Vec<Vec<DiskMeter>>,
    from: Instant,
    until: Instant,
}

impl Meter {
    /// A meter for volumes of these names and numbers of disks, that counts nothing yet.
    pub(super) fn new<'a>(volumes: impl Iterator<Item = (&'a str, usize)>) -> Meter {
        let name =
            |volume: &str, count: usize| (1..=count).map(|n| format!("{volume}.{n}")).collect();
        let names: Vec<Vec<String>> = volumes.map(|(volume, count)| name(volume, count)).collect();
        let count = names.iter().map(Vec::len).sum();
        let disks = names
            .iter()
            .map(|names| names.iter().map(|_| DiskMeter::new(count)).collect())
            .collect();
        let never = Instant::from_nanos(u64::MAX);
        Meter {
            names,
            disks,
            from: never,
            until: never,
        }
    }

    /// Counts requests given from `from` until `until`; the series runs on regardless.
    pub(super) fn measure(&mut self, from: Instant, until: Instant) {
        (self.from, self.until) = (from, until);
    }

    /// The disks' records, by volume.
    pub(super) fn disks(&self) -> Vec<Vec<DiskRecord>> {
        let record = |(name, disk): (&String, &DiskMeter)| DiskRecord {
            name: name.clone(),
            reads: disk.reads,
            writes: disk.writes,
            flushes: disk.flushes,
            cache_hits: disk.cache_hits,
            read_bytes: disk.read_bytes,
            write_bytes: disk.write_bytes,
            read_latency: disk.read_latency.text(),
            write_latency: disk.write_latency.text(),
            times: None,
        };
        let volume = |(names, disks): (&Vec<String>, &Vec<DiskMeter>)| {
            names.iter().zip(disks).map(record).collect()
        };
        self.names.iter().zip(&self.disks).map(volume).collect()
    }

    /// The series, with that of the `operations`.
    pub(super) fn series(&self, operations: Points) -> Series {
        let disks = self.names.iter().flatten().zip(self.disks.iter().flatten());
        let disks = disks.flat_map(|(name, disk)| disk.series.named(name));
        series::record(disks.chain([("operations".to_owned(), operations)]))
    }

    /// What was read and written on all disks.
    pub(super) fn transfers(&self) -> Transfers {
        let disks = || self.disks.iter().flatten();
        let (mut reads, mut writes) = (histogram::empty(), histogram::empty());
        for disk in disks() {
            disk.read_latency.add_to(&mut reads);
            disk.write_latency.add_to(&mut writes);
        }
        let mean_ms = |latency: &Histogram<u64>| {
            if latency.is_empty() {
                0.0
            } else {
                latency.mean() / 1e6
            }
        };
        Transfers {
            reads: reads.len(),
            writes: writes.len(),
            bytes: disks().fold(0, |sum: u64, disk| {
                sum.saturating_add(disk.read_bytes)
                    .saturating_add(disk.write_bytes)
            }),
            read_latency_ms: mean_ms(&reads),
            write_latency_ms: mean_ms(&writes),
        }
    }
}

/// A meter that a store can report to while the trial holds on to it.
#[derive(Clone)]
pub(super) struct SharedMeter(pub(super) Rc<RefCell<Meter>>);

impl Observer for SharedMeter {
    fn request(
        &mut self,
        now: Instant,
        place: DiskPlace,
        request: &Request,
        completion: &Completion,
    ) {
        let mut meter = self.0.borrow_mut();
        let measured = now >= meter.from && now < meter.until;
        let disk = &mut meter.disks[place.volume][place.disk];
        disk.series.add(now, request, completion.latency());
        if measured {
            disk.count(place, request, completion);
        }
    }
}
