//! The buffer pool: pages of all files in memory, shared by all sessions, written in the background.
//!
//! ```text
//!  read ──► there? ── yes ─► copy            write ──► copy, dirty
//!             │ no                                        │ too many dirty, or no room
//!             ▼                                           ▼
//!        session reads a page or an extent        runs of neighbours ─► queue ─► writers (threads)
//!                                                         ▲
//!                                      sync: all dirty pages of the file; the session helps
//! ```
//!
//! SQLite's own locks ensure that no session reads a page from a file while another writes it. Two more
//! guarantees are given here: a page is not changed while it is being written to a file, and its place
//! is not reused for another page before the write is done.

mod write_out;

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use lru::LruCache;
use model::Bytes;
use model::store::{EXTENT_PAGES, Full, PAGE, ReadUnit};
use parking_lot::{Condvar, Mutex, MutexGuard};

use super::activity::{Activity, Status};
use super::aligned::Aligned;
use super::disks::Disks;
use super::run::{self, Run};
use super::setup::DatabaseSpec;
use super::spaces::{Group, Key, PAGE_SIZE, Space, Spaces};

/// Pages in memory, and the state of reading and writing them.
pub(super) struct Pool {
    state: Mutex<State>,
    /// Signalled when something was read or written.
    changed: Condvar,
    /// Signalled when something must be written.
    work: Condvar,
    pub(super) disks: Disks,
    read_unit: ReadUnit,
    /// Number of pages that fit.
    capacity: usize,
    /// Pages read from volumes so far.
    physical_reads: AtomicU64,
    /// Set once nothing is written any more.
    closed: AtomicBool,
}

struct State {
    spaces: Spaces,
    frames: LruCache<Key, Frame>,
    dirty: BTreeSet<Key>,
    /// Pages being read; `true` if they were also written meanwhile, so that what comes from the file
    /// is out of date.
    loading: HashMap<Key, bool>,
    /// Pages being written to a file, by space.
    under_way: HashMap<Space, usize>,
    /// Pages being written to a file, in total.
    writing: usize,
    /// Files with pages of a space that were not flushed since they were written.
    unflushed: HashMap<Space, BTreeSet<usize>>,
    queue: VecDeque<Run>,
    limits: run::Limits,
    /// Where the last sweep over the dirty pages ended.
    swept: Option<Key>,
    /// Number of dirty pages beyond which they are written out.
    dirty_high: usize,
    /// Number of unwritten pages beyond which sessions wait for the writers.
    dirty_max: usize,
    /// Why a background write failed that no session waited for.
    failed: Option<String>,
}

/// A page in memory.
struct Frame {
    bytes: Box<[u8]>,
    /// The range of bytes that the file does not have yet.
    dirty: Option<(usize, usize)>,
    /// Being written to the file.
    writing: bool,
}

/// Why a request of SQLite failed.
#[derive(Debug)]
pub(super) enum PoolError {
    /// The files of the role are full.
    Full(Full),
    /// A real file reported an error, or the session was interrupted.
    Io(io::Error),
}

impl From<io::Error> for PoolError {
    fn from(error: io::Error) -> PoolError {
        PoolError::Io(error)
    }
}

impl Pool {
    pub(super) fn new(spec: &DatabaseSpec, disks: Disks) -> Pool {
        let capacity = usize::try_from(spec.memory.0 / PAGE.0).unwrap_or(usize::MAX);
        // Below this a single extent could evict itself.
        let capacity = capacity.max(8 * EXTENT_PAGES as usize);
        let limits = run::Limits::new(spec);
        Pool {
            state: Mutex::new(State {
                spaces: Spaces::new(spec),
                frames: LruCache::unbounded(),
                dirty: BTreeSet::new(),
                loading: HashMap::new(),
                under_way: HashMap::new(),
                writing: 0,
                unflushed: HashMap::new(),
                queue: VecDeque::new(),
                limits,
                swept: None,
                dirty_high: capacity / 4,
                dirty_max: capacity / 4 * 3,
                failed: None,
            }),
            changed: Condvar::new(),
            work: Condvar::new(),
            disks,
            read_unit: spec.read_unit,
            capacity,
            physical_reads: AtomicU64::new(0),
            closed: AtomicBool::new(false),
        }
    }

    fn wait<'a>(&self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed.wait(&mut state);
        state
    }

    /// A space without pages.
    pub(super) fn create(&self, group: Group) -> Space {
        self.state.lock().spaces.create(group)
    }

    /// Pages read from volumes so far.
    pub(super) fn physical_reads(&self) -> u64 {
        self.physical_reads.load(Relaxed)
    }

    /// Reads a range of a page into `out`.
    pub(super) fn read(
        &self,
        (space, page): Key,
        from: usize,
        out: &mut [u8],
        session: &Status,
    ) -> Result<(), PoolError> {
        let mut state = self.page(self.state.lock(), (space, page), session)?;
        match state.frames.get(&(space, page)) {
            Some(frame) => out.copy_from_slice(&frame.bytes[from..from + out.len()]),
            // Never written: a hole.
            None => out.fill(0),
        }
        Ok(())
    }

    /// Writes a range of a page; `new`: its previous content need not be kept.
    pub(super) fn write(
        &self,
        (space, page): Key,
        from: usize,
        data: &[u8],
        new: bool,
        session: &Status,
    ) -> Result<(), PoolError> {
        let key = (space, page);
        let mut state = self.state.lock();
        state.check()?;
        state.spaces.place(space, page).map_err(PoolError::Full)?;
        while state.dirty.len() + state.writing >= state.dirty_max {
            state = self.wait_for_writers(state, Activity::writing(space.group), session)?;
        }
        if !new && data.len() < PAGE_SIZE {
            state = self.page(state, key, session)?;
        }
        if !state.frames.contains(&key) {
            state = self.make_room(state, Activity::writing(space.group), session)?;
        }
        if let Some(stale) = state.loading.get_mut(&key) {
            *stale = true;
        }
        let frame = state.frames.get_or_insert_mut(key, Frame::empty);
        frame.bytes[from..from + data.len()].copy_from_slice(data);
        let (start, end) = frame.dirty.unwrap_or((from, from));
        frame.dirty = Some((start.min(from), end.max(from + data.len())));
        state.dirty.insert(key);
        if state.dirty.len() > state.dirty_high {
            self.sweep(&mut state);
        }
        Ok(())
    }

    /// Reads a page into memory, if a file has it.
    fn page<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        key: Key,
        session: &Status,
    ) -> Result<MutexGuard<'a, State>, PoolError> {
        while !state.frames.contains(&key) && state.spaces.find(key.0, key.1).is_some() {
            state = if state.loading.contains_key(&key) {
                let _doing = session.doing(Activity::reading(key.0.group));
                self.wait(state)
            } else {
                self.load(state, key, session)?
            };
        }
        Ok(state)
    }

    /// Reads a page and its read unit.
    fn load<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        key: Key,
        session: &Status,
    ) -> Result<MutexGuard<'a, State>, PoolError> {
        let pages = self.unit(&state, key);
        let at = state
            .spaces
            .find(key.0, pages.start)
            .expect("an extent is placed as a whole");
        for page in pages.clone() {
            state.loading.insert((key.0, page), false);
        }
        drop(state);
        let mut buffer = Aligned::zeros((pages.end - pages.start) as usize * PAGE_SIZE);
        let doing = session.doing(Activity::reading(key.0.group));
        let stop = || session.interrupted();
        let result = self
            .disks
            .read(at.file, at.offset, at.on_volume, &mut buffer, &stop);
        drop(doing);
        self.physical_reads
            .fetch_add(pages.end - pages.start, Relaxed);
        let mut state = self.state.lock();
        let stale: HashSet<u64> = pages
            .clone()
            .filter(|page| state.loading.remove(&(key.0, *page)) == Some(true))
            .collect();
        self.changed.notify_all();
        result?;
        for (page, bytes) in pages.zip(buffer.chunks_exact(PAGE_SIZE)) {
            if stale.contains(&page) || state.frames.contains(&(key.0, page)) {
                continue;
            }
            state = self.make_room(state, Activity::writing(key.0.group), session)?;
            let frame = Frame::clean(bytes);
            state.frames.put((key.0, page), frame);
        }
        Ok(state)
    }

    /// The pages read at once: the requested one, or the missing pages of its extent.
    fn unit(&self, state: &State, (space, page): Key) -> Range<u64> {
        match self.read_unit {
            ReadUnit::Extent if space.group != Group::Log => {
                let missing = |page: &u64| {
                    let key = (space, *page);
                    !state.frames.contains(&key) && !state.loading.contains_key(&key)
                };
                let extent = page / EXTENT_PAGES * EXTENT_PAGES;
                let before = (extent..page).rev().take_while(missing).count() as u64;
                let after = (page..extent + EXTENT_PAGES).take_while(missing).count() as u64;
                page - before..page + after
            }
            ReadUnit::Extent | ReadUnit::Page => page..page + 1,
        }
    }

    /// Makes room for one page: evicts the least recently used one among those that can be.
    fn make_room<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        activity: Activity,
        session: &Status,
    ) -> Result<MutexGuard<'a, State>, PoolError> {
        while state.frames.len() >= self.capacity {
            if state.let_one_go() {
                continue;
            }
            state = self.wait_for_writers(state, activity, session)?;
        }
        Ok(state)
    }

    /// Drops `pages`, the last ones of a space, and releases their place.
    pub(super) fn release(&self, space: Space, pages: Range<u64>) {
        let mut state = self.settled(space);
        state.spaces.release(space, pages.start);
        state.discard(space, pages);
        self.changed.notify_all();
    }

    /// Drops a space of this many pages.
    pub(super) fn forget(&self, space: Space, pages: u64) {
        let mut state = self.settled(space);
        state.spaces.forget(space);
        state.discard(space, 0..pages);
        state.unflushed.remove(&space);
        self.changed.notify_all();
    }

    /// Waits until nothing of a space is being read or written.
    fn settled(&self, space: Space) -> MutexGuard<'_, State> {
        let mut state = self.state.lock();
        loop {
            let loading = state.loading.keys().any(|key| key.0 == space);
            if !loading && !state.under_way.contains_key(&space) {
                return state;
            }
            state = match state.queue.pop_front() {
                Some(run) => self.write_run(state, run),
                None => self.wait(state),
            };
        }
    }

    /// Evicts every clean page.
    pub(super) fn empty(&self) -> Result<(), PoolError> {
        self.sync_all()?;
        let mut state = self.state.lock();
        let kept: Vec<(Key, Frame)> = std::iter::from_fn(|| state.frames.pop_lru())
            .filter(|(_, frame)| frame.dirty.is_some() || frame.writing)
            .collect();
        for (key, frame) in kept {
            state.frames.put(key, frame);
        }
        Ok(())
    }

    /// Ends the writers; from now on nothing is written any more.
    pub(super) fn close(&self) {
        let _state = self.state.lock();
        self.closed.store(true, Relaxed);
        self.work.notify_all();
    }

    /// Wakes waiting sessions so that they notice an interrupt.
    pub(super) fn wake(&self) {
        let _state = self.state.lock();
        self.changed.notify_all();
    }

    /// Its capacity.
    pub(super) fn memory(&self) -> Bytes {
        Bytes((self.capacity * PAGE_SIZE) as u64)
    }
}

impl State {
    /// Evicts the least recently used page among those that files have; returns whether there was
    /// one. Pages that it skips count as used.
    fn let_one_go(&mut self) -> bool {
        for _ in 0..self.frames.len() {
            let Some((key, frame)) = self.frames.pop_lru() else {
                return false;
            };
            if frame.dirty.is_none() && !frame.writing {
                return true;
            }
            self.frames.put(key, frame);
        }
        false
    }

    /// # Errors
    /// When a background write has failed: what it held is lost.
    fn check(&self) -> io::Result<()> {
        self.failed
            .as_ref()
            .map_or(Ok(()), |failed| Err(io::Error::other(failed.clone())))
    }

    fn discard(&mut self, space: Space, pages: Range<u64>) {
        // A read may have brought in the rest of the last extent.
        for page in pages.start..pages.end.next_multiple_of(EXTENT_PAGES) {
            self.frames.pop(&(space, page));
            self.dirty.remove(&(space, page));
        }
    }
}

impl Frame {
    fn empty() -> Frame {
        Frame::clean(&[0; PAGE_SIZE])
    }

    fn clean(bytes: &[u8]) -> Frame {
        Frame {
            bytes: bytes.into(),
            dirty: None,
            writing: false,
        }
    }
}
