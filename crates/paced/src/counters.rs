//! Counters of every disk.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use model::split::Part;
use model::storage::DiskPlace;
use model::{Completion, Duration, Instant, Observer, Operation, Request};

use reading::cause::{self, Spent};
use reading::{DiskCounter, DiskReading};

/// Counters of all disks; the model reports to them.
pub(super) struct Counters {
    /// By volume, then by disk.
    disks: Vec<Vec<Disk>>,
    /// The latest instant passed to the model.
    latest: Instant,
    /// When the current request arrived, and when its real file was done.
    current: (Instant, Instant),
}

#[derive(Clone)]
struct Disk {
    counter: DiskCounter,
    spent: BTreeMap<(Operation, Part), Duration>,
    busy: Busy,
}

/// The periods in which a disk had requests in progress.
#[derive(Clone, Default)]
struct Busy {
    ends: BinaryHeap<Reverse<Instant>>,
    total: Duration,
    until: Instant,
}

impl Counters {
    /// For volumes with these numbers of disks.
    pub(super) fn new(disks: impl Iterator<Item = usize>) -> Counters {
        Counters {
            disks: disks.map(|count| vec![Disk::new(); count]).collect(),
            latest: Instant::ZERO,
            current: (Instant::ZERO, Instant::ZERO),
        }
    }

    /// Announces the next request to the model, which arrived at `arrived` and whose real file was done
    /// at `real`; returns the instant to submit it at, never before the last one.
    pub(super) fn begin(&mut self, arrived: Instant, real: Instant) -> Instant {
        self.current = (arrived, real);
        self.latest = self.latest.max(arrived);
        self.latest
    }

    /// All counters at `at`, for volumes of these names.
    pub(super) fn readings(
        &mut self,
        at: Instant,
        volumes: &[String],
        machine_limits: &[String],
    ) -> Vec<DiskReading> {
        let volumes = self.disks.iter_mut().zip(volumes).enumerate();
        let disks = volumes.flat_map(|(volume, (disks, name))| {
            let disks = disks.iter_mut().enumerate();
            disks.map(move |(place, disk)| {
                let name = format!("{name}.{}", place + 1);
                disk.reading(at, volume, name, machine_limits)
            })
        });
        disks.collect()
    }
}

impl Observer for Counters {
    fn request(
        &mut self,
        _: Instant,
        place: DiskPlace,
        request: &Request,
        completion: &Completion,
    ) {
        let (arrived, real) = self.current;
        let disk = &mut self.disks[place.volume][place.disk];
        disk.count(arrived, real, request, completion, place.cache_hit);
    }
}

impl Disk {
    fn new() -> Disk {
        Disk {
            counter: DiskCounter::default(),
            spent: BTreeMap::new(),
            busy: Busy::default(),
        }
    }

    /// Counts a request as its program sees it: done when both the model and the real file are.
    fn count(
        &mut self,
        arrived: Instant,
        real: Instant,
        request: &Request,
        completion: &Completion,
        cache_hit: bool,
    ) {
        let end = completion.done.max(real);
        let latency = end.since(arrived);
        self.busy.add(arrived, end);
        self.counter.add(request, latency, cache_hit);
        // Time not accounted for by the model was spent on the real file, and counts as service too.
        let held = completion.throttled + completion.queued;
        let mut spend = |part: Part, time: Duration| {
            if time > Duration::ZERO {
                *self.spent.entry((request.operation, part)).or_default() += time;
            }
        };
        spend(Part::Service, latency.saturating_sub(held));
        spend(Part::Queued, completion.queued);
        if let Some(by) = completion.throttled_by {
            spend(Part::Throttled(by), completion.throttled);
        }
    }

    fn reading(
        &mut self,
        at: Instant,
        volume: usize,
        name: String,
        machine_limits: &[String],
    ) -> DiskReading {
        let (busy, in_flight) = self.busy.at(at);
        let spent = self.spent.iter().map(|((operation, part), time)| {
            let spent = Spent {
                operation: *operation,
                part: cause::Part::of(*part, machine_limits),
            };
            (spent, time.as_nanos())
        });
        DiskReading {
            busy_ns: Some(busy.as_nanos()),
            in_flight,
            spent_ns: spent.collect(),
            ..self.counter.reading(volume, name)
        }
    }
}

impl Busy {
    /// Adds a request in progress from `start` to `end`.
    fn add(&mut self, start: Instant, end: Instant) {
        self.total += end.since(self.until.max(start));
        self.until = self.until.max(end);
        self.forget(start);
        self.ends.push(Reverse(end));
    }

    /// Busy time until `at`, and requests in progress at that instant.
    fn at(&mut self, at: Instant) -> (Duration, u64) {
        self.forget(at);
        let to_come = self.until.since(at);
        (self.total.saturating_sub(to_come), self.ends.len() as u64)
    }

    /// Removes requests that ended by `at`.
    fn forget(&mut self, at: Instant) {
        while self.ends.peek().is_some_and(|Reverse(end)| *end <= at) {
            self.ends.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Bytes;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    /// Served from `start` to `end`, all of it service.
    fn served(start: u64, end: u64) -> Completion {
        Completion {
            done: at(end),
            service: at(end).since(at(start)),
            ..Completion::immediate(at(end))
        }
    }

    #[test]
    fn time_busy_counts_overlapping_requests_once_and_nothing_to_come() {
        let mut disk = Disk::new();
        let request = Request::read(0, Bytes::kib(8));
        disk.count(at(0), at(0), &request, &served(0, 10), false);
        disk.count(at(5), at(5), &request, &served(5, 20), false);
        disk.count(at(30), at(30), &request, &served(30, 50), false);

        // 0 to 20, and from 30 on.
        let reading = disk.reading(at(40), 0, String::new(), &[]);
        assert_eq!(reading.busy_ns, Some(30_000_000));
        assert_eq!(reading.in_flight, 1);
        let reading = disk.reading(at(60), 0, String::new(), &[]);
        assert_eq!((reading.busy_ns, reading.in_flight), (Some(40_000_000), 0));
    }

    #[test]
    fn a_real_file_slower_than_the_model_counts_as_service() {
        let mut disk = Disk::new();
        let request = Request::write(0, Bytes::kib(8));
        disk.count(at(0), at(7), &request, &served(0, 2), false);

        let reading = disk.reading(at(10), 0, String::new(), &[]);
        assert_eq!(reading.write_ns, 7_000_000);
        assert_eq!(
            reading.spent_ns[&"write.service".parse().expect("a part")],
            7_000_000
        );
        let parts: u64 = reading.spent_ns.values().sum();
        assert_eq!(parts, reading.read_ns + reading.write_ns);
    }
}
