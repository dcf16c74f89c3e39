//! How products write their log: in which units, and how many writes at the same time; and their other files.

use model::{Bytes, Durability};

/// How a product writes its log, and its other files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogWrites {
    /// Its names in profiles, with those of its kin.
    pub products: &'static [&'static str],
    /// Its name in sentences.
    pub title: &'static str,
    /// It writes whole pages of this size; above 0.
    pub page: Bytes,
    /// How many writes it keeps in flight.
    pub in_flight: LogInFlight,
    /// Whether its temporary files are written to the system's cache, so that sessions wait for reads of them before they wait for
    /// writes.
    pub buffers_temp: bool,
    /// When a write of a data file is durable.
    pub data_durability: Durability,
    /// What to record for its commits to be counted, where a recording may lack them.
    pub commits: Option<&'static str>,
}

/// How many log writes a product keeps in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogInFlight {
    /// One for each of this many logs; commits in the meantime share the next.
    One {
        /// Logs that a commit must reach; at least 1.
        logs: u32,
    },
    /// One for each commit of a database, up to a limit.
    UpTo {
        /// That of current versions, also assumed where the version is unknown.
        current: LogLimit,
        /// The first major version that has it.
        since: u32,
        /// That of all versions before.
        before: LogLimit,
    },
}

/// Most log writes of a database in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogLimit {
    /// How many; at least 1.
    pub writes: u32,
    /// The versions that have it, in sentences: `since 2012`.
    pub versions: &'static str,
}
