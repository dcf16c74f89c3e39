//! One trial: an arm run once from a clean start.
//!
//! ```text
//! stage ─► load ─► quiesce, go cold or stay warm ─► run (warm-up left out) ─► collect ─► record
//! ```

mod attached;
mod collect;
mod host_cache;
mod needs;
mod parameters;
mod sessions;
mod simulate;
mod stage;

pub mod real;

pub use needs::{memory, memory_needed};
pub use simulate::{
    Forecast, Moment, RehearsalError, Replayed, Size, Tell, rehearse, replay, run_trial as simulate,
};
pub use stage::{Stage, StageError};

use engine::EngineProvider;
use experiment::spec::{Mode, Settings};
use profile::{DemandError, DemandSeries, Profile};
use workload::Workload;

/// Says whether a simulated trial is to end before its time. It is asked often, deep inside of statements too.
pub type Cancel = std::rc::Rc<dyn Fn() -> bool>;

/// The trial was stopped from outside; there is nothing to record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Cancelled;

/// Which trial of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrialId {
    /// Name of the experiment.
    pub experiment: String,
    /// Digest of the plan.
    pub plan: String,
    /// Name of the arm.
    pub arm: String,
    /// Block, from 0.
    pub block: u32,
    /// Place in the block's order, from 0.
    pub position: u32,
    /// Seed.
    pub seed: u64,
}

/// What the sessions of a trial do.
pub enum Work {
    /// The statements of a workload.
    Statements(Box<Workload>),
    /// What a profile counted: in simulate its operations, otherwise its requests as plain I/O.
    Recording(Box<Recording>),
}

impl Work {
    /// The statements.
    ///
    /// # Panics
    /// When it is a profile, which has none.
    pub fn workload(&self) -> &Workload {
        self.statements().expect("a profile has no statements")
    }

    /// The statements; `None` of a profile.
    pub fn statements(&self) -> Option<&Workload> {
        match self {
            Work::Statements(workload) => Some(workload),
            Work::Recording(_) => None,
        }
    }

    /// What was recorded; `None` of statements.
    pub fn recording(&self) -> Option<&Recording> {
        match self {
            Work::Statements(_) => None,
            Work::Recording(recording) => Some(recording),
        }
    }
}

/// What a server did, as it is replayed.
pub struct Recording {
    /// The part of its profile that is.
    pub profile: Profile,
    /// What its operations ask for, with the sessions and the rate of the experiment; or why that is not known.
    pub demand: Result<DemandSeries, DemandError>,
}

impl Recording {
    /// What its operations ask for.
    ///
    /// # Panics
    /// When that is not known, in which case nothing simulates it.
    pub fn demand(&self) -> &DemandSeries {
        let demand = self.demand.as_ref();
        demand.expect("what is simulated was checked to have a demand")
    }
}

/// What a trial is of.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// Which trial.
    pub id: &'a TrialId,
    /// How it runs.
    pub mode: Mode,
    /// By which engine.
    pub engine: &'static dyn EngineProvider,
    /// All that the arm sets.
    pub settings: &'a Settings,
    /// The arm's volumes, looked up.
    pub stage: &'a Stage,
    /// What its sessions do.
    pub work: &'a Work,
}

impl<'a> Subject<'a> {
    /// The statements of its sessions.
    ///
    /// # Panics
    /// When it is of a profile, which only plain I/O in real time is.
    pub fn workload(&self) -> &'a Workload {
        self.work.workload()
    }
}
