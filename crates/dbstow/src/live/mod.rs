//! `--live`: what a run or a mount is doing, as one screen.
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

/// What the screen shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Screen {
    /// What is shown, in a line.
    pub title: String,
    /// What it is doing at the moment.
    pub doing: String,
    /// Share of it that is done, from 0 to 1; `None` where there is no end.
    pub done: Option<f64>,
    /// Placements and their trials.
    pub arms: Vec<ArmProgress>,
    /// The trial that the figures of volumes are of; empty where there are no trials.
    pub volumes_of: String,
    /// Its volumes over time.
    pub volumes: Vec<VolumeHistory>,
    /// What the finished blocks say.
    pub verdicts: Vec<String>,
    /// What the keys do.
    pub keys: String,
}

/// How many trials of an arm are done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArmProgress {
    /// Its name.
    pub name: String,
    /// Trials of the plan.
    pub planned: u32,
    /// Trials that finished, in earlier runs too.
    pub finished: u32,
    /// Trials that failed.
    pub failed: u32,
    /// Trials under way.
    pub running: u32,
}
