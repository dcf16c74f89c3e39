//! What the interval of a comparison is made of, where blocks drew uncertain values.

use std::collections::BTreeMap;

use super::metrics::{NS_PER_MS, pair};
use super::trials::Trials;
use super::{Ratio, Unknown, UnknownCause};
use crate::statistics::{Cause, explain};
use experiment::question::Question;
use experiment::record::{Drawn, Record};

/// Standard deviations on either side of the typical value that hold 95 of 100.
const DEVIATIONS: f64 = 1.96;

/// What the interval of `candidate` against `baseline` is made of; `None` where nothing was drawn, or with too few blocks.
pub(super) fn of(
    question: &Question,
    trials: &Trials,
    baseline: &str,
    candidate: &str,
) -> Option<Unknown> {
    let candidates = trials.finished(candidate);
    let own = trials.finished(baseline).iter();
    let blocks: Vec<_> = own
        .filter_map(|record| block(record, candidates, &question.metric))
        .collect();
    let names: BTreeMap<&str, Drawn> = blocks.iter().flat_map(|(_, drawn)| drawn.clone()).collect();
    if names.is_empty() {
        return None;
    }
    let logs: Vec<f64> = blocks.iter().map(|(log, _)| *log).collect();
    // What one block drew, all did.
    let factors = |name: &&str| {
        let factor =
            |drawn: &BTreeMap<&str, Drawn>| drawn.get(name).map_or(0.0, |it| it.factor.ln());
        blocks.iter().map(|(_, drawn)| factor(drawn)).collect()
    };
    let factors: Vec<Vec<f64>> = names.keys().map(factors).collect();
    let explained = explain(&logs, &factors)?;
    let all: Vec<(&str, Drawn)> = names.into_iter().collect();
    let cause = |it: &Cause| cause(all[it.at].0, all[it.at].1, it.share);
    let [mean, low, high] = explained.without.map(f64::exp);
    Some(Unknown {
        causes: explained.causes.iter().map(cause).collect(),
        typical: Ratio { mean, low, high },
    })
}

/// The logarithm of the ratio in the block of a baseline's trial, and what was drawn for it and for the candidate's.
fn block<'a>(
    record: &'a Record,
    candidates: &[&'a Record],
    metric: &str,
) -> Option<(f64, BTreeMap<&'a str, Drawn>)> {
    let (own, other) = pair(record, candidates, metric)?;
    let ratio = other / own;
    let mut others = candidates.iter().copied();
    let candidate = others.find(|other| other.block == record.block)?;
    let all = record.drawn.iter().chain(&candidate.drawn);
    let drawn = all.map(|(name, drawn)| (name.as_str(), *drawn)).collect();
    (ratio.is_finite() && ratio > 0.0).then(|| (ratio.ln(), drawn))
}

fn cause(name: &str, drawn: Drawn, share: f64) -> UnknownCause {
    let typical = drawn.typical_ns.map(|ns| ns as f64 / NS_PER_MS);
    let reach = drawn.between.powf(DEVIATIONS);
    UnknownCause {
        name: name.to_owned(),
        share,
        low: typical.unwrap_or(1.0) / reach,
        high: typical.unwrap_or(1.0) * reach,
        unit: typical.map_or("", |_| "ms").to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::make;
    use super::*;
    use experiment::examples::{question, trial};

    /// Ten blocks, in which what the candidate takes is proportional to how long its disk takes to write, which is 2 ms.
    fn findings() -> super::super::Findings {
        let records = (0..10_u32).flat_map(|block| {
            // Logarithms of -0.9 to 0.9: a spread that does not matter, around 1.
            let factor = ((f64::from(block) - 4.5) / 5.0).exp();
            let drawn = |name: &str, factor| {
                let drawn = Drawn {
                    factor,
                    between: 1.5,
                    typical_ns: Some(2_000_000),
                };
                (name.to_owned(), drawn)
            };
            let other = [0.8, 1.3, 1.1, 0.7, 1.2, 0.9, 1.4, 0.8, 1.0, 1.1][block as usize];
            let all = [
                drawn("write latency of a", factor),
                drawn("read latency of a", other),
            ];
            let record = |arm: &str, s: f64| Record {
                drawn: all.clone().into(),
                ..trial(arm, block, s)
            };
            [record("local-ssd", 100.0), record("p30", 150.0 * factor)]
        });
        make(&question(), &records.collect::<Vec<_>>())
    }

    #[test]
    fn the_interval_is_made_of_what_explains_it_and_is_narrow_without() {
        let compared = findings().comparisons.remove(0);
        let unknown = compared.unknown.expect("blocks drew something");

        assert_eq!(unknown.causes.len(), 1);
        let cause = &unknown.causes[0];
        assert_eq!(
            (cause.name.as_str(), cause.unit.as_str()),
            ("write latency of a", "ms")
        );
        assert!(cause.share > 0.99);
        // 2 ms / 1.5^1.96 and 2 ms x 1.5^1.96: 0.90 and 4.43
        assert!((cause.low - 0.903).abs() < 0.001 && (cause.high - 4.428).abs() < 0.001);
        // The ratio itself is anywhere; with a typical disk it is 1.5.
        assert!(compared.ratio.low < 1.0 && compared.ratio.high > 3.0);
        assert!(
            (unknown.typical.low - 1.5).abs() < 1e-6 && (unknown.typical.high - 1.5).abs() < 1e-6
        );
    }

    #[test]
    fn where_nothing_was_drawn_there_is_nothing_unknown() {
        let records = (0..6).flat_map(|block| {
            let s = 100.0 + f64::from(block);
            [trial("local-ssd", block, s), trial("p30", block, 1.5 * s)]
        });
        let findings = make(&question(), &records.collect::<Vec<_>>());
        assert_eq!(findings.comparisons[0].unknown, None);
    }
}
