//! One trial: an arm run once from a clean start.
//!
//! ```text
//! stage ─► load ─► quiesce, go cold or stay warm ─► run (warm-up left out) ─► collect ─► record
//! ```

mod collect;
mod parameters;
mod sessions;
mod simulate;

pub mod real;

pub use resolve::{
    Cancel, Recording, Stage, StageError, Work,
    memory::{memory, memory_needed},
};
pub use simulate::{
    Forecast, Images, Loads, Moment, RehearsalError, Replayed, Reporter, Size, rehearse, replay,
    run_trial as simulate,
};

use engine::EngineProvider;
use experiment::spec::{Mode, Settings};
use workload::Workload;

/// The trial was stopped from outside; it has no record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Cancelled;

/// Identifies a trial of a plan.
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
    /// Position in the block's order, from 0.
    pub position: u32,
    /// Seed.
    pub seed: u64,
}

/// What a trial runs.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The trial.
    pub id: &'a TrialId,
    /// Its mode.
    pub mode: Mode,
    /// The engine.
    pub engine: &'static dyn EngineProvider,
    /// All settings of the arm.
    pub settings: &'a Settings,
    /// The arm's volumes, resolved.
    pub stage: &'a Stage,
    /// The work of its sessions.
    pub work: &'a Work,
}

impl<'a> Subject<'a> {
    /// The statements of its sessions.
    ///
    /// # Panics
    /// When it is a profile, which only plain I/O in real time runs.
    pub fn workload(&self) -> &'a Workload {
        self.work.workload()
    }
}
