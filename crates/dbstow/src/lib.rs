//! Finds out where a database's files should live.

pub mod catalogue;
pub mod command;
pub mod findings;
pub mod record;
