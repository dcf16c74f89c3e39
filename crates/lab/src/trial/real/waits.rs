//! How the sessions spent their time: the waits they were sampled in, and what held the disks back then.

use std::collections::BTreeMap;

use model::{Duration, Operation};
use reading::DiskReading;
use reading::cause::{Cause, Io, Part};

use super::super::sessions::Window;
use super::gate::Gate;
use super::session::Common;
use engine::{Engine, EngineError, SAMPLE_EVERY, WaitKind, WaitSampler};
use experiment::record::WaitEvent;
use experiment::spec::Role;

/// How often sessions were sampled in each state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Samples {
    kinds: BTreeMap<WaitKind, u64>,
    events: BTreeMap<String, u64>,
}

/// The time of all sessions together in the measured phases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SessionTime {
    /// Total.
    pub(super) active: Duration,
    /// Of which they slept: between operations, or because a script does.
    pub(super) thought: Duration,
}

impl Samples {
    /// Samples the sessions until the window or the sessions end; `None` if the engine cannot report waits.
    pub(super) fn take(
        engine: &dyn Engine,
        common: &Common,
        gate: &Gate,
        window: impl FnOnce(model::Instant) -> Window,
    ) -> Result<Option<Samples>, EngineError> {
        let Some(mut sampler) = engine.waits()? else {
            return Ok(None);
        };
        let Some(start) = gate.begun() else {
            return Ok(None);
        };
        let window = window(start);
        let mut samples = Samples::default();
        let mut due = window.from;
        while common.stop.sleep_until(due) {
            let now = common.clock.now();
            if window.until.is_some_and(|until| now >= until) || gate.all_ended(now) {
                break;
            }
            samples.add(sampler.as_mut())?;
            // A slow sample skips the ones it overran, and keeps the rhythm.
            while due <= common.clock.now() {
                due += SAMPLE_EVERY;
            }
        }
        Ok(Some(samples))
    }

    fn add(&mut self, sampler: &mut dyn WaitSampler) -> Result<(), EngineError> {
        for waiting in sampler.sample()? {
            *self.kinds.entry(waiting.kind).or_default() += 1;
            if !waiting.event.is_empty() {
                *self.events.entry(waiting.event).or_default() += 1;
            }
        }
        Ok(())
    }

    fn all(&self) -> u64 {
        self.kinds.values().sum()
    }

    fn of(&self, kind: WaitKind) -> u64 {
        self.kinds.get(&kind).copied().unwrap_or(0)
    }

    /// The engine's own waits, in seconds of the sessions' time, by counter name.
    pub(super) fn events(&self, time: SessionTime) -> impl Iterator<Item = (String, f64)> {
        let each = time.active.as_secs_f64() / (self.all() as f64).max(1.0);
        self.events.iter().map(move |(event, count)| {
            let event = WaitEvent::from(event.as_str());
            (event.counter(), *count as f64 * each)
        })
    }

    /// How long the engine was idle although a session was in an operation.
    pub(super) fn between(&self, time: SessionTime) -> Duration {
        let client = share(
            time.active.as_nanos(),
            self.of(WaitKind::Client),
            self.all().max(1),
        );
        Duration::from_nanos(client).saturating_sub(time.thought)
    }

    /// The sessions' time by cause, as named in a record. The parts sum to the whole.
    ///
    /// `disks` is the disks' activity in that time, `files` the number of files by role on each volume.
    pub(super) fn split(
        &self,
        time: SessionTime,
        disks: &[DiskReading],
        files: &[BTreeMap<Role, u32>],
    ) -> BTreeMap<Cause, u64> {
        let between = self.between(time);
        let busy = time.active.saturating_sub(time.thought + between);
        let mut split = BTreeMap::new();
        let mut add = |cause: Cause, ns: u64| {
            if ns > 0 {
                *split.entry(cause).or_default() += ns;
            }
        };
        add(Cause::Think, time.thought.as_nanos());
        add(Cause::Client, between.as_nanos());
        let busy_kinds = self
            .kinds
            .iter()
            .filter(|(kind, _)| **kind != WaitKind::Client)
            .map(|(kind, count)| (*kind, *count));
        let mut kinds: Vec<(WaitKind, u64)> = busy_kinds.collect();
        if kinds.is_empty() {
            kinds.push((WaitKind::Other, 1));
        }
        for (kind, ns) in distributed(busy.as_nanos(), kinds) {
            for (cause, ns) in distributed(ns, causes(kind, disks, files)) {
                add(cause, ns);
            }
        }
        split
    }
}

/// Time spent on reads, writes and flushes (the log's), all of it as service, divided by what held the disks back.
#[cfg(feature = "fio")]
pub(super) fn divided(
    spent: &BTreeMap<Cause, u64>,
    disks: &[DiskReading],
    files: &[BTreeMap<Role, u32>],
) -> BTreeMap<Cause, u64> {
    let mut divided = BTreeMap::new();
    for (cause, ns) in spent {
        let causes = match cause.io() {
            Some(Io::Read) => causes(WaitKind::Read, disks, files),
            Some(Io::Write) => causes(WaitKind::Write, disks, files),
            Some(Io::Log) => parts(Io::Log, &[Operation::Flush], DATA, disks, files),
            None => vec![(cause.clone(), 1)],
        };
        for (cause, ns) in distributed(*ns, causes) {
            *divided.entry(cause).or_default() += ns;
        }
    }
    divided
}

/// Roles of files that reads and writes go to; logs have their own.
const DATA: &[Role] = &[Role::Data, Role::Temp, Role::Undo, Role::Doublewrite];

/// Roles of files that a commit waits for.
const LOGS: &[Role] = &[Role::Log, Role::Binlog];

/// The causes that a wait of this kind represents, and how much of the disks' time each took.
fn causes(
    kind: WaitKind,
    disks: &[DiskReading],
    files: &[BTreeMap<Role, u32>],
) -> Vec<(Cause, u64)> {
    use Operation::{Flush, Read, Write};

    let (io, operations, roles): (_, &[Operation], &[Role]) = match kind {
        WaitKind::Cpu => return vec![(Cause::Cpu, 1)],
        WaitKind::Lock => return vec![(Cause::Lock, 1)],
        WaitKind::Client => return vec![(Cause::Client, 1)],
        WaitKind::Other => return vec![(Cause::Other, 1)],
        WaitKind::Read => (Io::Read, &[Read], DATA),
        WaitKind::Write => (Io::Write, &[Write, Flush], DATA),
        WaitKind::Log => (Io::Log, &[Write, Flush], LOGS),
    };
    parts(io, operations, roles, disks, files)
}

/// Time of each part of these operations, on disks that hold files of these roles.
fn parts(
    io: Io,
    operations: &[Operation],
    roles: &[Role],
    disks: &[DiskReading],
    files: &[BTreeMap<Role, u32>],
) -> Vec<(Cause, u64)> {
    let holds = |disk: &&DiskReading| {
        let files = files.get(disk.volume);
        files.is_some_and(|files| roles.iter().any(|role| files.contains_key(role)))
    };
    let mut parts: BTreeMap<Cause, u64> = BTreeMap::new();
    for (spent, ns) in disks.iter().filter(holds).flat_map(|disk| &disk.spent_ns) {
        if operations.contains(&spent.operation) {
            let cause = Cause::Io(io, spent.part.clone());
            *parts.entry(cause).or_default() += ns;
        }
    }
    if parts.values().all(|ns| *ns == 0) {
        // Real disks do not report what held them back, and a wait may have been for something in memory.
        return vec![(Cause::Io(io, Part::Service), 1)];
    }
    parts.into_iter().collect()
}

/// Distributes `total` in proportion to the weights, to the last unit.
fn distributed<K>(total: u64, weights: Vec<(K, u64)>) -> Vec<(K, u64)> {
    let all: u64 = weights.iter().map(|(_, weight)| weight).sum();
    let (mut seen, mut given) = (0, 0);
    let distribute = |(key, weight): (K, u64)| {
        seen += weight;
        let until_here = share(total, seen, all.max(1));
        let own = until_here - given;
        given = until_here;
        (key, own)
    };
    weights.into_iter().map(distribute).collect()
}

/// `total` x `part` / `whole`, rounded down.
fn share(total: u64, part: u64, whole: u64) -> u64 {
    let share = u128::from(total) * u128::from(part) / u128::from(whole);
    u64::try_from(share).expect("a part is no larger than its whole")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn disk(volume: usize, spent: &[(&str, u64)]) -> DiskReading {
        DiskReading {
            volume,
            name: format!("v{volume}.1"),
            reads: 0,
            writes: 0,
            flushes: 0,
            cache_hits: 0,
            read_bytes: 0,
            write_bytes: 0,
            read_ns: 0,
            write_ns: 0,
            busy_ns: None,
            in_flight: 0,
            spent_ns: spent
                .iter()
                .map(|(name, ns)| (name.parse().expect("a part"), *ns))
                .collect(),
            latency: None,
        }
    }

    fn cause(name: &str) -> Cause {
        name.parse().expect("a cause")
    }

    fn files(roles: &[Role]) -> BTreeMap<Role, u32> {
        roles.iter().map(|role| (*role, 1)).collect()
    }

    fn seen(kinds: &[(WaitKind, u64)]) -> Samples {
        Samples {
            kinds: kinds.iter().copied().collect(),
            events: BTreeMap::new(),
        }
    }

    fn time(active_s: u64, thought_s: u64) -> SessionTime {
        SessionTime {
            active: Duration::from_secs(active_s),
            thought: Duration::from_secs(thought_s),
        }
    }

    #[test]
    fn waits_for_the_log_are_what_held_up_the_logs_volume() {
        let samples = seen(&[(WaitKind::Log, 3), (WaitKind::Cpu, 1)]);
        let disks = [
            disk(0, &[("write.throttled.disk.iops", 900)]),
            disk(1, &[("write.service", 100), ("flush.queued", 200)]),
        ];

        let split = samples.split(
            time(4, 0),
            &disks,
            &[files(&[Role::Data]), files(&[Role::Log])],
        );

        // Three of four seconds, one part to two.
        let expected = [
            ("cpu", 1_000_000_000),
            ("log.queued", 2_000_000_000),
            ("log.service", 1_000_000_000),
        ];
        assert_eq!(split, expected.map(|(name, ns)| (cause(name), ns)).into());
    }

    #[test]
    fn waits_for_the_client_beyond_thinking_are_dbstows_own() {
        let samples = seen(&[(WaitKind::Client, 6), (WaitKind::Read, 4)]);

        let split = samples.split(time(10, 5), &[], &[]);

        assert_eq!(split[&cause("think")], 5_000_000_000);
        assert_eq!(split[&cause("client")], 1_000_000_000);
        assert_eq!(split[&cause("read.service")], 4_000_000_000);
        assert_eq!(samples.between(time(10, 5)), Duration::from_secs(1));
    }

    #[test]
    fn without_samples_nothing_is_made_up() {
        let split = Samples::default().split(time(10, 4), &[], &[]);

        let expected = [("other", 6_000_000_000), ("think", 4_000_000_000)];
        assert_eq!(split, expected.map(|(name, ns)| (cause(name), ns)).into());
    }

    proptest! {
        #[test]
        fn the_parts_sum_to_the_whole(
            counts in prop::array::uniform7(0..1000_u64),
            spent in prop::array::uniform3(0..u64::from(u32::MAX)),
            active in 0..10_000_000_000_000_u64,
            thought in 0.0..=1.0_f64,
        ) {
            let kinds = [
                WaitKind::Cpu, WaitKind::Read, WaitKind::Write, WaitKind::Log,
                WaitKind::Lock, WaitKind::Client, WaitKind::Other,
            ];
            let samples = Samples {
                kinds: kinds.into_iter().zip(counts).filter(|(_, count)| *count > 0).collect(),
                events: BTreeMap::new(),
            };
            let time = SessionTime {
                active: Duration::from_nanos(active),
                thought: Duration::from_nanos((active as f64 * thought) as u64),
            };
            let spent = [("read.service", spent[0]), ("read.queued", spent[1]), ("write.service", spent[2])];
            let split = samples.split(time, &[disk(0, &spent)], &[files(&[Role::Data, Role::Log])]);
            prop_assert_eq!(split.values().sum::<u64>(), active);
        }
    }
}
