//! Engines that run in this process, or without a database.

pub mod raw;
pub mod sqlite;

use engine::Engines;

/// Engines that need no server: embedded SQLite, and plain reads and writes.
pub const EMBEDDED: Engines = Engines {
    built: &[&sqlite::Provider, &raw::Provider],
    left_out: &[],
};
