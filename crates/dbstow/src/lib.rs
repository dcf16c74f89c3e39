//! Finds out where a database's files should live.

pub mod command;
pub mod findings;
pub mod record;
pub mod workload;
