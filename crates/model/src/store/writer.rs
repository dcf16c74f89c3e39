//! The background writer: writes dirty pages, gathered, so that sessions do not.
//!
//! Three reasons to write: frames are needed (the lazy writer: pages in the order of the pool's clock), or a page of a
//! data file has been dirty for too long or for too much log (the checkpoint: in the order they became dirty). If the
//! log still gets nearly full, sessions that change pages wait for the writer. Temporary pages have no checkpoint, as
//! in SQL Server's tempdb: one dropped in time costs no write.

use alloc::collections::{BinaryHeap, VecDeque};
use alloc::vec::Vec;
use core::cmp::{Ordering, Reverse};

use hashbrown::HashMap;

use super::StoreSpec;
use super::doublewrite::{Batch, Doublewrite};
use super::files::first_key;
use super::pool::{Pool, Swept};
use crate::request::{Completion, Request};
use crate::time::{Duration, Instant};

/// Share of the pool that the lazy writer keeps free: one frame in this many.
///
/// SQL Server does not publish its target; a bound on free frames only shifts when writing begins.
const FREE_SHARE: usize = 64;

/// Shares of the log's capacity from which pages are written because of it, and from which sessions wait for that, in
/// sixteenths. Source: `log_calc_max_ages` in storage/innobase/log/log0log.cc of MySQL 5.7: 7/8 (`async`) and 15/16
/// (`sync`) of the largest age of a change that is not written in place.
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
    /// Keys of temporary pages begin here: they have no checkpoint, and no doublewrite.
    temporary_from: u64,
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
    },
    /// Copies of pages, to the doublewrite area.
    Copies {
        /// The area's volume.
        volume: usize,
        /// The write.
        request: Request,
    },
}

/// Neighbouring pages that are written together.
pub(super) struct Run {
    number: u64,
    first: u64,
    pub(super) pages: u64,
    /// Whether their frames are needed.
    evict: bool,
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
        let (first, count) = (run.first, run.pages);
        let completion = submit(now, WriteRequest::Pages { first, count });
        self.in_flight.push(Reverse(InFlight {
            completion,
            number: run.number,
            job: Job::Pages(run),
        }));
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use core::cell::RefCell;

    use super::*;
    use crate::request::Operation;
    use crate::store::{DoublewriteSpec, FileSpec, Files, PAGE, PageSize};
    use crate::units::Bytes;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// Four writes at a time, gathered up to four pages, and pages dirty for a second at most.
    fn spec() -> StoreSpec {
        StoreSpec {
            write_gather: Bytes(4 * PAGE.0),
            writes_in_flight: 4,
            checkpoint: Some(Duration::SECOND),
            ..StoreSpec::plain(Bytes::mib(1))
        }
    }

    /// A pool that holds `keys`, used once, on arrival.
    fn holding(frames: u32, keys: impl IntoIterator<Item = u64>) -> Pool {
        let mut pool = Pool::new(frames);
        for key in keys {
            let frame = pool.take_free().expect("a frame a page");
            pool.install(frame, key, Completion::immediate(at(0)));
        }
        pool
    }

    /// Makes a page dirty as the store does.
    fn dirty(writer: &mut Writer, pool: &mut Pool, key: u64, now: Instant) {
        if pool.dirty(key, now) {
            writer.dirtied(now, key, 0);
        }
    }

    /// Records the runs of pages written, as first page and count.
    fn runs(
        mut see: impl FnMut(Instant, u64, u64) -> Completion,
    ) -> impl FnMut(Instant, WriteRequest) -> Completion {
        move |now, written| match written {
            WriteRequest::Pages { first, count } => see(now, first, count),
            WriteRequest::Copies { .. } => panic!("pages are written once"),
        }
    }

    /// For when nothing is to be written.
    fn none() -> impl FnMut(Instant, WriteRequest) -> Completion {
        runs(|_, _, _| panic!("nothing is to be written"))
    }

    fn done_in(now: Instant, ms: u64) -> Completion {
        Completion {
            done: now + Duration::from_millis(ms),
            service: Duration::from_millis(ms),
            ..Completion::immediate(now)
        }
    }

    #[test]
    fn an_old_page_is_written_with_its_dirty_neighbours_up_to_the_largest_write() {
        let mut writer = Writer::new(&spec(), None);
        let mut pool = holding(64, 10..20);
        // 10 11 . 13 14 15 16 17 . 19: the old one is 16.
        for key in [16, 10, 11, 13, 14, 15, 17, 19] {
            dirty(&mut writer, &mut pool, key, at(0));
        }
        let mut seen = Vec::new();
        let mut submit = runs(|now, first, pages| {
            seen.push((first, pages));
            done_in(now, 1)
        });
        writer.write_old(at(1_000), 0, &mut pool, &mut submit);
        // Upwards first, then downwards, four pages at most: 14 to 17, then the remaining ones.
        drop(submit);
        assert_eq!(seen, [(14, 4), (10, 2), (13, 1), (19, 1)]);
        assert!((10..20).all(|key| !pool.writable(key)));
    }

    #[test]
    fn page_0_has_no_neighbour_below() {
        let mut writer = Writer::new(&spec(), None);
        let mut pool = holding(64, 0..2);
        dirty(&mut writer, &mut pool, 1, at(0));
        dirty(&mut writer, &mut pool, 0, at(0));
        let mut seen = Vec::new();
        writer.write_old(
            at(1_000),
            0,
            &mut pool,
            &mut runs(|now, first, pages| {
                seen.push((first, pages));
                done_in(now, 1)
            }),
        );
        assert_eq!(seen, [(0, 2)]);
    }

    #[test]
    fn a_page_written_and_changed_again_has_its_second_anew() {
        let mut writer = Writer::new(&spec(), None);
        let mut pool = holding(64, [5]);
        dirty(&mut writer, &mut pool, 5, at(0));
        // Written for another reason at 100 ms, changed again at 900 ms.
        pool.start_write(5, 77);
        pool.finish_write(5, 77, false);
        dirty(&mut writer, &mut pool, 5, at(900));
        let mut written = Vec::new();
        let mut submit = runs(|now: Instant, first, _| {
            written.push((now, first));
            done_in(now, 1)
        });
        writer.write_old(at(1_000), 0, &mut pool, &mut submit);
        assert_eq!(writer.next_due(), Some(at(1_900)));
        writer.write_old(at(1_899), 0, &mut pool, &mut submit);
        writer.write_old(at(1_900), 0, &mut pool, &mut submit);
        drop(submit);
        assert_eq!(written, [(at(1_900), 5)]);
    }

    #[test]
    fn a_page_that_is_being_written_is_not_written_a_second_time_meanwhile() {
        let mut writer = Writer::new(&spec(), None);
        let mut pool = holding(64, [5]);
        let mut started = 0;
        let mut submit = runs(|now, _, _| {
            started += 1;
            done_in(now, 5_000)
        });
        dirty(&mut writer, &mut pool, 5, at(0));
        writer.write_old(at(1_000), 0, &mut pool, &mut submit);
        // Changed while its write of 5 s is under way, and dirty for a second before that is done.
        dirty(&mut writer, &mut pool, 5, at(1_500));
        writer.write_old(at(2_500), 0, &mut pool, &mut submit);
        drop(submit);
        assert_eq!(started, 1);
    }

    #[test]
    fn a_page_dropped_meanwhile_is_not_written() {
        let mut writer = Writer::new(&spec(), None);
        let mut pool = holding(64, [5]);
        dirty(&mut writer, &mut pool, 5, at(0));
        pool.discard(5);
        let mut submit = runs(|_: Instant, _: u64, _: u64| -> Completion {
            panic!("its page is gone");
        });
        writer.write_old(at(1_000), 0, &mut pool, &mut submit);
        assert_eq!(writer.next_due(), None);
    }

    #[test]
    fn writes_end_in_the_order_of_their_completion() {
        let mut writer = Writer::new(&spec(), None);
        // Far enough apart to be written one by one, which takes 30, 10, 20 and 10 ms.
        let keys = [10, 20, 30, 40];
        let mut pool = holding(64, keys);
        for key in keys {
            dirty(&mut writer, &mut pool, key, at(0));
        }
        let mut takes = [30, 10, 20, 10].into_iter();
        let mut submit = runs(|now, _, _| done_in(now, takes.next().expect("four writes")));
        writer.write_old(at(1_000), 0, &mut pool, &mut submit);
        for key in keys {
            dirty(&mut writer, &mut pool, key, at(1_001));
        }
        let mut writable = |now| {
            writer.finish(at(now), &mut pool, &mut none());
            let keys = keys.into_iter().filter(|key| pool.writable(*key));
            (writer.next_due(), keys.collect::<Vec<_>>())
        };
        // Every place is taken: the next due event is a completion, the earliest.
        assert_eq!(writable(1_009), (Some(at(1_010)), vec![]));
        assert_eq!(writable(1_010), (Some(at(1_020)), vec![20, 40]));
        assert_eq!(writable(1_020), (Some(at(1_030)), vec![20, 30, 40]));
        // Then the page that has been dirty for a second.
        assert_eq!(writable(1_030), (Some(at(2_001)), vec![10, 20, 30, 40]));
    }

    #[test]
    fn no_more_writes_are_under_way_than_there_are_places() {
        let mut writer = Writer::new(&spec(), None);
        // Pages that are not neighbours.
        let mut pool = holding(64, (0..10).map(|n| n * 2));
        for n in 0..10 {
            dirty(&mut writer, &mut pool, n * 2, at(0));
        }
        let mut started = 0;
        writer.write_old(
            at(1_000),
            0,
            &mut pool,
            &mut runs(|now, _, _| {
                started += 1;
                done_in(now, 5)
            }),
        );
        assert_eq!(started, 4);
        assert_eq!(writer.next_due(), Some(at(1_005)));
        assert_eq!(writer.next_completion(at(1_001)).done, at(1_005));
        writer.finish(at(1_005), &mut pool, &mut none());
        // Places again: the fifth has been due since a second after it became dirty.
        assert_eq!(writer.next_due(), Some(at(1_000)));
    }

    #[test]
    fn without_a_place_for_a_write_there_is_one() {
        let one = StoreSpec {
            writes_in_flight: 0,
            write_gather: Bytes::ZERO,
            ..spec()
        };
        let mut writer = Writer::new(&one, None);
        let mut pool = holding(64, [1, 2]);
        dirty(&mut writer, &mut pool, 1, at(0));
        dirty(&mut writer, &mut pool, 2, at(0));
        let mut seen = Vec::new();
        writer.write_old(
            at(1_000),
            0,
            &mut pool,
            &mut runs(|now, first, pages| {
                seen.push((first, pages));
                done_in(now, 5)
            }),
        );
        // One write, of one page: no gathering means one page, not none.
        assert_eq!(seen, [(1, 1)]);
    }

    #[test]
    fn frames_are_freed_until_a_64th_of_the_pool_is_free() {
        let mut writer = Writer::new(&spec(), None);
        let mut submit = runs(|_: Instant, _: u64, _: u64| -> Completion {
            panic!("all pages are clean");
        });
        // 2,048 / 64 = 32 frames, and two extents of 8 pages where that is more.
        let mut pool = holding(2_048, 0..2_048);
        writer.refill(at(0), &mut pool, &mut submit);
        assert_eq!(pool.free_count(), 32);
        let mut pool = holding(128, 0..128);
        writer.refill(at(0), &mut pool, &mut submit);
        assert_eq!(pool.free_count(), 16);
    }

    #[test]
    fn a_pool_of_dirty_pages_is_written_and_evicted() {
        let mut writer = Writer::new(&spec(), None);
        let mut pool = holding(64, 0..64);
        (0..64).for_each(|key| {
            pool.dirty(key, at(0));
        });
        let mut seen = Vec::new();
        let mut submit = runs(|now, first, pages| {
            seen.push((first, pages));
            done_in(now, 5)
        });
        writer.refill(at(0), &mut pool, &mut submit);
        drop(submit);
        // The hand goes round once for the reference bits; then four writes of four pages take all places.
        assert_eq!(seen, [(0, 4), (4, 4), (8, 4), (12, 4)]);
        assert_eq!(pool.free_count(), 0);
        writer.finish(at(5), &mut pool, &mut none());
        assert_eq!(pool.free_count(), 16);
    }

    #[test]
    fn who_wants_a_frame_while_all_are_arriving_asks_again_soon() {
        let writer = Writer::new(&spec(), None);
        let wait = writer.next_completion(at(7));
        // 50 us on.
        assert_eq!(wait.done, at(7) + Duration::from_micros(50));
        assert_eq!(wait.latency(), Duration::from_micros(50));
    }

    #[test]
    fn a_page_that_changed_while_its_second_write_was_due_is_written_once_the_first_is_done() {
        let mut writer = Writer::new(&spec(), None);
        let mut pool = holding(64, [5]);
        let mut started = Vec::new();
        let mut submit = runs(|now, _, _| {
            started.push(now);
            done_in(now, 5_000)
        });
        dirty(&mut writer, &mut pool, 5, at(0));
        writer.write_old(at(1_000), 0, &mut pool, &mut submit);
        dirty(&mut writer, &mut pool, 5, at(1_500));
        // Due at 2,500 ms, and not possible before 6,000 ms.
        writer.write_old(at(2_500), 0, &mut pool, &mut submit);
        assert_eq!(writer.next_due(), Some(at(6_000)));
        writer.finish(at(6_000), &mut pool, &mut submit);
        writer.write_old(at(6_000), 0, &mut pool, &mut submit);
        drop(submit);
        assert_eq!(started, [at(1_000), at(6_000)]);
    }

    fn doublewrite_spec(batch: u32) -> StoreSpec {
        StoreSpec {
            doublewrite: Some(DoublewriteSpec {
                batch,
                volume: None,
            }),
            ..spec()
        }
    }

    /// A writer that writes pages twice, in batches of this size.
    fn twice(batch: u32) -> Writer {
        let file = FileSpec {
            volume: 0,
            size: Some(Bytes::mib(1)),
        };
        let mut files = Files::new(PageSize::DEFAULT, &[file], &[], file);
        let doublewrite = Doublewrite::of(&doublewrite_spec(batch), &mut files);
        Writer::new(&spec(), doublewrite)
    }

    /// The writes: copies by place and page count, pages by their first one.
    fn seen(
        list: &RefCell<Vec<(Instant, &'static str, u64, u64)>>,
    ) -> impl FnMut(Instant, WriteRequest) -> Completion {
        move |now, written| {
            let (what, first, count) = match written {
                WriteRequest::Pages { first, count } => ("pages", first, count),
                WriteRequest::Copies { volume, request } => {
                    assert_eq!((volume, request.operation), (0, Operation::Write));
                    ("copies", request.offset, request.length.0 / PAGE.0)
                }
            };
            list.borrow_mut().push((now, what, first, count));
            done_in(now, 10)
        }
    }

    #[test]
    fn pages_go_to_their_places_once_the_copies_of_the_batch_are_written() {
        let mut writer = twice(3);
        let keys = [10, 20, 30];
        let mut pool = holding(64, keys);
        for key in keys {
            dirty(&mut writer, &mut pool, key, at(0));
        }
        let list = RefCell::default();
        let mut submit = seen(&list);
        writer.write_old(at(1_000), 0, &mut pool, &mut submit);
        // One write behind the 2 MiB of both files.
        assert_eq!(*list.borrow(), [(at(1_000), "copies", 2 << 20, 3)]);
        assert_eq!(writer.next_due(), Some(at(1_010)));
        writer.finish(at(1_010), &mut pool, &mut submit);
        let to_places = keys.map(|key| (at(1_010), "pages", key, 1));
        assert_eq!(list.borrow()[1..], to_places);
        writer.finish(at(1_020), &mut pool, &mut submit);
        assert_eq!(writer.next_due(), None);
        assert_eq!(writer.runs, 0);
    }

    #[test]
    fn a_batch_that_does_not_fill_is_copied_after_a_second_to_the_other_half_of_the_area() {
        let mut writer = twice(2);
        let mut pool = holding(64, [10, 20, 30]);
        for key in [10, 20, 30] {
            dirty(&mut writer, &mut pool, key, at(0));
        }
        let list = RefCell::default();
        let mut submit = seen(&list);
        writer.write_old(at(1_000), 0, &mut pool, &mut submit);
        writer.finish(at(1_020), &mut pool, &mut submit);
        writer.finish(at(1_999), &mut pool, &mut submit);
        assert_eq!(list.borrow().len(), 3, "two pages and their copies");
        assert_eq!(writer.next_due(), Some(at(2_000)));
        writer.finish(at(2_000), &mut pool, &mut submit);
        // Room for the largest run, of four pages.
        let other_half = (2 << 20) + 4 * PAGE.0;
        assert_eq!(list.borrow()[3..], [(at(2_000), "copies", other_half, 1)]);
    }

    #[test]
    fn who_wants_a_frame_does_not_wait_until_a_batch_is_full() {
        let mut writer = twice(100);
        let mut pool = holding(64, 0..64);
        (0..64).for_each(|key| {
            pool.dirty(key, at(0));
        });
        let list = RefCell::default();
        writer.refill(at(0), &mut pool, &mut seen(&list));
        // Four runs of four pages take all places.
        assert_eq!(*list.borrow(), [(at(0), "copies", 2 << 20, 16)]);
    }

    #[test]
    fn a_batch_is_copied_once_every_write_that_may_be_under_way_waits_in_it() {
        let mut writer = twice(100);
        let keys = [10, 20, 30, 40, 50];
        let mut pool = holding(64, keys);
        for key in keys {
            dirty(&mut writer, &mut pool, key, at(0));
        }
        let list = RefCell::default();
        writer.write_old(at(1_000), 0, &mut pool, &mut seen(&list));
        assert_eq!(*list.borrow(), [(at(1_000), "copies", 2 << 20, 4)]);
    }

    #[test]
    fn a_run_that_does_not_fit_into_the_batch_begins_the_next_one() {
        let mut writer = twice(3);
        let mut pool = holding(64, 10..20);
        // A single page, and a run of three.
        for key in [10, 14, 15, 16] {
            dirty(&mut writer, &mut pool, key, at(0));
        }
        let list = RefCell::default();
        writer.write_old(at(1_000), 0, &mut pool, &mut seen(&list));
        // Halves have room for a run of four pages, the largest.
        let half = 4 * PAGE.0;
        let copies = [
            (at(1_000), "copies", 2 << 20, 1),
            (at(1_000), "copies", (2 << 20) + half, 3),
        ];
        assert_eq!(*list.borrow(), copies);
    }

    #[test]
    fn temporary_pages_are_written_once_and_have_no_checkpoint() {
        let mut writer = twice(1);
        let key = first_key(1);
        let mut pool = holding(64, [key]);
        pool.dirty(key, at(0));
        let list = RefCell::default();
        let mut submit = seen(&list);
        writer.write(at(0), key, true, &mut pool, &mut submit);
        assert_eq!(*list.borrow(), [(at(0), "pages", key, 1)]);
        // Changed while its write is under way, which ends after its second is over.
        pool.dirty(key, at(1));
        writer.finish(at(5_000), &mut pool, &mut submit);
        assert_eq!(writer.next_due(), None);
    }
}
