//! Commit groups of the log, in order.

use std::collections::VecDeque;

use model::Completion;

/// Group commit: a limited number of concurrent writes, each with its flush; commits in the meantime join the next.
#[derive(Debug, Default)]
pub(super) struct Log {
    pub(super) in_flight: u32,
    pub(super) waiting: Vec<u32>,
    /// Commit groups whose log is not durable yet, oldest first.
    pub(super) groups: VecDeque<Group>,
    /// Number of the oldest group.
    pub(super) oldest: u64,
    /// Bytes that are not written yet.
    pub(super) bytes: f64,
    /// Where the last write ended.
    pub(super) end: u64,
}

/// Commits that share a write.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) sessions: Vec<u32>,
    /// Completions that they wait for: the write, and the flush after it.
    pub(super) parts: Vec<Completion>,
    /// Whether both are done: the log is durable once all older groups are done, too.
    pub(super) is_done: bool,
}

impl Log {
    /// The group with this number, which is in flight.
    pub(super) fn group(&mut self, number: u64) -> &mut Group {
        &mut self.groups[(number - self.oldest) as usize]
    }
}
