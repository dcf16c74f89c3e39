//! Placements ranked by result; where there are many, the best and the worst of them.

use super::words;
use crate::findings::{Findings, better};
use crate::statistics::Better;

/// Of many, this many of the best and of the worst are shown.
const BEST: usize = 6;
const WORST: usize = 2;

/// Indices of placements in the findings.
pub(super) struct Ranked {
    /// In the order in which they are shown: the experiment's, or where there are others, the best first.
    pub(super) shown: Vec<usize>,
    /// The others, ranked.
    pub(super) others: Vec<usize>,
    /// Names the order; empty where it is the experiment's.
    pub(super) note: String,
}

impl Ranked {
    /// All of up to `all_max` placements, of which there are no fewer than eight.
    pub(super) fn of(findings: &Findings, all_max: usize) -> Ranked {
        let mut ranked = order(findings);
        let metric = metric(findings).filter(|_| ranked.len() > all_max);
        let Some(metric) = metric else {
            ranked.sort_unstable();
            return Ranked {
                shown: ranked,
                others: Vec::new(),
                note: String::new(),
            };
        };
        let count = ranked.len();
        let others: Vec<usize> = ranked.drain(BEST..count - WORST).collect();
        Ranked {
            shown: ranked,
            others,
            note: format!(
                "{count} placements, ranked by {}: the {BEST} best and the {WORST} worst",
                words::metric(metric)
            ),
        }
    }

    /// All indices: as in the experiment, or where there are others, the best first.
    pub(super) fn order(&self) -> Vec<usize> {
        let best = self.shown.len().min(BEST);
        let (best, worst) = self.shown.split_at(best);
        [best, &self.others, worst].concat()
    }
}

/// The metric that decides.
fn metric(findings: &Findings) -> Option<&str> {
    let comparison = findings.comparisons.first();
    comparison.map(|first| first.metric.as_str())
}

/// All indices, the best first; in the order of the experiment where nothing decides.
pub(super) fn order(findings: &Findings) -> Vec<usize> {
    let mut all: Vec<usize> = (0..findings.arms.len()).collect();
    let Some(metric) = metric(findings) else {
        return all;
    };
    // Placements without a figure come last.
    let key = |at: &usize| {
        let found = findings.arms[*at].metrics.get(metric);
        let mean = found.map(|found| found.mean);
        match better(metric) {
            Better::Lower => mean.unwrap_or(f64::INFINITY),
            Better::Higher => -mean.unwrap_or(f64::NEG_INFINITY),
        }
    };
    all.sort_by(|a, b| key(a).total_cmp(&key(b)));
    all
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

        let ranked = Ranked::of(&findings, 12);

        let mean = |at: &usize| findings.arms[*at].metrics["elapsed_s"].mean;
        let shown: Vec<f64> = ranked.shown.iter().map(mean).collect();
        assert_eq!(shown, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 98.0, 99.0]);
        assert!(ranked.order().iter().map(mean).is_sorted());
        assert_eq!(ranked.order().len(), 100);
    }

    #[test]
    fn a_few_placements_stay_in_the_order_of_the_experiment() {
        let ranked = Ranked::of(&of(12), 12);

        assert_eq!(ranked.order(), (0..12).collect::<Vec<_>>());
        assert!(ranked.others.is_empty() && ranked.note.is_empty());
    }
}
