//! The background writer: brings dirty pages out, gathered, so that sessions do not.
//!
//! Two reasons to write: frames are wanted (the lazy writer: pages in the order of the pool's clock), and
//! a page of a data file has been dirty for too long (the checkpoint: in the order they became dirty).
//! Temporary pages have no checkpoint, as in SQL Server's tempdb: one that dies in time costs no write.

use alloc::collections::{BinaryHeap, VecDeque};
use core::cmp::{Ordering, Reverse};

use super::StoreSpec;
use super::pool::{Pool, Swept};
use super::{EXTENT_PAGES, PAGE};
use crate::request::Completion;
use crate::time::{Duration, Instant};

/// Share of the pool that the lazy writer keeps free: one frame in this many.
///
/// SQL Server does not publish its target; a bound on free frames only shifts when writing begins.
const FREE_SHARE: usize = 64;

/// How long to wait when every frame is on its way in and none can be written: asks again soon.
const BREATH: Duration = Duration::from_micros(50);

/// Writes under way, and pages that wait for the checkpoint.
pub(super) struct Writer {
    gather: u64,
    slots: usize,
    checkpoint: Option<Duration>,
    in_flight: BinaryHeap<Reverse<InFlight>>,
    /// Number of the last write.
    number: u64,
    /// Pages by the instant they became dirty.
    dirtied: VecDeque<(Instant, u64)>,
}

/// A run of neighbouring pages on its way to a volume.
struct InFlight {
    completion: Completion,
    number: u64,
    first: u64,
    pages: u64,
    /// Whether their frames are wanted.
    evict: bool,
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
    pub(super) fn new(spec: &StoreSpec) -> Writer {
        Writer {
            gather: (spec.write_gather.0 / PAGE.0).max(1),
            slots: spec.writes_in_flight.max(1) as usize,
            checkpoint: spec.checkpoint,
            in_flight: BinaryHeap::new(),
            number: 0,
            dirtied: VecDeque::new(),
        }
    }

    /// When the next write is done, or the next page has been dirty for too long.
    pub(super) fn next_due(&self) -> Option<Instant> {
        let done = self
            .in_flight
            .peek()
            .map(|Reverse(write)| write.completion.done);
        let old = match (self.checkpoint, self.dirtied.front()) {
            (Some(limit), Some((since, _))) if self.in_flight.len() < self.slots => {
                Some(*since + limit)
            }
            _ => None,
        };
        [done, old].into_iter().flatten().min()
    }

    /// A page of a data file became dirty at `now`.
    pub(super) fn dirtied(&mut self, now: Instant, key: u64) {
        if self.checkpoint.is_some() {
            self.dirtied.push_back((now, key));
        }
    }

    /// Finishes the writes that are done at `due`.
    pub(super) fn finish(&mut self, due: Instant, pool: &mut Pool) {
        while self
            .in_flight
            .peek()
            .is_some_and(|Reverse(write)| write.completion.done <= due)
        {
            let Some(Reverse(write)) = self.in_flight.pop() else {
                return;
            };
            for key in write.first..write.first + write.pages {
                pool.finish_write(key, write.number, write.evict);
            }
        }
    }

    /// Starts to write pages that have been dirty for too long at `now`.
    pub(super) fn write_old(
        &mut self,
        now: Instant,
        pool: &mut Pool,
        submit: &mut impl FnMut(Instant, u64, u64) -> Completion,
    ) {
        let Some(limit) = self.checkpoint else { return };
        while self.in_flight.len() < self.slots {
            let Some((since, key)) = self.dirtied.front().copied() else {
                return;
            };
            if since + limit > now {
                return;
            }
            self.dirtied.pop_front();
            if pool.dirty_since(key, since) && pool.writable(key) {
                self.write(now, key, false, pool, submit);
            }
        }
    }

    /// Frees frames until enough are free, every place in flight is taken, or nothing is to be had.
    pub(super) fn refill(
        &mut self,
        now: Instant,
        pool: &mut Pool,
        submit: &mut impl FnMut(Instant, u64, u64) -> Completion,
    ) {
        let target = (pool.len() / FREE_SHARE).max(2 * EXTENT_PAGES as usize);
        for _ in 0..2 * pool.len() {
            if pool.free_count() >= target || self.in_flight.len() >= self.slots {
                return;
            }
            match pool.sweep(now) {
                Swept::Freed | Swept::Busy => {}
                Swept::Dirty(key) => self.write(now, key, true, pool, submit),
            }
        }
    }

    /// The completion that somebody in want of a frame waits for.
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
        submit: &mut impl FnMut(Instant, u64, u64) -> Completion,
    ) {
        let (mut first, mut end) = (key, key + 1);
        while end - first < self.gather && pool.writable(end) {
            end += 1;
        }
        while end - first < self.gather && first > 0 && pool.writable(first - 1) {
            first -= 1;
        }
        self.number += 1;
        (first..end).for_each(|key| pool.start_write(key, self.number));
        let completion = submit(now, first, end - first);
        let write = InFlight {
            completion,
            number: self.number,
            first,
            pages: end - first,
            evict,
        };
        self.in_flight.push(Reverse(write));
    }
}
