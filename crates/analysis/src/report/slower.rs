//! Checks for slowdowns, for a build that must fail on one.

use super::side_by_side::{Document, Intervals};
use crate::findings::{Findings, Verdict, better};
use crate::statistics::Better;
use table::quantity::{percent, ratio};

/// Slowdowns found, and comparisons that were inconclusive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slower {
    /// Slowdowns beyond the limit, a sentence each.
    pub slower: Vec<String>,
    /// Inconclusive comparisons, a sentence each: not known to be slower.
    pub unsettled: Vec<String>,
    /// Number of comparisons checked.
    pub compared: usize,
}

/// By how much `ratio` is worse, as a share: for a time, 1.2 is 20 % worse; for a rate, 0.8 is.
fn worse(metric: &str, ratio: f64) -> f64 {
    match better(metric) {
        Better::Lower => ratio - 1.0,
        Better::Higher => 1.0 - ratio,
    }
}

impl Slower {
    /// Of one result: candidates whose verdict is *slower*, by more than `share` of their baseline's figure.
    ///
    /// A tie only rules out slowdowns larger than the experiment's margin. Where `share` is less than that, a tie whose
    /// interval reaches beyond `share` is inconclusive.
    pub fn of(findings: &Findings, share: f64) -> Slower {
        let mut found = Slower {
            compared: findings.comparisons.len(),
            ..Slower::default()
        };
        for comparison in &findings.comparisons {
            let metric = &comparison.metric;
            let names = format!("{} vs {}", comparison.candidate, comparison.baseline);
            let seen = comparison.ratio;
            let by = worse(metric, seen.mean);
            let most = worse(metric, seen.low).max(worse(metric, seen.high));
            match comparison.verdict {
                Verdict::Slower if by > share => found.slower.push(format!(
                    "{names}: {} worse ({metric} {}x)",
                    percent(by),
                    ratio(seen.mean)
                )),
                Verdict::CannotTell => {
                    found.unsettled.push(format!("{names}: inconclusive"));
                }
                Verdict::NoDifference if most > share => found.unsettled.push(format!(
                    "{names}: a tie within {}, perhaps {} worse",
                    percent(comparison.margin),
                    percent(most)
                )),
                Verdict::Slower | Verdict::Faster | Verdict::NoDifference => {}
            }
        }
        found
    }

    /// Of two results: arms whose figure in the second is worse by more than `share` of that in the first. Overlapping
    /// intervals are inconclusive.
    pub fn of_two(both: &Document, share: f64) -> Slower {
        let mut found = Slower {
            compared: both.arms.len(),
            ..Slower::default()
        };
        for pair in &both.arms {
            let by = worse(&both.metric, pair.ratio);
            let said = format!(
                "{}: {} worse ({} {}x)",
                pair.arm,
                percent(by),
                both.metric,
                ratio(pair.ratio)
            );
            match pair.intervals {
                _ if by <= share => {}
                Some(Intervals::Overlap) => {
                    let text = format!("{said}, but the intervals overlap: inconclusive");
                    found.unsettled.push(text);
                }
                None if pair.ratio.is_finite() => {
                    let text = format!("{said}, in a single trial: inconclusive");
                    found.unsettled.push(text);
                }
                // NaN is not known to be good.
                Some(Intervals::Apart) | None => found.slower.push(said),
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::make;
    use crate::report::side_by_side::SideBySide;
    use experiment::examples;

    /// The example, where p30 is slower than local-ssd by `factor`.
    fn p30_at(factor: f64) -> Findings {
        let mut records = examples::records();
        for at in 0..records.len() {
            if records[at].arm == "p30" {
                let of_block = |record: &&experiment::record::Record| {
                    record.arm == "local-ssd" && record.block == records[at].block
                };
                let baseline = records.iter().find(of_block).unwrap();
                let elapsed = baseline.metrics["elapsed_s"] * factor;
                records[at].metrics.insert("elapsed_s".into(), elapsed);
            }
        }
        make(&examples::question(), &records)
    }

    #[test]
    fn a_candidate_is_too_slow_when_its_verdict_is_slower_by_more_than_the_limit() {
        let findings = p30_at(1.2);

        assert_eq!(
            Slower::of(&findings, 0.1).slower,
            ["p30 vs local-ssd: 20 % worse (elapsed_s 1.20x)"]
        );
        assert_eq!(Slower::of(&findings, 0.25).slower, [""; 0]);
        assert_eq!(
            Slower::of(&p30_at(0.5), 0.1),
            Slower {
                compared: 1,
                ..Slower::default()
            }
        );
    }

    #[test]
    fn what_is_inconclusive_or_a_tie_beyond_the_limit_is_not_slower_and_is_told() {
        let mut findings = p30_at(1.2);
        findings.comparisons[0].verdict = Verdict::CannotTell;
        let found = Slower::of(&findings, 0.1);
        assert_eq!(found.slower, [""; 0]);
        assert_eq!(found.unsettled, ["p30 vs local-ssd: inconclusive"]);

        // A tie within the experiment's 5 %.
        let found = Slower::of(&p30_at(1.03), 0.01);
        assert_eq!(found.slower, [""; 0]);
        assert_eq!(found.unsettled.len(), 1, "{found:?}");
        assert_eq!(Slower::of(&p30_at(1.03), 0.05).unsettled, [""; 0]);
    }

    #[test]
    fn of_a_rate_less_is_slower() {
        // Half of a throughput is 50 % worse, twice of it better.
        assert!((worse("mb_per_s", 0.5) - 0.5).abs() < 1e-12);
        assert!(worse("mb_per_s", 2.0) < 0.0);
    }

    #[test]
    fn of_two_results_a_figure_that_is_worse_counts_where_the_intervals_are_apart() {
        let both = |factor: f64| {
            let (before, after) = (p30_at(1.0), p30_at(factor));
            let both = SideBySide::of(&before, &after, "elapsed_s").unwrap();
            both.document().clone()
        };

        // Trials are 1 % apart or so: 50 % more lies apart, 0.5 % more does not.
        let found = Slower::of_two(&both(1.5), 0.1);
        assert_eq!(found.slower, ["p30: 50 % worse (elapsed_s 1.50x)"]);
        assert_eq!(Slower::of_two(&both(1.5), 0.6).slower, [""; 0]);
        let found = Slower::of_two(&both(1.005), 0.001);
        assert_eq!(
            (found.slower.len(), found.unsettled.len()),
            (0, 1),
            "{found:?}"
        );
    }
}
