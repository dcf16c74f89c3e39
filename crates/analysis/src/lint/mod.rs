//! The outcomes of rules for a server, as one document, with the user's matching measurements.
//!
//! The rules are in the crates of their products and only see captures. Here they meet the user's own
//! comparisons: a finding that advises a layout change gets each comparison of exactly that change.

mod document;
mod host;
mod measured;

pub use document::{
    Counts, Document, Evidence, Location, Outcome, RuleOutcomes, SCHEMA, Server, Source, counts,
    document,
};
pub use host::{HostError, host};
pub use measured::{Measured, Results, Support, about};
