//! Rules for a server of a managed service: its layout as today's file has it, beside what a profile says of its load.
//!
//! Thresholds are data of the catalogue; what is ours is marked as such.

mod facts;
mod rules;
mod server;

pub use facts::ServiceFacts;
pub use rules::listed;
