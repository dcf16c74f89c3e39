//! Intervals from the times at which a tool wrote its records.

use jiff::Timestamp;
use model::Duration;
use profile::{between, later};

/// An interval longer than this many usual ones counts as a gap.
const LONGEST: f64 = 1.5;

/// Relation of a record to the previous one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// An interval, with its ends.
    Interval(Timestamp, Timestamp),
    /// More time than records are usually apart.
    Gap,
    /// Negative: the clock was set back.
    Back,
}

/// Resolution of record times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resolution {
    /// Fractions of a second: each interval has the exact length between its ends.
    Fine,
    /// Whole seconds: intervals of one second appear to last 0 s, 1 s or 2 s. Consecutive intervals get their mean length.
    Seconds,
}

/// The steps between records, one fewer than the times.
pub(super) fn steps(times: &[Timestamp], resolution: Resolution) -> Vec<Step> {
    let apart = |pair: &[Timestamp]| (pair[1].as_nanosecond() - pair[0].as_nanosecond()) as f64;
    let mut usual: Vec<f64> = times.windows(2).map(apart).filter(|ns| *ns > 0.0).collect();
    usual.sort_by(f64::total_cmp);
    let Some(usual) = usual.get(usual.len() / 2).copied() else {
        return vec![Step::Back; times.len().saturating_sub(1)];
    };
    let slack = match resolution {
        Resolution::Fine => 0.0,
        Resolution::Seconds => 1e9,
    };
    let step = |pair: &[Timestamp]| {
        let ns = apart(pair);
        if ns < 0.0 || ns == 0.0 && usual > slack {
            Step::Back
        } else if ns > usual * LONGEST + slack {
            Step::Gap
        } else {
            Step::Interval(pair[0], pair[1])
        }
    };
    let mut steps: Vec<Step> = times.windows(2).map(step).collect();
    if resolution == Resolution::Seconds {
        even(&mut steps);
    }
    steps
}

/// Gives the intervals of each unbroken row the same length.
fn even(steps: &mut [Step]) {
    let unbroken = |a: &Step, b: &Step| matches!((a, b), (Step::Interval(..), Step::Interval(..)));
    for row in steps.chunk_by_mut(unbroken) {
        let (Some(Step::Interval(from, _)), Some(Step::Interval(_, until))) =
            (row.first(), row.last())
        else {
            continue;
        };
        let (from, whole) = (*from, between(*from, *until));
        let each = |number: usize| {
            let share = number as f64 / row.len() as f64;
            later(from, Duration::from_secs_f64(whole.as_secs_f64() * share))
        };
        let ends: Vec<Timestamp> = (0..=row.len()).map(each).collect();
        for (step, ends) in row.iter_mut().zip(ends.windows(2)) {
            *step = Step::Interval(ends[0], ends[1]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(seconds: &[i64]) -> Vec<Timestamp> {
        let at = |s: &i64| Timestamp::from_second(1_000_000 + s).expect("a second of 1970");
        seconds.iter().map(at).collect()
    }

    #[test]
    fn seconds_that_are_skipped_are_no_gap() {
        // 1.2 s apart: written as 0, 1, 2, 3, 5, 6 s.
        let times = times(&[0, 1, 2, 3, 5, 6]);
        let steps = steps(&times, Resolution::Seconds);
        assert_eq!(steps.len(), 5);
        for step in &steps {
            let Step::Interval(from, until) = step else {
                panic!("{steps:?}");
            };
            // 6 s in 5 intervals.
            assert_eq!(between(*from, *until), Duration::from_millis(1200));
        }
    }

    #[test]
    fn a_pause_is_a_gap_and_a_clock_that_was_set_back_is_none() {
        let times = times(&[0, 60, 120, 600, 660, 300, 360]);
        let steps = steps(&times, Resolution::Seconds);
        assert_eq!((steps[2], steps[4]), (Step::Gap, Step::Back));
        assert!(matches!(steps[3], Step::Interval(..)), "{steps:?}");
    }
}
