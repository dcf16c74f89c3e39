//! A session within an operation.

use model::{Bytes, Instant, Operation};
use reading::Role;

use super::beside::Beside;

/// A session within an operation.
#[derive(Clone, Debug, Default)]
pub(super) struct ReplaySession {
    pub(super) began: Instant,
    /// The period in which it began.
    pub(super) period: usize,
    /// Requests that it must still wait for: role, kind and size; the last one is next.
    pub(super) left: Vec<(Role, Operation, Bytes)>,
    /// Requests in the background that accompany them, of a long operation.
    pub(super) beside: Beside,
    pub(super) commits: bool,
    /// Whether it must still take the lock.
    pub(super) locks: bool,
    /// The lock that it has until its log is durable, or waits for.
    pub(super) held: Option<u32>,
    /// Since when it waits for the log, or for that lock.
    pub(super) waits_since: Instant,
    /// Since when it rests, if it does.
    pub(super) rests_since: Option<Instant>,
    /// Number of delays drawn for it; the last one counts.
    pub(super) draw: u32,
}
