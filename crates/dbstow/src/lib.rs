//! dbstow's command line: what a user types, and what is printed.
//!
//! Everything that dbstow knows lies in other crates; `ARCHITECTURE.md` has the list.

pub mod command;
pub mod engines;
#[cfg(feature = "live")]
pub mod live;
pub mod metrics;
