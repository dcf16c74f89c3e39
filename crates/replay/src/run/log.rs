//! The log: commits that share a write and a flush.

use model::store::Cause;
use model::{Bytes, Completion, Duration, Instant, Request};
use reading::Role;

use super::groups::Group;
use super::{Event, Run};

/// Offset at which a log wraps around: it is sequential, and its position on the disk does not matter.
const LOG_WRAPS: u64 = 1 << 30;

impl Run<'_> {
    /// Writes the log for all waiting commits, if any and if another write may be in flight.
    pub(super) fn write_log(&mut self, now: Instant) {
        let is_full = self.log.in_flight >= self.demand().log.in_flight_max;
        if is_full || self.log.waiting.is_empty() {
            return;
        }
        let page = self.demand().log.page.0.max(1);
        let bytes = std::mem::take(&mut self.log.bytes).ceil() as u64;
        // From the page in which the previous write ended.
        let from = self.log.end / page * page;
        let end = self.log.end.saturating_add(bytes).max(from + 1);
        let length = end.next_multiple_of(page) - from;
        let request = match self.demand().log.is_flushed {
            true => Request::write(from, Bytes(length)),
            false => Request::durable_write(from, Bytes(length)),
        };
        self.log.end = end % LOG_WRAPS;
        let write = self.submit(now, Role::Log, self.replay.places.log, request);
        let group = self.log.oldest + self.log.groups.len() as u64;
        self.log.groups.push_back(Group {
            sessions: std::mem::take(&mut self.log.waiting),
            parts: vec![write],
            is_done: false,
        });
        self.log.in_flight += 1;
        self.push(write.done, Event::LogWritten(group));
    }

    /// A group's write and flush are done. A log has no gaps: commits behind an unfinished older write must wait.
    pub(super) fn end_group(&mut self, now: Instant, group: u64) {
        self.log.group(group).is_done = true;
        while let Some(group) = self.log.groups.pop_front_if(|group| group.is_done) {
            self.log.oldest += 1;
            for session in group.sessions {
                let waited = now.since(self.sessions[session as usize].waits_since);
                self.wait_for_log(now, waited, &group.parts);
                self.release(now, session);
                self.end(now, session);
            }
        }
        self.log.in_flight -= 1;
        self.write_log(now);
    }

    /// Splits a wait for the log: its flush, its write, and before that those of another group, which was delayed by the same
    /// causes.
    fn wait_for_log(&mut self, now: Instant, waited: Duration, parts: &[Completion]) {
        let mut left = waited;
        for part in parts.iter().rev() {
            let part = part.tail(left);
            left = left - part.latency();
            self.wait(now, Role::Log, Cause::Log, part);
        }
        if let (Some(write), true) = (parts.first(), left > Duration::ZERO) {
            self.wait(now, Role::Log, Cause::Log, write.in_proportion(left));
        }
    }
}
