//! Verdicts that depend on a setting left at its default.

use super::compared::verdict_of;
use super::metrics::value;
use super::trials::Trials;
use super::warnings::{list, warning};
use super::{Comparison, Findings, Verdict, Warning};
use experiment::question::{Question, Variation};
use table::quantity::ratio;

/// Reports which verdicts flip, and with which setting.
pub(super) fn warnings(
    question: &Question,
    trials: &Trials,
    findings: &Findings,
) -> Option<Warning> {
    let Variation { key, value, .. } = question.variations.first()?;
    let turned = list(findings.comparisons.iter().filter_map(|comparison| {
        let (plain, varied) = ratios(question, trials, comparison)?;
        let says = |ratio| verdict_of(ratio, &question.metric, question.margin);
        let apart = (varied / plain).ln().abs() > question.margin.ln_1p();
        let turns = apart && says(varied) != says(plain);
        (turns && comparison.verdict != Verdict::CannotTell).then(|| {
            format!(
                "{} vs {}: {}x here, {}x with a {value} one",
                comparison.candidate,
                comparison.baseline,
                ratio(plain),
                ratio(varied)
            )
        })
    }))?;
    Some(warning(
        "default-decides",
        format!(
            "verdicts depend on {key}, which the experiment leaves at its default ({}; compared by `{}`): {turned}. Set it to \
             what your server has (its host cache is warm after hours of work, cold after a move), or read both.",
            other(value),
            question.metric
        ),
    ))
}

fn other(value: &str) -> &'static str {
    if value == "warm" { "cold" } else { "warm" }
}

/// Candidate / baseline in the first block: as it ran, and with the variation of each arm that has one; `None` where
/// neither has.
fn ratios(question: &Question, trials: &Trials, comparison: &Comparison) -> Option<(f64, f64)> {
    let first = |arm: &str| {
        let record = trials
            .finished(arm)
            .iter()
            .find(|record| record.block == 0)?;
        value(record, &question.metric)
    };
    let varied = |arm: &str| {
        let mut variations = question.variations.iter();
        first(&variations.find(|variation| variation.of == arm)?.name)
    };
    let (baseline, candidate) = (&comparison.baseline, &comparison.candidate);
    let (one, other) = (varied(baseline), varied(candidate));
    if one.is_none() && other.is_none() {
        return None;
    }
    let plain = (first(baseline)?, first(candidate)?);
    let with = other.unwrap_or(plain.1) / one.unwrap_or(plain.0);
    Some((plain.1 / plain.0, with))
}

#[cfg(test)]
mod tests {
    use super::super::make;
    use super::*;
    use experiment::examples::{question, records, trial};

    fn warned(elapsed_s: f64) -> Option<String> {
        let variation = Variation {
            of: "p30".into(),
            name: "p30 (warm host cache)".into(),
            key: "engine.host_cache_start".into(),
            value: "warm".into(),
        };
        let question = Question {
            variations: vec![variation],
            ..question()
        };
        let mut records = records();
        records.push(trial("p30 (warm host cache)", 0, elapsed_s));
        let mut warnings = make(&question, &records).warnings.into_iter();
        let warning = warnings.find(|warning| warning.id == "default-decides");
        warning.map(|warning| warning.text)
    }

    #[test]
    fn a_verdict_that_turns_is_reported_with_both_ratios() {
        // 158.0 s of local-ssd in the first block: 79 / 158 = 0.5
        let text = warned(79.0).expect("a tie becomes 0.5x");

        assert!(
            text.contains("p30 vs local-ssd: 1.04x here, 0.50x with a warm one"),
            "{text}"
        );
    }

    #[test]
    fn a_verdict_that_stays_is_not() {
        assert_eq!(warned(160.0), None);
    }
}
