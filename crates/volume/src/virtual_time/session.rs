//! One session: its own time, its connection, and where its time went.

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_int};
use std::rc::Rc;

use corosensei::Yielder;
use model::cores::QUANTUM;
use model::split::{Spent, TimeSplit};
use model::store::{CommitTicket, FileId, Full, Role, Step, Wait};
use model::{Duration, Instant};
use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, OpenFlags, ffi};

use super::inode::{Inode, Inodes};
use super::world::World;

/// The name by which SQLite knows the file system that databases are opened in.
pub(super) const VFS: &CStr = c"dbstow";

/// VM steps between two calls of the progress handler.
const STEPS: i32 = 100;

/// A connection's way through virtual time.
pub struct Session {
    id: u32,
    now: Cell<Instant>,
    world: Rc<World>,
    files: Rc<Inodes>,
    yielder: Cell<*const Yielder<Instant, ()>>,
    database: Cell<*mut ffi::sqlite3>,
    /// Work since the last burst was run.
    steps: Cell<u64>,
    statements: Cell<u64>,
    logical_reads_seen: Cell<u64>,
    split: RefCell<TimeSplit>,
    /// Whether SQLite's last answer was "busy" on a file, so that the busy handler knows for what to wait.
    busy_on: RefCell<Option<Rc<Inode>>>,
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
    CURRENT.with(|current| current.borrow().clone())
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
            split: RefCell::default(),
            busy_on: RefCell::default(),
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

    /// Its present instant. CPU time that was counted and not yet spent lies after it.
    pub fn now(&self) -> Instant {
        self.now.get()
    }

    /// Where its time went so far.
    pub fn split(&self) -> TimeSplit {
        self.split.borrow().clone()
    }

    /// Whether it should come to an end.
    pub fn stopping(&self) -> bool {
        self.world.stopping()
    }

    /// The space that ran out, if SQLite's last error was for want of it.
    pub fn take_full(&self) -> Option<Full> {
        self.full.take()
    }

    /// Why the real temporary file for its pages could not be used, if SQLite's last error was for that.
    pub fn take_spool_error(&self) -> Option<String> {
        self.world.spool_error.take()
    }

    /// Opens a database of this simulation; its tables count as `tables`.
    ///
    /// It is set up as a front to the modelled store: a small cache of its own, a rollback journal in
    /// memory and no syncs, since the store has the buffer pool and the log. Temporary tables and spills
    /// are [`Role::Temp`] always. The functions `app_lock(key)` and `app_unlock(key)` take and give back a
    /// lock in virtual time.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn open(&self, name: &str, tables: Role) -> rusqlite::Result<Connection> {
        let role = match tables {
            Role::Data => "data",
            Role::Temp => "temp",
        };
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection =
            Connection::open_with_flags_and_vfs(format!("{role}/{name}"), flags, VFS)?;
        let page = self.world.store.borrow().page_size().bytes().0;
        connection.execute_batch(&format!(
            "PRAGMA page_size = {page}; PRAGMA temp.page_size = {page}; PRAGMA journal_mode = MEMORY; \
             PRAGMA synchronous = OFF; PRAGMA cache_size = -512; PRAGMA temp.cache_size = -512; \
             PRAGMA temp_store = FILE; PRAGMA temp.journal_mode = MEMORY;",
        ))?;
        rusqlite::vtab::series::load_module(&connection)?;
        connection.progress_handler(
            STEPS,
            Some(|| {
                // A statement of a session that is to end is interrupted.
                current().is_some_and(|session| {
                    session.steps.set(session.steps.get() + STEPS as u64);
                    session.stopping()
                })
            }),
        )?;
        connection.busy_handler(Some(|_| {
            current().is_some_and(|session| session.wait_for_file())
        }))?;
        lock_functions(&connection)?;
        Ok(connection)
    }

    /// Makes `connection` the one whose work is counted; until [`Session::detach`].
    pub fn attach(&self, connection: &Connection) {
        // SAFETY: the handle is used only to read counters, and only until `detach`, which the caller
        // owes before it closes the connection.
        self.database.set(unsafe { connection.handle() });
        self.logical_reads_seen
            .set(logical_reads(self.database.get()));
    }

    /// Counts and spends what is outstanding, and forgets the connection.
    pub fn detach(&self) {
        self.settle();
        self.database.set(std::ptr::null_mut());
    }

    /// Counts one statement.
    pub fn statement(&self) {
        self.statements.set(self.statements.get() + 1);
    }

    /// Spends the CPU time counted so far, and waits for its turn: afterwards `now` is exact.
    pub fn settle(&self) {
        let burst = self.take_burst();
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

    /// Sleeps for `span`, thinking.
    pub fn sleep(&self, span: Duration) {
        self.settle();
        if self.in_time() {
            self.split.borrow_mut().add(Spent::Think, span);
            self.sleep_until(self.now.get() + span);
        }
    }

    /// Commits: waits for the log and for room for row versions, as the store demands.
    ///
    /// # Errors
    /// When the temp files are full of versions.
    pub fn commit(&self, log_bytes: u64, rows: u64) -> Result<(), Full> {
        self.settle();
        let mut ticket = CommitTicket::new(self.id, log_bytes, rows);
        self.until_done(|store, now| store.commit(now, &mut ticket))
    }

    /// Takes an application lock, waiting for it in the order of arrival.
    pub fn lock(&self, key: i64) {
        self.settle();
        if !self.in_time() || self.world.take_lock(key, self.id) {
            return;
        }
        self.suspend_for_lock();
    }

    /// Gives an application lock back.
    pub fn unlock(&self, key: i64) {
        self.settle();
        if self.in_time() {
            self.world.release_lock(key, self.now.get());
        }
    }

    /// The world it is part of.
    pub(super) fn world(&self) -> &Rc<World> {
        &self.world
    }

    /// The files of the simulation it is part of.
    pub(super) fn files(&self) -> &Inodes {
        &self.files
    }

    /// SQLite reads a page.
    pub(super) fn read_page(&self, file: FileId, page: u64) {
        self.before_page(file, page);
        let read = self.until_done(|store, now| Ok(store.read(now, self.id, file, page)));
        debug_assert!(read.is_ok(), "reading needs no room");
    }

    /// SQLite writes a page.
    pub(super) fn write_page(&self, file: FileId, page: u64) -> Result<(), Full> {
        self.before_page(file, page);
        self.until_done(|store, now| store.write(now, file, page))
            .inspect_err(|full| self.full.set(Some(*full)))
    }

    /// SQLite found a file locked by another connection.
    pub(super) fn found_busy(&self, inode: &Rc<Inode>) {
        *self.busy_on.borrow_mut() = Some(Rc::clone(inode));
    }

    /// A page that may reach a disk does so at the exact time; one in memory only when a quantum is up.
    fn before_page(&self, file: FileId, page: u64) {
        let held = self.world.store.borrow().holds(file, page);
        if !held || self.burst() >= QUANTUM {
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

    /// SQLite's busy handler: waits until a lock on the file is given back; whether to try again.
    fn wait_for_file(&self) -> bool {
        let Some(inode) = self.busy_on.borrow_mut().take() else {
            return false;
        };
        if !self.in_time() || self.stopping() {
            return false;
        }
        let releases = inode.releases();
        self.settle();
        // Others ran meanwhile: a lock that they gave back is not given back again.
        if inode.releases() == releases {
            inode.wait(self.id);
            self.suspend_for_lock();
        }
        !self.stopping()
    }

    /// Work counted and not yet spent, as CPU time.
    fn burst(&self) -> Duration {
        let costs = &self.world.costs;
        let reads =
            logical_reads(self.database.get()).saturating_sub(self.logical_reads_seen.get());
        costs.vm_step * self.steps.get()
            + costs.statement * self.statements.get()
            + costs.logical_read * reads
    }

    fn take_burst(&self) -> Duration {
        let burst = self.burst();
        let seen = logical_reads(self.database.get());
        let reads = seen.saturating_sub(self.logical_reads_seen.replace(seen));
        self.world
            .logical_reads
            .set(self.world.logical_reads.get() + reads);
        self.steps.set(0);
        self.statements.set(0);
        burst
    }
}

/// Pages a connection asked of its cache so far, in all its databases.
fn logical_reads(database: *mut ffi::sqlite3) -> u64 {
    if database.is_null() {
        return 0;
    }
    let status = |which: c_int| {
        let (mut count, mut highest) = (0_i64, 0_i64);
        // SAFETY: the handle is that of an open connection (see `attach`), used on its own thread.
        let result =
            unsafe { ffi::sqlite3_db_status64(database, which, &mut count, &mut highest, 0) };
        if result == ffi::SQLITE_OK {
            u64::try_from(count).unwrap_or(0)
        } else {
            0
        }
    };
    status(ffi::SQLITE_DBSTATUS_CACHE_HIT as c_int)
        + status(ffi::SQLITE_DBSTATUS_CACHE_MISS as c_int)
}

fn lock_functions(connection: &Connection) -> rusqlite::Result<()> {
    let function = |name: &str, act: fn(&Session, i64)| {
        connection.create_scalar_function(name, 1, FunctionFlags::SQLITE_UTF8, move |context| {
            let key: i64 = context.get(0)?;
            if let Some(session) = current() {
                act(&session, key);
            }
            Ok(1_i64)
        })
    };
    function("app_lock", Session::lock)?;
    function("app_unlock", Session::unlock)
}
