//! Replays the demand of a profile on other disks, in virtual time.
//!
//! ```text
//! delay ──► processor ──► reads, temp, writes, one after the other ──► lock ──► log (group commit) ──► delay ..
//!                           └─► requests in the background              └── held until it is durable
//! ```
//!
//! In a closed system, a session issues its next operation when the previous one has ended and its delay is over. In an open
//! system, operations arrive whether or not earlier ones have ended, without delays.
//!
//! docs/validation/profiles.md compares it with a real server. Not modelled: log writes that become several requests, a
//! filesystem's journal, a system that writes cached pages one at a time while reads are slow, locks that are held during other
//! requests than the log's (waits for them are in the delay, which stays the same), a buffer pool of another size, a changed number of
//! full-page images, sessions that wait because background writes do not keep up, contention for processors at recording time (the
//! wait is in the delay, and occurs again if processors are few).

use std::collections::BTreeMap;

use model::split::TimeSplit;
use model::storage::Usage;
use model::{Duration, Instant, MachineSpec, VolumeSpec};
use profile::{Io, Rates};
use reading::Role;
use thiserror::Error;

use super::parts::Parts;
use super::series::DemandSeries;

/// Volumes of the files, by index in the list of volumes; none of the lists is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// Data files.
    pub data: Vec<usize>,
    /// Temporary files.
    pub temp: Vec<usize>,
    /// The log.
    pub log: usize,
}

impl Places {
    /// Volumes with files of a role; empty for roles that profiles do not have.
    pub fn of(&self, role: Role) -> &[usize] {
        match role {
            Role::Data => &self.data,
            Role::Temp => &self.temp,
            Role::Log => std::slice::from_ref(&self.log),
            Role::Binlog | Role::Undo | Role::Doublewrite => &[],
        }
    }
}

/// When operations begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrivals {
    /// A session's next one follows its previous one after a delay.
    #[default]
    Closed,
    /// At the recorded rate, whether or not earlier ones ended.
    Open,
}

/// A demand, and the volumes to run it on.
#[derive(Clone, Copy, Debug)]
pub struct Replay<'a> {
    /// The demand; repeated if `length` is longer.
    pub demand: &'a DemandSeries,
    /// When operations begin.
    pub arrivals: Arrivals,
    /// Its processors and limits.
    pub machine: &'a MachineSpec,
    /// The volumes.
    pub volumes: &'a [VolumeSpec],
    /// Which files are on them.
    pub places: &'a Places,
    /// Warm-up before measurement: the end of the demand, so the demand starts with the measurement.
    pub warm_up: Duration,
    /// Measured time; above 0.
    pub length: Duration,
    /// Source of all randomness. Same seed, same outcome.
    pub seed: u64,
}

/// An observer of a replay.
pub trait Follow {
    /// An operation that began at `began` ended, counted or not.
    fn ended(&mut self, began: Instant, now: Instant);

    /// Whether to end early.
    fn is_stopped(&self) -> bool {
        false
    }
}

/// No observer.
impl Follow for () {
    fn ended(&mut self, _began: Instant, _now: Instant) {}
}

/// Why a replay has no outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ReplayError {
    /// A demand that takes zero time: the replay would not progress.
    #[error(
        "an operation takes no time: it asks for no processor, has no delay, and its disks serve it at once; give the \
         volumes a disk with limits and latencies"
    )]
    Timeless,
    /// Operations arrive faster than they end.
    #[error(
        "operations arrive faster than they end: after {:.1} s, 65,536 are under way; these disks do not serve this demand",
        .0.as_secs_f64()
    )]
    Behind(Duration),
    /// It was stopped.
    #[error("stopped")]
    Stopped,
}

/// Results of a replay in the measured time.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The measured time.
    pub length: Duration,
    /// Operations that ended.
    pub operations: u64,
    /// Mean time of an operation, without its delay.
    pub operation: Duration,
    /// Requests, by role of the files.
    pub roles: BTreeMap<Role, Io>,
    /// Mean time that requests took in the disks themselves, by role of the files.
    pub service: BTreeMap<Role, Service>,
    /// An operation's time, by what its session waits for; on average, without delays.
    pub parts: Parts,
    /// How sessions spent their time; delays are [`Think`](model::split::Spent::Think).
    pub split: TimeSplit,
    /// Time that processors were busy.
    pub processor: Duration,
    /// Use of the limits of machine and disks at the start of measurement.
    pub usage_before: Vec<Usage>,
    /// Use of the limits at the end.
    pub usage_after: Vec<Usage>,
}

/// Mean time that a request takes in the disk itself, without limits and queues; `None` without requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Service {
    /// A read.
    pub read: Option<Duration>,
    /// A write.
    pub write: Option<Duration>,
    /// A flush.
    pub flush: Option<Duration>,
}

impl Outcome {
    /// Operations per second.
    pub fn operations_per_s(&self) -> f64 {
        self.operations as f64 / self.length.as_secs_f64()
    }

    /// Requests per second to the files of `role`, and their latency.
    pub fn rates(&self, role: Role) -> Rates {
        let io = self.roles.get(&role).copied().unwrap_or_default();
        Rates::of(&io, self.length)
    }
}

#[cfg(test)]
mod tests;
