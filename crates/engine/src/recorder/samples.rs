//! Samples of what sessions of a server were doing.

use std::collections::{BTreeMap, BTreeSet};

use profile::{Interval, Wait};

const WAITS: [Wait; 6] = [
    Wait::DataRead,
    Wait::DataWrite,
    Wait::Log,
    Wait::Temp,
    Wait::Lock,
    Wait::Other,
];

/// What sessions did between two snapshots.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    count: f64,
    active: f64,
    waiting: BTreeMap<Wait, f64>,
    seen: BTreeSet<u32>,
}

impl Samples {
    /// Adds one sample: the active sessions, and what they wait for.
    pub fn add(&mut self, sessions: impl Iterator<Item = (u32, Option<Wait>)>) {
        self.count += 1.0;
        for (session, wait) in sessions {
            self.active += 1.0;
            self.seen.insert(session);
            if let Some(wait) = wait {
                *self.waiting.entry(wait).or_default() += 1.0;
            }
        }
    }

    /// An interval with the sampled activity of sessions, and no other figures. `changed`: sessions that were active
    /// according to the server, whether sampled or not.
    pub fn interval(&self, changed: impl Iterator<Item = u32>) -> Interval {
        let mean = |sum: f64| {
            if self.count > 0.0 {
                sum / self.count
            } else {
                0.0
            }
        };
        let of = |wait: &Wait| mean(self.waiting.get(wait).copied().unwrap_or(0.0));
        let sessions: BTreeSet<u32> = changed.chain(self.seen.iter().copied()).collect();
        Interval {
            sessions: Some(sessions.len() as f64),
            running: Some(mean(self.active)),
            waiting: WAITS.iter().map(|wait| (*wait, of(wait))).collect(),
            ..Interval::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_count_once_and_waits_are_means_over_all_samples() {
        let mut samples = Samples::default();
        samples.add([(7, Some(Wait::Log)), (9, None)].into_iter());
        samples.add([(7, Some(Wait::Log))].into_iter());
        // 7 and 9 were sampled, 7 and 8 changed.
        let interval = samples.interval([7, 8].into_iter());
        assert_eq!(interval.sessions, Some(3.0));
        assert_eq!(interval.running, Some(1.5));
        assert_eq!(interval.waiting[&Wait::Log], 1.0);
        assert_eq!(interval.waiting[&Wait::Lock], 0.0);
        assert_eq!(interval.waiting.len(), WAITS.len());
    }

    #[test]
    fn without_a_sample_nobody_was_seen() {
        let interval = Samples::default().interval(std::iter::empty());
        assert_eq!(
            (interval.sessions, interval.running),
            (Some(0.0), Some(0.0))
        );
    }
}
