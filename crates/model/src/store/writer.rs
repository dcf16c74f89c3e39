//! The background writer: writes dirty pages, gathered, so that sessions do not.
//!
//! Three reasons to write: frames are needed (the lazy writer: pages in the order of the pool's clock), or a page of a
//! data file has been dirty for too long or for too much log (the checkpoint: in the order they became dirty). If the
//! log still gets nearly full, sessions that change pages wait for the writer. Temporary pages have no checkpoint: one
//! dropped in time costs no write.

use alloc::collections::{BinaryHeap, VecDeque};
use alloc::vec::Vec;
use core::cmp::{Ordering, Reverse};

use hashbrown::HashMap;

use super::StoreSpec;
use super::doublewrite::{Batch, Doublewrite};
use super::files::first_key;
use super::pool::{Pool, Swept};
use super::run::Run;
use crate::request::{Completion, Durability, Request};
use crate::time::{Duration, Instant};

/// Share of the pool that the lazy writer keeps free: one frame in this many.
///
/// No product publishes its target; a bound on free frames only shifts when writing begins.
const FREE_SHARE: usize = 64;

/// Shares of the log's capacity from which pages are written because of it, and from which sessions wait for that, in
/// sixteenths: 7/8 (`async`) and 15/16 (`sync`) of the largest age of a change that is not written in place. Source:
/// `log_calc_max_ages`, <https://github.com/mysql/mysql-server/blob/5.7/storage/innobase/log/log0log.cc>.
const LOG_WRITES_AT: u64 = 14;
const LOG_WAITS_AT: u64 = 15;

/// How long to wait when every frame is being read and none can be written: retries soon.
const BREATH: Duration = Duration::from_micros(50);

/// Writes in flight, and pages waiting for the checkpoint.
pub(super) struct Writer {
    gather: u64,
    slots: usize,
    /// Two extents: the least kept free.
    free_min: usize,
    /// Keys of temporary pages begin here: they have no checkpoint and no doublewrite, and need not be durable.
    temporary_from: u64,
    /// When a write of other pages is durable.
    durability: Durability,
    checkpoint: Option<Duration>,
    /// Most bytes of log since the oldest change not written in place.
    log_capacity: Option<u64>,
    doublewrite: Option<Doublewrite>,
    in_flight: BinaryHeap<Reverse<InFlight>>,
    /// Runs chosen and not yet written: each takes one of `slots`.
    runs: usize,
    /// Number of the last run, or write of copies.
    number: u64,
    /// Pages in the order in which they became dirty.
    dirtied: VecDeque<Dirtied>,
    /// Those of them whose turn came while they were being written.
    passed: HashMap<u64, Dirtied>,
    /// The longest time so far that a page waited to be written beyond what the checkpoint allows.
    late: Duration,
}

/// A page that became dirty.
#[derive(Clone, Copy)]
struct Dirtied {
    key: u64,
    at: Instant,
    /// Where the log ended then.
    log_end: u64,
}

/// A write to a volume.
pub(super) enum WriteRequest {
    /// Neighbouring pages, in place.
    Pages {
        /// Key of the first.
        first: u64,
        /// How many.
        count: u64,
        /// When they are durable.
        durability: Durability,
    },
    /// Copies of pages, to the doublewrite area.
    Copies {
        /// The area's volume.
        volume: usize,
        /// The write.
        request: Request,
    },
}

/// A write on its way to a volume.
struct InFlight {
    completion: Completion,
    number: u64,
    job: Job,
}

/// What is being written.
enum Job {
    /// Pages, in place.
    Pages(Run),
    /// Copies of these, which are then written in place.
    Copies(Vec<Run>),
}

impl InFlight {
    fn order(&self) -> (Instant, u64) {
        (self.completion.done, self.number)
    }
}

impl PartialEq for InFlight {
    fn eq(&self, other: &InFlight) -> bool {
        self.order() == other.order()
    }
}

impl Eq for InFlight {}

impl PartialOrd for InFlight {
    fn partial_cmp(&self, other: &InFlight) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for InFlight {
    fn cmp(&self, other: &InFlight) -> Ordering {
        self.order().cmp(&other.order())
    }
}

impl Writer {
    pub(super) fn new(spec: &StoreSpec, doublewrite: Option<Doublewrite>) -> Writer {
        Writer {
            gather: (spec.write_gather.0 / spec.page_size.bytes().0).max(1),
            slots: spec.writes_in_flight.max(1) as usize,
            free_min: 2 * spec.page_size.extent() as usize,
            temporary_from: first_key(spec.data.len()),
            durability: spec.data_durability,
            checkpoint: spec.checkpoint,
            log_capacity: spec.log_capacity.map(|capacity| capacity.0),
            doublewrite,
            in_flight: BinaryHeap::new(),
            runs: 0,
            number: 0,
            dirtied: VecDeque::new(),
            passed: HashMap::new(),
            late: Duration::ZERO,
        }
    }

    /// When the next write is done, the next page has been dirty for too long, or copies have waited long enough.
    pub(super) fn next_due(&self) -> Option<Instant> {
        let done = self
            .in_flight
            .peek()
            .map(|Reverse(write)| write.completion.done);
        let old = match (self.checkpoint, self.dirtied.front()) {
            (Some(limit), Some(oldest)) if self.runs < self.slots => Some(oldest.at + limit),
            _ => None,
        };
        let copies = self.doublewrite.as_ref().and_then(Doublewrite::next_due);
        [done, old, copies].into_iter().flatten().min()
    }

    /// The longest time so far that a page waited to be written beyond what the checkpoint allows.
    pub(super) fn late(&self) -> Duration {
        self.late
    }

    /// Records that a page of a data file became dirty at `now`, when the log ended at `log_end`.
    pub(super) fn dirtied(&mut self, now: Instant, key: u64, log_end: u64) {
        if self.checkpoint.is_some() || self.log_capacity.is_some() {
            self.dirtied.push_back(Dirtied {
                key,
                at: now,
                log_end,
            });
        }
    }

    /// Whether the log that ends at `log_end` is so full that a session must wait before it changes a page.
    pub(super) fn is_log_full(&self, log_end: u64) -> bool {
        self.is_log_used(log_end, LOG_WAITS_AT)
    }

    /// Whether pages must be written because the log that ends at `log_end` fills.
    pub(super) fn is_log_filling(&self, log_end: u64) -> bool {
        self.is_log_used(log_end, LOG_WRITES_AT)
    }

    fn is_log_used(&self, log_end: u64, sixteenths: u64) -> bool {
        match (self.log_capacity, self.dirtied.front()) {
            (Some(capacity), Some(oldest)) => log_end - oldest.log_end > capacity / 16 * sixteenths,
            (Some(_), None) | (None, _) => false,
        }
    }

    /// Finishes the writes that are done at `due`; pages whose copies are written are then written in place.
    pub(super) fn finish(
        &mut self,
        due: Instant,
        pool: &mut Pool,
        submit: &mut impl FnMut(Instant, WriteRequest) -> Completion,
    ) {
        while self
            .in_flight
            .peek()
            .is_some_and(|Reverse(write)| write.completion.done <= due)
        {
            let Some(Reverse(write)) = self.in_flight.pop() else {
                return;
            };
            match write.job {
                Job::Pages(run) => self.finish_run(&run, pool),
                Job::Copies(runs) => {
                    for run in runs {
                        self.submit(due, run, submit);
                    }
                }
            }
        }
        let copies = self.doublewrite.as_ref().and_then(Doublewrite::next_due);
        if copies.is_some_and(|copies| copies <= due) {
            self.copy_waiting(due, submit);
        }
    }

    /// A run's pages are written in place.
    fn finish_run(&mut self, run: &Run, pool: &mut Pool) {
        self.runs -= 1;
        for key in run.first..run.first + run.pages {
            let dirty_since = pool.finish_write(key, run.number, run.evict);
            if let Some(passed) = self.passed.remove(&key)
                && dirty_since == Some(passed.at)
            {
                self.dirtied.push_front(passed);
            }
        }
    }

    /// Starts to write pages that have been dirty for too long at `now`, or for too much of the log, which ends at
    /// `log_end`.
    pub(super) fn write_old(
        &mut self,
        now: Instant,
        log_end: u64,
        pool: &mut Pool,
        submit: &mut impl FnMut(Instant, WriteRequest) -> Completion,
    ) {
        while self.runs < self.slots {
            let Some(oldest) = self.dirtied.front().copied() else {
                return;
            };
            let due = self.checkpoint.map(|limit| oldest.at + limit);
            let is_due = due.is_some_and(|due| due <= now);
            if !is_due && !self.is_log_filling(log_end) {
                return;
            }
            self.dirtied.pop_front();
            if !pool.dirty_since(oldest.key, oldest.at) {
                continue;
            }
            if !pool.writable(oldest.key) {
                self.passed.insert(oldest.key, oldest);
                continue;
            }
            if let Some(due) = due.filter(|_| is_due) {
                self.late = self.late.max(now - due);
            }
            self.write(now, oldest.key, false, pool, submit);
        }
    }

    /// Frees frames until enough are free, every place in flight is taken, or none can be freed.
    pub(super) fn refill(
        &mut self,
        now: Instant,
        pool: &mut Pool,
        submit: &mut impl FnMut(Instant, WriteRequest) -> Completion,
    ) {
        let target = (pool.len() / FREE_SHARE).max(self.free_min);
        for _ in 0..2 * pool.len() {
            if pool.free_count() >= target || self.runs >= self.slots {
                break;
            }
            match pool.sweep(now) {
                Swept::Freed | Swept::Busy => {}
                Swept::Dirty(key) => self.write(now, key, true, pool, submit),
            }
        }
        // Frames are needed before a batch of copies fills, and nothing in flight would free any.
        if pool.free_count() < target / 2 && self.in_flight.is_empty() {
            self.copy_waiting(now, submit);
        }
    }

    /// The completion that a session in need of a frame waits for.
    pub(super) fn next_completion(&self, now: Instant) -> Completion {
        match self.in_flight.peek() {
            Some(Reverse(write)) => write.completion,
            None => Completion {
                done: now + BREATH,
                service: BREATH,
                ..Completion::immediate(now)
            },
        }
    }

    /// Writes the page with its dirty neighbours.
    fn write(
        &mut self,
        now: Instant,
        key: u64,
        evict: bool,
        pool: &mut Pool,
        submit: &mut impl FnMut(Instant, WriteRequest) -> Completion,
    ) {
        let (mut first, mut end) = (key, key + 1);
        while end - first < self.gather && pool.writable(end) {
            end += 1;
        }
        while end - first < self.gather && first > 0 && pool.writable(first - 1) {
            first -= 1;
        }
        self.number += 1;
        self.runs += 1;
        (first..end).for_each(|key| pool.start_write(key, self.number));
        let run = Run {
            number: self.number,
            first,
            pages: end - first,
            evict,
        };
        let is_data = key < self.temporary_from;
        let Some(doublewrite) = self.doublewrite.as_mut().filter(|_| is_data) else {
            return self.submit(now, run, submit);
        };
        let overflow = doublewrite.gather(now, run);
        // With every place waiting and none in flight, no page would ever fill the batch.
        let stuck = self.runs >= self.slots && self.in_flight.is_empty();
        let full = doublewrite.is_full() || stuck;
        if let Some(batch) = overflow {
            self.copy(now, batch, submit);
        }
        if full {
            self.copy_waiting(now, submit);
        }
    }

    /// Writes the copies of the waiting pages, if any.
    fn copy_waiting(
        &mut self,
        now: Instant,
        submit: &mut impl FnMut(Instant, WriteRequest) -> Completion,
    ) {
        if let Some(batch) = self.doublewrite.as_mut().and_then(Doublewrite::take) {
            self.copy(now, batch, submit);
        }
    }

    /// Writes the copies of a batch.
    fn copy(
        &mut self,
        now: Instant,
        batch: Batch,
        submit: &mut impl FnMut(Instant, WriteRequest) -> Completion,
    ) {
        let Batch {
            runs,
            volume,
            request,
        } = batch;
        self.number += 1;
        let completion = submit(now, WriteRequest::Copies { volume, request });
        self.in_flight.push(Reverse(InFlight {
            completion,
            number: self.number,
            job: Job::Copies(runs),
        }));
    }

    /// Submits a run to its volume.
    fn submit(
        &mut self,
        now: Instant,
        run: Run,
        submit: &mut impl FnMut(Instant, WriteRequest) -> Completion,
    ) {
        let request = WriteRequest::Pages {
            first: run.first,
            count: run.pages,
            durability: match run.first < self.temporary_from {
                true => self.durability,
                false => Durability::OnFlush,
            },
        };
        let completion = submit(now, request);
        self.in_flight.push(Reverse(InFlight {
            completion,
            number: run.number,
            job: Job::Pages(run),
        }));
    }
}

#[cfg(test)]
mod tests;
