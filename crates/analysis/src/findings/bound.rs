//! Something that limits an arm, and by how much.

use super::BoundBy;
use super::limits::LimitUse;

/// Something that takes the sessions' time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bound {
    /// What it is.
    pub(super) what: BoundBy,
    /// Share of the sessions' time that it took.
    pub(super) share: f64,
    /// The limit's use, where it is one that the record counts.
    pub(super) limit: Option<LimitUse>,
    /// Whether `share` was spent throttled, or otherwise waiting, or working.
    pub(super) by: By,
    /// Where sessions waited, where real disks tell.
    pub(super) at: Option<Bottleneck>,
}

/// The volume that most of a wait was for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bottleneck {
    /// Its name.
    pub(super) volume: String,
    /// Mean latency of its requests of that kind.
    pub(super) mean_ms: f64,
    /// Share of the time in which its disk had anything to do.
    pub(super) busy: f64,
}

/// How something limits an arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// Sessions waited because of the limit.
    Throttling,
    /// The limit is used up while sessions wait for its I/O in other ways.
    Use,
    /// Sessions spent their time on it.
    Time,
}
