//! What a user can ask of the program: one file a subcommand, and the only place that prints.

mod asked;
mod listing;

pub mod check;
pub mod compare;
pub mod completions;
pub mod disks;
pub mod experiments;
pub mod machines;
pub mod plan;
pub mod report;
pub mod run;
pub mod workloads;

pub use asked::Asked;
