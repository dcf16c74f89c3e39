//! Observes every request to a disk during the measured time.

use std::cell::RefCell;
use std::rc::Rc;

use model::storage::DiskPlace;
use model::{Completion, Instant, Observer, Request};
use reading::{DiskCounter, DiskReading};

use super::super::Stage;

use experiment::record::Series;
use experiment::record::series::{self, DiskSeries, Points};

/// Activity of one disk.
struct DiskMeter {
    counter: DiskCounter,
    series: DiskSeries,
}

/// Counts, latencies and series by disk.
pub(super) struct Meter {
    names: Vec<Vec<String>>,
    disks: Vec<Vec<DiskMeter>>,
    from: Instant,
    until: Instant,
}

impl Meter {
    /// A meter for volumes of these names and numbers of disks, which counts nothing yet.
    pub(super) fn new<'a>(volumes: impl Iterator<Item = (&'a str, usize)>) -> Meter {
        let name =
            |volume: &str, count: usize| (1..=count).map(|n| format!("{volume}.{n}")).collect();
        let names: Vec<Vec<String>> = volumes.map(|(volume, count)| name(volume, count)).collect();
        let count = names.iter().map(Vec::len).sum();
        let disks = names
            .iter()
            .map(|names| {
                let disk = |_| DiskMeter {
                    counter: DiskCounter::default(),
                    series: DiskSeries::of(count),
                };
                names.iter().map(disk).collect()
            })
            .collect();
        let never = Instant::from_nanos(u64::MAX);
        Meter {
            names,
            disks,
            from: never,
            until: never,
        }
    }

    /// Counts requests from `from` until `until`; the series runs regardless.
    pub(super) fn measure(&mut self, from: Instant, until: Instant) {
        (self.from, self.until) = (from, until);
    }

    /// Activity of every disk in the measured time, in the order of the volumes.
    pub(super) fn disks(&self) -> Vec<DiskReading> {
        let volumes = self.names.iter().zip(&self.disks).enumerate();
        let disks = volumes.flat_map(|(volume, (names, disks))| {
            let disks = names.iter().zip(disks);
            disks.map(move |(name, disk)| disk.counter.reading(volume, name.clone()))
        });
        disks.collect()
    }

    /// The series, with that of the `operations`.
    pub(super) fn series(&self, operations: Points) -> Series {
        let disks = self.names.iter().flatten().zip(self.disks.iter().flatten());
        let disks = disks.flat_map(|(name, disk)| disk.series.named(name));
        series::record(disks.chain([("operations".to_owned(), operations)]))
    }
}

/// A meter shared between a store that reports to it and the trial.
#[derive(Clone)]
pub(super) struct SharedMeter(pub(super) Rc<RefCell<Meter>>);

impl SharedMeter {
    /// A meter for the volumes of `stage`, which counts nothing yet.
    pub(super) fn of(stage: &Stage) -> SharedMeter {
        let volumes = stage.volumes.iter();
        let volumes = volumes.map(|volume| (volume.name.as_str(), volume.disks.len()));
        SharedMeter(Rc::new(RefCell::new(Meter::new(volumes))))
    }
}

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
            disk.counter
                .add(request, completion.latency(), place.cache_hit);
        }
    }
}
