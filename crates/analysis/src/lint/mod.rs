//! What rules say of a server, as one document, and what was measured about it.
//!
//! The rules are in `dbstow-sqlserver` and `dbstow-mariadb` and know captures alone. Here they meet the user's own comparisons: a
//! finding that advises a change of the layout is given each comparison of just that change.

mod document;
mod host;
mod measured;

pub use document::{
    Counts, Document, Evidence, Location, Outcome, RuleOutcomes, SCHEMA, Server, Source, counts,
    document,
};
pub use host::{HostError, Told, merge, merge_mariadb};
pub use measured::{Measured, Results, Support, about};
