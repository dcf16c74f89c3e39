//! A session that replays what was executed.

use std::cell::{Cell, RefCell};

use model::split::TimeSplit;
use model::{Duration, Instant};
use sqlite_vfs::virtual_time::{Session, Simulation, TapeFiles};

use super::super::super::sessions::{Outcome, Run, SessionContext};
use super::super::progress::Progress;
use super::super::session::Body;
use super::executed::Executed;
use workload::{Driver, Statement, Value};

/// A session of a trial that replays its operations.
pub(in super::super) struct ReplayingSession<'a> {
    pub(in super::super) session: &'a Session,
    pub(in super::super) simulation: &'a Simulation,
    pub(in super::super) executed: &'a Executed,
    pub(in super::super) files: &'a RefCell<TapeFiles>,
    /// Loads on its tape, before its operations: 1 if the load is measured.
    pub(in super::super) loads: u64,
    pub(in super::super) statements: u64,
    /// How time had been spent when the measured time began.
    pub(in super::super) before: Option<TimeSplit>,
    pub(in super::super) progress: &'a Progress<'a>,
    /// Set when the trial cannot replay any further.
    pub(in super::super) is_abandoned: &'a Cell<bool>,
}

impl ReplayingSession<'_> {
    /// Replays its share of a run.
    pub(in super::super) fn run(mut self, body: &Body<'_>) {
        let (task, session) = (body.task, body.session);
        let mut variables = task.workload.variables(session.id(), task.sessions);
        session.log_per_row(task.workload.run.log_bytes_per_row);
        if task.workload.load.measured && !body.loaded(self.load()) {
            return;
        }
        let tally = Run::new(task, session.id(), &mut self).run_to_end(&mut variables);
        body.add(tally, self.before.as_ref());
    }

    /// Replays the load, which is measured.
    fn load(&mut self) -> Result<(), String> {
        self.replay_taped(0).result
    }

    /// Replays what was taped as number `number`; a trial that cannot is abandoned.
    fn replay_taped(&mut self, number: u64) -> Outcome {
        self.replayed(number).unwrap_or_else(|| {
            self.is_abandoned.set(true);
            self.simulation.stop();
            Outcome {
                script: 0,
                result: Err("it cannot be replayed".to_owned()),
            }
        })
    }

    fn replayed(&mut self, number: u64) -> Option<Outcome> {
        let session = self.session;
        let operation = self
            .executed
            .operation(session.id(), number, || session.stopping())?;
        let files = &mut self.files.borrow_mut();
        session.replay_tape(&operation.tape, files).ok()?;
        self.statements += operation.statements;
        Some(operation.outcome.clone())
    }
}

impl Driver for ReplayingSession<'_> {
    type Error = String;

    fn statement(&mut self, _: usize, _: &Statement, _: &[Value]) -> Result<(), String> {
        unreachable!("a session that replays executes nothing")
    }

    fn sleep(&mut self, span: Duration) -> Result<(), String> {
        self.session.sleep(span);
        Ok(())
    }
}

impl SessionContext for ReplayingSession<'_> {
    fn now(&self) -> Instant {
        self.session.now()
    }

    fn enter(&mut self, _: usize) {}

    fn settle(&mut self) -> Result<(), String> {
        Ok(())
    }

    fn roll_back(&mut self) {}

    fn statements(&self) -> u64 {
        self.statements
    }

    fn measure(&mut self) {
        self.before = Some(self.session.split());
    }

    fn ended(&mut self, now: Instant, _success: bool) {
        self.progress.ended(now);
    }

    fn stopping(&self) -> bool {
        self.session.stopping()
    }

    fn replay(&mut self, number: u64) -> Option<Outcome> {
        Some(self.replay_taped(self.loads + number))
    }
}
