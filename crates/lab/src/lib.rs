//! Runs trials: a placement at a setting, once, simulated or for real.
//!
//! ```text
//! Plan ──run──> trial ──> Record
//!                 │
//!               engine      whatever implements its traits: an embedded one, a server, or plain reads and writes
//! ```

// What names in an experiment stand for.
pub mod inventory;
pub mod plan_file;

// Running it.
pub mod trial;

// What a placement survives.
#[cfg(target_os = "linux")]
pub mod drill;

// What a volume of one's own is like.
pub mod calibrate;

// All of a plan.
pub mod run;

pub use run::{Event, Finished, Observer, Prepared, RunError, RunInputs, run, run_into};
