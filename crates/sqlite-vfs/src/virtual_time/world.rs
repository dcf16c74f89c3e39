//! Shared state of a simulation's sessions and files: store, processors, spool, locks, and the schedule.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ffi::c_int;
use std::io;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use model::Instant;
use model::cores::Cores;
use model::locks::Locks;
use model::store::{FileId, Role, Store};

use super::spool::{Spool, failure};
use super::touches::TouchRecorder;
use super::trace::{Freed, Key};
use crate::vfs::Code;
use model::CpuCosts;

/// What sessions and the VFS share.
pub(super) struct World {
    /// Distinguishes simulations of this process.
    pub(super) number: u64,
    pub(super) store: RefCell<Store>,
    pub(super) cores: RefCell<Cores>,
    pub(super) costs: CpuCosts,
    pub(super) spool: RefCell<Spool>,
    /// Why the temporary file of the spool could not be used, until it is read.
    pub(super) spool_error: RefCell<Option<String>>,
    /// Sessions that can continue, by instant and order of insertion.
    ready: RefCell<BinaryHeap<Reverse<(Instant, u64, u32)>>>,
    order: Cell<u64>,
    /// Rows of uncommitted transactions, and application locks.
    pub(super) locks: RefCell<Locks<Key>>,
    /// When the last session ended.
    pub(super) end: Cell<Instant>,
    pub(super) stopping: Cell<bool>,
    /// Cancels everything, from outside.
    pub(super) cancelled: RefCell<Rc<dyn Fn() -> bool>>,
    pub(super) logical_reads: Cell<u64>,
    pub(super) lock_waits: Cell<u64>,
    pub(super) deadlocks: Cell<u64>,
    pub(super) loading: Cell<Loading>,
    pub(super) recorder: RefCell<TouchRecorder>,
    /// Whether a file was written or created while nothing was observed.
    pub(super) is_disturbed: Cell<bool>,
}

/// What becomes of the pages that SQLite touches outside of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loading {
    /// The modelled store places and caches them.
    Plain,
    /// It does, and an image records them.
    Recorded,
    /// Nothing: the store has placed and cached them before.
    Unobserved,
}

impl World {
    /// A world at time zero.
    pub(super) fn new(store: Store, cores: u32, costs: CpuCosts) -> World {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        World {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            store: RefCell::new(store),
            cores: RefCell::new(Cores::new(cores)),
            costs,
            spool: RefCell::new(Spool::new()),
            spool_error: RefCell::default(),
            ready: RefCell::new(BinaryHeap::new()),
            order: Cell::new(0),
            locks: RefCell::default(),
            end: Cell::new(Instant::ZERO),
            stopping: Cell::new(false),
            cancelled: RefCell::new(Rc::new(|| false)),
            logical_reads: Cell::new(0),
            lock_waits: Cell::new(0),
            deadlocks: Cell::new(0),
            loading: Cell::new(Loading::Plain),
            recorder: RefCell::default(),
            is_disturbed: Cell::new(false),
        }
    }

    /// The name of a shared database: SQLite finds its cache by it, across the whole process.
    pub(super) fn shared_name(&self, name: &str) -> String {
        format!("{name} of simulation {}", self.number)
    }

    /// Creates a file in the store.
    pub(super) fn create(&self, role: Role) -> FileId {
        let file = self.store.borrow_mut().create(role);
        self.record(|recorder| recorder.create(file, role));
        self.is_disturbed
            .set(self.is_disturbed.get() || self.loading.get() == Loading::Unobserved);
        file
    }

    /// Records what is loaded, if it is to be an image. Stops once it is more than an image keeps.
    pub(super) fn record(&self, record: impl FnOnce(&mut TouchRecorder)) {
        if self.loading.get() == Loading::Recorded {
            let mut recorder = self.recorder.borrow_mut();
            record(&mut recorder);
            if recorder.has_overflowed() {
                self.stopping.set(true);
            }
        }
    }

    /// Whether the store places and caches the pages that SQLite touches.
    pub(super) fn is_observed(&self) -> bool {
        self.loading.get() != Loading::Unobserved
    }

    /// Resumes a session at `when`.
    pub(super) fn wake(&self, id: u32, when: Instant) {
        let order = self.order.get();
        self.order.set(order + 1);
        self.ready.borrow_mut().push(Reverse((when, order, id)));
    }

    /// Removes and returns the next session, and its instant.
    pub(super) fn next(&self) -> Option<(Instant, u32)> {
        self.ready
            .borrow_mut()
            .pop()
            .map(|Reverse((now, _, id))| (now, id))
    }

    /// Whether no other session can continue before `when`.
    pub(super) fn is_turn(&self, when: Instant) -> bool {
        self.ready
            .borrow()
            .peek()
            .is_none_or(|Reverse((first, _, _))| *first > when)
    }

    /// Whether everything must end; once true, it stays so.
    pub(super) fn stopping(&self) -> bool {
        if !self.stopping.get() && (self.cancelled.borrow())() {
            self.stopping.set(true);
        }
        self.stopping.get()
    }

    /// Releases a lock to the first in its queue, which continues at `now`.
    pub(super) fn release(&self, key: Key, id: u32, now: Instant) {
        let next = self.locks.borrow_mut().release(key, id);
        next.into_iter().for_each(|next| self.wake(next, now));
    }

    /// Releases all locks of a session for which `is_released` is true; the sessions waiting for them continue at `now`.
    pub(super) fn release_all(&self, id: u32, now: Instant, is_released: impl Fn(&Key) -> bool) {
        let next = self.locks.borrow_mut().release_all(id, is_released);
        next.into_iter().for_each(|next| self.wake(next, now));
    }

    /// Frees pages that are not in use any more.
    pub(super) fn free(&self, pages: Freed) {
        self.record(|recorder| recorder.free(pages));
        let mut store = self.store.borrow_mut();
        match pages {
            Freed::File(file) => store.drop_file(file),
            Freed::From(file, first) => store.release(file, first),
        }
    }

    /// Keeps the reason why the temporary file could not be used, for which SQLite's `code` has no room.
    pub(super) fn spool_failed(&self, error: &io::Error, code: c_int) -> Code {
        self.spool_error.replace(Some(failure(error)));
        Code(code)
    }
}
