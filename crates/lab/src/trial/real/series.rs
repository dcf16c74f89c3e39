//! Samples counters once a second: the volumes' from the beginning of a trial to its end, the engine's during the run.

use std::collections::BTreeMap;

use host::clock::Clock;
use host::site::Site;
use model::{Duration, Instant};
use reading::{DiskReading, Reading};

use super::super::sessions::Window;
use super::event::{Event, Second, VolumeRate};
use super::gate::Gate;
use super::pauses::Pauses;
use super::session::Common;
use super::stop::Stop;
use engine::{CounterSample, CounterSampler, Engine, EngineError};
use experiment::record::Series;
use experiment::record::series::{self, COUNTED, INTERVAL, Points};

/// Values by name, one per interval.
type Values = BTreeMap<String, Points>;

/// Samples of the volumes, interval by interval.
pub(super) struct SecondBySecond {
    values: Values,
    /// When nothing could be sampled, because nothing ran.
    pub(super) pauses: Pauses,
}

impl SecondBySecond {
    /// Samples until `over`. A site that does not answer any more ends the `trial`.
    pub(super) fn read(
        site: &dyn Site,
        clock: Clock,
        over: &Stop,
        trial: &Stop,
        report: &(dyn Fn(Event) + Sync),
    ) -> SecondBySecond {
        let mut series = SecondBySecond {
            values: Values::new(),
            pauses: Pauses::new(clock),
        };
        if let Err(error) = series.read_on(site, clock, over, report) {
            trial.set(Some(format!("the volumes' counters: {error}")));
        }
        series
    }

    fn read_on(
        &mut self,
        site: &dyn Site,
        clock: Clock,
        over: &Stop,
        report: &(dyn Fn(Event) + Sync),
    ) -> std::io::Result<()> {
        let mut last = site.reading()?;
        let mut end = next_end(clock.now());
        loop {
            let whole = over.sleep_until(end);
            self.pauses.look(end);
            let reading = site.reading()?;
            // Counters that restart are not a failure of the trial: the interval counts from zero.
            let done = reading.since(&last).unwrap_or_else(|_| reading.clone());
            self.add(&done, end);
            let span = reading.at.since(last.at);
            report(Event::Second(Box::new(Second {
                span,
                volumes: rates(&done, span),
                done,
            })));
            last = reading;
            if !whole {
                return Ok(());
            }
            end = next_end(clock.now());
        }
    }

    /// Adds the activity of the interval that ends at `end`.
    fn add(&mut self, done: &Reading, end: Instant) {
        for disk in &done.disks {
            for (counted, value) in COUNTED.iter().zip(counted(disk)) {
                let name = format!("{}.{counted}", disk.name);
                count(&mut self.values, name, end, value);
            }
        }
    }

    /// The series, with those of the `operations` and of the `engine`.
    pub(super) fn finish(mut self, operations: Points, engine: &EngineSeries) -> Series {
        self.values.insert("operations".to_owned(), operations);
        self.values.extend(engine.moved());
        series::record(self.values)
    }
}

/// Samples of the engine, interval by interval of the run.
#[derive(Default)]
pub(super) struct EngineSeries {
    values: Values,
    /// The error that ended it before the run did.
    pub(super) error: Option<EngineError>,
}

impl EngineSeries {
    /// Samples from the beginning of the run until all its sessions have ended. An engine that does not answer
    /// any more ends the trial: its sessions might wait for ever.
    pub(super) fn read(
        engine: &dyn Engine,
        common: &Common,
        gate: &Gate,
        window: impl Fn(Instant) -> Window,
    ) -> EngineSeries {
        let mut series = EngineSeries::default();
        let Err(error) = series.read_on(engine, common.clock, gate) else {
            return series;
        };
        // Sessions that continue beyond the measured time are interrupted, and this sample with them.
        let until = gate.opened().and_then(|start| window(start).until);
        if common.stop.is_set() || until.is_some_and(|until| common.clock.now() >= until) {
            return series;
        }
        series.error = Some(error);
        end_if_gone(engine, &common.stop);
        series
    }

    fn read_on(
        &mut self,
        engine: &dyn Engine,
        clock: Clock,
        gate: &Gate,
    ) -> Result<(), EngineError> {
        let Some(mut sampler) = engine.counter_sampler()? else {
            return Ok(());
        };
        // Most samples are before the run, so that the beginning of a short one is not missed.
        let mut last = sampler.sample()?;
        if gate.begun().is_none() {
            return Ok(());
        }
        loop {
            let end = next_end(clock.now());
            let ended = gate.all_ended(end);
            last = self.sample(sampler.as_mut(), &last, end)?;
            if ended {
                return Ok(());
            }
        }
    }

    /// Adds the activity of the interval that ends at `end`, and the levels at its end.
    fn sample(
        &mut self,
        sampler: &mut dyn CounterSampler,
        last: &CounterSample,
        end: Instant,
    ) -> Result<CounterSample, EngineError> {
        let sample = sampler.sample()?;
        for (name, value) in &sample.counters {
            // A server omits what it never waited for.
            let before = last.counters.get(name).copied().unwrap_or(0.0);
            // Rounded first, so that the sum of differences equals the total difference.
            let done = (value.round() - before.round()).max(0.0) as u64;
            count(&mut self.values, format!("counter.{name}"), end, done);
        }
        for (name, value) in &sample.levels {
            let values = self.values.entry(format!("level.{name}"));
            let points = values.or_insert_with(Points::levels);
            // If a sample took longer than an interval, the level is that of the last one.
            points.set(within(end), value.round().max(0.0) as u64);
        }
        Ok(sample)
    }

    /// Names and values, except those that stayed at zero.
    fn moved(&self) -> impl Iterator<Item = (String, Points)> + '_ {
        let moved = self.values.iter().filter(|(_, points)| !points.is_zero());
        moved.map(|(name, points)| (name.clone(), points.clone()))
    }
}

/// Ends the trial if the engine does not answer.
pub(super) fn end_if_gone(engine: &dyn Engine, trial: &Stop) {
    if let Err(error) = engine.counters() {
        trial.set(Some(format!("the engine is gone: {error}")));
    }
}

/// Adds `amount` to the interval that ends at `end`.
fn count(values: &mut Values, name: String, end: Instant, amount: u64) {
    let points = values.entry(name).or_insert_with(Points::counts);
    points.add(within(end), amount);
}

/// An instant within the interval that ends at `end`.
fn within(end: Instant) -> Instant {
    Instant::from_nanos(end.as_nanos().saturating_sub(INTERVAL.as_nanos()))
}

/// Activity of each volume per second of `span`, in the order of the site.
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
