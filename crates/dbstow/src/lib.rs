//! Finds out where a database's files should live.

pub mod command;
pub mod findings;
pub mod plan;
pub mod record;
pub mod spec;
