//! Executes the statements of sessions once for all arms of a block.
//!
//! Arms of a block share its seed: where they load the same, their sessions execute the same statements, and wait for
//! different disks. If every session has a database of its own, what SQLite does is the same in all these trials. A thread then
//! executes it, operation by operation and as far as the fastest trial gets, and the trials replay it
//! ([`sqlite_vfs::virtual_time::Tape`]). It executes while a trial waits for it: both together use one processor.
//!
//! Figures do not depend on it: a trial that cannot replay to its end executes all its statements itself, from the start.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::iter;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration as RealDuration;

use model::random::Stream;
use model::split::TimeSplit;
use model::{Duration, Instant};
use parking_lot::{Condvar, Mutex};
use sqlite_vfs::virtual_time::{Image, Parts, Session, Simulation, Tape, TapeFiles, TapingSession};

use super::super::TrialId;
use super::super::parameters;
use super::super::sessions::{self, Outcome, SessionContext};
use super::super::{Cancel, Stage};
use super::image::tables;
use super::meter::SharedMeter;
use super::progress::Progress;
use super::session::{VirtualSession, database};
use super::{Trial, cache_kib};
use experiment::spec::Settings;
use workload::{Command, Database, Driver, Statement, Value, Variables, Weighted, Workload};

/// Tapes that no trial uses at present and that are kept for arms that follow. Each also keeps its databases.
const IDLE_MAX: usize = 1;

/// Most memory of the operations on a tape, in bytes. Longer trials execute their statements themselves.
const MEMORY_MAX: usize = 64 << 20;

/// One operation in this many is executed ahead of the trials, for which it may be in vain: a trial waits less often.
const AHEAD: u64 = 16;

/// How often a trial that waits for an operation looks whether it is cancelled.
const GLANCE: RealDuration = RealDuration::from_millis(50);

/// Words of statements whose results do not follow from the session's own database: the generator of `random` and what is
/// attached are shared.
const SHARED: [&str; 4] = ["random", "pragma", "attach", "vacuum"];

/// What was executed so far.
#[derive(Default)]
pub(super) struct Tapes {
    /// How many trials have a seed. Without those whose operations cannot be kept on a tape.
    trials: Mutex<HashMap<u64, usize>>,
    /// Those last used at the end.
    kept: Mutex<Vec<Kept>>,
}

struct Kept {
    key: Key,
    executed: Arc<Executed>,
    /// Trials of its seed that have not begun.
    left: usize,
}

/// What determines the operations of a trial's sessions.
struct Key {
    seed: u64,
    images: Vec<Arc<Image>>,
    scripts: Vec<Weighted>,
    log_bytes_per_row: u64,
    parameters: BTreeMap<String, Value>,
    cache_kib: u64,
}

impl Key {
    fn of(trial: &Trial<'_>, images: &[Arc<Image>]) -> Key {
        let run = &trial.workload.run;
        Key {
            seed: trial.id.seed,
            images: images.to_vec(),
            scripts: run.scripts.clone(),
            log_bytes_per_row: run.log_bytes_per_row,
            parameters: trial.workload.parameters().clone(),
            cache_kib: cache_kib(trial.settings),
        }
    }

    fn is(&self, other: &Key) -> bool {
        let same_images = self.images.len() == other.images.len()
            && self
                .images
                .iter()
                .zip(&other.images)
                .all(|(one, other)| Arc::ptr_eq(one, other));
        same_images
            && (self.seed, self.log_bytes_per_row, self.cache_kib)
                == (other.seed, other.log_bytes_per_row, other.cache_kib)
            && self.scripts == other.scripts
            && self.parameters == other.parameters
    }
}

impl Tapes {
    /// None yet, for trials with these seeds.
    pub(super) fn for_seeds(seeds: impl IntoIterator<Item = u64>) -> Tapes {
        let mut trials = HashMap::new();
        for seed in seeds {
            *trials.entry(seed).or_default() += 1;
        }
        Tapes {
            trials: Mutex::new(trials),
            kept: Mutex::default(),
        }
    }

    /// What the sessions of `trial` execute, if that can be known without its disks.
    pub(super) fn of(&self, trial: &Trial<'_>, images: &[Arc<Image>]) -> Option<Arc<Executed>> {
        let seed = trial.id.seed;
        let trials = *self.trials.lock().get(&seed)?;
        if trials == 1 || !is_own(trial.workload) {
            return None;
        }
        let key = Key::of(trial, images);
        let mut kept = self.kept.lock();
        let place = kept.iter().position(|known| known.key.is(&key));
        let mut known = match place {
            Some(place) => kept.remove(place),
            None => Kept {
                key,
                executed: Arc::new(Executed::begin(trial, images.to_vec())?),
                left: trials,
            },
        };
        if known.executed.has_ended() {
            // Most trials would replay it in vain.
            self.trials.lock().remove(&seed);
            return None;
        }
        let executed = Arc::clone(&known.executed);
        known.left -= 1;
        if known.left > 0 {
            kept.push(known);
        }
        forget_idle(&mut kept);
        Some(executed)
    }
}

/// Drops the tapes that no trial uses, but for those last used.
fn forget_idle(kept: &mut Vec<Kept>) {
    let is_idle = |known: &Kept| Arc::strong_count(&known.executed) == 1;
    let idle = kept.iter().filter(|known| is_idle(known));
    let mut too_many = idle.count().saturating_sub(IDLE_MAX);
    kept.retain(|known| {
        let is_dropped = too_many > 0 && is_idle(known);
        too_many -= usize::from(is_dropped);
        !is_dropped
    });
}

/// Whether what sessions execute follows from their own databases.
fn is_own(workload: &Workload) -> bool {
    let mut scripts = workload.run.scripts.iter();
    workload.database == Database::PerSession
        && workload.run.per_turn == 1
        && parameters::query(workload).is_none()
        && scripts.all(|weighted| are_own(&weighted.script.commands))
}

fn are_own(commands: &[Command]) -> bool {
    commands.iter().all(|command| match command {
        Command::Sql(statement) => {
            let text = statement.text.to_ascii_lowercase();
            !SHARED.iter().any(|word| text.contains(word))
        }
        Command::If {
            branches,
            otherwise,
        } => are_own(otherwise) && branches.iter().all(|branch| are_own(&branch.commands)),
        Command::Set { .. } | Command::Sleep { .. } => true,
    })
}

/// An operation that was executed.
struct Operation {
    outcome: Outcome,
    statements: u64,
    tape: Tape,
}

/// The operations of all sessions, executed as trials ask for them.
pub(super) struct Executed {
    shared: Arc<Shared>,
    /// Asks for an operation of a session, until it is dropped.
    asks: Option<Sender<(u32, u64)>>,
    /// The thread that executes, until it is dropped.
    thread: Option<thread::JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    done: Mutex<Done>,
    grown: Condvar,
    /// Whether nobody asks any more.
    is_dropped: Arc<AtomicBool>,
}

#[derive(Default)]
struct Done {
    /// By session.
    operations: Vec<Vec<Arc<Operation>>>,
    memory: usize,
    /// Whether there will be no more.
    ended: bool,
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
    fn begin(trial: &Trial<'_>, images: Vec<Arc<Image>>) -> Option<Executed> {
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
    fn has_ended(&self) -> bool {
        self.shared.done.lock().ended
    }

    /// Waits for operation `number` of a session; `None` if it cannot be known, or `is_stopped` returns true.
    fn operation(
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
        let trial = Trial {
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
        let place = |session: &Session| trial.place(session, &self.images, Parts::Bytes);
        let placed = simulation.timeless(place);
        let Some(connections) = placed else { return };
        trial.quiesce(&simulation, &connections);
        let taping =
            |number| simulation.taping_session(number, &database(number), tables(&self.workload));
        let taping: Option<Vec<TapingSession>> =
            (0..).map(taping).take(connections.len()).collect();
        let Some(taping) = taping else { return };
        let sessions = taping.iter().zip(&connections);
        let mut sessions: Vec<Executing<'_>> = sessions
            .map(|(taping, connection)| {
                let seat = VirtualSession::new(taping.session(), connection, &self.workload);
                Executing::new(taping, seat, self)
            })
            .collect();
        for (session, number) in iter::once(first).chain(asked) {
            let executing = &mut sessions[session as usize];
            let count = (number + number / AHEAD + 1).saturating_sub(executing.number);
            let next = || executing.next(&self.workload).filter(|_| !cancelled());
            let operations: Vec<Operation> = iter::from_fn(next).take(count as usize).collect();
            let is_cut_short = operations.len() as u64 != count;
            if !self.shared.add(session, operations) || is_cut_short {
                return;
            }
        }
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
    fn add(&self, session: u32, operations: Vec<Operation>) -> bool {
        let mut done = self.done.lock();
        let memory = |operation: &Operation| size_of::<Operation>() + operation.tape.memory();
        done.memory += operations.iter().map(memory).sum::<usize>();
        done.operations[session as usize].extend(operations.into_iter().map(Arc::new));
        self.grown.notify_all();
        done.memory < MEMORY_MAX
    }
}

/// A session whose operations are executed.
struct Executing<'a> {
    taping: &'a TapingSession,
    seat: VirtualSession<'a>,
    variables: Variables,
    keys: Stream,
    /// Its next operation.
    number: u64,
}

impl<'a> Executing<'a> {
    fn new(
        taping: &'a TapingSession,
        seat: VirtualSession<'a>,
        executor: &Executor,
    ) -> Executing<'a> {
        let (number, all) = (taping.session().id(), executor.settings.workload.sessions);
        Executing {
            taping,
            seat,
            variables: executor.workload.variables(number, all),
            keys: sessions::keys(executor.id.seed, number),
            number: 0,
        }
    }

    /// Executes its next operation. `None` if what it does depends on the time.
    fn next(&mut self, workload: &Workload) -> Option<Operation> {
        self.variables.set_operation(self.number);
        self.number += 1;
        let before = self.seat.statements();
        let (variables, keys, seat) = (&mut self.variables, &mut self.keys, &mut self.seat);
        let execute = || sessions::execute(&workload.run, variables, keys, seat);
        let (outcome, tape) = self.taping.tape(execute);
        Some(Operation {
            outcome,
            statements: self.seat.statements() - before,
            tape: tape?,
        })
    }
}

/// A session of a trial that replays its operations.
pub(super) struct ReplayingSession<'a> {
    pub(super) session: &'a Session,
    pub(super) simulation: &'a Simulation,
    pub(super) executed: &'a Executed,
    pub(super) files: &'a RefCell<TapeFiles>,
    pub(super) statements: u64,
    /// How time had been spent when the measured time began.
    pub(super) before: Option<TimeSplit>,
    pub(super) progress: &'a Progress<'a>,
    /// Set when the trial cannot replay any further.
    pub(super) is_abandoned: &'a Cell<bool>,
}

impl ReplayingSession<'_> {
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
        let replayed = self.replayed(number);
        Some(replayed.unwrap_or_else(|| {
            self.is_abandoned.set(true);
            self.simulation.stop();
            Outcome {
                script: 0,
                result: Err("it cannot be replayed".to_owned()),
            }
        }))
    }
}

#[cfg(test)]
mod tests;
