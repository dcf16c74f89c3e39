//! What limits an arm, and by how much.

use super::BoundBy;
use super::limits::LimitUse;

/// Something that consumes the sessions' time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bound {
    /// Its kind.
    pub(super) what: BoundBy,
    /// Its share of the sessions' time.
    pub(super) share: f64,
    /// The limit's use, where it is one that the record counts.
    pub(super) limit: Option<LimitUse>,
    /// Whether `share` was spent throttled, waiting otherwise, or working.
    pub(super) by: By,
    /// Where sessions waited, where real disks report it.
    pub(super) at: Option<Bottleneck>,
}

/// The volume that accounts for most of a wait.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bottleneck {
    /// Its name.
    pub(super) volume: String,
    /// Mean latency of its requests of that kind.
    pub(super) mean_ms: f64,
    /// Share of the time in which its disk was busy.
    pub(super) busy: f64,
}

/// How something limits an arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// Sessions waited because of the limit.
    Throttling,
    /// The limit is exhausted while sessions wait for its I/O in other ways.
    Use,
    /// Sessions spent their time on it.
    Time,
}
