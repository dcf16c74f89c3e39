//! The demand of a profile on other disks, in virtual time.
//!
//! ```text
//! delay ──► processor ──► lock ──► reads, temp, writes, one after the other ──► log (group commit) ──► delay ..
//!                                                                                 └─► writes in the background
//! ```
//!
//! Closed, a session issues its next operation when the last one ended and its delay is over. Open, operations arrive
//! whether or not earlier ones ended, and there is no delay.
//!
//! METHODOLOGY.md has what a real server did beside it. Not modelled: log writes that become several requests, a
//! filesystem's journal, locks that are held during requests (waits for them are in the delay, which stays the same), a buffer pool whose size changes, full-page
//! images that become fewer or more, sessions that wait because writes in the background do not keep up, processors that
//! others had to wait for where it was recorded (the wait is in the delay, and comes again where processors are few).

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

/// Where a log begins again: it is sequential, and its place on the disk decides nothing.
const LOG_WRAPS: u64 = 1 << 30;

/// Writes that nobody waits for come together, so many at once: PostgreSQL's `checkpoint_flush_after`, on Linux. SQL
/// Server's checkpoint has as many in flight.
///
/// Source: *PostgreSQL 18 documentation*, 19.5.2, <https://www.postgresql.org/docs/18/runtime-config-wal.html>.
const WRITTEN_TOGETHER: u64 = 256 << 10;

/// Sizes of random requests are multiples of this, and so are their places.
const SECTOR: u64 = 512;

/// Most of a volume that places are drawn from, so that no place overflows.
const SPAN_MAX: u64 = 1 << 50;

/// How many events may happen without time going on before that counts as for ever.
const TIMELESS_MAX: u64 = 1_000_000;

/// How many events between two looks at whether to stop.
const LOOK_EVERY: u64 = 4_096;

/// Most operations under way in an open system.
const UNDER_WAY_MAX: usize = 65_536;

/// Which volumes files are on, by their place in the list of volumes; none of the lists is empty.
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
    /// Where files of a role are; nowhere where profiles do not have it.
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
    /// A session's next one after its last one, and a delay.
    #[default]
    Closed,
    /// At the recorded rate, whether or not earlier ones ended.
    Open,
}

/// A demand, and the volumes that it is to run on.
#[derive(Clone, Copy, Debug)]
pub struct Replay<'a> {
    /// What is asked for; over again where `length` is longer.
    pub demand: &'a DemandSeries,
    /// When operations begin.
    pub arrivals: Arrivals,
    /// Its processors and limits.
    pub machine: &'a MachineSpec,
    /// The volumes.
    pub volumes: &'a [VolumeSpec],
    /// Which files are on them.
    pub places: &'a Places,
    /// Time before anything is counted: the end of the demand, so that the demand begins when counting does.
    pub warm_up: Duration,
    /// Time that is counted; above 0.
    pub length: Duration,
    /// All randomness. Same seed, same outcome.
    pub seed: u64,
}

/// Whoever follows a replay.
pub trait Follow {
    /// An operation that began at `began` ended, counted or not.
    fn ended(&mut self, began: Instant, now: Instant);

    /// Whether to end early.
    fn is_stopped(&self) -> bool {
        false
    }
}

/// Nobody.
impl Follow for () {
    fn ended(&mut self, _began: Instant, _now: Instant) {}
}

/// Why a replay has no outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ReplayError {
    /// A demand that takes no time: its operations would never end.
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

/// What a replay did in the time that is counted.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// How long that is.
    pub length: Duration,
    /// Operations that ended.
    pub operations: u64,
    /// Mean time of an operation, without its delay.
    pub operation: Duration,
    /// Requests, by what the files are for.
    pub roles: BTreeMap<Role, Io>,
    /// What sessions spent their time on; delays are [`Spent::Think`].
    pub split: TimeSplit,
    /// Time that processors were busy.
    pub processor: Duration,
    /// The limits of machine and disks when it began.
    pub usage_before: Vec<Usage>,
    /// The same when it ended.
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
    /// Places of reads and writes are random in the whole of a volume.
    ///
    /// # Errors
    /// When an operation takes no time, operations arrive faster than they end, or it was stopped.
    ///
    /// # Panics
    /// When a place is not one of the volumes, or a list of places is empty.
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

/// What happens next to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The next period begins.
    Period,
    /// An operation arrives, unless the period in which its time was drawn is over.
    Arrives(u64),
    /// A session's delay is over, unless another one was drawn since.
    Begins(u32, u32),
    /// A session goes on.
    GoesOn(u32),
    /// The write of a group of commits is done.
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
    /// Requests that it still has to wait for: role, kind and size; the last one is next.
    left: Vec<(Role, Operation, Bytes)>,
    commits: bool,
    /// Whether it has yet to take the lock.
    locks: bool,
    /// Since when it waits for the log.
    waits_since: Instant,
    /// Since when it rests, if it does.
    rests_since: Option<Instant>,
    /// How many delays were drawn for it; the last one counts.
    draw: u32,
}

/// So many writes at a time, each with its flush; whoever comes meanwhile is in the next.
#[derive(Debug, Default)]
struct Log {
    in_flight: u32,
    waiting: Vec<u32>,
    /// Commits whose log is not there yet, the oldest first.
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
    /// What they wait for: the write, and the flush after it.
    parts: Vec<Completion>,
    /// Whether both are done: the log is there once those of all older groups are, too.
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
    /// The one that it is.
    period: usize,
    spans: Vec<u64>,
    storage: Storage,
    cores: Cores,
    /// Who has it next: a processor that there is one of.
    lock: Cores,
    random: Stream,
    queue: BinaryHeap<Reverse<(Instant, u64, Event)>>,
    /// Whether the first of the queue has happened, so that what follows it can take its place.
    has_happened: bool,
    order: u64,
    sessions: Vec<Session>,
    /// Sessions that have nothing to do: those above a period's number, or, in an open system, all that ended.
    dormant: Vec<u32>,
    /// Number of the arrival that is expected; another one's time was drawn in a period that is over.
    arrival: u64,
    log: Log,
    /// Bytes that are to be written in the background, by role.
    unwritten: [u64; Role::ALL.len()],
    /// When counting begins.
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
    /// Runs to the end. Where limits stood when counting began.
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

    /// The demand of the present period.
    fn demand(&self) -> &Demand {
        &self.periods[self.period].demand
    }

    /// What happens next. It stays in the queue until something is pushed or the next is asked for: most events have one
    /// that follows, and replacing the first is half the work of taking it out and putting another in.
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

    /// Begins so far within the demand that its beginning is that of counting.
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

    /// Begins the present period, which ends after `left`.
    fn begin_period(&mut self, now: Instant, left: Duration) {
        if self.periods.len() > 1 {
            self.push(now + left, Event::Period);
        }
        match self.replay.arrivals {
            Arrivals::Closed => {
                let count = self.demand().sessions;
                // What is left of a delay is as long as a new one, of the period that it is in.
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

    /// Draws the time of the next arrival; it replaces the one that was expected.
    fn expect_arrival(&mut self, now: Instant) {
        self.arrival += 1;
        let rate = self.periods[self.period].operations_per_s;
        if rate > 0.0 {
            let gap = self.exponential(Duration::from_secs_f64(1.0 / rate));
            self.push(now + gap, Event::Arrives(self.arrival));
        }
    }

    /// A session that has nothing to do, or a new one.
    fn awake(&mut self) -> u32 {
        self.dormant.pop().unwrap_or_else(|| {
            self.sessions.push(Session::default());
            self.sessions.len() as u32 - 1
        })
    }

    /// A session's delay; exponential, as nothing is known but its mean.
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

    /// Time that a session spends until `end`; it counts where that lies within the counted time.
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
        // Its memory is used again.
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

    /// A whole number whose mean is what an operation makes.
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

    /// Writes the log of all that wait for it, if there are any and another write may be in flight.
    fn write_log(&mut self, now: Instant) {
        let is_full = self.log.in_flight >= self.demand().log.in_flight_max;
        if is_full || self.log.waiting.is_empty() {
            return;
        }
        let page = self.demand().log.page.0.max(1);
        let bytes = std::mem::take(&mut self.log.bytes).ceil() as u64;
        // From the page that the last write ended in.
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

    /// A group's write and flush are done. A log has no gaps: what is behind an older write that is not done has to wait.
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

    /// A wait for the log: for its flush, for its write, and before that for those of another group, which was held up by
    /// the same things.
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

    /// An operation ended; what it changed is written in the background.
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

    /// Writes in the background: with others, once there are enough.
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
    /// The group of this number, which is under way.
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
