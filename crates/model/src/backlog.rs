//! Writes that a read-write host cache has accepted and the disk has not received yet.

use alloc::collections::VecDeque;

use crate::request::Completion;
use crate::time::{Duration, Instant};
use crate::units::Bytes;

/// Writes on their way from the cache to the disk, in order of arrival.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    writes: VecDeque<(Completion, u64)>,
    /// Total bytes of these writes.
    bytes: u64,
    /// When the last of them reaches the disk.
    drained: Instant,
}

impl Backlog {
    /// When everything has reached the disk.
    pub(crate) fn drained(&self) -> Instant {
        self.drained
    }

    /// The write that must reach the disk before `length` more fit into a cache of `size`; `None`: they fit at `now`.
    pub(crate) fn in_the_way(
        &mut self,
        now: Instant,
        length: Bytes,
        size: Bytes,
    ) -> Option<Completion> {
        while let Some((_, bytes)) = self
            .writes
            .pop_front_if(|(completion, _)| completion.done <= now)
        {
            self.bytes -= bytes;
        }
        let mut over = (self.bytes + length.0).saturating_sub(size.0);
        if over == 0 {
            return None;
        }
        let enough = self.writes.iter().find(|(_, bytes)| {
            over = over.saturating_sub(*bytes);
            over == 0
        });
        // A write larger than the cache waits for all others.
        let write = enough.or(self.writes.back())?;
        Some(write.0)
    }

    /// Adds a write that reaches the disk after `drained`, and after all writes before it.
    pub(crate) fn push(&mut self, drained: Completion, length: Bytes) {
        self.drained = self.drained.max(drained.done);
        let completion = Completion {
            done: self.drained,
            ..drained
        };
        self.writes.push_back((completion, length.0));
        self.bytes += length.0;
    }
}

/// The completion of a write that the cache accepted after waiting for `in_the_way`.
pub(crate) fn after(now: Instant, accepted: Completion, in_the_way: Completion) -> Completion {
    let wait: Duration = in_the_way.done.since(now);
    let waited = in_the_way.in_proportion(wait);
    Completion {
        done: accepted.done + wait,
        throttled: accepted.throttled + waited.throttled,
        throttled_by: waited.throttled_by.or(accepted.throttled_by),
        queued: accepted.queued + waited.queued,
        service: accepted.service + waited.service,
    }
}
