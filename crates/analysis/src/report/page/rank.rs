//! Many placements ranked by result, most of them folded away.

use crate::findings::{Findings, better};
use crate::report::words;
use crate::statistics::Better;

/// Up to this many placements are shown in the order of the experiment.
const ALL_MAX: usize = 12;
/// With more, this many of the best and of the worst are shown unfolded.
const BEST: usize = 6;
const WORST: usize = 2;

/// Indices of placements in the findings.
pub(super) struct Ranked {
    /// In the order in which they are shown.
    pub(super) shown: Vec<usize>,
    /// Those behind a fold.
    pub(super) folded: Vec<usize>,
    /// Names the order; empty where it is the experiment's.
    pub(super) note: String,
}

impl Ranked {
    pub(super) fn of(findings: &Findings) -> Ranked {
        let all: Vec<usize> = (0..findings.arms.len()).collect();
        let comparison = findings.comparisons.first();
        let Some(metric) = comparison.map(|first| first.metric.as_str()) else {
            return Ranked::unranked(all);
        };
        if all.len() <= ALL_MAX {
            return Ranked::unranked(all);
        }
        let mut ranked = all;
        // Placements without a figure come last.
        let key = |at: &usize| {
            let mean = findings.arms[*at]
                .metrics
                .get(metric)
                .map(|metric| metric.mean);
            match better(metric) {
                Better::Lower => mean.unwrap_or(f64::INFINITY),
                Better::Higher => -mean.unwrap_or(f64::NEG_INFINITY),
            }
        };
        ranked.sort_by(|a, b| key(a).total_cmp(&key(b)));
        let folded: Vec<usize> = ranked.drain(BEST..ranked.len() - WORST).collect();
        let count = findings.arms.len();
        let note = format!(
            "{count} placements, ranked by {}: the {BEST} best and the {WORST} worst; the others are folded",
            words::metric(metric)
        );
        Ranked {
            shown: ranked,
            folded,
            note,
        }
    }

    fn unranked(all: Vec<usize>) -> Ranked {
        Ranked {
            shown: all,
            folded: Vec::new(),
            note: String::new(),
        }
    }

    /// All indices, the best first.
    pub(super) fn order(&self) -> Vec<usize> {
        let best = self.shown.len().min(BEST);
        let (best, worst) = self.shown.split_at(best);
        [best, &self.folded, worst].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::make;
    use experiment::examples;

    fn of(arms: usize) -> Findings {
        let mut findings = make(&examples::question(), &examples::records());
        let one = findings.arms[0].clone();
        findings.arms = (0..arms)
            .map(|at| {
                let mut arm = one.clone();
                // 7 and 100 have no common factor: every rank occurs once, and not in order.
                let mean = ((at * 7) % arms) as f64;
                arm.metrics.get_mut("elapsed_s").unwrap().mean = mean;
                arm
            })
            .collect();
        findings
    }

    #[test]
    fn a_hundred_placements_are_ranked_and_most_of_them_folded() {
        let findings = of(100);

        let ranked = Ranked::of(&findings);

        let mean = |at: &usize| findings.arms[*at].metrics["elapsed_s"].mean;
        let shown: Vec<f64> = ranked.shown.iter().map(mean).collect();
        assert_eq!(shown, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 98.0, 99.0]);
        assert!(ranked.order().iter().map(mean).is_sorted());
        assert_eq!(ranked.order().len(), 100);
    }

    #[test]
    fn a_few_placements_stay_in_the_order_of_the_experiment() {
        let ranked = Ranked::of(&of(12));

        assert_eq!(ranked.order(), (0..12).collect::<Vec<_>>());
        assert!(ranked.folded.is_empty() && ranked.note.is_empty());
    }
}
