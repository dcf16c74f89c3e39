//! The buffer pool: frames of pages, replaced by a clock with one reference bit.
//!
//! A lazy writer sweeps its pool with a clock hand in the same way (Kalen Delaney,
//! *SQL Server Internals*); a page that was used since the hand last passed stays.

use alloc::vec::Vec;

use hashbrown::HashMap;

use crate::request::Completion;
use crate::time::Instant;

/// A slot for a page in memory.
struct Frame {
    key: u64,
    state: State,
    /// Used since the hand last passed.
    referenced: bool,
    /// Changed since it was last handed to the writer.
    dirty: bool,
    /// When it became dirty.
    dirtied: Instant,
    /// Number of the write it is part of; 0: none.
    writing: u64,
    /// The read that brings it in; in the past once it has arrived.
    arriving: Completion,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// On the free list.
    Free,
    /// Holds the page of its key.
    Held,
    /// Its page is gone, but a write of it is still under way.
    Orphan,
}

/// The frames, and which page is in which.
///
/// Memory is allocated only for frames that were used at least once: a large pool costs what its pages need.
pub(super) struct Pool {
    /// Number of frames, used or not.
    count: u32,
    /// Those that were used at least once.
    frames: Vec<Frame>,
    by_key: HashMap<u64, u32>,
    /// Frames of dropped pages that are still being written, by page and number of the write.
    orphans: HashMap<(u64, u64), u32>,
    /// Free frames among `frames`; the last one is taken first, and before one that was never used.
    free: Vec<u32>,
    hand: u32,
}

/// What the hand found.
pub(super) enum Swept {
    /// A clean page, now evicted: its frame is free.
    Freed,
    /// A dirty page that has to be written first.
    Dirty(u64),
    /// Not usable now.
    Busy,
}

impl Pool {
    pub(super) fn new(count: u32) -> Pool {
        Pool {
            count,
            frames: Vec::new(),
            by_key: HashMap::new(),
            orphans: HashMap::new(),
            free: Vec::new(),
            hand: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.count as usize
    }

    pub(super) fn free_count(&self) -> usize {
        self.free.len() + (self.len() - self.frames.len())
    }

    pub(super) fn take_free(&mut self) -> Option<u32> {
        self.free.pop().or_else(|| self.take_unused())
    }

    /// The first frame that was never used.
    fn take_unused(&mut self) -> Option<u32> {
        let index = u32::try_from(self.frames.len()).ok()?;
        if index >= self.count {
            return None;
        }
        self.frames.push(Frame {
            key: 0,
            state: State::Free,
            referenced: false,
            dirty: false,
            dirtied: Instant::ZERO,
            writing: 0,
            arriving: Completion::immediate(Instant::ZERO),
        });
        Some(index)
    }

    pub(super) fn holds(&self, key: u64) -> bool {
        self.by_key.contains_key(&key)
    }

    /// Marks a page as used, if it is present or on its way.
    pub(super) fn touch(&mut self, key: u64) -> Option<Completion> {
        let frame = &mut self.frames[*self.by_key.get(&key)? as usize];
        frame.referenced = true;
        Some(frame.arriving)
    }

    /// Puts a page into a free frame.
    pub(super) fn install(&mut self, index: u32, key: u64, arriving: Completion) {
        let frame = &mut self.frames[index as usize];
        assert!(
            frame.state == State::Free,
            "frame {index} holds page {}",
            frame.key
        );
        (frame.key, frame.state, frame.arriving) = (key, State::Held, arriving);
        (frame.referenced, frame.dirty, frame.writing) = (true, false, 0);
        self.by_key.insert(key, index);
    }

    /// Marks a page as changed at `now`; returns whether it was clean.
    pub(super) fn dirty(&mut self, key: u64, now: Instant) -> bool {
        let Some(index) = self.by_key.get(&key) else {
            return false;
        };
        let frame = &mut self.frames[*index as usize];
        let clean = !core::mem::replace(&mut frame.dirty, true);
        if clean {
            frame.dirtied = now;
        }
        clean
    }

    /// Whether a page has been dirty since exactly `since`.
    pub(super) fn dirty_since(&self, key: u64, since: Instant) -> bool {
        self.by_key.get(&key).is_some_and(|index| {
            let frame = &self.frames[*index as usize];
            frame.dirty && frame.dirtied == since
        })
    }

    /// Whether a page can be written now.
    pub(super) fn writable(&self, key: u64) -> bool {
        self.by_key.get(&key).is_some_and(|index| {
            let frame = &self.frames[*index as usize];
            frame.dirty && frame.writing == 0
        })
    }

    /// Starts writing a page as part of write `number`.
    pub(super) fn start_write(&mut self, key: u64, number: u64) {
        let index = self.by_key[&key];
        let frame = &mut self.frames[index as usize];
        (frame.dirty, frame.writing) = (false, number);
    }

    /// Finishes a write. Its page is clean unless it changed since: then this returns the instant since when it is
    /// dirty. A clean one is evicted if `evict` is set and it was not used since.
    pub(super) fn finish_write(&mut self, key: u64, number: u64, evict: bool) -> Option<Instant> {
        if let Some(index) = self.orphans.remove(&(key, number)) {
            self.set_free(index);
            return None;
        }
        let index = self.by_key.get(&key).copied()?;
        let frame = &mut self.frames[index as usize];
        if frame.writing != number {
            return None;
        }
        frame.writing = 0;
        if frame.dirty {
            return Some(frame.dirtied);
        }
        if evict && !frame.referenced {
            self.by_key.remove(&key);
            self.set_free(index);
        }
        None
    }

    fn set_free(&mut self, index: u32) {
        let frame = &mut self.frames[index as usize];
        (frame.state, frame.dirty, frame.writing) = (State::Free, false, 0);
        self.free.push(index);
    }

    /// Drops a page with its file; returns whether it was dirty. A frame being written is kept until
    /// that is done.
    pub(super) fn discard(&mut self, key: u64) -> bool {
        let Some(index) = self.by_key.remove(&key) else {
            return false;
        };
        let frame = &mut self.frames[index as usize];
        let (dirty, writing) = (frame.dirty, frame.writing);
        if writing == 0 {
            self.set_free(index);
        } else {
            frame.state = State::Orphan;
            self.orphans.insert((key, writing), index);
        }
        dirty
    }

    /// Evicts every page that is neither dirty nor being written.
    pub(super) fn drop_clean(&mut self) {
        for (index, frame) in (0..).zip(&mut self.frames) {
            if frame.state == State::Held && !frame.dirty && frame.writing == 0 {
                frame.state = State::Free;
                self.by_key.remove(&frame.key);
                self.free.push(index);
            }
        }
    }

    /// Advances the hand by one frame.
    pub(super) fn sweep(&mut self, now: Instant) -> Swept {
        let index = self.hand;
        self.hand = if index + 1 == self.count {
            0
        } else {
            index + 1
        };
        let Some(frame) = self.frames.get_mut(index as usize) else {
            return Swept::Busy;
        };
        if frame.state != State::Held || frame.writing != 0 || frame.arriving.done > now {
            return Swept::Busy;
        }
        if core::mem::take(&mut frame.referenced) {
            return Swept::Busy;
        }
        if frame.dirty {
            return Swept::Dirty(frame.key);
        }
        frame.state = State::Free;
        self.by_key.remove(&frame.key);
        self.free.push(index);
        Swept::Freed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Duration;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// A pool of `count` frames that holds pages 0, 1, .. in them, each used when it came.
    fn full(count: u32) -> Pool {
        let mut pool = Pool::new(count);
        for key in 0..u64::from(count) {
            let frame = pool.take_free().expect("a frame a page");
            pool.install(frame, key, Completion::immediate(at(0)));
        }
        pool
    }

    fn freed(pool: &mut Pool) -> bool {
        matches!(pool.sweep(at(0)), Swept::Freed)
    }

    #[test]
    fn a_page_used_since_the_hand_passed_stays_one_more_round() {
        let mut pool = full(3);
        // The first round clears the reference bits, and frees nothing.
        assert!((0..3).all(|_| !freed(&mut pool)));
        pool.touch(1);
        // The second frees what was not used since.
        assert!(freed(&mut pool));
        assert!(!freed(&mut pool));
        assert!(freed(&mut pool));
        assert!(!pool.holds(0) && pool.holds(1) && !pool.holds(2));
        assert_eq!(pool.free_count(), 2);
        // The third frees the one that was.
        assert!(!freed(&mut pool), "frame 0 is free already");
        assert!(freed(&mut pool));
    }

    #[test]
    fn the_hand_goes_round_all_frames_in_turn() {
        let mut pool = full(3);
        let mut dirty = |key| {
            pool.dirty(key, at(0));
        };
        (0..3).for_each(&mut dirty);
        (0..3).for_each(|_| assert!(!freed(&mut pool)));
        let swept: [u64; 4] = core::array::from_fn(|_| match pool.sweep(at(0)) {
            Swept::Dirty(key) => key,
            Swept::Freed | Swept::Busy => panic!("every page is dirty"),
        });
        assert_eq!(swept, [0, 1, 2, 0]);
    }

    #[test]
    fn a_page_that_is_on_its_way_in_or_out_is_not_evicted() {
        let mut pool = Pool::new(1);
        let frame = pool.take_free().expect("it is empty");
        let arriving = Completion {
            done: at(5),
            ..Completion::immediate(at(0))
        };
        pool.install(frame, 7, arriving);
        pool.frames[0].referenced = false;
        assert!(matches!(pool.sweep(at(4)), Swept::Busy), "still arriving");
        pool.dirty(7, at(4));
        pool.start_write(7, 1);
        assert!(matches!(pool.sweep(at(6)), Swept::Busy), "being written");
        pool.finish_write(7, 1, false);
        assert!(
            matches!(pool.sweep(at(5)), Swept::Freed),
            "here, and written"
        );
    }

    #[test]
    fn a_written_page_is_evicted_unless_it_was_used_or_changed_meanwhile() {
        let mut pool = full(3);
        for key in 0..3 {
            pool.dirty(key, at(0));
            pool.frames[key as usize].referenced = false;
            pool.start_write(key, 9);
        }
        pool.touch(1);
        pool.dirty(2, at(1));
        let dirty_since = [0, 1, 2].map(|key| pool.finish_write(key, 9, true));
        assert_eq!(dirty_since, [None, None, Some(at(1))]);
        assert!(!pool.holds(0), "nobody used it");
        assert!(pool.holds(1), "it was used");
        assert!(pool.holds(2), "it was changed");
        assert_eq!(pool.free_count(), 1);
        assert!(!pool.writable(1) && pool.writable(2));
    }

    #[test]
    fn a_page_written_for_the_checkpoint_stays() {
        let mut pool = full(1);
        pool.dirty(0, at(0));
        pool.frames[0].referenced = false;
        pool.start_write(0, 1);
        pool.finish_write(0, 1, false);
        assert!(pool.holds(0));
        assert_eq!(pool.free_count(), 0);
    }

    #[test]
    fn only_the_write_that_a_page_is_part_of_ends_it() {
        let mut pool = full(1);
        pool.dirty(0, at(0));
        pool.start_write(0, 2);
        pool.dirty(0, at(1));
        pool.finish_write(0, 1, true);
        assert!(!pool.writable(0), "write 2 is still under way");
        pool.finish_write(0, 2, true);
        assert!(pool.writable(0));
    }

    #[test]
    fn a_page_is_dirty_since_its_first_change_after_it_was_written() {
        let mut pool = full(1);
        assert!(!pool.dirty_since(0, at(0)), "it is clean");
        assert!(pool.dirty(0, at(1)), "it was clean");
        assert!(!pool.dirty(0, at(2)), "it was dirty already");
        assert!(pool.dirty_since(0, at(1)));
        assert!(!pool.dirty_since(0, at(2)));
        pool.start_write(0, 1);
        assert!(!pool.dirty_since(0, at(1)), "it is being written");
        pool.dirty(0, at(3));
        pool.finish_write(0, 1, false);
        assert!(!pool.dirty_since(0, at(1)));
        assert!(pool.dirty_since(0, at(3)));
    }

    #[test]
    fn the_frame_of_a_dropped_page_is_free_when_its_write_is_done() {
        let mut pool = full(2);
        pool.dirty(0, at(0));
        pool.dirty(1, at(0));
        pool.start_write(0, 1);
        assert!(!pool.discard(0), "what is being written is not dirty");
        assert!(pool.discard(1), "never to be written");
        assert!(!pool.discard(1), "gone already");
        assert_eq!(pool.free_count(), 1);
        // Another page of that name meanwhile, in the free frame.
        let frame = pool.take_free().expect("page 1 is gone");
        pool.install(frame, 0, Completion::immediate(at(0)));
        assert!((0..4).all(|_| !matches!(pool.sweep(at(0)), Swept::Dirty(_))));
        let frame = pool.take_free().expect("page 0 was swept");
        pool.install(frame, 0, Completion::immediate(at(0)));
        assert_eq!(pool.free_count(), 0, "the other frame is being written");
        pool.finish_write(0, 1, true);
        assert_eq!(pool.free_count(), 1);
        assert!(pool.holds(0), "the write was the dropped page's");
    }

    #[test]
    fn dropping_clean_pages_leaves_what_is_dirty_or_being_written() {
        let mut pool = full(3);
        pool.dirty(1, at(0));
        pool.dirty(2, at(0));
        pool.start_write(2, 1);
        pool.drop_clean();
        assert!(!pool.holds(0) && pool.holds(1) && pool.holds(2));
        assert_eq!(pool.free_count(), 1);
    }

    #[test]
    fn a_page_that_is_not_held_is_neither_dirty_nor_writable() {
        let mut pool = full(1);
        assert!(!pool.dirty(7, at(0)));
        assert!(!pool.dirty_since(7, at(0)));
        assert!(!pool.writable(7));
        assert!(pool.touch(7).is_none());
        assert_eq!((pool.len(), pool.free_count()), (1, 0));
    }

    #[test]
    fn frames_that_were_never_used_take_no_memory() {
        // 32 TiB of pages.
        let mut pool = Pool::new(u32::MAX);
        assert_eq!(pool.take_free(), Some(0));
        pool.install(0, 7, Completion::immediate(Instant::ZERO));
        assert_eq!(pool.len(), u32::MAX as usize);
        assert_eq!(pool.free_count(), u32::MAX as usize - 1);
        assert_eq!(pool.frames.capacity().min(64), pool.frames.capacity());
        assert!(!pool.discard(7));
        assert_eq!(
            pool.take_free(),
            Some(0),
            "a used frame before an unused one"
        );
    }

    #[test]
    fn every_frame_is_given_out_once_and_the_hand_passes_them_all() {
        let mut pool = Pool::new(3);
        let taken: Vec<u32> = core::iter::from_fn(|| pool.take_free()).collect();
        assert_eq!(taken, [0, 1, 2]);
        for (index, key) in taken.into_iter().zip(10..) {
            pool.install(index, key, Completion::immediate(Instant::ZERO));
        }
        // The first round clears the reference bits, the second frees.
        let swept = (0..6).filter(|_| matches!(pool.sweep(Instant::ZERO), Swept::Freed));
        assert_eq!(swept.count(), 3);
        assert_eq!(pool.free_count(), 3);
    }
}
