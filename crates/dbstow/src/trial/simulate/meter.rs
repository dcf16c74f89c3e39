//! Watches every request to a disk during the measured time.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use hdrhistogram::Histogram;
use model::storage::DiskPlace;
use model::{Completion, Instant, Observer, Operation, Request};

use super::super::collect::Transfers;
use crate::record::series::{DiskSeries, INTERVAL};
use crate::record::{DiskRecord, Series, histogram};

/// What one disk did.
struct DiskMeter {
    reads: u64,
    writes: u64,
    flushes: u64,
    cache_hits: u64,
    read_bytes: u64,
    write_bytes: u64,
    read_latency: Histogram<u64>,
    write_latency: Histogram<u64>,
    series: DiskSeries,
}

impl DiskMeter {
    fn new() -> DiskMeter {
        DiskMeter {
            reads: 0,
            writes: 0,
            flushes: 0,
            cache_hits: 0,
            read_bytes: 0,
            write_bytes: 0,
            read_latency: histogram::empty(),
            write_latency: histogram::empty(),
            series: DiskSeries::default(),
        }
    }

    fn count(&mut self, place: DiskPlace, request: &Request, completion: &Completion) {
        let latency = completion.latency().as_nanos().max(1);
        match request.operation {
            Operation::Read => {
                self.reads += 1;
                self.cache_hits += u64::from(place.cache_hit);
                self.read_bytes += request.length.0;
                self.read_latency
                    .record(latency)
                    .expect("a histogram that grows takes every value");
            }
            Operation::Write => {
                self.writes += 1;
                self.write_bytes += request.length.0;
                self.write_latency
                    .record(latency)
                    .expect("a histogram that grows takes every value");
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
        let disks = names
            .iter()
            .map(|names| names.iter().map(|_| DiskMeter::new()).collect())
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
            read_latency: (disk.reads > 0).then(|| histogram::encode(&disk.read_latency)),
            write_latency: (disk.writes > 0).then(|| histogram::encode(&disk.write_latency)),
            times: None,
        };
        let volume = |(names, disks): (&Vec<String>, &Vec<DiskMeter>)| {
            names.iter().zip(disks).map(record).collect()
        };
        self.names.iter().zip(&self.disks).map(volume).collect()
    }

    /// The series, with that of the `operations`.
    pub(super) fn series(&self, operations: &[u64]) -> Series {
        let disks = self.names.iter().flatten().zip(self.disks.iter().flatten());
        let mut values: BTreeMap<String, Vec<u64>> = disks
            .flat_map(|(name, disk)| disk.series.named(name))
            .collect();
        values.insert("operations".to_owned(), operations.to_owned());
        Series {
            interval_ns: INTERVAL.as_nanos(),
            values,
        }
    }

    /// What was read and written on all disks.
    pub(super) fn transfers(&self) -> Transfers {
        let disks = || self.disks.iter().flatten();
        let (mut reads, mut writes) = (histogram::empty(), histogram::empty());
        for disk in disks() {
            // Histograms that grow take any other.
            let _ = (
                reads.add(&disk.read_latency),
                writes.add(&disk.write_latency),
            );
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
            bytes: disks().map(|disk| disk.read_bytes + disk.write_bytes).sum(),
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
