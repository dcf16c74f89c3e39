//! What each session does in a run: operations, one after the other, until time or number is up.

use std::cell::RefCell;
use std::rc::Rc;

use hdrhistogram::Histogram;
use model::random::{self, Stream};
use model::split::TimeSplit;
use model::{Duration, Instant};
use rand_distr::{Distribution, Exp1};
use rusqlite::Connection;
use volume::virtual_time::Session;

use super::meter::SharedMeter;
use crate::engine::sqlite::{SqliteDriver, Work};
use crate::record::{Errors, histogram};
use crate::spec::Arrival;
use crate::workload::{Script, Variables, Workload};

/// Texts of errors that are kept.
const ERRORS_KEPT: usize = 5;

/// What all sessions of a run know.
pub(super) struct Task<'a> {
    pub(super) workload: &'a Workload,
    pub(super) sessions: u32,
    pub(super) seed: u64,
    pub(super) arrival: Arrival,
    /// Operations of all sessions together; `None`: until the window ends.
    pub(super) operations: Option<u64>,
    /// What is measured.
    pub(super) window: Window,
    /// Whether sessions load their database first, and that counts.
    pub(super) load: bool,
    /// Ends the run early.
    pub(super) cancelled: &'a dyn Fn() -> bool,
}

/// The measured time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// From here; before it is warm-up.
    pub(super) from: Instant,
    /// Until here; `None`: until the sessions are done.
    pub(super) until: Option<Instant>,
}

impl Window {
    fn holds(&self, now: Instant) -> bool {
        now >= self.from && self.until.is_none_or(|until| now <= until)
    }
}

/// What all sessions did in the measured time.
pub(super) struct Tally {
    pub(super) operations: u64,
    pub(super) statements: u64,
    pub(super) split: TimeSplit,
    pub(super) latency: Histogram<u64>,
    pub(super) errors: Errors,
    /// When the last session had its database loaded.
    pub(super) loaded: Instant,
}

impl Tally {
    pub(super) fn new() -> Tally {
        Tally {
            operations: 0,
            statements: 0,
            split: TimeSplit::default(),
            latency: histogram::empty(),
            errors: Errors::default(),
            loaded: Instant::ZERO,
        }
    }

    fn error(&mut self, text: String) {
        self.errors.count += 1;
        if self.errors.first.len() < ERRORS_KEPT {
            self.errors.first.push(text);
        }
    }
}

/// Loads a database: schema, then data. Says what went wrong.
pub(super) fn load(
    session: &Session,
    connection: &Connection,
    workload: &Workload,
    variables: &mut Variables,
    seed: u64,
) -> Result<(), String> {
    let mut driver = SqliteDriver::new(session, connection, workload.run.log_bytes_per_row);
    let mut random = random::stream(seed, "load");
    for (index, script) in workload.load.all().enumerate() {
        driver.enter(index);
        script
            .execute(variables, &mut random, &mut driver)
            .map_err(|error| format!("{}: {error}", script.name))?;
    }
    Ok(())
}

/// One session's run.
pub(super) struct Run<'a> {
    task: &'a Task<'a>,
    session: &'a Session,
    meter: SharedMeter,
    tally: Rc<RefCell<Tally>>,
    keys: Stream,
    arrivals: Stream,
    /// State when the measured time began.
    before: Option<(TimeSplit, Work)>,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        task: &'a Task<'a>,
        session: &'a Session,
        meter: SharedMeter,
        tally: Rc<RefCell<Tally>>,
    ) -> Run<'a> {
        let seed = random::derive(task.seed, "session", u64::from(session.id()));
        let (keys, arrivals) = (
            random::stream(seed, "keys"),
            random::stream(seed, "arrivals"),
        );
        Run {
            task,
            session,
            meter,
            tally,
            keys,
            arrivals,
            before: None,
        }
    }

    /// Carries out this session's share.
    pub(super) fn carry_out(mut self, connection: &Connection) {
        let task = self.task;
        let mut variables = task.workload.variables(self.session.id(), task.sessions);
        if task.load && !self.load(connection, &mut variables) {
            return;
        }
        let mut driver = SqliteDriver::new(
            self.session,
            connection,
            task.workload.run.log_bytes_per_row,
        );
        // Scripts of the load were numbered from 0 by a driver of their own.
        let mut due = self.session.now();
        for number in 0..self.share() {
            let Some(start) = self.next_start(&mut due) else {
                break;
            };
            self.begin_measuring(&driver);
            variables.set_operation(number);
            self.operation(&mut driver, &mut variables, start);
        }
        self.session.settle();
        self.end_measuring(&driver);
    }

    fn load(&self, connection: &Connection, variables: &mut Variables) -> bool {
        let result = load(
            self.session,
            connection,
            self.task.workload,
            variables,
            self.task.seed,
        );
        let mut tally = self.tally.borrow_mut();
        tally.loaded = tally.loaded.max(self.session.now());
        tally.split.merge(&self.session.split());
        match result {
            Ok(()) => true,
            Err(error) => {
                tally.error(error);
                false
            }
        }
    }

    /// Operations of this session: its part of the whole, the first sessions one more where it is uneven.
    fn share(&self) -> u64 {
        let sessions = u64::from(self.task.sessions);
        let own = u64::from(self.session.id());
        self.task.operations.map_or(u64::MAX, |all| {
            all / sessions + u64::from(own < all % sessions)
        })
    }

    /// Waits for the next operation's turn: the instant it was due. `None` when the run is over.
    fn next_start(&mut self, due: &mut Instant) -> Option<Instant> {
        let session = self.session;
        match self.task.arrival {
            Arrival::Closed { think } => {
                if think > Duration::ZERO {
                    session.sleep(think);
                }
                *due = session.now();
            }
            Arrival::Open { rate_per_s } => {
                // A Poisson stream over all sessions is one of a share of the rate in each.
                let gap: f64 = Exp1.sample(&mut self.arrivals);
                *due += Duration::from_secs_f64(gap * f64::from(self.task.sessions) / rate_per_s);
                session.sleep(due.since(session.now()));
            }
        }
        let over = self
            .task
            .window
            .until
            .is_some_and(|until| session.now() >= until);
        (!over && !session.stopping() && !(self.task.cancelled)()).then_some(*due)
    }

    fn operation(
        &mut self,
        driver: &mut SqliteDriver<'_>,
        variables: &mut Variables,
        start: Instant,
    ) {
        let mix = &self.task.workload.run;
        let picked = mix.pick(&mut self.keys);
        let script: &Script = &mix.scripts[picked].script;
        driver.enter(picked);
        let result = script.execute(variables, &mut self.keys, driver);
        if result.is_err() {
            driver.roll_back();
        }
        self.session.settle();
        let end = self.session.now();
        self.meter.0.borrow_mut().operation(end);
        if !self.task.window.holds(end) {
            return;
        }
        let mut tally = self.tally.borrow_mut();
        match result {
            Ok(()) => {
                tally.operations += 1;
                tally
                    .latency
                    .record(end.since(start).as_nanos().max(1))
                    .expect("a histogram that grows takes every value");
            }
            Err(error) => tally.error(format!("{}: {error}", script.name)),
        }
    }

    fn begin_measuring(&mut self, driver: &SqliteDriver<'_>) {
        if self.before.is_none() && self.session.now() >= self.task.window.from {
            self.before = Some((self.session.split(), driver.work()));
        }
    }

    fn end_measuring(&self, driver: &SqliteDriver<'_>) {
        let Some((split, work)) = &self.before else {
            return;
        };
        let mut tally = self.tally.borrow_mut();
        tally.split.merge(&self.session.split().since(split));
        tally.statements += driver.work().statements - work.statements;
    }
}
