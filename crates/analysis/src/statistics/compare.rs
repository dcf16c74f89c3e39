//! Two arms, block by block: a ratio with its interval, and a verdict with a margin.

use super::moments::mean;
use super::scatter::{Scatter, Within};

/// The largest number of blocks that is suggested for a further run.
const BLOCKS_MAX: usize = 1_000;

/// Which way a metric is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// A time: lower is better.
    Lower,
    /// A rate: higher is better.
    Higher,
}

/// The conclusion about a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Better by more than the margin, and chance does not explain it.
    Faster,
    /// Worse by more than the margin, and chance does not explain it.
    Slower,
    /// The whole interval lies within the margin.
    NoDifference,
    /// Neither.
    CannotTell,
}

/// A candidate against its baseline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// Geometric mean over blocks of candidate / baseline.
    pub mean: f64,
    /// Lower end of the interval; equal to the mean for a single block, which has no interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Blocks that were compared.
    pub blocks: usize,
    /// The conclusion.
    pub verdict: Verdict,
    /// Total blocks that would settle a [`Verdict::CannotTell`] at the observed ratio and spread; `None` when settled,
    /// with a single block, or when 1000 would not be enough.
    pub blocks_needed: Option<u32>,
}

/// Compares `candidate` with `baseline`, which hold one sample a block, in the same order.
///
/// Works on logarithms of the ratio within each block, so that what a block has in common (a slow hour) cancels, and 2x
/// and 1/2x are equally far from 1. Pairs that are not positive finite numbers have no ratio and are left out; `None`
/// when no pair remains.
///
/// An interval wholly inside `1/(1+margin) ..= 1+margin` means no relevant difference; an interval that excludes 1 with a
/// mean beyond the margin means there is one. `within` says what the interval is of. The first is the usual equivalence test, at 2.5 % a side (Schuirmann, J.
/// Pharmacokinetics and Biopharmaceutics 15, 1987). Intervals are not widened for the number of candidates.
///
/// # Panics
/// When the two slices differ in length, or the margin is negative.
pub fn compare(
    baseline: &[f64],
    candidate: &[f64],
    margin: f64,
    better: Better,
    within: &Within,
) -> Option<Comparison> {
    assert_eq!(baseline.len(), candidate.len(), "one sample a block each");
    assert!(margin >= 0.0, "a margin of {margin} is negative");
    let is_usable = |block: &usize| usable(baseline[*block]) && usable(candidate[*block]);
    let blocks: Vec<usize> = (0..baseline.len()).filter(is_usable).collect();
    let log = |block: &usize| (candidate[*block] / baseline[*block]).ln();
    let logs: Vec<f64> = blocks.iter().map(log).collect();
    if logs.is_empty() {
        return None;
    }
    let seen = LogRatios {
        mean: mean(&logs),
        scatter: Scatter::of(&logs, &within.at(&blocks)),
        margin: margin.ln_1p(),
    };
    let half = seen.half(logs.len());
    let settled = half.is_some_and(|half| seen.settled(half));
    Some(Comparison {
        mean: seen.mean.exp(),
        low: (seen.mean - half.unwrap_or(0.0)).exp(),
        high: (seen.mean + half.unwrap_or(0.0)).exp(),
        blocks: logs.len(),
        verdict: if settled {
            seen.verdict(better)
        } else {
            Verdict::CannotTell
        },
        blocks_needed: if settled {
            None
        } else {
            seen.blocks_needed(logs.len())
        },
    })
}

fn usable(sample: f64) -> bool {
    sample.is_finite() && sample > 0.0
}

/// Summary of the logarithms of ratios.
struct LogRatios {
    mean: f64,
    scatter: Scatter,
    margin: f64,
}

impl LogRatios {
    fn half(&self, blocks: usize) -> Option<f64> {
        self.scatter.half(blocks)
    }

    fn within_margin(&self, half: f64) -> bool {
        self.mean.abs() + half <= self.margin
    }

    fn settled(&self, half: f64) -> bool {
        let beyond_margin = self.mean.abs() > self.margin && self.mean.abs() > half;
        self.within_margin(half) || beyond_margin
    }

    /// The verdict, once settled.
    fn verdict(&self, better: Better) -> Verdict {
        let higher = self.mean > 0.0;
        if self.mean.abs() <= self.margin {
            Verdict::NoDifference
        } else if higher == (better == Better::Higher) {
            Verdict::Faster
        } else {
            Verdict::Slower
        }
    }

    fn blocks_needed(&self, blocks: usize) -> Option<u32> {
        if blocks < 2 {
            return None;
        }
        let needed = (blocks + 1..=BLOCKS_MAX)
            .find(|blocks| self.half(*blocks).is_some_and(|half| self.settled(half)))?;
        u32::try_from(needed).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::normal;
    use super::*;

    fn compared(baseline: &[f64], candidate: &[f64]) -> Comparison {
        compare(baseline, candidate, 0.05, Better::Lower, &Within::Chance).unwrap()
    }

    fn verdict_of(baseline: &[f64], candidate: &[f64]) -> Verdict {
        compared(baseline, candidate).verdict
    }

    #[test]
    fn what_a_block_has_in_common_cancels() {
        let comparison = compared(&[10.0, 20.0, 40.0], &[20.0, 40.0, 80.0]);

        assert!((comparison.mean - 2.0).abs() < 1e-12);
        assert!((comparison.high - comparison.low).abs() < 1e-9);
        assert_eq!(comparison.verdict, Verdict::Slower);
    }

    #[test]
    fn the_paired_interval_is_the_textbook_one() {
        // logs of 1.1, 1.2, 1.3: mean 0.180001, s 0.083564, t(2; 0.975) = 4.302653
        // half width 4.302653 x 0.083564 / sqrt(3) = 0.207584
        let comparison = compared(&[1.0, 1.0, 1.0], &[1.1, 1.2, 1.3]);

        assert!((comparison.mean.ln() - 0.180_001).abs() < 1e-5);
        assert!(
            (comparison.low.ln() + 0.027_583).abs() < 1e-4,
            "{comparison:?}"
        );
        assert!(
            (comparison.high.ln() - 0.387_585).abs() < 1e-4,
            "{comparison:?}"
        );
    }

    #[test]
    fn stopping_when_the_interval_is_narrow_costs_little_coverage() {
        // As `dbstow run --until` looks: after 6 blocks, then after every second one, and after 40 at the latest.
        let (runs, ratio, deviation) = (4_000_u64, 1.2_f64, 0.04);
        for share in [0.02, 0.03, 0.04, 0.06] {
            let covered = (0..runs).filter(|run| {
                let random = &mut model::random::stream(*run, "stopping");
                let logs = normal(random, ratio.ln(), deviation, 40);
                let candidate: Vec<f64> = logs.into_iter().map(f64::exp).collect();
                let mut looks = (6..=40)
                    .step_by(2)
                    .map(|blocks| compared(&vec![1.0; blocks], &candidate[..blocks]));
                let narrow = |found: &Comparison| found.high / found.mean - 1.0 <= share;
                let last = compared(&[1.0; 40], &candidate);
                let found = looks.find(narrow).unwrap_or(last);
                (found.low..=found.high).contains(&ratio)
            });
            // 95 % without looks. With 4,000 runs, a standard error of 0.4 points.
            let share_covered = covered.count() as f64 / runs as f64;
            assert!(share_covered > 0.92, "{share_covered} until {share}");
        }
    }

    #[test]
    fn more_time_is_slower_and_more_rate_is_faster() {
        let (one, two) = ([1.0, 1.0], [2.0, 2.0]);

        assert_eq!(
            compare(&one, &two, 0.05, Better::Lower, &Within::Chance)
                .unwrap()
                .verdict,
            Verdict::Slower
        );
        assert_eq!(
            compare(&one, &two, 0.05, Better::Higher, &Within::Chance)
                .unwrap()
                .verdict,
            Verdict::Faster
        );
        assert_eq!(
            compare(&two, &one, 0.05, Better::Lower, &Within::Chance)
                .unwrap()
                .verdict,
            Verdict::Faster
        );
        assert_eq!(
            compare(&two, &one, 0.05, Better::Higher, &Within::Chance)
                .unwrap()
                .verdict,
            Verdict::Slower
        );
    }

    #[test]
    fn identical_arms_without_spread_do_not_differ() {
        assert_eq!(verdict_of(&[3.3; 4], &[3.3; 4]), Verdict::NoDifference);
    }

    #[test]
    fn a_difference_within_the_margin_does_not_count_however_sure() {
        assert_eq!(verdict_of(&[100.0; 5], &[104.0; 5]), Verdict::NoDifference);
    }

    #[test]
    fn a_wide_interval_cannot_tell_and_says_how_many_blocks_would() {
        let comparison = compared(&[1.0, 1.0, 1.0], &[1.1, 1.2, 1.3]);

        // mean 0.180001, s 0.083564: 4 blocks give 3.182446 x 0.083564 / 2 = 0.132968 < 0.180001
        assert_eq!(comparison.verdict, Verdict::CannotTell);
        assert_eq!(comparison.blocks_needed, Some(4));
    }

    #[test]
    fn one_block_cannot_tell() {
        let comparison = compare(&[1.0], &[2.0], 0.05, Better::Lower, &Within::Chance).unwrap();

        assert_eq!(comparison.verdict, Verdict::CannotTell);
        assert_eq!(comparison.blocks_needed, None);
    }

    #[test]
    fn a_ratio_on_the_margin_asks_for_no_hopeless_number_of_blocks() {
        // mean ln 1.0499..: within the margin by so little that no 1000 blocks prove it
        let candidate = [0.95 * 1.049_99, 1.049_99 / 0.95];
        let comparison = compare(
            &[1.0, 1.0],
            &candidate,
            0.05,
            Better::Lower,
            &Within::Chance,
        )
        .unwrap();

        assert_eq!(comparison.verdict, Verdict::CannotTell);
        assert_eq!(comparison.blocks_needed, None);
    }

    #[test]
    fn a_margin_of_5_percent_ends_at_1_05_and_at_its_inverse() {
        // Without spread the ratio alone decides. ln 1.05 = 0.048790: 1.0495 (ln 0.048314) is within,
        // 1.0505 (ln 0.049266) beyond, although it is less than 0.05.
        assert_eq!(verdict_of(&[1.0; 3], &[1.049_5; 3]), Verdict::NoDifference);
        assert_eq!(verdict_of(&[1.0; 3], &[1.050_5; 3]), Verdict::Slower);
        // The same the other way round: 1 / 1.05 = 0.952381, and not 0.95.
        assert_eq!(verdict_of(&[1.049_5; 3], &[1.0; 3]), Verdict::NoDifference);
        assert_eq!(verdict_of(&[1.050_5; 3], &[1.0; 3]), Verdict::Faster);
        assert_eq!(verdict_of(&[1.0; 3], &[0.951; 3]), Verdict::Faster);
    }

    #[test]
    fn without_a_margin_any_sure_difference_counts() {
        let verdict = |candidate: &[f64]| {
            compare(&[1.0; 3], candidate, 0.0, Better::Higher, &Within::Chance)
                .unwrap()
                .verdict
        };
        assert_eq!(verdict(&[1.000_001; 3]), Verdict::Faster);
        assert_eq!(verdict(&[1.0; 3]), Verdict::NoDifference);
    }

    #[test]
    fn blocks_without_a_ratio_are_left_out() {
        for (baseline, candidate) in [
            (0.0, 1.0),
            (1.0, 0.0),
            (-1.0, 1.0),
            (1.0, -1.0),
            (f64::NAN, 1.0),
            (1.0, f64::NAN),
            (f64::INFINITY, 1.0),
            (1.0, f64::INFINITY),
            (f64::NEG_INFINITY, f64::NEG_INFINITY),
            (f64::INFINITY, f64::INFINITY),
        ] {
            let alone = compare(
                &[baseline],
                &[candidate],
                0.05,
                Better::Lower,
                &Within::Chance,
            );
            assert_eq!(alone, None, "{baseline}, {candidate}");
            let beside = compare(
                &[1.0, baseline],
                &[2.0, candidate],
                0.05,
                Better::Lower,
                &Within::Chance,
            )
            .unwrap();
            assert_eq!(beside.blocks, 1, "{baseline}, {candidate}");
            assert!((beside.mean - 2.0).abs() < 1e-12, "{baseline}, {candidate}");
        }
    }

    #[test]
    #[should_panic(expected = "a margin of -0.01 is negative")]
    fn a_negative_margin_is_refused() {
        compare(&[1.0], &[1.0], -0.01, Better::Lower, &Within::Chance);
    }

    #[test]
    fn two_blocks_can_settle_and_need_no_more_then() {
        let comparison = compare(
            &[1.0, 1.0],
            &[2.0, 2.0],
            0.05,
            Better::Lower,
            &Within::Chance,
        )
        .unwrap();

        assert_eq!(comparison.verdict, Verdict::Slower);
        assert_eq!(comparison.blocks_needed, None);
    }

    #[test]
    fn two_blocks_are_enough_to_ask_for_more() {
        // logs 0.1 and 0.3: mean 0.2, s 0.141421; 5 blocks: t(4) 2.776445 x 0.141421 / sqrt 5 = 0.175600
        // < 0.2; 4 blocks: t(3) 3.182446 x 0.141421 / 2 = 0.225033 > 0.2.
        let candidate = [0.1_f64.exp(), 0.3_f64.exp()];
        let comparison = compare(
            &[1.0, 1.0],
            &candidate,
            0.05,
            Better::Lower,
            &Within::Chance,
        )
        .unwrap();

        assert_eq!(comparison.verdict, Verdict::CannotTell);
        assert_eq!(comparison.blocks_needed, Some(5));
    }

    /// The share of experiments of `blocks` blocks that end in `verdict`, with 4 % noise a trial.
    fn rate_of(verdict: Verdict, ratio: f64, blocks: usize) -> f64 {
        let mut random = model::random::stream(2, "verdicts");
        let tries = 3_000;
        let hits = (0..tries)
            .filter(|_| {
                let baseline = normal(&mut random, 100.0, 4.0, blocks);
                let candidate = normal(&mut random, 100.0 * ratio, 4.0 * ratio, blocks);
                verdict_of(&baseline, &candidate) == verdict
            })
            .count();
        hits as f64 / f64::from(tries)
    }

    #[test]
    fn twins_are_called_different_less_than_5_times_in_100() {
        for blocks in [3, 5, 10] {
            let wrong =
                rate_of(Verdict::Faster, 1.0, blocks) + rate_of(Verdict::Slower, 1.0, blocks);
            assert!(wrong < 0.05, "{blocks} blocks: {wrong}");
        }
    }

    #[test]
    fn a_difference_at_the_margin_is_denied_less_than_3_times_in_100() {
        for blocks in [3, 5, 10] {
            let wrong = rate_of(Verdict::NoDifference, 1.05, blocks);
            assert!(wrong < 0.03, "{blocks} blocks: {wrong}");
        }
    }

    #[test]
    fn a_plain_difference_is_found() {
        // 20 % at a paired noise of sqrt(2) x 4 %: found nearly always within 5 blocks
        assert!(rate_of(Verdict::Slower, 1.2, 5) > 0.95);
    }

    #[test]
    fn what_is_unknown_needs_more_than_a_narrow_mean() {
        // logs 0.1, 0.2, 0.3, 0.4: mean 0.25, s 0.1291, t(3) 3.182446. Of the mean: half 0.2054, so that it excludes 0; of a
        // further block: 0.4593.
        let candidate: [f64; 4] = [0.1, 0.2, 0.3, 0.4].map(f64::exp);
        let compared = |within| {
            let compared = compare(&[1.0; 4], &candidate, 0.05, Better::Lower, within);
            compared.unwrap()
        };
        let (chance, unknown) = (
            compared(&Within::Chance),
            compared(&Within::Unknown(Vec::new())),
        );
        assert_eq!(chance.verdict, Verdict::Slower);
        assert_eq!(unknown.verdict, Verdict::CannotTell);
        assert!((unknown.high.ln() - 0.7093).abs() < 1e-3, "{unknown:?}");
    }
}
