//! A drill's findings for an arm.

use serde::{Deserialize, Serialize};

/// A drill's findings for an arm, or for a layout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Survived {
    /// The drill's experiment and its server: `wal-apart, SQLite 3.53`.
    pub drill: String,
    /// Crash states that were checked.
    pub states: u64,
    /// Of these, how many were intact.
    pub intact: u64,
    /// What it survives, in a sentence without a full stop.
    pub found: String,
}

impl Survived {
    /// The number of states it survived, in a few words.
    pub(crate) fn brief(&self) -> String {
        format!("{} of {}", self.intact, self.states)
    }

    /// What it survives: `apart, drilled (wal-apart, SQLite 3.53): all of 200 states are intact.`
    pub(crate) fn sentence(&self, name: &str) -> String {
        format!("{name}, drilled ({}): {}.", self.drill, self.found)
    }
}
