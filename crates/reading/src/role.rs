//! The roles of files.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The role of a file. Roles sort by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The binary log of a server that has one: read by replicas and by a point-in-time restore.
    Binlog,
    /// Tables and indexes.
    Data,
    /// The doublewrite area: copies of pages, from which a torn one is restored.
    Doublewrite,
    /// The log from which an engine recovers.
    Log,
    /// Temporary space.
    Temp,
    /// Undo records in files of their own: row versions before a change.
    Undo,
}

impl Role {
    /// All roles, in report order: first those that every engine has.
    pub const ALL: [Role; 6] = [
        Role::Data,
        Role::Temp,
        Role::Log,
        Role::Binlog,
        Role::Undo,
        Role::Doublewrite,
    ];

    /// Roles that every engine has, and the only ones of layouts and replays, in report order.
    pub const COMMON: [Role; 3] = [Role::Data, Role::Temp, Role::Log];

    /// Its name in experiments, records and profiles.
    pub fn name(self) -> &'static str {
        match self {
            Role::Binlog => "binlog",
            Role::Data => "data",
            Role::Doublewrite => "doublewrite",
            Role::Log => "log",
            Role::Temp => "temp",
            Role::Undo => "undo",
        }
    }

    /// The names of several, with `separator` between them.
    pub fn joined<'a>(roles: impl IntoIterator<Item = &'a Role>, separator: &str) -> String {
        let names: Vec<&str> = roles.into_iter().map(|role| role.name()).collect();
        names.join(separator)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_sort_by_their_names_and_the_common_ones_come_first() {
        let mut sorted = Role::ALL;
        sorted.sort_unstable();
        let names = sorted.map(Role::name);
        assert!(names.is_sorted(), "{names:?}");
        assert_eq!(Role::ALL[..Role::COMMON.len()], Role::COMMON);
    }
}
