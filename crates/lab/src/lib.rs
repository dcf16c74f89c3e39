//! Runs trials: a placement at a setting, once, simulated or for real.
//!
//! ```text
//! Plan ──run──> trial ──> Record
//!                 │
//!               engine      SQLite, PostgreSQL, SQL Server, or plain reads and writes
//! ```

// What names in an experiment stand for.
pub mod inventory;
pub mod plan_file;

// Running it.
pub mod engine;
pub mod hooks;
pub mod trial;

// What a placement survives.
#[cfg(all(target_os = "linux", feature = "postgres"))]
pub mod drill;

// What a volume of one's own is like.
pub mod calibrate;

// All of a plan.
pub mod run;

#[cfg(all(unix, feature = "own-server"))]
mod own_directory;

pub use run::{Event, Finished, Observer, Prepared, RunError, RunInputs, run, run_into};
