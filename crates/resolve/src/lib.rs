//! Resolves what is asked to what is simulated: names to disks, machines, workloads and profiles; a layout to the model. And the
//! back-test of a profile.
//!
//! ```text
//! RunRequest ──> Plan ──┐
//! Inventory ────────────┴──> Resolved: a Stage and Work for each arm ──> back-test
//! ```
//!
//! It runs no trial, and compiles wherever the model does.

// Names: which there are, and what they refer to.
mod carried;
pub mod inventory;
pub mod plan_file;
mod recorded_on;

// A request, resolved to a plan.
pub mod request;

// An arm, ready to be simulated.
pub mod memory;
mod resolved;
mod stage;
mod work;

// A profile on it.
mod backtest;
mod replayed;

pub use carried::{Inputs, Named};
pub use recorded_on::recorded_on;
pub use replayed::Replayed;
pub use resolved::{PrepareError, Ready, Resolved};
pub use stage::{Stage, StageError};
pub use work::{Cancel, Recording, Work};

/// Engines that need no server, for tests.
#[cfg(test)]
const EMBEDDED: engine::Engines = engine::Engines {
    built: &[&sqlite::Provider, &raw::Provider],
    left_out: &[],
};
