//! Runs a plan: every trial that has no record yet.
//!
//! ```text
//! Plan ──Prepared──> run ──┬── Store: a folder, or memory
//!        Inventory         └── Observer: what happens meanwhile
//! ```
//!
//! Simulated trials run several at a time, which does not change the results; real ones one after the
//! other, so that they do not disturb each other.

mod needs;
mod prepared;
mod real_time;
mod simulated;
mod store;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use experiment::plan::{Estimate, Plan, Trial};
use experiment::question::Question;
use experiment::record::Record;
use experiment::results::ResultsError;
use experiment::spec::Mode;
use model::Duration;

use crate::inventory::{EMBEDDED, Inventory};
use crate::trial::real::{Orphans, Second, VolumesError};
use crate::trial::{Moment, memory_needed};
use engine::Options;
use engine::hooks::HostHooks;

pub use needs::{Needs, TooLarge, task_memory_unknown};
pub use prepared::{Prepared, Rehearsed};
pub use resolve::PrepareError;
pub use store::{Chosen, Memory, Store};

/// Consecutive failures of one arm after which a run in real time is given up.
pub const FAILURES_MAX: u32 = 3;

/// What a run needs from the calling program.
pub struct RunInputs {
    /// Disks, machines and workloads.
    pub inventory: Inventory,
    /// Where real volumes are, and where modelled ones are mounted.
    pub options: Options,
    /// Whether volumes in real time are kept at the end.
    pub keep: bool,
    /// Concurrent simulated trials; at least one, and no more than this machine has the memory for.
    pub jobs: usize,
    /// How emulators are started, users prompted, and runs interrupted.
    pub hooks: HostHooks,
}

/// Events of a run, as they happen.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// These trials are about to run, in their order.
    Planned {
        /// The trials.
        trials: &'a [Trial],
        /// Estimated duration; real time only.
        left: Option<Estimate>,
    },
    /// A trial begins.
    TrialBegan {
        /// The trial.
        trial: &'a Trial,
        /// Estimated duration of it and those after it; real time only.
        left: Option<Estimate>,
    },
    /// A phase of a trial begins: `place`, `load`, `quiesce`, `warm-up`, `run` or `clean up`; real time only.
    PhaseBegan {
        /// The trial.
        trial: &'a Trial,
        /// Its name.
        phase: &'static str,
    },
    /// Another second of a trial has passed; real time only.
    SecondPassed {
        /// The trial.
        trial: &'a Trial,
        /// Activity of its volumes in that second.
        second: &'a Second,
    },
    /// Progress of a simulated trial.
    Simulated {
        /// The trial.
        trial: &'a Trial,
        /// Its progress.
        moment: Moment,
    },
    /// A trial ended, and its record was stored. Failed trials have a record too.
    TrialEnded {
        /// The trial.
        trial: &'a Trial,
        /// Its record.
        record: &'a Record,
        /// How long it took by this machine's clock; real time only.
        took: Option<Duration>,
    },
    /// Something could not be cleaned up or restored.
    Warning(&'a str),
    /// No more trials will run.
    Finished,
}

/// Receives the events of a run, possibly from several threads.
pub trait Observer: Sync {
    /// Takes an event.
    fn on(&self, event: Event<'_>);
}

impl<F: Fn(Event<'_>) + Sync> Observer for F {
    fn on(&self, event: Event<'_>) {
        self(event);
    }
}

/// Why a run ended before its last trial.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A name in the plan is unknown.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// A record could not be stored.
    #[error("a record could not be kept; those before it were")]
    Store(#[source] ResultsError),
    /// The volumes cannot be placed.
    #[error(transparent)]
    Volumes(#[from] VolumesError),
    /// An arm fails repeatedly.
    #[error("arm \"{arm}\" failed {FAILURES_MAX} times in a row, the last time because: {error}")]
    GivenUp {
        /// The arm.
        arm: String,
        /// The error of its last trial.
        error: String,
    },
}

/// The results of a run: [`run`] keeps them in memory.
#[derive(Debug)]
pub struct Finished {
    /// What the records answer.
    pub question: Question,
    /// One record per trial, in the order of the plan.
    pub records: Vec<Record>,
}

/// Runs all trials of `plan`, and returns their records.
///
/// # Errors
/// When a name in the plan is unknown, volumes cannot be placed, or an arm fails repeatedly.
pub fn run(plan: &Plan, inputs: &RunInputs, observer: &dyn Observer) -> Result<Finished, RunError> {
    let prepared = Prepared::new(plan, &inputs.inventory, &inputs.options)?;
    let memory = Memory::of(plan);
    run_into(&memory, &prepared, inputs, observer)?;
    Ok(Finished {
        question: prepared.question(),
        records: memory.records(),
    })
}

/// Runs the trials of a plan that have no record in `store`, and stores each record as soon as its trial
/// ends. Returns what was left behind. Ends early, without an error, once `inputs.hooks.interrupted` is set.
///
/// # Errors
/// As for [`run`], and when a record cannot be stored.
pub fn run_into(
    store: &dyn Store,
    prepared: &Prepared,
    inputs: &RunInputs,
    observer: &dyn Observer,
) -> Result<Orphans, RunError> {
    let trials = store.outstanding();
    let run = Run {
        store,
        prepared,
        observer,
        interrupted: &inputs.hooks.interrupted,
    };
    let ended = match prepared.plan().variant.mode {
        Mode::Simulate => {
            let jobs = inputs.jobs.max(1).min(fitting(prepared.plan()));
            run.simulated(&trials, jobs).map(|()| Orphans::default())
        }
        Mode::Emulate | Mode::Measure => run.in_real_time(&trials, inputs),
    };
    observer.on(Event::Finished);
    ended
}

/// A run in progress.
struct Run<'a> {
    store: &'a dyn Store,
    prepared: &'a Prepared,
    observer: &'a dyn Observer,
    interrupted: &'a Arc<AtomicBool>,
}

impl Run<'_> {
    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}

impl Default for RunInputs {
    /// What ships with dbstow, in SQLite's dialect; no emulator, and no user to prompt.
    fn default() -> RunInputs {
        RunInputs {
            inventory: Inventory::with_engines(EMBEDDED),
            options: Options::default(),
            keep: false,
            jobs: thread::available_parallelism().map_or(1, Into::into),
            hooks: HostHooks::default(),
        }
    }
}

/// How many simulated trials this machine has the memory for at once; at least one.
fn fitting(plan: &Plan) -> usize {
    let needed = plan.arms.iter().map(|arm| memory_needed(&arm.settings).0);
    let Some((there, needed)) = crate::trial::memory().zip(needed.max()) else {
        return usize::MAX;
    };
    usize::try_from(there.0 / needed.max(1)).map_or(usize::MAX, |jobs| jobs.max(1))
}
