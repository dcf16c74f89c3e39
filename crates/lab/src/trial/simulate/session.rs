//! The context of a session in virtual time.

use std::cell::RefCell;
use std::rc::Rc;

use model::split::TimeSplit;
use model::{Duration, Instant};
use rusqlite::Connection;
use sqlite_vfs::virtual_time::{DatabaseName, Session};

use super::super::sessions::{self, Run, SessionContext, Tally, Task};
use super::progress::Progress;
use sqlite::SqliteDriver;
use workload::{Database, Driver, Statement, Value, Variables, Workload};

/// Name of the database that all sessions share.
pub(super) const SHARED: &str = "shared";

/// Name of the database that session `number` has to itself.
pub(super) fn database(number: u32) -> String {
    format!("session-{number}")
}

/// Calls `work` with the name of the database that session `number` of `workload` has.
pub(super) fn with_database<T>(
    workload: &Workload,
    number: u32,
    work: impl FnOnce(DatabaseName<'_>) -> T,
) -> T {
    match workload.database {
        Database::PerSession => work(DatabaseName::Own(&database(number))),
        Database::Shared => work(DatabaseName::Shared(SHARED)),
    }
}

/// Results of all sessions of a run.
pub(super) struct Sums {
    pub(super) tally: Tally,
    pub(super) split: TimeSplit,
    /// When the last session had its database loaded.
    pub(super) loaded: Instant,
}

/// One session's run, including the load if that is measured.
pub(super) struct Body<'a> {
    pub(super) task: &'a Task<'a>,
    pub(super) session: &'a Session,
    pub(super) sums: Rc<RefCell<Sums>>,
    pub(super) progress: &'a Progress<'a>,
}

impl Body<'_> {
    /// Runs this session's share.
    pub(super) fn run_session(&self, connection: &Connection) {
        let (task, session) = (self.task, self.session);
        let mut variables = task.workload.variables(session.id(), task.sessions);
        if task.workload.load.measured {
            let loaded = load(
                session,
                connection,
                task.workload,
                &mut variables,
                task.seed,
            );
            if !self.loaded(loaded) {
                return;
            }
        }
        let mut seat = VirtualSession {
            progress: Some(self.progress),
            ..VirtualSession::new(session, connection, task.workload)
        };
        let tally = Run::new(task, session.id(), &mut seat).run_to_end(&mut variables);
        self.add(tally, seat.before.as_ref());
    }

    /// Ends the session, and adds its results; `before`: how its time had been spent when the measured time began.
    pub(super) fn add(&self, tally: Tally, before: Option<&TimeSplit>) {
        self.session.settle();
        let mut sums = self.sums.borrow_mut();
        sums.tally.merge(tally);
        if let Some(before) = before {
            sums.split.merge(&self.session.split().since(before));
        }
    }

    /// Adds a load that was measured; returns whether it succeeded.
    pub(super) fn loaded(&self, result: Result<(), String>) -> bool {
        let mut sums = self.sums.borrow_mut();
        sums.loaded = sums.loaded.max(self.session.now());
        sums.split.merge(&self.session.split());
        match result {
            Ok(()) => true,
            Err(error) => {
                sums.tally.load_failed.get_or_insert(error);
                false
            }
        }
    }
}

/// Loads a database on a connection, whose state is restored afterwards. Reports what went wrong.
pub(super) fn load(
    session: &Session,
    connection: &Connection,
    workload: &Workload,
    variables: &mut Variables,
    seed: u64,
) -> Result<(), String> {
    let mut seat = VirtualSession::new(session, connection, workload);
    sessions::load(&mut seat, workload, variables, seed, || Ok(()))
}

/// A session's connection in virtual time.
pub(super) struct VirtualSession<'a> {
    session: &'a Session,
    driver: SqliteDriver<'a>,
    /// How time had been spent when the measured time began.
    before: Option<TimeSplit>,
    progress: Option<&'a Progress<'a>>,
}

impl<'a> VirtualSession<'a> {
    pub(super) fn new(
        session: &'a Session,
        connection: &'a Connection,
        workload: &Workload,
    ) -> VirtualSession<'a> {
        VirtualSession {
            session,
            driver: SqliteDriver::new(session, connection, workload),
            before: None,
            progress: None,
        }
    }
}

impl Driver for VirtualSession<'_> {
    type Error = String;

    fn statement(
        &mut self,
        index: usize,
        statement: &Statement,
        arguments: &[Value],
    ) -> Result<(), String> {
        self.driver.statement(index, statement, arguments)
    }

    fn sleep(&mut self, span: Duration) -> Result<(), String> {
        self.driver.sleep(span)
    }
}

impl SessionContext for VirtualSession<'_> {
    fn now(&self) -> Instant {
        self.session.now()
    }

    fn enter(&mut self, script: usize) {
        self.driver.enter(script);
    }

    fn settle(&mut self) -> Result<(), String> {
        self.driver.end_operation()
    }

    fn roll_back(&mut self) {
        self.driver.roll_back();
    }

    fn statements(&self) -> u64 {
        self.driver.work().statements
    }

    fn measure(&mut self) {
        self.before = Some(self.session.split());
    }

    fn ended(&mut self, now: Instant, _success: bool) {
        if let Some(progress) = self.progress {
            progress.ended(now);
        }
    }

    fn stopping(&self) -> bool {
        self.session.stopping()
    }
}
