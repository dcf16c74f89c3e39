//! Runs trials: a placement at a setting, once, simulated or for real.
//!
//! ```text
//! RunRequest ──resolve──> Plan ──run──> trial ──> Record
//!                                         │
//!                                       engine      whatever implements its traits: an embedded one, a server, or plain reads and writes
//! ```

// Names in an experiment, and a request resolved to a plan.
pub mod inventory;
pub use resolve::{plan_file, recorded_on, request};

// Trials.
pub mod trial;

// Runs all trials of a plan.
pub mod run;

pub use run::{Event, Finished, Observer, Prepared, RunError, RunInputs, run, run_into};
