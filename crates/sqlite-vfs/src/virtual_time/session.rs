//! One session: its own time, its connection, and how its time was spent.

mod database;
mod replay;
mod taping;
mod work;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use corosensei::Yielder;
use model::cores::QUANTUM;
use model::split::{Spent, TimeSplit};
use model::store::{CommitTicket, FileId, Full, LOG_BLOCK, Step, Wait};
use model::{Duration, Instant};
use rusqlite::ffi;

use super::inode::Inodes;
use super::tape::{Recorder, TapedAct};
use super::trace::{Act, Freed, Key, Row, Trace};
use super::world::World;

pub(super) use database::file_name;
pub use database::set_last_row;
pub use taping::{DatabaseName, TapingSession};

/// Bytes of log that an open transaction writes at once: a block.
const STREAMED: u64 = LOG_BLOCK.0;

/// A session in virtual time.
pub struct Session {
    id: u32,
    now: Cell<Instant>,
    world: Rc<World>,
    files: Rc<Inodes>,
    yielder: Cell<*const Yielder<Instant, ()>>,
    database: Cell<*mut ffi::sqlite3>,
    /// Work not yet counted as CPU time.
    steps: Cell<u64>,
    statements: Cell<u64>,
    logical_reads_seen: Cell<u64>,
    /// Logical reads of a tape that is replayed, not yet counted.
    replayed_reads: Cell<u64>,
    /// Whether the attached connection shares its cache with those of other sessions.
    shares_cache: Cell<bool>,
    /// Bytes of log per changed row.
    log_bytes_per_row: Cell<u64>,
    /// Changed rows that have not been logged yet.
    unlogged_rows: Cell<u64>,
    /// Bytes logged before the transaction's commit.
    streamed: Cell<u64>,
    /// CPU time counted but not yet spent.
    owed: Cell<Duration>,
    split: RefCell<TimeSplit>,
    /// Acts recorded in zero time, to be replayed later; `None`: acts are executed at once.
    trace: RefCell<Option<Trace>>,
    /// Acts recorded for other simulations; `None`: acts are executed.
    tape: RefCell<Option<Recorder>>,
    full: Cell<Option<Full>>,
}

thread_local! {
    static CURRENT: RefCell<Option<Rc<Session>>> = const { RefCell::new(None) };
}

pub(super) fn enter(session: &Rc<Session>) {
    CURRENT.with(|current| *current.borrow_mut() = Some(Rc::clone(session)));
}

pub(super) fn leave() {
    CURRENT.with(|current| *current.borrow_mut() = None);
}

/// The session that is running on this thread.
pub(super) fn current() -> Option<Rc<Session>> {
    // Files may be closed as late as when their thread ends.
    let current = CURRENT.try_with(|current| current.borrow().clone());
    current.ok().flatten()
}

/// Calls `work` with the session that is running on this thread, if there is one.
pub(super) fn with_current(work: impl FnOnce(&Session)) {
    CURRENT.with(|current| current.borrow().as_deref().map(work));
}

impl Session {
    pub(super) fn new(id: u32, now: Instant, world: Rc<World>, files: Rc<Inodes>) -> Session {
        Session {
            id,
            now: Cell::new(now),
            world,
            files,
            yielder: Cell::new(std::ptr::null()),
            database: Cell::new(std::ptr::null_mut()),
            steps: Cell::new(0),
            statements: Cell::new(0),
            logical_reads_seen: Cell::new(0),
            replayed_reads: Cell::new(0),
            shares_cache: Cell::new(false),
            log_bytes_per_row: Cell::new(0),
            unlogged_rows: Cell::new(0),
            streamed: Cell::new(0),
            owed: Cell::new(Duration::ZERO),
            split: RefCell::default(),
            trace: RefCell::default(),
            tape: RefCell::default(),
            full: Cell::new(None),
        }
    }

    pub(super) fn begin(&self, yielder: &Yielder<Instant, ()>, now: Instant) {
        self.yielder.set(yielder);
        self.now.set(now);
    }

    pub(super) fn finish(&self) {
        self.settle();
        self.yielder.set(std::ptr::null());
    }

    /// Its number, from 0.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Its current instant. CPU time counted but not yet spent comes after it.
    pub fn now(&self) -> Instant {
        self.now.get()
    }

    /// How its time was spent so far.
    pub fn split(&self) -> TimeSplit {
        self.split.borrow().clone()
    }

    /// Whether it should end.
    pub fn stopping(&self) -> bool {
        self.world.stopping()
    }

    /// The full role, if SQLite's last error was due to it.
    pub fn take_full(&self) -> Option<Full> {
        self.full.take()
    }

    /// Why the real temporary file for its pages could not be used, if SQLite's last error was due to that.
    pub fn take_spool_error(&self) -> Option<String> {
        self.world.spool_error.take()
    }

    /// Makes each changed row write this many bytes to the log: while its transaction runs, as soon as they are worth a write, or
    /// with the commit. Before this is called, rows write none.
    pub fn log_per_row(&self, bytes_per_row: u64) {
        self.log_bytes_per_row.set(bytes_per_row);
    }

    /// Spends the CPU time counted so far, and waits for its turn: afterwards `now` is exact, unless it traces.
    pub fn settle(&self) {
        if self.traces() || self.taped(|_| TapedAct::Settle) {
            return;
        }
        self.owe(self.take_work());
        let burst = self.owed.take();
        if burst == Duration::ZERO || !self.in_time() {
            return;
        }
        let ready = self.now.get();
        let end = self.world.cores.borrow_mut().run(ready, burst);
        let mut split = self.split.borrow_mut();
        split.add(Spent::Cpu, burst);
        split.add(Spent::CpuQueued, (end - ready).saturating_sub(burst));
        drop(split);
        self.sleep_until(end);
    }

    /// Sleeps for `span`, as think time.
    pub fn sleep(&self, span: Duration) {
        if self.traced(Act::Sleep(span)) || self.taped(|_| TapedAct::Sleep(span)) {
            return;
        }
        self.settle();
        if self.in_time() {
            self.split.borrow_mut().add(Spent::Think, span);
            self.sleep_until(self.now.get() + span);
        }
    }

    /// Ends a transaction that failed or was rolled back: its traced acts still take their time.
    pub fn roll_back(&self) {
        if self.taped(|_| TapedAct::RollBack) {
            self.tape_transaction(false);
            return;
        }
        self.unlogged_rows.set(0);
        self.streamed.set(0);
        // The transaction has failed already, whether a file is full or not.
        let _ = self.replay();
        self.settle();
    }

    /// Releases all application locks of the session.
    pub fn unlock_all(&self) {
        if self.taped(|_| TapedAct::UnlockAll) {
            return;
        }
        self.world.release_all(self.id, self.now.get(), |_| true);
    }

    /// Commits this many changed rows: waits for the log and for space for row versions, as the store requires.
    ///
    /// # Errors
    /// When the temp files are full of versions.
    pub fn commit(&self, rows: u64) -> Result<(), Full> {
        if self.taped(|_| TapedAct::Commit(rows)) {
            return Ok(());
        }
        self.unlogged_rows.set(0);
        let log_bytes = rows * self.log_bytes_per_row.get();
        let streamed = self.streamed.take();
        self.commit_rest(log_bytes.saturating_sub(streamed), streamed, rows)
    }

    /// Commits with `log_bytes` of records in addition to those already `streamed`.
    fn commit_rest(&self, log_bytes: u64, streamed: u64, rows: u64) -> Result<(), Full> {
        let act = Act::Commit {
            log_bytes,
            streamed,
            rows,
        };
        if self.traced(act) {
            return Ok(());
        }
        self.settle();
        let mut ticket = CommitTicket::new(self.id, log_bytes, rows).after_streaming(streamed);
        self.until_done(|store, now| store.commit(now, &mut ticket))
    }

    /// Takes an application lock, waiting for it in order of arrival.
    pub fn lock(&self, key: i64) {
        if self.traced(Act::Lock(key)) || self.taped(|_| TapedAct::Lock(key)) {
            return;
        }
        self.settle();
        if self.in_time() {
            self.wait_for(Key::Application(key));
        }
    }

    /// Releases an application lock.
    pub fn unlock(&self, key: i64) {
        if self.traced(Act::Unlock(key)) || self.taped(|_| TapedAct::Unlock(key)) {
            return;
        }
        self.settle();
        if self.in_time() {
            let key = Key::Application(key);
            self.world.release(key, self.id, self.now.get());
        }
    }

    /// The world it belongs to.
    pub(super) fn world(&self) -> &Rc<World> {
        &self.world
    }

    /// The files of its simulation.
    pub(super) fn files(&self) -> &Inodes {
        &self.files
    }

    /// SQLite reads a page.
    pub(super) fn read_page(&self, file: FileId, page: u64) {
        if !self.world.is_observed() {
            return;
        }
        let is_kept = self.traced(Act::Read(file, page))
            || self.taped(|files| TapedAct::Read(files.of(file), page));
        if !is_kept {
            self.world.record(|recorder| recorder.read(file, page));
            self.work_until_now();
            self.read(file, page);
        }
    }

    /// SQLite writes a page.
    pub(super) fn write_page(&self, file: FileId, page: u64) -> Result<(), Full> {
        if !self.world.is_observed() {
            self.world.is_disturbed.set(true);
            return Ok(());
        }
        if self.taped(|files| TapedAct::Write(files.of(file), page)) {
            return Ok(());
        }
        let written = match self.traced(Act::Write(file, page)) {
            // A write without space must fail while SQLite can still undo it.
            true => self.world.store.borrow_mut().reserve(file, page),
            false => {
                self.world.record(|recorder| recorder.write(file, page));
                self.work_until_now();
                self.write(file, page)
            }
        };
        written.inspect_err(|full| self.full.set(Some(*full)))
    }

    /// SQLite changes a row.
    pub(super) fn count_change(&self) {
        self.unlogged_rows.set(self.unlogged_rows.get() + 1);
    }

    /// SQLite changes this row, which is locked from then on if other sessions may change it too.
    pub(super) fn change(&self, row: impl FnOnce() -> Option<Row>) {
        if self.traces()
            && let Some(row) = row()
        {
            let _ = self.traced(Act::Change(row)) || self.taped(|_| TapedAct::Change(row));
        }
    }

    /// SQLite no longer needs some pages.
    pub(super) fn free(&self, pages: Freed) {
        self.freed(pages);
        match self.trace.borrow_mut().as_mut() {
            Some(trace) => trace.freed.push(pages),
            None => self.world.free(pages),
        }
    }

    /// Counts the work so far, and logs the bytes that it generated.
    fn work_until_now(&self) {
        self.owe(self.take_work());
        self.log_until_now();
    }

    fn log_until_now(&self) {
        if let Some(bytes) = self.take_log() {
            self.log(bytes);
        }
    }

    /// Log bytes generated by the rows changed so far, once they are worth a write.
    fn take_log(&self) -> Option<u64> {
        let bytes = self.unlogged_rows.get() * self.log_bytes_per_row.get();
        (bytes >= STREAMED).then(|| {
            self.unlogged_rows.set(0);
            self.streamed.set(self.streamed.get() + bytes);
            bytes
        })
    }

    fn log(&self, bytes: u64) {
        self.settle();
        let mut ticket = CommitTicket::new(self.id, bytes, 0);
        let logged = self.until_done(|store, now| Ok(store.stream_log(now, &mut ticket)));
        debug_assert!(logged.is_ok(), "the log has room");
    }

    /// Reads a page of the modelled store.
    pub(super) fn read(&self, file: FileId, page: u64) {
        self.before_page(file, page);
        let read = self.until_done(|store, now| Ok(store.read(now, self.id, file, page)));
        debug_assert!(read.is_ok(), "reading needs no room");
    }

    /// Writes a page of the modelled store.
    pub(super) fn write(&self, file: FileId, page: u64) -> Result<(), Full> {
        self.before_page(file, page);
        self.until_done(|store, now| store.write(now, file, page))
    }

    /// Takes a lock, waiting for all earlier requests.
    fn wait_for(&self, key: Key) {
        let is_held = self.world.locks.borrow_mut().take(key, self.id);
        if !is_held {
            self.suspend_for_lock();
        }
    }

    /// A page that may reach a disk does so at the exact time; one in memory only when a quantum is used up.
    fn before_page(&self, file: FileId, page: u64) {
        let held = self.world.store.borrow().holds(file, page);
        if !held || self.owed.get() >= QUANTUM {
            self.settle();
        }
    }

    fn until_done(
        &self,
        mut ask: impl FnMut(&mut model::store::Store, Instant) -> Result<Step, Full>,
    ) -> Result<(), Full> {
        loop {
            if self.stopping() {
                // The next access to a file fails.
                return Ok(());
            }
            let step = ask(&mut self.world.store.borrow_mut(), self.now.get())?;
            match step {
                Step::Done => return Ok(()),
                Step::Wait(wait) => self.wait(&wait),
            }
        }
    }

    fn wait(&self, wait: &Wait) {
        self.split.borrow_mut().add_wait(wait);
        self.sleep_until(wait.until);
    }

    /// Whether it is part of a run; loading outside of one takes no time.
    fn in_time(&self) -> bool {
        !self.yielder.get().is_null()
    }

    fn sleep_until(&self, when: Instant) {
        if !self.in_time() {
            self.now.set(when);
            return;
        }
        if self.world.is_turn(when) {
            self.now.set(when);
            return;
        }
        self.world.wake(self.id, when);
        self.suspend();
    }

    fn suspend(&self) {
        // SAFETY: the pointer is set by the coroutine itself at its start and cleared at its end, and the
        // yielder lives as long as the coroutine does.
        let now = unsafe { &*self.yielder.get() }.suspend(());
        self.now.set(now);
    }

    fn suspend_for_lock(&self) {
        let since = self.now.get();
        self.world.lock_waits.set(self.world.lock_waits.get() + 1);
        self.suspend();
        self.split
            .borrow_mut()
            .add(Spent::Lock, self.now.get().since(since));
    }
}
