//! The demand of a profile on other disks: sessions that issue operations one after the other, in virtual time.
//!
//! ```text
//! delay ──► processor ──► reads, temp, writes, one after the other ──► log (group commit) ──► delay ..
//!                                                                        └─► writes in the background
//! ```
//!
//! METHODOLOGY.md has what a real server did beside it. Not modelled: log writes that become several requests, a filesystem's
//! journal, locks (they are in the delay, which stays the same), a buffer pool whose size changes, full-page images
//! that become fewer or more, sessions that wait because writes in the background do not keep up.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use model::cores::Cores;
use model::random::{self, Stream};
use model::{
    Bytes, Completion, Duration, Instant, MachineSpec, Operation, Request, Storage, VolumeSpec,
};
use rand::RngExt;
use rand_distr::{Distribution, Exp1};
use reading::Role;
use thiserror::Error;

use super::definition::{Io, Requests};
use super::demand::{Access, Demand, Each};
use super::summary::Rates;

/// Log writes are whole blocks of this size: PostgreSQL's `XLOG_BLCKSZ`. SQL Server writes sectors, which no limit on
/// requests tells apart.
const LOG_BLOCK: u64 = 8 << 10;

/// Where a log begins again: it is sequential, and its place on the disk decides nothing.
const LOG_WRAPS: u64 = 1 << 30;

/// Sizes of random requests are multiples of this, and so are their places.
const SECTOR: u64 = 512;

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

/// How many events may happen without time going on before that counts as for ever.
const TIMELESS_MAX: u64 = 1_000_000;

/// A demand that takes no time: its operations would never end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "an operation takes no time: it asks for no processor, has no delay, and its disks serve it at once; give the volumes \
     a disk with limits and latencies"
)]
pub struct Timeless;

/// What a closed loop did.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Operations per second.
    pub operations_per_s: f64,
    /// Mean time of an operation, without its delay.
    pub operation: Duration,
    /// Requests by what the files are for.
    pub roles: BTreeMap<Role, Rates>,
}

/// Runs the demand on volumes for `length`, after `warm_up`. Same seed, same outcome.
///
/// Places of reads and writes are random in the first `span` of a volume, or in all of a smaller one.
///
/// # Errors
/// When an operation takes no time.
///
/// # Panics
/// When a place is not one of the volumes, or a list of places is empty.
pub fn closed_loop(
    demand: &Demand,
    (machine, volumes): (&MachineSpec, &[VolumeSpec]),
    places: &Places,
    span: Bytes,
    (warm_up, length): (Duration, Duration),
    seed: u64,
) -> Result<Outcome, Timeless> {
    let mut run = Run {
        demand,
        places,
        spans: volumes.iter().map(|volume| span_of(volume, span)).collect(),
        storage: Storage::new(machine, volumes, random::derive(seed, "storage", 0)),
        cores: Cores::new(machine.cores),
        random: random::stream(seed, "closed loop"),
        queue: BinaryHeap::new(),
        order: 0,
        sessions: vec![Session::default(); demand.sessions as usize],
        log: Log::default(),
        from: Instant::ZERO + warm_up,
        counted: BTreeMap::new(),
        operations: 0,
        took: Duration::ZERO,
    };
    run.run(Instant::ZERO + warm_up + length)?;
    let rates = |(role, io): (&Role, &Io)| (*role, Rates::of(io, length));
    let operations = run.operations;
    Ok(Outcome {
        operations_per_s: operations as f64 / length.as_secs_f64(),
        operation: Duration::from_secs_f64(run.took.as_secs_f64() / (operations as f64).max(1.0)),
        roles: run.counted.iter().map(rates).collect(),
    })
}

fn span_of(volume: &VolumeSpec, span: Bytes) -> u64 {
    let size = volume.disks.iter().map(|disk| disk.size.0);
    let size = size.fold(0, u64::saturating_add);
    span.0.min(size)
}

/// What happens next to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A session's delay is over.
    Begins(u32),
    /// A session goes on.
    GoesOn(u32),
    /// The log's write is done.
    LogWritten,
    /// The log's flush is done.
    LogFlushed,
}

/// A session within an operation.
#[derive(Clone, Debug, Default)]
struct Session {
    began: Instant,
    /// Requests that it still has to wait for: role, kind and size; the last one is next.
    left: Vec<(Role, Operation, Bytes)>,
    commits: bool,
}

/// One write or flush at a time; whoever comes meanwhile is in the next.
#[derive(Debug, Default)]
struct Log {
    is_busy: bool,
    waiting: Vec<u32>,
    group: Vec<u32>,
    /// Bytes that are not written yet.
    bytes: f64,
    offset: u64,
}

struct Run<'a> {
    demand: &'a Demand,
    places: &'a Places,
    spans: Vec<u64>,
    storage: Storage,
    cores: Cores,
    random: Stream,
    queue: BinaryHeap<Reverse<(Instant, u64, Event)>>,
    order: u64,
    sessions: Vec<Session>,
    log: Log,
    /// When counting begins.
    from: Instant,
    counted: BTreeMap<Role, Io>,
    operations: u64,
    took: Duration,
}

impl Run<'_> {
    fn run(&mut self, until: Instant) -> Result<(), Timeless> {
        let (mut last, mut since_moved) = (Instant::ZERO, 0);
        for session in 0..self.demand.sessions {
            self.rest(Instant::ZERO, session);
        }
        while let Some(Reverse((now, _, event))) = self.queue.pop() {
            if now >= until {
                return Ok(());
            }
            since_moved = if now > last { 0 } else { since_moved + 1 };
            last = now;
            if since_moved > TIMELESS_MAX {
                return Err(Timeless);
            }
            match event {
                Event::Begins(session) => self.begin(now, session),
                Event::GoesOn(session) => self.go_on(now, session),
                Event::LogWritten if self.demand.log.is_flushed => {
                    let done = self
                        .submit(now, Role::Log, self.places.log, Request::flush())
                        .done;
                    self.push(done, Event::LogFlushed);
                }
                Event::LogWritten | Event::LogFlushed => self.end_group(now),
            }
        }
        Ok(())
    }

    fn push(&mut self, at: Instant, event: Event) {
        self.order += 1;
        self.queue.push(Reverse((at, self.order, event)));
    }

    /// A session's delay; exponential, as nothing is known but its mean.
    fn rest(&mut self, now: Instant, session: u32) {
        let delay = self.exponential(self.demand.delay);
        self.push(now + delay, Event::Begins(session));
    }

    fn exponential(&mut self, mean: Duration) -> Duration {
        let drawn: f64 = Exp1.sample(&mut self.random);
        Duration::from_secs_f64(mean.as_secs_f64() * drawn)
    }

    fn begin(&mut self, now: Instant, session: u32) {
        let (data, temp) = (self.demand.data, self.demand.temp);
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
        let commits = self.demand.log.commits_per_operation.clamp(0.0, 1.0);
        self.sessions[session as usize] = Session {
            began: now,
            left,
            commits: self.random.random_bool(commits),
        };
        let burst = self.exponential(self.demand.processor);
        let end = self.cores.run(now, burst);
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
        if let Some((role, operation, size)) = self.sessions[session as usize].left.pop() {
            let done = self.request(now, role, operation, size).done;
            self.push(done, Event::GoesOn(session));
            return;
        }
        self.log.bytes += self.demand.log.bytes_per_operation;
        if self.sessions[session as usize].commits {
            self.log.waiting.push(session);
            if !self.log.is_busy {
                self.write_log(now);
            }
        } else {
            self.end(now, session);
        }
    }

    /// Writes the log of all that wait for it.
    fn write_log(&mut self, now: Instant) {
        self.log.is_busy = true;
        self.log.group = std::mem::take(&mut self.log.waiting);
        let blocks = (self.log.bytes / LOG_BLOCK as f64).ceil().max(1.0) as u64;
        self.log.bytes = 0.0;
        let length = blocks.saturating_mul(LOG_BLOCK);
        let request = Request::write(self.log.offset % LOG_WRAPS, Bytes(length));
        self.log.offset = self.log.offset.wrapping_add(length);
        let done = self.submit(now, Role::Log, self.places.log, request).done;
        self.push(done, Event::LogWritten);
    }

    fn end_group(&mut self, now: Instant) {
        for session in std::mem::take(&mut self.log.group) {
            self.end(now, session);
        }
        self.log.is_busy = false;
        if !self.log.waiting.is_empty() {
            self.write_log(now);
        }
    }

    /// An operation ended; what it changed is written in the background.
    fn end(&mut self, now: Instant, session: u32) {
        if now >= self.from {
            self.operations += 1;
            self.took += now.since(self.sessions[session as usize].began);
        }
        for (role, access) in [
            (Role::Data, self.demand.data),
            (Role::Temp, self.demand.temp),
        ] {
            let Access {
                background_reads,
                background_writes,
                ..
            } = access;
            for (operation, each) in [
                (Operation::Read, background_reads),
                (Operation::Write, background_writes),
            ] {
                for _ in 0..self.count(each) {
                    self.request(now, role, operation, each.size);
                }
            }
        }
        self.rest(now, session);
    }

    /// A request at a random place of one of the role's volumes.
    fn request(
        &mut self,
        now: Instant,
        role: Role,
        operation: Operation,
        size: Bytes,
    ) -> Completion {
        let volumes = match role {
            Role::Data => &self.places.data,
            Role::Temp => &self.places.temp,
            Role::Log => std::slice::from_ref(&self.places.log),
        };
        let volume = volumes[self.random.random_range(0..volumes.len())];
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
            let io = self.counted.entry(role).or_default();
            let requests = match request.operation {
                Operation::Read => &mut io.reads,
                Operation::Write => &mut io.writes,
                Operation::Flush => &mut io.flushes,
            };
            count(requests, &request, &completion);
        }
        completion
    }
}

fn count(requests: &mut Requests, request: &Request, completion: &Completion) {
    *requests.count.get_or_insert(0.0) += 1.0;
    *requests.bytes.get_or_insert(0.0) += request.length.0 as f64;
    *requests.waited.get_or_insert(Duration::ZERO) += completion.latency();
}

#[cfg(test)]
mod tests;
