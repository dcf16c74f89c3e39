//! A replay that is running: its events, in order of time.

mod beside;
mod counted;
mod groups;
mod locks;
mod log;
mod periods;
mod replay_session;
mod session;

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

use model::cores::Cores;
use model::random::{self, Stream};
use model::split::{Spent, TimeSplit};
use model::storage::Usage;
use model::store::{Cause, Wait};
use model::{
    Bytes, Completion, Durability, Duration, Instant, Observer, Operation, Request, Storage,
    VolumeSpec,
};
use rand::RngExt;
use rand_distr::{Distribution, Exp1};
use reading::Role;

use super::demand::Demand;
use super::parts::{Parts, TimePart};
use super::replay::{Follow, Outcome, Replay, ReplayError};
use super::series::Period;
use counted::Counted;
use groups::Log;
use replay_session::ReplaySession;

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

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// An event that is due; the greatest is the next one. No two have the same number.
#[derive(Clone, Copy, Debug)]
struct Due {
    at: Instant,
    number: u64,
    event: Event,
}

impl Ord for Due {
    fn cmp(&self, other: &Due) -> Ordering {
        (other.at, other.number).cmp(&(self.at, self.number))
    }
}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Due) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Due {
    fn eq(&self, other: &Due) -> bool {
        self.number == other.number
    }
}

impl Eq for Due {}

/// A replay that is running.
pub(crate) struct Run<'a> {
    replay: Replay<'a>,
    periods: &'a [Period],
    /// Index of the current period.
    period: usize,
    spans: Vec<u64>,
    storage: Storage,
    cores: Cores,
    /// The lock's queue: modelled as a single processor.
    lock: Cores,
    /// Sessions that have or want each lock, which is held until a commit is durable: the first one has it, the others wait in
    /// order.
    locks: Vec<VecDeque<u32>>,
    random: Stream,
    queue: BinaryHeap<Due>,
    /// Whether the head of the queue has been processed, so its successor can replace it.
    has_happened: bool,
    order: u64,
    sessions: Vec<ReplaySession>,
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
    parts: Parts,
    processor: Duration,
    follow: &'a mut dyn Follow,
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
        let run = Run::new(*self, observer, follow);
        run.outcome()
    }
}

impl<'a> Run<'a> {
    /// A replay before its first event.
    pub(crate) fn new(
        replay: Replay<'a>,
        observer: Box<dyn Observer>,
        follow: &'a mut dyn Follow,
    ) -> Run<'a> {
        let seed = random::derive(replay.seed, "storage", 0);
        Run {
            replay,
            periods: replay.demand.periods(),
            period: 0,
            spans: replay.volumes.iter().map(span).collect(),
            storage: Storage::observed(replay.machine, replay.volumes, seed, observer),
            cores: Cores::new(replay.machine.cores),
            lock: Cores::new(1),
            locks: Vec::new(),
            random: random::stream(replay.seed, "replay"),
            queue: BinaryHeap::new(),
            has_happened: false,
            order: 0,
            sessions: Vec::new(),
            dormant: Vec::new(),
            arrival: 0,
            log: Log::default(),
            unwritten: Default::default(),
            from: Instant::ZERO + replay.warm_up,
            until: Instant::ZERO + replay.warm_up + replay.length,
            counted: Default::default(),
            operations: 0,
            took: Duration::ZERO,
            split: TimeSplit::default(),
            parts: Parts::default(),
            processor: Duration::ZERO,
            follow,
        }
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// When an operation takes zero time, operations arrive faster than they end, or it was stopped.
    pub(crate) fn outcome(mut self) -> Result<Outcome, ReplayError> {
        let usage_before = self.run()?;
        let operations = self.operations;
        Ok(Outcome {
            length: self.replay.length,
            operations,
            operation: Duration::from_secs_f64(
                self.took.as_secs_f64() / (operations as f64).max(1.0),
            ),
            roles: Role::COMMON
                .into_iter()
                .map(|role| (role, self.counted[role as usize].io()))
                .collect(),
            usage_before,
            usage_after: self.storage.usage(self.until),
            service: Role::COMMON
                .into_iter()
                .map(|role| (role, self.counted[role as usize].service()))
                .collect(),
            parts: self.parts.times(1.0 / (operations as f64).max(1.0)),
            split: self.split,
            processor: self.processor,
        })
    }

    /// Processes all events. Returns the use of limits at the start of measurement.
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
        let Due { at, event, .. } = *self.queue.peek()?;
        self.has_happened = true;
        Some((at, event))
    }

    fn push(&mut self, at: Instant, event: Event) {
        self.order += 1;
        let due = Due {
            at,
            number: self.order,
            event,
        };
        if std::mem::take(&mut self.has_happened)
            && let Some(mut first) = self.queue.peek_mut()
        {
            *first = due;
            return;
        }
        self.queue.push(due);
    }

    fn exponential(&mut self, mean: Duration) -> Duration {
        let drawn: f64 = Exp1.sample(&mut self.random);
        Duration::from_secs_f64(mean.as_secs_f64() * drawn)
    }

    /// Records time that a session spends until `end`, if that is within the measured time.
    fn spend(&mut self, end: Instant, on: Spent, time: Duration) {
        if self.counts(end) {
            self.split.add(on, time);
            let part = match on {
                Spent::Cpu | Spent::CpuQueued => TimePart::Processor,
                Spent::Lock => TimePart::Lock,
                Spent::Think | Spent::Waiting(..) => return,
            };
            self.parts[part] += time.as_secs_f64();
        }
    }

    /// Records a wait of a session for `part` of a request, for files of `role`.
    fn wait(&mut self, end: Instant, role: Role, cause: Cause, part: Completion) {
        if self.counts(end) {
            self.parts[waited_for(role, cause)] += part.latency().as_secs_f64();
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

    /// A request at a random place of one of the role's volumes. It begins at a multiple of the next power of two: the mean size of requests
    /// is not theirs, and pages of a database, which are aligned, lie in one unit of a stripe each.
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
        let offset = self.random.random_range(0..slots) * length.0.next_power_of_two();
        let request = match operation {
            Operation::Read => Request::read(offset, length),
            Operation::Write => Request {
                durability: self.durability(role),
                ..Request::write(offset, length)
            },
            Operation::Flush => Request::flush(),
        };
        self.submit(now, role, volume, request)
    }

    /// When a write to a file of `role` other than the log is durable.
    fn durability(&self, role: Role) -> Durability {
        let demand = self.demand();
        match role {
            Role::Temp => demand.temp.durability,
            Role::Binlog | Role::Data | Role::Doublewrite | Role::Log | Role::Undo => {
                demand.data.durability
            }
        }
    }

    fn submit(&mut self, now: Instant, role: Role, volume: usize, request: Request) -> Completion {
        let completion = self.storage.submit(now, volume, request);
        if now >= self.from {
            self.counted[role as usize].add(&request, &completion);
        }
        completion
    }
}

fn waited_for(role: Role, cause: Cause) -> TimePart {
    match (role, cause) {
        (_, Cause::Log) => TimePart::Log,
        (Role::Temp, _) => TimePart::Temp,
        (_, Cause::Read) => TimePart::Read,
        (_, Cause::Write) => TimePart::Write,
    }
}

fn span(volume: &VolumeSpec) -> u64 {
    let size = volume.disks.iter().map(|disk| disk.size.0);
    size.fold(0, u64::saturating_add).min(SPAN_MAX)
}
