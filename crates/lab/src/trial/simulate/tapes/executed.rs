//! What sessions execute, on a thread of its own.

use std::iter;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration as RealDuration;

use model::Duration;
use model::random::Stream;
use parking_lot::{Condvar, Mutex};
use rusqlite::Connection;
use sqlite_vfs::virtual_time::{Image, Parts, Session, Tape, TapingSession};

use super::super::super::sessions::{self, Outcome, SessionContext};
use super::super::super::{Cancel, Stage, TrialId};
use super::super::meter::SharedMeter;
use super::super::session::{self, VirtualSession};
use super::super::trial::{VirtualTrial, tables};
use experiment::spec::Settings;
use workload::{Database, Variables, Workload};

/// Most memory of the operations on a tape, in bytes. Longer trials execute their statements themselves.
const MEMORY_MAX: usize = 64 << 20;

/// One operation in this many is executed ahead of the trials, for which it may be in vain: a trial waits less often.
const AHEAD: u64 = 16;

/// How often a trial that waits for an operation looks whether it is cancelled.
const GLANCE: RealDuration = RealDuration::from_millis(50);

/// An operation that was executed.
pub(super) struct Operation {
    pub(super) outcome: Outcome,
    pub(super) statements: u64,
    pub(super) tape: Tape,
}

/// The operations of all sessions, executed as trials ask for them.
pub(in super::super) struct Executed {
    pub(super) shared: Arc<Shared>,
    /// Asks for an operation of a session, until it is dropped.
    asks: Option<Sender<(u32, u64)>>,
    /// The thread that executes, until it is dropped.
    thread: Option<thread::JoinHandle<()>>,
}

#[derive(Default)]
pub(super) struct Shared {
    pub(super) done: Mutex<Done>,
    grown: Condvar,
    /// Set once no trial needs it any more.
    is_dropped: Arc<AtomicBool>,
}

#[derive(Default)]
pub(super) struct Done {
    /// By session.
    pub(super) operations: Vec<Vec<Arc<Operation>>>,
    memory: usize,
    /// Whether there will be no more.
    pub(super) ended: bool,
}

impl Drop for Executed {
    fn drop(&mut self) {
        self.shared.is_dropped.store(true, Ordering::Relaxed);
        self.asks = None;
        if let Some(thread) = self.thread.take() {
            // If it panicked, the trials have executed their own statements.
            let _ = thread.join();
        }
    }
}

impl Executed {
    /// Starts the thread that executes. `None` if the system has no thread left.
    pub(super) fn begin(trial: &VirtualTrial<'_>, images: Vec<Arc<Image>>) -> Option<Executed> {
        let shared = Arc::new(Shared::default());
        let sessions = trial.settings.workload.sessions as usize;
        shared
            .done
            .lock()
            .operations
            .resize_with(sessions, Vec::new);
        let (asks, asked) = mpsc::channel();
        let executor = Executor {
            id: trial.id.clone(),
            settings: trial.settings.clone(),
            stage: trial.stage.clone(),
            workload: trial.workload.clone(),
            images,
            shared: Arc::clone(&shared),
        };
        let thread = thread::Builder::new().spawn(move || executor.run(&asked));
        Some(Executed {
            shared,
            asks: Some(asks),
            thread: Some(thread.ok()?),
        })
    }

    /// Whether there will be no more operations.
    pub(super) fn has_ended(&self) -> bool {
        self.shared.done.lock().ended
    }

    /// Waits for operation `number` of a session, in the order in which they were taped; `None` if it cannot be known, or `is_stopped`
    /// returns true.
    pub(super) fn operation(
        &self,
        session: u32,
        number: u64,
        is_stopped: impl Fn() -> bool,
    ) -> Option<Arc<Operation>> {
        let mut done = self.shared.done.lock();
        let mut has_asked = false;
        loop {
            let operations = &done.operations[session as usize];
            if let Some(operation) = operations.get(usize::try_from(number).ok()?) {
                return Some(Arc::clone(operation));
            }
            if done.ended || is_stopped() {
                return None;
            }
            if !std::mem::replace(&mut has_asked, true) {
                self.asks.as_ref()?.send((session, number)).ok()?;
            }
            self.shared.grown.wait_for(&mut done, GLANCE);
        }
    }
}

/// Executes the operations of all sessions, on a thread of its own.
struct Executor {
    id: TrialId,
    settings: Settings,
    stage: Stage,
    workload: Workload,
    images: Vec<Arc<Image>>,
    shared: Arc<Shared>,
}

impl Executor {
    fn run(&self, asked: &Receiver<(u32, u64)>) {
        // However it ends: trials that wait must know.
        let _end = Ending(&self.shared);
        let Ok(first) = asked.recv() else { return };
        let dropped = Arc::clone(&self.shared.is_dropped);
        let cancelled: Cancel = Rc::new(move || dropped.load(Ordering::Relaxed));
        let trial = VirtualTrial {
            id: &self.id,
            settings: &self.settings,
            stage: &self.stage,
            workload: &self.workload,
            cancelled: &cancelled,
            meter: SharedMeter::of(&self.stage),
        };
        let Ok(simulation) = trial.simulation() else {
            return;
        };
        let open = |session: &Session| trial.open_on(session, &self.images, Parts::Bytes);
        let Some(connections) = simulation.timeless(open) else {
            return;
        };
        trial.quiesce(&simulation, &connections);
        let taping = |number| {
            session::with_database(&self.workload, number, |database| {
                simulation.taping_session(number, database, tables(&self.workload))
            })
        };
        let taping: Option<Vec<TapingSession>> =
            (0..).map(taping).take(connections.len()).collect();
        let Some(taping) = taping else { return };
        let sessions = taping.iter().zip(&connections);
        let mut sessions: Vec<Executing<'_>> = sessions
            .map(|(taping, connection)| Executing::new(taping, connection, self))
            .collect();
        let execute = match self.workload.database {
            Database::PerSession => Executor::execute_own,
            Database::Shared => Executor::execute_in_turn,
        };
        for (session, number) in iter::once(first).chain(asked) {
            let may_go_on = execute(self, &mut sessions, session as usize, number, &cancelled);
            if may_go_on.is_none() {
                return;
            }
        }
    }

    /// Executes the operations of one session up to `number`. `None` if there can be no more.
    fn execute_own(
        &self,
        sessions: &mut [Executing<'_>],
        session: usize,
        number: u64,
        cancelled: &Cancel,
    ) -> Option<()> {
        let executing = &mut sessions[session];
        let count = (number + number / AHEAD + 1).saturating_sub(executing.taped);
        let next = || executing.next().filter(|_| !cancelled());
        let operations: Vec<Operation> = iter::from_fn(next).take(count as usize).collect();
        let is_cut_short = operations.len() as u64 != count;
        let has_room = self.shared.add(session, operations);
        (has_room && !is_cut_short).then_some(())
    }

    /// Executes operations of all sessions, one after the other, up to `number` of this session. Whose turn it is follows from what they
    /// have executed, and not from who asks: the next is always that session's whose operations take the least time on a nominal machine.
    fn execute_in_turn(
        &self,
        sessions: &mut [Executing<'_>],
        session: usize,
        number: u64,
        cancelled: &Cancel,
    ) -> Option<()> {
        while sessions[session].taped <= number + number / AHEAD {
            let turn = (0..sessions.len()).min_by_key(|other| sessions[*other].nominal)?;
            let operation = sessions[turn].next().filter(|_| !cancelled())?;
            sessions[turn].nominal += operation.tape.nominal();
            self.shared.add(turn, vec![operation]).then_some(())?;
        }
        Some(())
    }
}

/// Tells trials that wait that there will be no more operations.
struct Ending<'a>(&'a Shared);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.done.lock().ended = true;
        self.0.grown.notify_all();
    }
}

impl Shared {
    /// Adds the next operations of a session; returns whether there may be more.
    fn add(&self, session: usize, operations: Vec<Operation>) -> bool {
        let mut done = self.done.lock();
        let memory = |operation: &Operation| size_of::<Operation>() + operation.tape.memory();
        done.memory += operations.iter().map(memory).sum::<usize>();
        done.operations[session].extend(operations.into_iter().map(Arc::new));
        self.grown.notify_all();
        done.memory < MEMORY_MAX
    }
}

/// A session whose operations are executed.
struct Executing<'a> {
    taping: &'a TapingSession,
    connection: &'a Connection,
    executor: &'a Executor,
    /// Once its load is executed, if that is measured.
    seat: Option<VirtualSession<'a>>,
    variables: Variables,
    keys: Stream,
    /// Operations so far, with a load that is measured.
    taped: u64,
    /// Its next operation, without the load.
    number: u64,
    /// How long they take on a nominal machine.
    nominal: Duration,
}

impl<'a> Executing<'a> {
    fn new(
        taping: &'a TapingSession,
        connection: &'a Connection,
        executor: &'a Executor,
    ) -> Executing<'a> {
        let (number, all) = (taping.session().id(), executor.settings.workload.sessions);
        let mut executing = Executing {
            taping,
            connection,
            executor,
            seat: None,
            variables: executor.workload.variables(number, all),
            keys: sessions::keys(executor.id.seed, number),
            taped: 0,
            number: 0,
            nominal: Duration::ZERO,
        };
        if !executor.workload.load.measured {
            executing.begin();
        }
        executing
    }

    fn begin(&mut self) -> &mut VirtualSession<'a> {
        let (session, workload) = (self.taping.session(), &self.executor.workload);
        let new = || VirtualSession::new(session, self.connection, workload);
        self.seat.get_or_insert_with(new)
    }

    /// Executes its next operation. `None` if what it does depends on the time.
    fn next(&mut self) -> Option<Operation> {
        self.taped += 1;
        match self.seat {
            None => self.load(),
            Some(_) => self.operation(),
        }
    }

    fn load(&mut self) -> Option<Operation> {
        let Executor { id, workload, .. } = self.executor;
        let (session, connection) = (self.taping.session(), self.connection);
        let variables = &mut self.variables;
        let execute = || session::load(session, connection, workload, variables, id.seed);
        let (result, tape) = self.taping.tape(execute);
        self.begin();
        Some(Operation {
            outcome: Outcome { script: 0, result },
            statements: 0,
            tape: tape?,
        })
    }

    fn operation(&mut self) -> Option<Operation> {
        self.variables.set_operation(self.number);
        self.number += 1;
        let seat = self.seat.as_mut()?;
        let before = seat.statements();
        let (run, variables, keys) = (
            &self.executor.workload.run,
            &mut self.variables,
            &mut self.keys,
        );
        let execute = || sessions::execute(run, variables, keys, seat);
        let (outcome, tape) = self.taping.tape(execute);
        Some(Operation {
            outcome,
            statements: self.seat.as_ref()?.statements() - before,
            tape: tape?,
        })
    }
}
