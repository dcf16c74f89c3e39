//! What names in an experiment refer to, and the engines that need no server.

use engine::Engines;

pub use resolve::inventory::Inventory;

/// Engines that need no server: embedded SQLite, and plain reads and writes.
pub const EMBEDDED: Engines = Engines {
    built: &[&sqlite::Provider, &raw::Provider],
    left_out: &[],
};
