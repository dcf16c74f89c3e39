//! The buffer pool: frames of pages, replaced by a clock with one reference bit.
//!
//! SQL Server's lazy writer sweeps its pool with a clock hand in the same way (Kalen Delaney,
//! *SQL Server Internals*); a page that was used since the hand last passed stays.

use alloc::vec::Vec;

use hashbrown::HashMap;

use crate::request::Completion;
use crate::time::Instant;

/// A page's place in memory.
struct Frame {
    key: u64,
    state: State,
    /// Used since the hand last passed.
    referenced: bool,
    /// Changed since it was last handed to the writer.
    dirty: bool,
    /// Since when it is dirty.
    dirtied: Instant,
    /// Number of the write it is part of; 0: none.
    writing: u64,
    /// The read that brings it in; done in the past once it is here.
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
/// Memory is taken for frames that were used at least once: a large pool costs what its pages need.
pub(super) struct Pool {
    /// How many there are, used or not.
    count: u32,
    /// Those that were used at least once.
    frames: Vec<Frame>,
    by_key: HashMap<u64, u32>,
    /// Frames of dropped pages that are still being written, by page and number of the write.
    orphans: HashMap<(u64, u64), u32>,
    /// Those of `frames` that are free; the last one is taken first, and before one that was never used.
    free: Vec<u32>,
    hand: u32,
}

/// What the hand found.
pub(super) enum Swept {
    /// A clean page, now evicted: its frame is free.
    Freed,
    /// A dirty page that has to be written first.
    Dirty(u64),
    /// Nothing to be had here.
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

    /// Uses a page, if it is here or on its way.
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

    /// Marks a page as changed at `now`; whether it was clean.
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

    /// Whether a page can be handed to the writer now.
    pub(super) fn writable(&self, key: u64) -> bool {
        self.by_key.get(&key).is_some_and(|index| {
            let frame = &self.frames[*index as usize];
            frame.dirty && frame.writing == 0
        })
    }

    /// Hands a page to the writer as part of write `number`.
    pub(super) fn start_write(&mut self, key: u64, number: u64) {
        let index = self.by_key[&key];
        let frame = &mut self.frames[index as usize];
        (frame.dirty, frame.writing) = (false, number);
    }

    /// A write is done. Its page is clean, unless it changed since, and is evicted where `evict` says so
    /// and nobody used it since.
    pub(super) fn finish_write(&mut self, key: u64, number: u64, evict: bool) {
        if let Some(index) = self.orphans.remove(&(key, number)) {
            self.set_free(index);
            return;
        }
        let Some(index) = self.by_key.get(&key).copied() else {
            return;
        };
        let frame = &mut self.frames[index as usize];
        if frame.writing != number {
            return;
        }
        frame.writing = 0;
        if evict && !frame.dirty && !frame.referenced {
            self.by_key.remove(&key);
            self.set_free(index);
        }
    }

    fn set_free(&mut self, index: u32) {
        let frame = &mut self.frames[index as usize];
        (frame.state, frame.dirty, frame.writing) = (State::Free, false, 0);
        self.free.push(index);
    }

    /// Drops a page with its file; whether it was dirty. A frame under write is kept until that is done.
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

    /// Moves the hand on by one frame.
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
        // The first round takes the reference bits away, the second frees.
        let swept = (0..6).filter(|_| matches!(pool.sweep(Instant::ZERO), Swept::Freed));
        assert_eq!(swept.count(), 3);
        assert_eq!(pool.free_count(), 3);
    }
}
