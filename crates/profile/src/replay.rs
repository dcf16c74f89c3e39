//! Replays the demand of a profile on other disks, in virtual time.
//!
//! ```text
//! delay ──► processor ──► lock ──► reads, temp, writes, one after the other ──► log (group commit) ──► delay ..
//!                                                                                 └─► writes in the background
//! ```
//!
//! In a closed system, a session issues its next operation when the previous one has ended and its delay is over. In an open
//! system, operations arrive whether or not earlier ones have ended, without delays.
//!
//! docs/validation/profiles.md compares it with a real server. Not modelled: log writes that become several requests, a
//! filesystem's journal, locks that are held during requests (waits for them are in the delay, which stays the same), a buffer
//! pool of another size, a changed number of full-page images, sessions that wait because background writes do not keep up,
//! contention for processors at recording time (the wait is in the delay, and occurs again if processors are few).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use model::cores::Cores;
use model::random::{self, Stream};
use model::split::{Spent, TimeSplit};
use model::storage::Usage;
use model::store::{Cause, Wait};
use model::{
    Bytes, Completion, Duration, Instant, MachineSpec, Observer, Operation, Request, Storage,
    VolumeSpec,
};
use rand::RngExt;
use rand_distr::{Distribution, Exp1};
use reading::Role;
use thiserror::Error;

use super::definition::{Io, Requests};
use super::demand::{Demand, Each};
use super::series::{DemandSeries, Period};
use super::summary::Rates;

/// Offset at which a log wraps around: it is sequential, and its position on the disk does not matter.
const LOG_WRAPS: u64 = 1 << 30;

/// Background writes are batched, this many bytes at once: PostgreSQL's `checkpoint_flush_after`, on Linux. SQL
/// Server's checkpoint has as many in flight.
///
/// Source: *PostgreSQL 18 documentation*, 19.5.2, <https://www.postgresql.org/docs/18/runtime-config-wal.html>.
const WRITTEN_TOGETHER: u64 = 256 << 10;

/// Alignment of sizes and offsets of random requests.
const SECTOR: u64 = 512;

/// Maximum span of a volume that offsets are drawn from, so none overflows.
const SPAN_MAX: u64 = 1 << 50;

/// Maximum number of events without progress of time before the replay is considered stuck.
const TIMELESS_MAX: u64 = 1_000_000;

/// Number of events between checks for a stop request.
const LOOK_EVERY: u64 = 4_096;

/// Maximum number of concurrent operations in an open system.
const UNDER_WAY_MAX: usize = 65_536;

/// Volumes of the files, by index in the list of volumes; none of the lists is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// Data files.
    pub data: Vec<usize>,
    /// Temporary files.
    pub temp: Vec<usize>,
    /// The log.
    pub log: usize,
}

impl Places {
    /// Volumes with files of a role; empty for roles that profiles do not have.
    pub fn of(&self, role: Role) -> &[usize] {
        match role {
            Role::Data => &self.data,
            Role::Temp => &self.temp,
            Role::Log => std::slice::from_ref(&self.log),
            Role::Binlog | Role::Undo | Role::Doublewrite => &[],
        }
    }
}

/// When operations begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrivals {
    /// A session's next one follows its previous one after a delay.
    #[default]
    Closed,
    /// At the recorded rate, whether or not earlier ones ended.
    Open,
}

/// A demand, and the volumes to run it on.
#[derive(Clone, Copy, Debug)]
pub struct Replay<'a> {
    /// The demand; repeated if `length` is longer.
    pub demand: &'a DemandSeries,
    /// When operations begin.
    pub arrivals: Arrivals,
    /// Its processors and limits.
    pub machine: &'a MachineSpec,
    /// The volumes.
    pub volumes: &'a [VolumeSpec],
    /// Which files are on them.
    pub places: &'a Places,
    /// Warm-up before measurement: the end of the demand, so the demand starts with the measurement.
    pub warm_up: Duration,
    /// Measured time; above 0.
    pub length: Duration,
    /// Source of all randomness. Same seed, same outcome.
    pub seed: u64,
}

/// An observer of a replay.
pub trait Follow {
    /// An operation that began at `began` ended, counted or not.
    fn ended(&mut self, began: Instant, now: Instant);

    /// Whether to end early.
    fn is_stopped(&self) -> bool {
        false
    }
}

/// No observer.
impl Follow for () {
    fn ended(&mut self, _began: Instant, _now: Instant) {}
}

/// Why a replay has no outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ReplayError {
    /// A demand that takes zero time: the replay would not progress.
    #[error(
        "an operation takes no time: it asks for no processor, has no delay, and its disks serve it at once; give the \
         volumes a disk with limits and latencies"
    )]
    Timeless,
    /// Operations arrive faster than they end.
    #[error(
        "operations arrive faster than they end: after {:.1} s, 65,536 are under way; these disks do not serve this demand",
        .0.as_secs_f64()
    )]
    Behind(Duration),
    /// It was stopped.
    #[error("stopped")]
    Stopped,
}

/// Results of a replay in the measured time.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The measured time.
    pub length: Duration,
    /// Operations that ended.
    pub operations: u64,
    /// Mean time of an operation, without its delay.
    pub operation: Duration,
    /// Requests, by role of the files.
    pub roles: BTreeMap<Role, Io>,
    /// How sessions spent their time; delays are [`Spent::Think`].
    pub split: TimeSplit,
    /// Time that processors were busy.
    pub processor: Duration,
    /// Use of the limits of machine and disks at the start of measurement.
    pub usage_before: Vec<Usage>,
    /// Use of the limits at the end.
    pub usage_after: Vec<Usage>,
}

impl Outcome {
    /// Operations per second.
    pub fn operations_per_s(&self) -> f64 {
        self.operations as f64 / self.length.as_secs_f64()
    }

    /// Requests per second to the files of `role`, and their latency.
    pub fn rates(&self, role: Role) -> Rates {
        let io = self.roles.get(&role).copied().unwrap_or_default();
        Rates::of(&io, self.length)
    }
}

impl Replay<'_> {
    /// Runs it; `observer` sees every request to a disk.
    ///
    /// Offsets of reads and writes are random over the whole volume.
    ///
    /// # Errors
    /// When an operation takes zero time, operations arrive faster than they end, or it was stopped.
    ///
    /// # Panics
    /// When a place is not an index of a volume, or a list of places is empty.
    pub fn run(
        &self,
        observer: Box<dyn Observer>,
        follow: &mut dyn Follow,
    ) -> Result<Outcome, ReplayError> {
        let seed = random::derive(self.seed, "storage", 0);
        let periods = self.demand.periods();
        let mut run = Run {
            replay: *self,
            periods,
            period: 0,
            spans: self.volumes.iter().map(span).collect(),
            storage: Storage::observed(self.machine, self.volumes, seed, observer),
            cores: Cores::new(self.machine.cores),
            lock: Cores::new(1),
            random: random::stream(self.seed, "replay"),
            queue: BinaryHeap::new(),
            has_happened: false,
            order: 0,
            sessions: Vec::new(),
            dormant: Vec::new(),
            arrival: 0,
            log: Log::default(),
            unwritten: Default::default(),
            from: Instant::ZERO + self.warm_up,
            until: Instant::ZERO + self.warm_up + self.length,
            counted: Default::default(),
            operations: 0,
            took: Duration::ZERO,
            split: TimeSplit::default(),
            processor: Duration::ZERO,
            follow,
        };
        let usage_before = run.run()?;
        let operations = run.operations;
        Ok(Outcome {
            length: self.length,
            operations,
            operation: Duration::from_secs_f64(
                run.took.as_secs_f64() / (operations as f64).max(1.0),
            ),
            roles: Role::COMMON
                .into_iter()
                .map(|role| (role, run.counted[role as usize].io()))
                .collect(),
            usage_before,
            usage_after: run.storage.usage(run.until),
            split: run.split,
            processor: run.processor,
        })
    }
}

fn span(volume: &VolumeSpec) -> u64 {
    let size = volume.disks.iter().map(|disk| disk.size.0);
    size.fold(0, u64::saturating_add).min(SPAN_MAX)
}

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The next period begins.
    Period,
    /// An operation arrives, unless the period in which its arrival was drawn is over.
    Arrives(u64),
    /// A session's delay is over, unless another one was drawn since.
    Begins(u32, u32),
    /// A session continues.
    GoesOn(u32),
    /// The write of a commit group is done.
    LogWritten(u64),
    /// Its flush is done.
    LogFlushed(u64),
}

/// A session within an operation.
#[derive(Clone, Debug, Default)]
struct Session {
    began: Instant,
    /// The period in which it began.
    period: usize,
    /// Requests that it must still wait for: role, kind and size; the last one is next.
    left: Vec<(Role, Operation, Bytes)>,
    commits: bool,
    /// Whether it must still take the lock.
    locks: bool,
    /// Since when it waits for the log.
    waits_since: Instant,
    /// Since when it rests, if it does.
    rests_since: Option<Instant>,
    /// Number of delays drawn for it; the last one counts.
    draw: u32,
}

/// Group commit: a limited number of concurrent writes, each with its flush; commits in the meantime join the next.
#[derive(Debug, Default)]
struct Log {
    in_flight: u32,
    waiting: Vec<u32>,
    /// Commit groups whose log is not durable yet, oldest first.
    groups: VecDeque<Group>,
    /// Number of the oldest group.
    oldest: u64,
    /// Bytes that are not written yet.
    bytes: f64,
    /// Where the last write ended.
    end: u64,
}

/// Commits that share a write.
#[derive(Debug, Default)]
struct Group {
    sessions: Vec<u32>,
    /// Completions that they wait for: the write, and the flush after it.
    parts: Vec<Completion>,
    /// Whether both are done: the log is durable once all older groups are done, too.
    is_done: bool,
}

/// Requests of one role that were counted: reads, writes, flushes.
#[derive(Clone, Copy, Debug, Default)]
struct Counted([Count; 3]);

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    count: u64,
    bytes: u64,
    waited: Duration,
}

struct Run<'a> {
    replay: Replay<'a>,
    periods: &'a [Period],
    /// Index of the current period.
    period: usize,
    spans: Vec<u64>,
    storage: Storage,
    cores: Cores,
    /// The lock's queue: modelled as a single processor.
    lock: Cores,
    random: Stream,
    queue: BinaryHeap<Reverse<(Instant, u64, Event)>>,
    /// Whether the head of the queue has been processed, so its successor can replace it.
    has_happened: bool,
    order: u64,
    sessions: Vec<Session>,
    /// Idle sessions: those above a period's number, or, in an open system, all that ended.
    dormant: Vec<u32>,
    /// Number of the expected arrival; others were drawn in a period that is over.
    arrival: u64,
    log: Log,
    /// Bytes pending for background writes, by role.
    unwritten: [u64; Role::ALL.len()],
    /// Start of measurement.
    from: Instant,
    until: Instant,
    counted: [Counted; Role::ALL.len()],
    operations: u64,
    took: Duration,
    split: TimeSplit,
    processor: Duration,
    follow: &'a mut dyn Follow,
}

impl Run<'_> {
    /// Runs to the end. Returns the use of limits at the start of measurement.
    fn run(&mut self) -> Result<Vec<Usage>, ReplayError> {
        self.begin_first_period();
        let mut before = None;
        let (mut last, mut since_moved, mut events) = (Instant::ZERO, 0_u64, 0_u64);
        while let Some((now, event)) = self.next() {
            if before.is_none() && now >= self.from {
                before = Some(self.storage.usage(self.from));
            }
            if now >= self.until {
                break;
            }
            since_moved = if now > last { 0 } else { since_moved + 1 };
            last = now;
            if since_moved > TIMELESS_MAX {
                return Err(ReplayError::Timeless);
            }
            events += 1;
            if events.is_multiple_of(LOOK_EVERY) && self.follow.is_stopped() {
                return Err(ReplayError::Stopped);
            }
            self.happen(now, event)?;
        }
        Ok(before.unwrap_or_else(|| self.storage.usage(self.from)))
    }

    fn happen(&mut self, now: Instant, event: Event) -> Result<(), ReplayError> {
        match event {
            Event::Period => {
                self.period = (self.period + 1) % self.periods.len();
                self.begin_period(now, self.periods[self.period].length);
            }
            Event::Arrives(number) if number == self.arrival => {
                if self.sessions.len() - self.dormant.len() >= UNDER_WAY_MAX {
                    return Err(ReplayError::Behind(now.since(Instant::ZERO)));
                }
                let session = self.awake();
                self.begin(now, session);
                self.expect_arrival(now);
            }
            Event::Arrives(_) => {}
            Event::Begins(session, draw) if draw == self.sessions[session as usize].draw => {
                self.end_rest(now, session);
                self.begin(now, session);
            }
            Event::Begins(..) => {}
            Event::GoesOn(session) => self.go_on(now, session),
            Event::LogWritten(group) if self.demand().log.is_flushed => {
                let log = self.replay.places.log;
                let flush = self.submit(now, Role::Log, log, Request::flush());
                self.log.group(group).parts.push(flush);
                self.push(flush.done, Event::LogFlushed(group));
            }
            Event::LogWritten(group) | Event::LogFlushed(group) => self.end_group(now, group),
        }
        Ok(())
    }

    /// The demand of the current period.
    fn demand(&self) -> &Demand {
        &self.periods[self.period].demand
    }

    /// The next event. It stays in the queue until an event is pushed or the next one is requested: most events have a successor,
    /// and replacing the head is half the work of a pop and a push.
    fn next(&mut self) -> Option<(Instant, Event)> {
        if std::mem::take(&mut self.has_happened) {
            self.queue.pop();
        }
        let Reverse((now, _, event)) = *self.queue.peek()?;
        self.has_happened = true;
        Some((now, event))
    }

    fn push(&mut self, at: Instant, event: Event) {
        self.order += 1;
        let entry = Reverse((at, self.order, event));
        if std::mem::take(&mut self.has_happened)
            && let Some(mut first) = self.queue.peek_mut()
        {
            *first = entry;
            return;
        }
        self.queue.push(entry);
    }

    /// Starts at an offset within the demand such that its beginning coincides with that of measurement.
    fn begin_first_period(&mut self) {
        let all = self.replay.demand.length().as_nanos().max(1);
        let warm_up = self.replay.warm_up.as_nanos() % all;
        let mut passed = (all - warm_up) % all;
        while passed >= self.periods[self.period].length.as_nanos() {
            passed -= self.periods[self.period].length.as_nanos();
            self.period += 1;
        }
        let length = self.periods[self.period].length;
        self.begin_period(
            Instant::ZERO,
            length.saturating_sub(Duration::from_nanos(passed)),
        );
    }

    /// Begins the current period, which ends after `left`.
    fn begin_period(&mut self, now: Instant, left: Duration) {
        if self.periods.len() > 1 {
            self.push(now + left, Event::Period);
        }
        match self.replay.arrivals {
            Arrivals::Closed => {
                let count = self.demand().sessions;
                // Delays are memoryless: the remainder is redrawn with the new period's mean.
                for session in 0..self.sessions.len() as u32 {
                    if self.sessions[session as usize].rests_since.is_some() {
                        self.end_rest(now, session);
                        self.rest(now, session);
                    }
                }
                let dormant = std::mem::take(&mut self.dormant);
                let (awake, dormant) = dormant.into_iter().partition(|session| *session < count);
                self.dormant = dormant;
                let awake: Vec<u32> = awake;
                let new = self.sessions.len() as u32..count;
                self.sessions
                    .resize_with(self.sessions.len().max(count as usize), Session::default);
                for session in awake.into_iter().chain(new) {
                    self.rest(now, session);
                }
            }
            Arrivals::Open => self.expect_arrival(now),
        }
    }

    /// Draws the time of the next arrival, replacing the expected one.
    fn expect_arrival(&mut self, now: Instant) {
        self.arrival += 1;
        let rate = self.periods[self.period].operations_per_s;
        if rate > 0.0 {
            let gap = self.exponential(Duration::from_secs_f64(1.0 / rate));
            self.push(now + gap, Event::Arrives(self.arrival));
        }
    }

    /// An idle session, or a new one.
    fn awake(&mut self) -> u32 {
        self.dormant.pop().unwrap_or_else(|| {
            self.sessions.push(Session::default());
            self.sessions.len() as u32 - 1
        })
    }

    /// A session's delay; exponential, as only its mean is known.
    fn rest(&mut self, now: Instant, session: u32) {
        if session >= self.demand().sessions {
            self.dormant.push(session);
            return;
        }
        let delay = self.exponential(self.demand().delay);
        let resting = &mut self.sessions[session as usize];
        resting.rests_since = Some(now);
        resting.draw = resting.draw.wrapping_add(1);
        let draw = resting.draw;
        self.push(now + delay, Event::Begins(session, draw));
    }

    fn end_rest(&mut self, now: Instant, session: u32) {
        let resting = &mut self.sessions[session as usize];
        resting.draw = resting.draw.wrapping_add(1);
        if let Some(since) = resting.rests_since.take() {
            self.spend(now, Spent::Think, now.since(since));
        }
    }

    fn exponential(&mut self, mean: Duration) -> Duration {
        let drawn: f64 = Exp1.sample(&mut self.random);
        Duration::from_secs_f64(mean.as_secs_f64() * drawn)
    }

    /// Records time that a session spends until `end`, if that is within the measured time.
    fn spend(&mut self, end: Instant, on: Spent, time: Duration) {
        if self.counts(end) {
            self.split.add(on, time);
        }
    }

    fn wait(&mut self, end: Instant, cause: Cause, part: Completion) {
        if self.counts(end) {
            self.split.add_wait(&Wait {
                until: end,
                cause,
                part,
            });
        }
    }

    fn counts(&self, at: Instant) -> bool {
        at >= self.from && at < self.until
    }

    fn begin(&mut self, now: Instant, session: u32) {
        let Demand {
            data,
            temp,
            log,
            processor,
            lock,
            ..
        } = *self.demand();
        // Its memory is reused.
        let mut left = std::mem::take(&mut self.sessions[session as usize].left);
        for (role, operation, each) in [
            (Role::Data, Operation::Write, data.writes),
            (Role::Temp, Operation::Read, temp.reads),
            (Role::Temp, Operation::Write, temp.writes),
            (Role::Data, Operation::Read, data.reads),
        ] {
            let count = self.count(each);
            left.extend((0..count).map(|_| (role, operation, each.size)));
        }
        let commits = log.commits_per_operation.clamp(0.0, 1.0);
        let commits = self.random.random_bool(commits);
        let own = &mut self.sessions[session as usize];
        *own = Session {
            began: now,
            period: self.period,
            left,
            commits,
            locks: lock > Duration::ZERO,
            waits_since: now,
            rests_since: None,
            draw: own.draw,
        };
        let burst = self.exponential(processor);
        let end = self.cores.run(now, burst);
        self.spend(end, Spent::Cpu, burst);
        self.spend(end, Spent::CpuQueued, end.since(now) - burst);
        if self.counts(end) {
            self.processor += burst;
        }
        self.push(end, Event::GoesOn(session));
    }

    /// An integer whose mean is the number per operation.
    fn count(&mut self, each: Each) -> u64 {
        if each.per_operation == 0.0 {
            return 0;
        }
        let whole = each.per_operation.floor();
        let more = self.random.random_bool(each.per_operation - whole);
        whole as u64 + u64::from(more)
    }

    fn go_on(&mut self, now: Instant, session: u32) {
        let own = &mut self.sessions[session as usize];
        if std::mem::take(&mut own.locks) {
            let hold = self.periods[own.period].demand.lock;
            let hold = self.exponential(hold);
            let end = self.lock.run(now, hold);
            self.spend(end, Spent::Lock, end.since(now));
            self.push(end, Event::GoesOn(session));
            return;
        }
        if let Some((role, operation, size)) = self.sessions[session as usize].left.pop() {
            let completion = self.request(now, role, operation, size);
            let cause = match operation {
                Operation::Read => Cause::Read,
                Operation::Write | Operation::Flush => Cause::Write,
            };
            self.wait(completion.done, cause, completion);
            self.push(completion.done, Event::GoesOn(session));
            return;
        }
        let Session {
            period, commits, ..
        } = self.sessions[session as usize];
        self.log.bytes += self.periods[period].demand.log.bytes_per_operation;
        if commits {
            self.sessions[session as usize].waits_since = now;
            self.log.waiting.push(session);
            self.write_log(now);
        } else {
            self.end(now, session);
        }
    }

    /// Writes the log for all waiting commits, if any and if another write may be in flight.
    fn write_log(&mut self, now: Instant) {
        let is_full = self.log.in_flight >= self.demand().log.in_flight_max;
        if is_full || self.log.waiting.is_empty() {
            return;
        }
        let page = self.demand().log.page.0.max(1);
        let bytes = std::mem::take(&mut self.log.bytes).ceil() as u64;
        // From the page in which the previous write ended.
        let from = self.log.end / page * page;
        let end = self.log.end.saturating_add(bytes).max(from + 1);
        let length = end.next_multiple_of(page) - from;
        let request = Request::write(from, Bytes(length));
        self.log.end = end % LOG_WRAPS;
        let write = self.submit(now, Role::Log, self.replay.places.log, request);
        let group = self.log.oldest + self.log.groups.len() as u64;
        self.log.groups.push_back(Group {
            sessions: std::mem::take(&mut self.log.waiting),
            parts: vec![write],
            is_done: false,
        });
        self.log.in_flight += 1;
        self.push(write.done, Event::LogWritten(group));
    }

    /// A group's write and flush are done. A log has no gaps: commits behind an unfinished older write must wait.
    fn end_group(&mut self, now: Instant, group: u64) {
        self.log.group(group).is_done = true;
        while let Some(group) = self.log.groups.pop_front_if(|group| group.is_done) {
            self.log.oldest += 1;
            for session in group.sessions {
                let waited = now.since(self.sessions[session as usize].waits_since);
                self.wait_for_log(now, waited, &group.parts);
                self.end(now, session);
            }
        }
        self.log.in_flight -= 1;
        self.write_log(now);
    }

    /// Splits a wait for the log: its flush, its write, and before that those of another group, which was delayed by the same
    /// causes.
    fn wait_for_log(&mut self, now: Instant, waited: Duration, parts: &[Completion]) {
        let mut left = waited;
        for part in parts.iter().rev() {
            let part = part.tail(left);
            left = left - part.latency();
            self.wait(now, Cause::Log, part);
        }
        if let (Some(write), true) = (parts.first(), left > Duration::ZERO) {
            self.wait(now, Cause::Log, write.in_proportion(left));
        }
    }

    /// Ends an operation; its changes are written in the background.
    fn end(&mut self, now: Instant, session: u32) {
        let Session { began, period, .. } = self.sessions[session as usize];
        self.follow.ended(began, now);
        if now >= self.from {
            self.operations += 1;
            self.took += now.since(began);
        }
        let Demand { data, temp, .. } = self.periods[period].demand;
        for (role, access) in [(Role::Data, data), (Role::Temp, temp)] {
            for _ in 0..self.count(access.background_reads) {
                self.request(now, role, Operation::Read, access.background_reads.size);
            }
            self.write_later(now, role, access.background_writes);
        }
        match self.replay.arrivals {
            Arrivals::Closed => self.rest(now, session),
            Arrivals::Open => self.dormant.push(session),
        }
    }

    /// Queues background writes; issues them in a batch once there are enough.
    fn write_later(&mut self, now: Instant, role: Role, each: Each) {
        let size = each.size.0.max(1);
        self.unwritten[role as usize] += self.count(each) * size;
        if self.unwritten[role as usize] < WRITTEN_TOGETHER {
            return;
        }
        for _ in 0..std::mem::take(&mut self.unwritten[role as usize]) / size {
            self.request(now, role, Operation::Write, each.size);
        }
    }

    /// A request at a random place of one of the role's volumes.
    fn request(
        &mut self,
        now: Instant,
        role: Role,
        operation: Operation,
        size: Bytes,
    ) -> Completion {
        let volume = match self.replay.places.of(role) {
            [only] => *only,
            several => several[self.random.random_range(0..several.len())],
        };
        let length = Bytes(size.0.next_multiple_of(SECTOR).max(SECTOR));
        let slots = (self.spans[volume] / length.0).max(1);
        let offset = self.random.random_range(0..slots) * length.0;
        let request = match operation {
            Operation::Read => Request::read(offset, length),
            Operation::Write => Request::write(offset, length),
            Operation::Flush => Request::flush(),
        };
        self.submit(now, role, volume, request)
    }

    fn submit(&mut self, now: Instant, role: Role, volume: usize, request: Request) -> Completion {
        let completion = self.storage.submit(now, volume, request);
        if now >= self.from {
            self.counted[role as usize].add(&request, &completion);
        }
        completion
    }
}

impl Log {
    /// The group with this number, which is in flight.
    fn group(&mut self, number: u64) -> &mut Group {
        &mut self.groups[(number - self.oldest) as usize]
    }
}

impl Counted {
    fn add(&mut self, request: &Request, completion: &Completion) {
        let count = &mut self.0[request.operation as usize];
        count.count += 1;
        count.bytes = count.bytes.saturating_add(request.length.0);
        count.waited += completion.latency();
    }

    fn io(&self) -> Io {
        let requests = |operation: Operation| {
            let Count {
                count,
                bytes,
                waited,
            } = self.0[operation as usize];
            Requests {
                count: Some(count as f64),
                bytes: Some(bytes as f64),
                waited: Some(waited),
            }
        };
        Io {
            reads: requests(Operation::Read),
            writes: requests(Operation::Write),
            flushes: requests(Operation::Flush),
            session_writes: None,
        }
    }
}

#[cfg(test)]
mod tests;
