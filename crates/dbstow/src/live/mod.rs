//! `--live`: the activity of a run or a mount, on one screen.
//!
//! ```text
//! events of a run ──► RunLive ─┐
//! readings of a mount ─────────┴─► Screen ──draw──► frame
//! ```
//!
//! Nothing here touches a terminal: `command/screen` shows it.

mod draw;
mod run;
#[cfg(test)]
mod tests;
mod volumes;

pub use draw::draw;
pub use run::RunLive;
pub use volumes::{Now, VolumeHistory, add};

/// The content of the screen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Screen {
    /// A one-line title.
    pub title: String,
    /// The current stage.
    pub doing: String,
    /// The share that is done, from 0 to 1; `None` where it is unbounded.
    pub done: Option<f64>,
    /// Placements and their trials.
    pub arms: Vec<ArmProgress>,
    /// The trial whose volumes are shown; empty where there are no trials.
    pub volumes_of: String,
    /// Its volumes over time.
    pub volumes: Vec<VolumeHistory>,
    /// The verdicts of the finished blocks.
    pub verdicts: Vec<String>,
    /// Help for the keys.
    pub keys: String,
}

/// The progress of an arm's trials.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArmProgress {
    /// Its name.
    pub name: String,
    /// Trials of the plan.
    pub planned: u32,
    /// Finished trials, including those of earlier runs.
    pub finished: u32,
    /// Trials that failed.
    pub failed: u32,
    /// Running trials.
    pub running: u32,
}
