//! The machine's processors: bursts of CPU time find a free core, in order of arrival.

use alloc::collections::BinaryHeap;
use core::cmp::Reverse;

use serde::{Deserialize, Serialize};

use crate::time::{Duration, Instant};

/// Longest burst before a session lets others run: the scheduling quantum of a server with its own scheduler.
///
/// Source: *Thread and task architecture guide*,
/// <https://learn.microsoft.com/sql/relational-databases/thread-and-task-architecture-guide> (4 ms).
pub const QUANTUM: Duration = Duration::from_millis(4);

/// Most processors of a machine; the largest cloud machine has under 2,000.
pub const CORES_MAX: u32 = 4096;

/// How fast a processor is, beside those that work was measured on; in thousandths, so that equal speeds are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Speed(u32);

impl Speed {
    /// As fast as those.
    pub const SAME: Speed = Speed(1_000);

    /// The largest multiple: no processor is a hundred times as fast as another that a server runs on.
    pub const MULTIPLE_MAX: f64 = 100.0;

    /// A multiple of their speed, above 0 and at most [`Speed::MULTIPLE_MAX`].
    pub fn of(multiple: f64) -> Speed {
        let multiple = multiple.clamp(0.001, Speed::MULTIPLE_MAX);
        Speed((multiple * 1_000.0 + 0.5) as u32)
    }

    /// The multiple of their speed.
    pub fn multiple(self) -> f64 {
        f64::from(self.0) / 1_000.0
    }

    /// Whether it is theirs.
    pub fn is_same(&self) -> bool {
        *self == Speed::SAME
    }

    /// How long work takes that took them `measured`.
    pub fn time(self, measured: Duration) -> Duration {
        if self.is_same() {
            return measured;
        }
        let ns = u128::from(measured.as_nanos()) * 1_000 / u128::from(self.0);
        Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX))
    }
}

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
    fn work_takes_less_time_on_a_faster_processor_and_the_same_on_the_same() {
        let work = Duration::from_millis(3);
        // 3 ms / 1.5 = 2 ms.
        assert_eq!(Speed::of(1.5).time(work), Duration::from_millis(2));
        assert_eq!(Speed::SAME.time(work), work);
        assert!(Speed::of(1.0).is_same() && Speed::of(0.5) < Speed::SAME);
        assert_eq!(Speed::of(0.0).multiple(), 0.001);
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
