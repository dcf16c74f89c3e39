//! Finds out where a database's files should live.

pub mod findings;
pub mod record;
pub mod spec;
