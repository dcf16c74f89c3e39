//! What files are for.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a file is for. Roles sort by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Tables and indexes.
    Data,
    /// The log.
    Log,
    /// Temporary space.
    Temp,
}

impl Role {
    /// All roles, in the order in which reports name them.
    pub const ALL: [Role; 3] = [Role::Data, Role::Temp, Role::Log];

    /// Its name in experiments, records and profiles.
    pub fn name(self) -> &'static str {
        match self {
            Role::Data => "data",
            Role::Temp => "temp",
            Role::Log => "log",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
