//! Baseline against every other arm, within blocks.

use std::collections::{BTreeMap, BTreeSet};

use super::metrics::{better, pair, within_drawn};
use super::trials::Trials;
use super::{Comparison, NoiseFloor, Ratio, Verdict, unknown};
use crate::statistics::{self, Better, Within};
use experiment::question::{Question, twin_of};
use experiment::record::{Drawn, Record};

/// One comparison for each arm that shares a block with the baseline, in the order of the question.
pub(super) fn comparisons(question: &Question, trials: &Trials) -> Vec<Comparison> {
    let Some(baseline) = question.baseline.as_deref() else {
        return Vec::new();
    };
    // An arm that others are compared with is also a baseline.
    let own_baselines: BTreeSet<&str> = question
        .arms
        .iter()
        .filter_map(|arm| arm.baseline.as_deref())
        .collect();
    let candidates = question
        .arms
        .iter()
        .filter(|arm| arm.name != baseline && !own_baselines.contains(arm.name.as_str()));
    candidates
        .filter_map(|arm| {
            let baseline = arm.baseline.as_deref().unwrap_or(baseline);
            comparison(question, trials, baseline, &arm.name)
        })
        .collect()
}

/// `candidate` against `baseline`, where they share a block.
pub(super) fn comparison(
    question: &Question,
    trials: &Trials,
    baseline: &str,
    candidate: &str,
) -> Option<Comparison> {
    let compared = compare(question, trials, baseline, candidate)?;
    let (blocks, _) = pairs(question, trials, baseline, candidate);
    Some(Comparison {
        baseline: baseline.into(),
        candidate: candidate.into(),
        metric: question.metric.clone(),
        ratio: ratio(&compared),
        verdict: verdict(compared.verdict),
        margin: question.margin,
        blocks: u32::try_from(blocks.len()).expect("blocks are counted in 32 bits"),
        blocks_needed: compared.blocks_needed,
        withheld: None,
        unknown: unknown::of(question, trials, baseline, candidate),
    })
}

/// The baseline against its own twin, where it ran.
pub(super) fn noise_floor(question: &Question, trials: &Trials) -> Option<NoiseFloor> {
    let baseline = question.baseline.as_deref().filter(|_| question.aa)?;
    // Both are drawn alike, and differ by chance alone.
    let (own, twins) = pairs(question, trials, baseline, &twin_of(baseline));
    let better = better(&question.metric);
    let chance = Within::Chance;
    let compared = statistics::compare(&own, &twins, question.margin, better, &chance)?;
    Some(NoiseFloor {
        arm: baseline.into(),
        metric: question.metric.clone(),
        ratio: ratio(&compared),
    })
}

/// `candidate` against `baseline` in the blocks that both finished; `None` without any.
pub(super) fn compare(
    question: &Question,
    trials: &Trials,
    baseline: &str,
    candidate: &str,
) -> Option<statistics::Comparison> {
    let within = within_drawn(drawn(question, trials, baseline, candidate));
    let (baseline, candidate) = pairs(question, trials, baseline, candidate);
    statistics::compare(
        &baseline,
        &candidate,
        question.margin,
        better(&question.metric),
        &within,
    )
}

/// Values of the blocks that both arms finished.
fn pairs(
    question: &Question,
    trials: &Trials,
    baseline: &str,
    candidate: &str,
) -> (Vec<f64>, Vec<f64>) {
    let finished = trials.finished(baseline).iter();
    finished
        .filter_map(|record| pair(record, trials.finished(candidate), &question.metric))
        .unzip()
}

/// What those blocks drew.
fn drawn<'a>(
    question: &Question,
    trials: &Trials<'a>,
    baseline: &str,
    candidate: &str,
) -> Vec<BTreeMap<&'a String, &'a Drawn>> {
    let candidates = trials.finished(candidate);
    let finished = trials.finished(baseline).iter();
    let drawn = |record: &&'a Record| {
        pair(record, candidates, &question.metric)?;
        let other = candidates
            .iter()
            .find(|other| other.block == record.block)?;
        Some(record.drawn.iter().chain(&other.drawn).collect())
    };
    finished.filter_map(drawn).collect()
}

/// The verdict that a ratio by `metric` alone, without an interval, implies.
pub(super) fn verdict_of(ratio: f64, metric: &str, margin: f64) -> Verdict {
    if ratio.ln().abs() <= margin.ln_1p() {
        return Verdict::NoDifference;
    }
    match (ratio > 1.0) == (better(metric) == Better::Higher) {
        true => Verdict::Faster,
        false => Verdict::Slower,
    }
}

fn ratio(compared: &statistics::Comparison) -> Ratio {
    Ratio {
        mean: compared.mean,
        low: compared.low,
        high: compared.high,
    }
}

fn verdict(verdict: statistics::Verdict) -> Verdict {
    match verdict {
        statistics::Verdict::Faster => Verdict::Faster,
        statistics::Verdict::Slower => Verdict::Slower,
        statistics::Verdict::NoDifference => Verdict::NoDifference,
        statistics::Verdict::CannotTell => Verdict::CannotTell,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::examples::{question, records, trial};

    #[test]
    fn only_blocks_that_both_arms_finished_are_compared() {
        let mut records = records();
        records.retain(|record| !(record.arm == "p30" && record.block == 1));
        let question = question();

        let comparison = comparisons(&question, &Trials::of(&question, &records)).remove(0);

        // sqrt(164.5 / 158.0 x 164.0 / 158.4) = 1.03823
        assert!((comparison.ratio.mean - 1.038_23).abs() < 1e-4);
    }

    #[test]
    fn the_twin_gives_the_noise_floor() {
        let question = Question {
            aa: true,
            ..question()
        };
        let mut records = records();
        records.extend((0..3).map(|block| trial("local-ssd (twin)", block, 158.0)));

        let floor = noise_floor(&question, &Trials::of(&question, &records)).unwrap();

        assert_eq!(floor.arm, "local-ssd");
        assert!((floor.ratio.mean - 1.0).abs() < 0.01);
    }

    #[test]
    fn without_a_baseline_nothing_is_compared() {
        let question = Question {
            baseline: None,
            ..question()
        };

        assert!(comparisons(&question, &Trials::of(&question, &records())).is_empty());
    }
}
