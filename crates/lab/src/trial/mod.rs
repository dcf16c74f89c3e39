//! One trial: an arm run once from a clean start.
//!
//! ```text
//! stage ─► load ─► quiesce, go cold or stay warm ─► run (warm-up left out) ─► collect ─► record
//! ```

mod collect;
mod needs;
mod sessions;
mod simulate;
mod stage;

pub mod real;

pub use needs::{memory, memory_needed};
pub use simulate::{
    Forecast, Moment, RehearsalError, Replayed, Size, Tell, rehearse, replay, run_trial as simulate,
};
pub use stage::{Stage, StageError};

use crate::engine::EngineProvider;
use experiment::spec::{Mode, Settings};
use profile::{DemandSeries, Profile};
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
    /// What a profile counted, replayed; simulate only.
    Recording(Box<Recording>),
}

/// What a server did, as it is replayed.
pub struct Recording {
    /// The part of its profile that is.
    pub profile: Profile,
    /// What it asks for, with the sessions and the rate of the experiment.
    pub demand: DemandSeries,
}

/// What a trial of a workload's statements is of.
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
    pub workload: &'a Workload,
}
