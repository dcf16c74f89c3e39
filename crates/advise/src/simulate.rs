//! How long operations take on a layout, in virtual time.

mod stepwise;

use std::num::NonZero;
use std::thread;

use model::split::TimeSplit;
use model::storage::{Usage, UsageOwner};
use model::{Duration, HostCacheMode, LimitSpec, MachineSpec, Measure, VolumeSpec};
use reading::Role;
use replay::{Arrivals, DemandSeries, Outcome, Parts, Places, Replay, ReplayError};
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::bound::{OnVolume, governing, least_s};
use super::load::{Load, Part};
pub(crate) use stepwise::Stepwise;

/// Simulated requests of a part: in one of several worlds, for a first estimate, and to confirm it.
const REQUESTS_BRIEF: f64 = 5_000.0;
const REQUESTS_SHORT: f64 = 15_000.0;
const REQUESTS_LONG: f64 = 20_000.0;

/// Share of the operations of a first estimate that a glance simulates.
pub(crate) const GLANCE: f64 = 0.1;

/// Minimum number of operations for a mean.
const OPERATIONS_MIN: f64 = 300.0;

/// Minimum number of operations per session.
const OF_SESSION_MIN: f64 = 10.0;

/// Seeds of the simulations that decide.
pub(crate) const SEEDS: u64 = 5;

/// Warm-up time before measurement, as a share of the measured time.
const WARM_UP: f64 = 0.1;

/// Steps of the search for a minimum, each of which leaves two thirds.
const THIRDS: u32 = 32;

/// A machine, its volumes, and the files on them.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// The machine.
    pub machine: MachineSpec,
    /// Its volumes.
    pub volumes: Vec<VolumeSpec>,
    /// Which files are on them.
    pub places: Places,
}

/// Result of simulating a load.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Mean time of an operation, without the time between operations; in seconds.
    pub operation_s: f64,
    /// Operations per second in the busiest part.
    pub operations_per_s: f64,
    /// The limits of machine and disks, most used first; each from the part that used it most.
    pub used: Vec<Utilisation>,
    /// How an operation's time is spent, and the time until the next.
    pub split: TimeSplit,
    /// An operation's time by what its session waits for, without the time until the next.
    pub parts: Parts,
}

impl Measured {
    /// What is known of a layout that was not simulated, on which an operation takes `operation_s` at least.
    pub(crate) fn least(operation_s: f64) -> Measured {
        Measured {
            operation_s,
            operations_per_s: 0.0,
            used: Vec::new(),
            split: TimeSplit::default(),
            parts: Parts::default(),
        }
    }
}

/// Utilisation of a limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Utilisation {
    /// Whose limit.
    pub owner: UsageOwner,
    /// What it limits.
    pub measure: Measure,
    /// Units per second that it allows.
    pub rate: u64,
    /// Share that was used, 0 to 1.
    pub share: f64,
}

/// Operation time on one layout as a share of that on another, over seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The mean.
    pub mean: f64,
    /// Half of its 95 % confidence interval; 0 of a single seed.
    pub half: f64,
}

impl Ratio {
    /// From pairs of times that share a seed: one layout and the other.
    ///
    /// # Panics
    /// When there are no pairs.
    pub(crate) fn of(pairs: &[(f64, f64)]) -> Ratio {
        let ratios: Vec<f64> = pairs.iter().map(|(own, other)| own / other).collect();
        let count = ratios.len() as f64;
        let mean = ratios.iter().sum::<f64>() / count;
        if ratios.len() < 2 {
            return Ratio { mean, half: 0.0 };
        }
        let squares: f64 = ratios.iter().map(|ratio| (ratio - mean).powi(2)).sum();
        let error = (squares / (count - 1.0) / count).sqrt();
        let student = StudentsT::new(0.0, 1.0, count - 1.0).expect("its freedom is above 0");
        Ratio {
            mean,
            half: student.inverse_cdf(0.975) * error,
        }
    }

    /// The least upper end that the interval of `count` pairs can have, of which only `pairs` are known and the others' ratios
    /// are at least `least`.
    ///
    /// It is a convex function of the ratios, and symmetric in those that are not known, so that it is least where these are equal.
    ///
    /// # Panics
    /// When there are no pairs.
    pub(crate) fn high_min(pairs: &[(f64, f64)], count: usize, least: f64) -> f64 {
        let high = |unknown: f64| {
            let mut all = pairs.to_vec();
            all.resize(count.max(pairs.len()), (unknown, 1.0));
            Ratio::of(&all).high()
        };
        let mean = Ratio::of(pairs).mean;
        // Above the mean of the known ones both the mean and the spread grow.
        let (mut from, mut to) = (least.min(mean), mean);
        for _ in 0..THIRDS {
            let third = (to - from) / 3.0;
            match high(from + third) <= high(to - third) {
                true => to -= third,
                false => from += third,
            }
        }
        high(from).min(high(to))
    }

    /// The upper end of the interval.
    pub fn high(&self) -> f64 {
        self.mean + self.half
    }
}

/// Length of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// A share [`GLANCE`] of the first estimate, while something is being changed by hand.
    Glance,
    /// For each of several worlds, beside the same in the typical one.
    Brief,
    /// For a first estimate.
    Short,
    /// To confirm it.
    Long,
}

/// A part's outcome.
#[derive(Clone, Debug)]
struct Done {
    operation_s: f64,
    operations: f64,
    operations_per_s: f64,
    used: Vec<Utilisation>,
    split: TimeSplit,
    parts: Parts,
}

impl Placed {
    /// Results of the long simulations that confirm an answer, by seed.
    ///
    /// # Errors
    /// When an operation takes no time.
    pub(crate) fn long(&self, load: &Load) -> Result<Vec<Measured>, ReplayError> {
        (1..=SEEDS)
            .map(|seed| self.simulate(load, Effort::Long, seed))
            .collect()
    }

    /// An operation's time as a share of today's, whose times by seed are `today_s`, and the first of the simulations that it is
    /// from; `None` as soon as the upper end of the interval cannot be at most `most`, as an operation takes `least_s` seconds at
    /// least.
    ///
    /// # Errors
    /// When an operation takes no time.
    pub(crate) fn confirmed_within(
        &self,
        load: &Load,
        today_s: &[f64],
        (least_s, most): (f64, f64),
    ) -> Result<Option<(Ratio, Measured)>, ReplayError> {
        let least = least_s / today_s.iter().copied().fold(0.0, f64::max);
        let count = today_s.len();
        let mut pairs = Vec::new();
        let mut first = None;
        for (seed, today_s) in (1..=SEEDS).zip(today_s) {
            let measured = self.simulate(load, Effort::Long, seed)?;
            pairs.push((measured.operation_s, *today_s));
            first.get_or_insert(measured);
            if most.is_finite() && Ratio::high_min(&pairs, count, least) > most {
                return Ok(None);
            }
        }
        Ok(first.map(|first| (Ratio::of(&pairs), first)))
    }

    /// Mean time of an operation, in seconds, of one short simulation.
    ///
    /// # Errors
    /// When an operation takes zero time.
    pub fn operation_s(&self, load: &Load) -> Result<f64, ReplayError> {
        Ok(self.simulate(load, Effort::Short, 1)?.operation_s)
    }

    /// Simulates every part of a load. No layout is faster than its bound: where more is written than its disks can sustain, the
    /// backlog would have to be written eventually.
    ///
    /// # Errors
    /// When an operation takes zero time.
    pub(crate) fn simulate(
        &self,
        load: &Load,
        effort: Effort,
        seed: u64,
    ) -> Result<Measured, ReplayError> {
        let one = |part: &Part| self.part(part, effort, seed);
        let done: Vec<Done> = in_parallel(&load.parts, one)?;
        Ok(together(load, &done.iter().collect::<Vec<_>>()))
    }

    fn part(&self, part: &Part, effort: Effort, seed: u64) -> Result<Done, ReplayError> {
        let outcome = self.replay(part, self.least_s(part), effort, seed)?;
        let simulated_s = match outcome.operations {
            0 => f64::INFINITY,
            _ => outcome.operation.as_secs_f64(),
        };
        let used = outcome.usage_before.iter().zip(&outcome.usage_after);
        let used = used.map(|(before, after)| used_share(before, after, outcome.length));
        Ok(Done {
            operation_s: simulated_s.max(self.at_least_s(part)),
            operations: outcome.operations as f64,
            operations_per_s: outcome.operations_per_s(),
            used: used.collect(),
            split: outcome.split,
            parts: outcome.parts,
        })
    }

    /// What an operation takes at least in a simulation, in seconds.
    fn at_least_s(&self, part: &Part) -> f64 {
        match self.is_sustained() {
            true => self.least_s(part),
            // The bound models neither bursts nor caches.
            false => 0.0,
        }
    }

    /// Whether no component can burst above its sustained rate.
    fn is_sustained(&self) -> bool {
        let bursts = |limits: &[LimitSpec]| limits.iter().any(|limit| limit.burst.is_some());
        let volumes = self.volumes.iter().any(|volume| {
            volume.host_cache != HostCacheMode::None || bursts(&volume.disks[0].limits)
        });
        !volumes && !self.machine.limits.values().any(|limits| bursts(limits))
    }

    /// Replays a part whose operations each take at least `least_s`.
    fn replay(
        &self,
        part: &Part,
        least_s: f64,
        effort: Effort,
        seed: u64,
    ) -> Result<Outcome, ReplayError> {
        let demand = &part.demand;
        // Based on the shortest possible cycle.
        let cycle_s = least_s + demand.delay.as_secs_f64();
        let operations_per_s = f64::from(demand.sessions) / cycle_s;
        let requests = match effort {
            Effort::Glance | Effort::Short => REQUESTS_SHORT,
            Effort::Brief => REQUESTS_BRIEF,
            Effort::Long => REQUESTS_LONG,
        };
        let share = match effort {
            Effort::Glance => GLANCE,
            Effort::Brief | Effort::Short | Effort::Long => 1.0,
        };
        let sessions = f64::from(demand.sessions);
        let operations = (requests / self::requests(part).max(1.0))
            .max(OPERATIONS_MIN)
            .max(OF_SESSION_MIN * sessions)
            * share;
        let length_s = (operations / operations_per_s).max(1e-6);
        // Before each session has finished an operation, only the quick ones would be counted.
        let warm_up_s = (WARM_UP * length_s).max(2.0 * cycle_s);
        let replay = Replay {
            demand: &DemandSeries::steady(demand.clone(), operations_per_s),
            arrivals: Arrivals::Closed,
            machine: &self.machine,
            volumes: &self.volumes,
            places: &self.places,
            warm_up: Duration::from_secs_f64(warm_up_s),
            length: Duration::from_secs_f64(length_s),
            seed,
        };
        replay.run(Box::new(()), &mut ())
    }

    /// Lower bound on the time of an operation, in seconds.
    pub(crate) fn least_s(&self, part: &Part) -> f64 {
        let on = |(at, volume): (usize, &VolumeSpec)| {
            let (disk, disks) = (&volume.disks[0], volume.disks.len() as u32);
            let roles: Vec<Role> = Role::COMMON
                .into_iter()
                .filter(|role| self.places.of(*role) == [at])
                .collect();
            (
                OnVolume::of(&part.demand, &roles, disk, disks),
                governing(disk, &self.machine),
            )
        };
        let volumes: Vec<_> = self.volumes.iter().enumerate().map(on).collect();
        let volumes = volumes.iter().map(|(on, limit)| (on, *limit));
        least_s(&part.demand, &self.machine, volumes)
    }
}

/// The result of a load's parts together.
fn together(load: &Load, done: &[&Done]) -> Measured {
    let mut all = Measured::least(0.0);
    for (part, done) in load.parts.iter().zip(done) {
        all.operation_s += part.share * done.operation_s;
        all.parts = all.parts + done.parts.times(part.share);
        all.operations_per_s = all.operations_per_s.max(done.operations_per_s);
        for (spent, time) in done.split.iter() {
            let of_operation = part.share * time.as_secs_f64() / done.operations.max(1.0);
            all.split.add(spent, Duration::from_secs_f64(of_operation));
        }
        if all.used.is_empty() {
            all.used.clone_from(&done.used);
        }
        for (most, used) in all.used.iter_mut().zip(&done.used) {
            most.share = most.share.max(used.share);
        }
    }
    all.used.sort_by(|a, b| b.share.total_cmp(&a.share));
    all
}

/// All requests of an operation, assuming one log request per commit.
fn requests(part: &Part) -> f64 {
    let of = |access: &replay::Access| {
        let kinds = [
            access.reads,
            access.background_reads,
            access.writes,
            access.background_writes,
        ];
        kinds.iter().map(|each| each.per_operation).sum::<f64>()
    };
    let demand = &part.demand;
    of(&demand.data) + of(&demand.temp) + demand.log.commits_per_operation
}

fn used_share(before: &Usage, after: &Usage, length: Duration) -> Utilisation {
    let could = after.rate as f64 * length.as_secs_f64();
    Utilisation {
        owner: after.owner.clone(),
        measure: after.measure,
        rate: after.rate,
        // What was admitted at the end belongs to the time after it.
        share: ((after.used - before.used) as f64 / could).min(1.0),
    }
}

/// How many simulations run at the same time.
fn threads() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// Runs the parts in parallel on all processors; returns results, or the first error, in the order of the parts.
fn in_parallel<P: Sync, T: Send, E: Send>(
    parts: &[P],
    one: impl Fn(&P) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let threads = threads().min(parts.len());
    // A browser has no threads to spawn.
    if threads == 1 {
        return parts.iter().map(one).collect();
    }
    let of_thread = |thread: usize| -> Vec<Result<T, E>> {
        parts
            .iter()
            .skip(thread)
            .step_by(threads)
            .map(&one)
            .collect()
    };
    let mut done: Vec<std::vec::IntoIter<Result<T, E>>> = thread::scope(|scope| {
        let handles: Vec<_> = (0..threads)
            .map(|thread| scope.spawn(move || of_thread(thread)))
            .collect();
        let joined = handles.into_iter();
        joined
            .map(|handle| {
                handle
                    .join()
                    .expect("a simulation does not panic")
                    .into_iter()
            })
            .collect()
    });
    let in_order = (0..parts.len()).map(|part| {
        let next = done[part % threads].next();
        next.expect("each thread did its share")
    });
    in_order.collect()
}

#[cfg(test)]
mod tests;
