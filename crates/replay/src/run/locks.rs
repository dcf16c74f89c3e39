//! Locks that sessions hold until their commit is durable.

use std::collections::VecDeque;

use model::Instant;
use model::split::Spent;
use rand::RngExt;

use super::{Event, Run};

impl Run<'_> {
    /// Takes one of `count` locks for a session that is about to commit. Returns whether it has it; otherwise it goes on once the
    /// sessions before it have released it.
    pub(super) fn takes_lock(&mut self, now: Instant, session: u32, count: u32) -> bool {
        let lock = self.random.random_range(0..count);
        self.sessions[session as usize].held = Some(lock);
        self.sessions[session as usize].waits_since = now;
        let missing = self.locks.len()..lock as usize + 1;
        self.locks.extend(missing.map(|_| VecDeque::new()));
        let queue = &mut self.locks[lock as usize];
        queue.push_back(session);
        queue.len() == 1
    }

    /// Releases the lock of a session whose commit is durable, if it has one; the next session gets it.
    pub(super) fn release(&mut self, now: Instant, session: u32) {
        let Some(lock) = self.sessions[session as usize].held.take() else {
            return;
        };
        let queue = &mut self.locks[lock as usize];
        let released = queue.pop_front();
        assert_eq!(
            released,
            Some(session),
            "the first in the queue has the lock"
        );
        if let Some(next) = queue.front().copied() {
            let since = self.sessions[next as usize].waits_since;
            self.spend(now, Spent::Lock, now.since(since));
            self.push(now, Event::GoesOn(next));
        }
    }
}
