//! Periods of the demand: how many sessions issue operations, or how many operations arrive.

use model::{Duration, Instant};

use super::replay_session::ReplaySession;
use super::{Event, Run};
use crate::replay::Arrivals;

impl Run<'_> {
    /// Starts at an offset within the demand such that its beginning coincides with that of measurement.
    pub(super) fn begin_first_period(&mut self) {
        let all = self.replay.demand.length().as_nanos().max(1);
        let warm_up = self.replay.warm_up.as_nanos() % all;
        let mut passed = (all - warm_up) % all;
        while passed >= self.periods[self.period].length.as_nanos() {
            passed -= self.periods[self.period].length.as_nanos();
            self.period += 1;
        }
        let length = self.periods[self.period].length;
        self.begin_period(
            Instant::ZERO,
            length.saturating_sub(Duration::from_nanos(passed)),
        );
    }

    /// Begins the current period, which ends after `left`.
    pub(super) fn begin_period(&mut self, now: Instant, left: Duration) {
        if self.periods.len() > 1 {
            self.push(now + left, Event::Period);
        }
        match self.replay.arrivals {
            Arrivals::Closed => {
                let count = self.demand().sessions;
                // Delays are memoryless: the remainder is redrawn with the new period's mean.
                for session in 0..self.sessions.len() as u32 {
                    if self.sessions[session as usize].rests_since.is_some() {
                        self.end_rest(now, session);
                        self.rest(now, session);
                    }
                }
                let dormant = std::mem::take(&mut self.dormant);
                let (awake, dormant) = dormant.into_iter().partition(|session| *session < count);
                self.dormant = dormant;
                let awake: Vec<u32> = awake;
                let new = self.sessions.len() as u32..count;
                self.sessions.resize_with(
                    self.sessions.len().max(count as usize),
                    ReplaySession::default,
                );
                for session in awake.into_iter().chain(new) {
                    self.rest(now, session);
                }
            }
            Arrivals::Open => self.expect_arrival(now),
        }
    }

    /// Draws the time of the next arrival, replacing the expected one.
    pub(super) fn expect_arrival(&mut self, now: Instant) {
        self.arrival += 1;
        let rate = self.periods[self.period].operations_per_s;
        if rate > 0.0 {
            let gap = self.exponential(Duration::from_secs_f64(1.0 / rate));
            self.push(now + gap, Event::Arrives(self.arrival));
        }
    }
}
