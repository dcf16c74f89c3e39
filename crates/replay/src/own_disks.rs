//! What a recording says about the disks that it was made on, in place of what was declared about them.

use model::{Burst, Duration, HostCacheMode, LatencySpec, LimitSpec, Operation, Rate, VolumeSpec};
use profile::{Interval, Profile};
use reading::Role;

use super::replay::Places;

/// By how much a replayed latency may exceed that of the disk itself, as a share, before limits or queues count as part of it.
const HELD_MAX: f64 = 0.1;

/// Share by which a recorded latency has to differ from the declared one to take its place.
const DIFFERS_FROM: f64 = 0.05;

/// Factor by which the recorded latency of a read or write may differ from the declared one for the disk to be the declared one.
/// Assumed: beyond it, another disk is likelier than a wrong figure. Flushes are not bounded, since no vendor publishes theirs.
const FACTOR_MAX: f64 = 1.5;

/// Longest time that a commit is taken to wait beyond its disk. Assumed: twice what was seen of one server, rounded down; a disk that is
/// slower than published explains more.
const BEYOND_DISK_MAX: Duration = Duration::from_micros(500);

/// Share by which recorded IOPS may exceed a sustained rate without being a burst.
const BURST_FROM: f64 = 0.1;

/// A latency of a volume's disks that was recorded, and takes the place of the declared one.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnLatency {
    /// Index of the volume.
    pub volume: usize,
    /// Its name.
    pub name: String,
    /// What takes so long.
    pub operation: Operation,
    /// Mean as declared, in the catalogue or in the layout.
    pub declared: Duration,
    /// Mean as recorded.
    pub recorded: Duration,
    /// Whether the server timed no such request, and it follows from how long sessions waited for the log.
    pub implied: bool,
}

/// A log whose writes and flushes the server did not time: how long sessions waited for it, and the replay's disk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct UntimedLog {
    /// Time of an operation that its session waited for the log, as recorded, in any unit.
    pub(super) recorded: f64,
    /// The same in the replay, in the same unit.
    pub(super) simulated: f64,
    /// Simulated mean of a write, in milliseconds.
    pub(super) write_ms: f64,
    /// Simulated mean of a write in the disk itself, in milliseconds.
    pub(super) write_service_ms: f64,
    /// Simulated mean of a flush in the disk itself, in milliseconds.
    pub(super) flush_service_ms: f64,
}

/// Requests of one kind that sessions wait for: recorded and simulated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Served {
    /// Role of their files.
    pub(super) role: Role,
    /// What they do.
    pub(super) operation: Operation,
    /// How many were recorded per second.
    pub(super) per_second: f64,
    /// Recorded mean, in milliseconds.
    pub(super) recorded_ms: f64,
    /// Simulated mean, in milliseconds.
    pub(super) simulated_ms: f64,
    /// Simulated mean in the disk itself, in milliseconds.
    pub(super) service_ms: f64,
}

impl OwnLatency {
    /// Those that `served` shows: of requests that sessions wait for, and that nothing but the disk held up.
    pub(super) fn all(
        served: &[Served],
        places: &Places,
        volumes: &[VolumeSpec],
    ) -> Vec<OwnLatency> {
        let mut all = Vec::new();
        // A host cache's answers are not those of the disk.
        let without_cache =
            |(_, spec): &(usize, &VolumeSpec)| spec.host_cache == HostCacheMode::None;
        for (volume, spec) in volumes.iter().enumerate().filter(without_cache) {
            for operation in [Operation::Read, Operation::Write, Operation::Flush] {
                let own: Vec<&Served> = served
                    .iter()
                    .filter(|one| {
                        one.operation == operation && places.of(one.role).contains(&volume)
                    })
                    .collect();
                all.extend(OwnLatency::of(&own).map(|[declared, recorded]| OwnLatency {
                    volume,
                    name: spec.name.clone(),
                    operation,
                    declared,
                    recorded,
                    implied: false,
                }));
            }
        }
        all
    }

    /// The flush of a log that the server did not time, where the time that sessions wait for the log shows it: commits that are written in
    /// groups wait for one write and flush after the other, so that their waits are in proportion to what these take together.
    pub(super) fn implied(
        log: &UntimedLog,
        places: &Places,
        volumes: &[VolumeSpec],
    ) -> Option<OwnLatency> {
        let spec = &volumes[places.log];
        let is_held = log.write_ms > log.write_service_ms * (1.0 + HELD_MAX);
        if spec.host_cache != HostCacheMode::None || is_held || log.simulated <= 0.0 {
            return None;
        }
        let factor = log.recorded / log.simulated;
        let both_ms = (log.write_service_ms + log.flush_service_ms) * factor;
        let recorded_ms = both_ms - log.write_service_ms;
        ((factor - 1.0).abs() > DIFFERS_FROM && recorded_ms > 0.0).then(|| OwnLatency {
            volume: places.log,
            name: spec.name.clone(),
            operation: Operation::Flush,
            declared: Duration::from_secs_f64(log.flush_service_ms / 1e3),
            recorded: Duration::from_secs_f64(recorded_ms / 1e3),
            implied: true,
        })
    }

    /// Declared and recorded mean of requests of one kind to one volume.
    fn of(served: &[&Served]) -> Option<[Duration; 2]> {
        let first = served.first()?;
        let is_held = |one: &&Served| one.simulated_ms > one.service_ms * (1.0 + HELD_MAX);
        let count: f64 = served.iter().map(|one| one.per_second).sum();
        if served.iter().any(is_held) || count <= 0.0 {
            return None;
        }
        let mean = |of: fn(&Served) -> f64| {
            served
                .iter()
                .map(|one| of(one) * one.per_second)
                .sum::<f64>()
                / count
        };
        let (declared, recorded) = (mean(|one| one.service_ms), mean(|one| one.recorded_ms));
        let factor = recorded / declared;
        let is_possible = match first.operation {
            Operation::Read | Operation::Write => (1.0 / FACTOR_MAX..=FACTOR_MAX).contains(&factor),
            Operation::Flush => recorded > 0.0,
        };
        let differs = (factor - 1.0).abs() > DIFFERS_FROM;
        (is_possible && differs)
            .then(|| [declared, recorded].map(|ms| Duration::from_secs_f64(ms / 1e3)))
    }

    /// Puts it in the place of what `latency` declares; the shape of the distribution stays.
    pub fn replace(&self, latency: &LatencySpec) -> LatencySpec {
        latency.scaled(self.declared, self.recorded)
    }

    /// What follows from waits for the log, and no disk takes: by how much a commit waits longer than for the write and the flush
    /// that the disk declares. It is the server's, its file system's and the scheduler's, and goes with the server to other disks: of
    /// one server it was 0.24 ms on a disk that writes in 2 ms, and 0.26 to 0.35 ms on one of 0.59 ms
    /// (docs/validation/profiles.md). `None` above 0.5 ms, where the disk itself is the likelier reason.
    pub fn beyond_disk(&self) -> Option<Duration> {
        let longer = self.implied && self.recorded > self.declared;
        longer
            .then(|| self.recorded - self.declared)
            .filter(|more| *more <= BEYOND_DISK_MAX)
    }

    /// The same for the disks of its volume among `volumes`.
    ///
    /// # Panics
    /// Without that volume.
    pub fn apply(&self, volumes: &mut [VolumeSpec]) {
        for disk in &mut volumes[self.volume].disks {
            let latency = match self.operation {
                Operation::Read => &mut disk.read_latency,
                Operation::Write => &mut disk.write_latency,
                Operation::Flush => &mut disk.flush_latency,
            };
            *latency = self.replace(latency);
        }
    }

    /// As a sentence.
    pub(super) fn sentence(&self) -> String {
        let what = match self.operation {
            Operation::Read => "reads",
            Operation::Write => "writes",
            Operation::Flush => "flushes",
        };
        let how = match self.implied {
            true => {
                "as follows from how long sessions waited for the log, which the server does not time,"
            }
            false => "as recorded on it,",
        };
        let elsewhere = match self.beyond_disk() {
            Some(more) => format!(
                " The {:.3} ms more are taken to be the server's and its file system's: they count on other disks too.",
                more.as_millis_f64()
            ),
            None => String::new(),
        };
        format!(
            "The disk of volume {}: {what} take {:.3} ms, {how} and not the declared {:.3} ms.{elsewhere}",
            self.name,
            self.recorded.as_millis_f64(),
            self.declared.as_millis_f64()
        )
    }
}

/// Sets the burst credits of IOPS limits that ran out in the middle of a recording to what it shows to have been left at its start.
/// Returns sentences about it.
///
/// They ran out where IOPS exceed the sustained rate, and from some interval on never do again: what was above it until then was
/// paid for with credits (`used - provisioned`, see [`Burst`]).
pub fn start_with_recorded_credits(
    profile: &Profile,
    places: &Places,
    volumes: &mut [VolumeSpec],
) -> Vec<String> {
    let mut sentences = Vec::new();
    for (at, volume) in volumes.iter_mut().enumerate() {
        let roles: Vec<Role> = Role::COMMON
            .into_iter()
            .filter(|role| places.of(*role) == [at])
            .collect();
        let [disk] = volume.disks.as_mut_slice() else {
            // Which disk of a stripe served what is not known.
            continue;
        };
        for limit in &mut disk.limits {
            if let Some(burst) = recorded_credits(profile, &roles, limit) {
                sentences.push(format!(
                    "Volume {} began with {} of {} burst credits: as many as the recording used before they ran out.",
                    volume.name, burst.credits_initial, burst.credits
                ));
                limit.burst = Some(burst);
            }
        }
    }
    sentences
}

/// A limit's burst with the credits that were left at the start of a recording; `None` if that does not show.
fn recorded_credits(profile: &Profile, roles: &[Role], limit: &LimitSpec) -> Option<Burst> {
    let (burst, Rate::Iops(sustained)) = (limit.burst?, limit.rate) else {
        return None;
    };
    let sustained = sustained.0 as f64;
    let above = |interval: &Interval| {
        let requests: Option<f64> = roles
            .iter()
            .map(|role| match interval.roles.get(role) {
                Some(io) => {
                    let (reads, writes) = (io.reads.count, io.writes.count);
                    reads.or(writes)?;
                    Some(reads.unwrap_or(0.0) + writes.unwrap_or(0.0))
                }
                // Counted among another's.
                None => Some(0.0),
            })
            .sum();
        Some((requests?, sustained * interval.length.as_secs_f64()))
    };
    let all: Vec<(f64, f64)> = profile.intervals.iter().map(above).collect::<Option<_>>()?;
    let bursts = |(asked, sustained): &(f64, f64)| *asked > sustained * (1.0 + BURST_FROM);
    let end = all.iter().rposition(bursts)? + 1;
    // A burst that lasts until the end does not show how long it could have gone on.
    let is_spent = |(asked, sustained): &(f64, f64)| *asked > sustained * (1.0 - BURST_FROM);
    if end == all.len() || !all[end..].iter().all(is_spent) {
        return None;
    }
    let spent: f64 = all[..end]
        .iter()
        .map(|(asked, sustained)| asked - sustained)
        .sum();
    Some(Burst {
        credits_initial: (spent.max(0.0) as u64).min(burst.credits),
        ..burst
    })
}

#[cfg(test)]
mod tests;
