//! The machine's processors: bursts of CPU time find a free core, in order of arrival.

use alloc::collections::BinaryHeap;
use core::cmp::Reverse;

use crate::time::{Duration, Instant};

/// Longest burst before a session lets others run: the scheduling quantum of a server with its own scheduler.
///
/// Source: *Thread and task architecture guide*,
/// <https://learn.microsoft.com/sql/relational-databases/thread-and-task-architecture-guide> (4 ms).
pub const QUANTUM: Duration = Duration::from_millis(4);

/// Most processors of a machine; the largest cloud machine has under 2,000.
pub const CORES_MAX: u32 = 4096;

/// Processors, each with the instant at which it is free again.
pub struct Cores {
    free_at: BinaryHeap<Reverse<Instant>>,
    /// CPU time used so far.
    pub busy: Duration,
}

impl Cores {
    /// `count` idle processors; at least one.
    pub fn new(count: u32) -> Cores {
        let free_at = (0..count.max(1)).map(|_| Reverse(Instant::ZERO)).collect();
        Cores {
            free_at,
            busy: Duration::ZERO,
        }
    }

    /// Runs a burst that is ready at `now` on the core that is free first; returns when it ends.
    pub fn run(&mut self, now: Instant, burst: Duration) -> Instant {
        let free = self.free_at.pop().map_or(now, |Reverse(free)| free);
        let end = now.max(free) + burst;
        self.free_at.push(Reverse(end));
        self.busy += burst;
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_beyond_the_cores_wait_their_turn() {
        let burst = Duration::from_millis(10);
        let mut cores = Cores::new(2);
        let ends: [Instant; 3] = core::array::from_fn(|_| cores.run(Instant::ZERO, burst));
        assert_eq!(ends[1], Instant::ZERO + burst);
        assert_eq!(ends[2], Instant::ZERO + burst + burst);
        // Three bursts of 10 ms, regardless of which sessions ran or waited.
        assert_eq!(cores.busy, Duration::from_millis(30));
    }

    #[test]
    fn without_a_core_there_is_one() {
        let burst = Duration::from_millis(10);
        let mut cores = Cores::new(0);
        let ends: [Instant; 2] = core::array::from_fn(|_| cores.run(Instant::ZERO, burst));
        assert_eq!(
            ends,
            [10, 20].map(|ms| Instant::ZERO + Duration::from_millis(ms))
        );
    }
}
