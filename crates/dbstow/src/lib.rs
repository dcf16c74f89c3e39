//! Finds out where a database's files should live.

pub mod record;
pub mod stats;

pub mod quantity;

pub mod findings;

pub mod report;
