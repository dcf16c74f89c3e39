//! What the way from a session to its server and back takes.

use engine::logged::{Boundary, Logged};
use model::Duration;

/// Pauses that a log shows are exact to this, so that shorter ones are made up for later: together, and between transactions, so
/// that no lock is held for longer.
pub(crate) const PAUSE_MIN_US: i64 = 2_000;

/// Part of a newer figure in the running mean.
const NEWER: i64 = 16;

/// What the way to the server and back takes here. The log's pause between two statements has it, too.
pub(crate) struct Trip {
    /// Microseconds, now.
    pub(crate) us: i64,
    /// The shortest that was seen before anything was played.
    least_us: i64,
}

impl Trip {
    /// Of empty statements on a server that does nothing else.
    pub(crate) fn of(least_us: i64) -> Trip {
        Trip {
            us: least_us,
            least_us,
        }
    }

    /// Learns from a statement that took so long here. `BEGIN` does the same on any disk, and takes longer here than in the log by
    /// the way: on busy processors that is more than without a load.
    pub(crate) fn saw(&mut self, logged: &Logged, took: Duration) {
        let Some(end_us) = logged.end_us else { return };
        if logged.boundary != Boundary::Begins {
            return;
        }
        let took_us = i64::try_from(took.as_nanos() / 1_000).unwrap_or(i64::MAX);
        let way_us = took_us.saturating_sub(end_us - logged.start_us);
        let way_us = way_us.clamp(self.least_us, PAUSE_MIN_US.max(self.least_us));
        self.us += (way_us - self.us) / NEWER;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(boundary: Boundary, end_us: Option<i64>) -> Logged {
        Logged {
            text: "BEGIN".into(),
            form: "BEGIN".into(),
            parameters: None,
            is_prepared: false,
            start_us: 1_000,
            end_us,
            failed: false,
            rows: None,
            boundary,
            reads: true,
        }
    }

    #[test]
    fn the_way_is_what_begin_takes_longer_than_in_the_log() {
        let mut trip = Trip::of(40);
        let begin = statement(Boundary::Begins, Some(1_050));
        for _ in 0..200 {
            trip.saw(&begin, Duration::from_micros(450));
        }
        assert!((385..=400).contains(&trip.us), "{}", trip.us);
        for _ in 0..200 {
            trip.saw(&begin, Duration::from_micros(10));
        }
        assert!((40..=55).contains(&trip.us), "{}", trip.us);
    }

    #[test]
    fn other_statements_and_logs_without_durations_say_nothing_of_it() {
        let mut trip = Trip::of(40);
        trip.saw(
            &statement(Boundary::Within, Some(1_050)),
            Duration::from_millis(9),
        );
        trip.saw(&statement(Boundary::Begins, None), Duration::from_millis(9));
        assert_eq!(trip.us, 40);
    }
}
