//! dbstow's command line: arguments and output.
//!
//! All functionality is in other crates; `ARCHITECTURE.md` has the list.

pub mod command;
pub mod engines;
#[cfg(feature = "live")]
pub mod live;
pub mod metrics;
