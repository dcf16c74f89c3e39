//! Reads the volumes' counters once a second, from the beginning of a trial to its end.

use std::collections::BTreeMap;

use model::{Duration, Instant};
use volume::clock::Clock;
use volume::reading::{DiskReading, Reading};
use volume::site::Site;

use super::stop::Stop;
use super::{Event, VolumeRate};
use crate::record::Series;
use crate::record::series::{COUNTED, INTERVAL};

/// What was read, interval by interval.
#[derive(Default)]
pub(super) struct SecondBySecond {
    values: BTreeMap<String, Vec<u64>>,
}

impl SecondBySecond {
    /// Reads until `over`. A site that does not answer any more ends the `trial`.
    pub(super) fn read(
        site: &dyn Site,
        clock: Clock,
        over: &Stop,
        trial: &Stop,
        tell: &(dyn Fn(Event) + Sync),
    ) -> SecondBySecond {
        let mut series = SecondBySecond::default();
        if let Err(error) = series.read_on(site, clock, over, tell) {
            trial.set(Some(format!("the volumes' counters: {error}")));
        }
        series
    }

    fn read_on(
        &mut self,
        site: &dyn Site,
        clock: Clock,
        over: &Stop,
        tell: &(dyn Fn(Event) + Sync),
    ) -> std::io::Result<()> {
        let mut last = site.reading()?;
        let mut end = next_end(clock.now());
        loop {
            let whole = over.sleep_until(end);
            let reading = site.reading()?;
            // Counters that start anew are no failure of the trial: the interval counts from zero.
            let done = reading.since(&last).unwrap_or_else(|_| reading.clone());
            self.add(&done, end);
            tell(Event::Second(rates(&done, reading.at.since(last.at))));
            last = reading;
            if !whole {
                return Ok(());
            }
            end = next_end(clock.now());
        }
    }

    /// Adds what was done in the interval that ends at `end`.
    fn add(&mut self, done: &Reading, end: Instant) {
        let interval = (end.as_nanos() / INTERVAL.as_nanos()).saturating_sub(1) as usize;
        for disk in &done.disks {
            for (counted, value) in COUNTED.iter().zip(counted(disk)) {
                let values = self.values.entry(format!("{}.{counted}", disk.name));
                let values = values.or_default();
                values.resize(values.len().max(interval + 1), 0);
                values[interval] += value;
            }
        }
    }

    /// The series, with that of the `operations`.
    pub(super) fn finish(mut self, operations: Vec<u64>) -> Series {
        self.values.insert("operations".to_owned(), operations);
        Series {
            interval_ns: INTERVAL.as_nanos(),
            values: self.values,
        }
    }
}

/// What each volume did per second of `span`, in the order of the site.
fn rates(done: &Reading, span: Duration) -> Vec<VolumeRate> {
    let mut rates: Vec<VolumeRate> = Vec::new();
    let seconds = span.as_secs_f64().max(1e-9);
    for disk in &done.disks {
        // `<volume>.<number>`
        let volume = disk
            .name
            .rsplit_once('.')
            .map_or(&*disk.name, |(name, _)| name);
        if rates.last().is_none_or(|rate| rate.volume != volume) {
            rates.push(VolumeRate {
                volume: volume.to_owned(),
                iops: 0.0,
                mb_per_s: 0.0,
            });
        }
        if let Some(rate) = rates.last_mut() {
            rate.iops += (disk.reads + disk.writes) as f64 / seconds;
            rate.mb_per_s += (disk.read_bytes + disk.write_bytes) as f64 / 1e6 / seconds;
        }
    }
    rates
}

/// In the order of [`COUNTED`].
fn counted(disk: &DiskReading) -> [u64; COUNTED.len()] {
    [
        disk.reads,
        disk.read_bytes,
        disk.read_ns,
        disk.writes,
        disk.write_bytes,
        disk.write_ns,
    ]
}

/// The end of the interval that `now` lies in.
fn next_end(now: Instant) -> Instant {
    let intervals = now.as_nanos() / INTERVAL.as_nanos() + 1;
    Instant::ZERO + Duration::from_nanos(intervals * INTERVAL.as_nanos())
}
