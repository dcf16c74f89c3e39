//! How a session spent its time; the parts sum to the whole.

use alloc::vec::Vec;

use crate::request::Throttle;
use crate::store::{Cause, Wait};
use crate::time::Duration;

/// One way for a session to spend time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Spent {
    /// On a processor.
    Cpu,
    /// Waiting for a processor.
    CpuQueued,
    /// Waiting for a lock.
    Lock,
    /// Thinking between operations, or sleeping because the script does.
    Think,
    /// Waiting for the store, with the cause.
    Waiting(Cause, Part),
}

/// The part of a request that was waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Being served.
    Service,
    /// Waiting for a place in flight.
    Queued,
    /// Throttled by a limit.
    Throttled(Throttle),
}

/// Time by how it was spent.
#[derive(Clone, Debug, Default)]
pub struct TimeSplit(
    /// In order of first use: there are few, and time is added far more often than it is read.
    Vec<(Spent, Duration)>,
);

impl TimeSplit {
    /// Adds time spent in one way.
    pub fn add(&mut self, spent: Spent, time: Duration) {
        if time > Duration::ZERO {
            match self.0.iter_mut().find(|(known, _)| *known == spent) {
                Some((_, sum)) => *sum += time,
                None => self.0.push((spent, time)),
            }
        }
    }

    /// Adds a wait for the store, part by part.
    pub fn add_wait(&mut self, wait: &Wait) {
        self.add(Spent::Waiting(wait.cause, Part::Service), wait.part.service);
        self.add(Spent::Waiting(wait.cause, Part::Queued), wait.part.queued);
        if let Some(by) = wait.part.throttled_by {
            self.add(
                Spent::Waiting(wait.cause, Part::Throttled(by)),
                wait.part.throttled,
            );
        }
    }

    /// Adds all of another split.
    pub fn merge(&mut self, other: &TimeSplit) {
        other.iter().for_each(|(spent, time)| self.add(spent, time));
    }

    /// The time added since `earlier`, a former state of the same split.
    pub fn since(&self, earlier: &TimeSplit) -> TimeSplit {
        let later =
            |(spent, time): (Spent, Duration)| (spent, time.saturating_sub(earlier.of(spent)));
        TimeSplit(
            self.iter()
                .map(later)
                .filter(|(_, time)| *time > Duration::ZERO)
                .collect(),
        )
    }

    /// The total.
    pub fn total(&self) -> Duration {
        self.0.iter().map(|(_, time)| *time).sum()
    }

    /// Each way and its time.
    pub fn iter(&self) -> impl Iterator<Item = (Spent, Duration)> {
        self.0.iter().copied()
    }

    fn of(&self, spent: Spent) -> Duration {
        let mut times = self.0.iter();
        let known = times.find(|(known, _)| *known == spent);
        known.map_or(Duration::ZERO, |(_, time)| *time)
    }
}

impl PartialEq for TimeSplit {
    /// Regardless of order.
    fn eq(&self, other: &TimeSplit) -> bool {
        self.0.len() == other.0.len() && self.iter().all(|(spent, time)| other.of(spent) == time)
    }
}

impl Eq for TimeSplit {}

#[cfg(test)]
mod tests {

    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn split(parts: &[(Spent, u64)]) -> TimeSplit {
        let mut split = TimeSplit::default();
        parts
            .iter()
            .for_each(|(spent, time)| split.add(*spent, ms(*time)));
        split
    }

    #[test]
    fn no_time_is_no_part() {
        assert_eq!(split(&[(Spent::Cpu, 0)]), TimeSplit::default());
    }

    #[test]
    fn merged_splits_sum_part_by_part() {
        let mut all = split(&[(Spent::Cpu, 1), (Spent::Lock, 2)]);
        all.merge(&split(&[(Spent::Cpu, 10), (Spent::Think, 5)]));
        let parts = [(Spent::Cpu, 11), (Spent::Lock, 2), (Spent::Think, 5)];
        assert_eq!(all, split(&parts));
        assert_eq!(all.total(), ms(18));
    }

    #[test]
    fn what_came_since_is_the_difference_without_what_did_not_change() {
        let earlier = split(&[(Spent::Cpu, 1), (Spent::Lock, 2)]);
        let later = split(&[(Spent::Cpu, 4), (Spent::Lock, 2), (Spent::Think, 5)]);
        let since: Vec<_> = later.since(&earlier).iter().collect();
        assert_eq!(since, [(Spent::Cpu, ms(3)), (Spent::Think, ms(5))]);
    }
}
