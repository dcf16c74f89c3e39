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
pub(super) struct Pool {
    frames: Vec<Frame>,
    by_key: HashMap<u64, u32>,
    /// Frames of dropped pages that are still being written, by page and number of the write.
    orphans: HashMap<(u64, u64), u32>,
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
        let empty = || Frame {
            key: 0,
            state: State::Free,
            referenced: false,
            dirty: false,
            dirtied: Instant::ZERO,
            writing: 0,
            arriving: Completion::immediate(Instant::ZERO),
        };
        Pool {
            frames: (0..count).map(|_| empty()).collect(),
            by_key: HashMap::new(),
            orphans: HashMap::new(),
            free: (0..count).rev().collect(),
            hand: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.frames.len()
    }

    pub(super) fn free_count(&self) -> usize {
        self.free.len()
    }

    pub(super) fn take_free(&mut self) -> Option<u32> {
        self.free.pop()
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
        self.hand = if index as usize + 1 == self.frames.len() {
            0
        } else {
            index + 1
        };
        let frame = &mut self.frames[index as usize];
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
