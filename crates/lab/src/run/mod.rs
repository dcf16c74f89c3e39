//! Runs a plan: every trial that has no record yet.
//!
//! ```text
//! Plan ──Prepared──> run ──┬── Store: a folder, or memory
//!        Inventory         └── Observer: what happens meanwhile
//! ```
//!
//! Simulated trials run several at a time, which changes no result; real ones one after the other, so that
//! they do not disturb each other.

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

use crate::inventory::Inventory;
use crate::trial::real::{Orphans, Second, VolumesError};
use crate::trial::{Moment, memory_needed};
use engine::Options;
use engine::hooks::HostHooks;

pub use prepared::{PrepareError, Prepared, Rehearsed};
pub use store::{Chosen, Memory, Store};

/// Failures of one arm, one after the other, after which a run in real time is given up.
pub const FAILURES_MAX: u32 = 3;

/// What a run takes from the program around it.
pub struct RunInputs {
    /// Disks, machines and workloads.
    pub inventory: Inventory,
    /// Where real volumes are, and on what modelled ones are shown.
    pub options: Options,
    /// Whether volumes of real time stay as they are in the end.
    pub keep: bool,
    /// Simulated trials at a time; at least one, and no more than this machine has the memory for.
    pub jobs: usize,
    /// How emulators are started, users asked, and runs ended.
    pub hooks: HostHooks,
}

/// What happens in a run, as it happens.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// These trials are about to run, in their order.
    Planned {
        /// The trials.
        trials: &'a [Trial],
        /// How long they take; real time only.
        left: Option<Estimate>,
    },
    /// A trial begins.
    TrialBegan {
        /// Which one.
        trial: &'a Trial,
        /// How long it and those after it take; real time only.
        left: Option<Estimate>,
    },
    /// A phase of a trial begins: `place`, `load`, `quiesce`, `warm-up`, `run` or `clean up`; real time only.
    PhaseBegan {
        /// Of which trial.
        trial: &'a Trial,
        /// Its name.
        phase: &'static str,
    },
    /// Another second of a trial has passed; real time only.
    SecondPassed {
        /// Of which trial.
        trial: &'a Trial,
        /// What its volumes did in that second.
        second: &'a Second,
    },
    /// A simulated trial got on.
    Simulated {
        /// Which one.
        trial: &'a Trial,
        /// Where it is.
        moment: Moment,
    },
    /// A trial ended, and its record is kept. One that failed has a record too.
    TrialEnded {
        /// Which one.
        trial: &'a Trial,
        /// What happened in it.
        record: &'a Record,
        /// How long it took on the clock of this machine; real time only.
        took: Option<Duration>,
    },
    /// Something could not be cleaned up or put back.
    Warning(&'a str),
    /// No more trials will run.
    Finished,
}

/// Whoever wants to know what happens in a run. Events may come from several threads.
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
    /// A name in the plan stands for nothing.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// A record could not be kept.
    #[error("a record could not be kept; those before it were")]
    Store(#[source] ResultsError),
    /// There is no place for the volumes.
    #[error(transparent)]
    Volumes(#[from] VolumesError),
    /// An arm fails again and again.
    #[error("arm \"{arm}\" failed {FAILURES_MAX} times in a row, the last time because: {error}")]
    GivenUp {
        /// Which arm.
        arm: String,
        /// What its last trial failed with.
        error: String,
    },
}

/// What a run made: [`run`] keeps it in memory.
#[derive(Debug)]
pub struct Finished {
    /// What the records answer.
    pub question: Question,
    /// One record a trial, in the order of the plan.
    pub records: Vec<Record>,
}

/// Runs all trials of `plan`, and gives their records.
///
/// # Errors
/// When a name in the plan stands for nothing, volumes have no place, or an arm fails again and again.
pub fn run(plan: &Plan, inputs: &RunInputs, observer: &dyn Observer) -> Result<Finished, RunError> {
    let prepared = Prepared::new(plan, &inputs.inventory, &inputs.options)?;
    let memory = Memory::of(plan);
    run_into(&memory, &prepared, inputs, observer)?;
    Ok(Finished {
        question: prepared.question(),
        records: memory.records(),
    })
}

/// Runs the trials of a plan that `store` has no record of, and keeps each record there as soon as its trial
/// ends. Gives what was left behind. Ends early, without an error, once `inputs.hooks.interrupted` is set.
///
/// # Errors
/// As [`run`], and when a record cannot be kept.
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

/// A run under way.
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
    /// What dbstow brings along, in SQLite's dialect; no emulator, and nobody to ask.
    fn default() -> RunInputs {
        RunInputs {
            inventory: Inventory::builtin(),
            options: Options::default(),
            keep: false,
            jobs: thread::available_parallelism().map_or(1, Into::into),
            hooks: HostHooks::default(),
        }
    }
}

/// How many simulated trials this machine has the memory for at a time; at least one.
fn fitting(plan: &Plan) -> usize {
    let needed = plan.arms.iter().map(|arm| memory_needed(&arm.settings).0);
    let Some((there, needed)) = crate::trial::memory().zip(needed.max()) else {
        return usize::MAX;
    };
    usize::try_from(there.0 / needed.max(1)).map_or(usize::MAX, |jobs| jobs.max(1))
}
