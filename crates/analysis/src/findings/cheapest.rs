//! Which placement to buy.

use std::collections::BTreeSet;

use super::burst;
use super::compared::compare;
use super::metrics::{better, value};
use super::trials::Trials;
use super::{Cheapest, CheapestSustained, Comparison, Undecided};
use crate::statistics::{self, Better, Verdict};
use experiment::question::{ArmQuestion, Question};

/// One entry for each set of mutually compared arms whose prices differ and whose verdicts are not withheld.
pub(super) fn cheapest(
    question: &Question,
    trials: &Trials,
    comparisons: &[Comparison],
) -> Vec<Cheapest> {
    let withheld = |arm: &str| {
        let mut compared = comparisons
            .iter()
            .filter(|compared| compared.withheld.is_some());
        compared.any(|compared| compared.candidate == arm)
    };
    let sets = question.arms.iter().map(|arm| set(question, arm));
    let mut seen = BTreeSet::new();
    sets.filter(|set| seen.insert(*set))
        .filter_map(|wanted| {
            let arms = question.arms.iter();
            let arms: Vec<&ArmQuestion> = arms.filter(|arm| set(question, arm) == wanted).collect();
            match arms.iter().any(|arm| withheld(&arm.name)) {
                true => None,
                false => of_set(question, trials, &arms),
            }
        })
        .collect()
}

/// The set of an arm, identified by its baseline, which may be the arm itself.
fn set<'a>(question: &'a Question, arm: &'a ArmQuestion) -> Option<&'a str> {
    let is_baseline = question
        .arms
        .iter()
        .any(|other| other.baseline.as_ref() == Some(&arm.name));
    match &arm.baseline {
        Some(baseline) => Some(baseline),
        None if is_baseline => Some(&arm.name),
        None => question.baseline.as_deref(),
    }
}

fn of_set(question: &Question, trials: &Trials, arms: &[&ArmQuestion]) -> Option<Cheapest> {
    let (best, _) = arms
        .iter()
        .filter_map(|arm| Some((*arm, mean(question, trials, &arm.name)?)))
        .max_by(|(_, a), (_, b)| match better(&question.metric) {
            Better::Higher => a.total_cmp(b),
            Better::Lower => b.total_cmp(a),
        })?;
    let others = arms.iter().filter(|arm| arm.name != best.name);
    let others: Vec<(&ArmQuestion, statistics::Comparison)> = others
        .filter_map(|arm| Some((*arm, compare(question, trials, &best.name, &arm.name)?)))
        .collect();
    // An arm that was not compared may be the cheapest.
    if others.len() + 1 < arms.len()
        || others.is_empty()
        || others.iter().any(|(_, compared)| compared.blocks < 2)
    {
        return None;
    }
    let as_good = others.iter().filter(|(_, compared)| {
        matches!(compared.verdict, Verdict::NoDifference | Verdict::Faster)
    });
    let (arm, usd_per_month) = as_good
        .map(|(arm, _)| *arm)
        .chain([best])
        .filter_map(|arm| Some((arm, arm.usd_per_month?)))
        .min_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let mut prices = arms.iter().filter_map(|arm| arm.usd_per_month);
    let first = prices.next()?;
    prices.any(|price| price != first).then(|| Cheapest {
        arm: arm.name.clone(),
        usd_per_month,
        with_machine: arms.iter().any(|arm| arm.with_machine),
        best: best.name.clone(),
        best_usd_per_month: best.usd_per_month,
        margin: question.margin,
        // Where the best is not settled, an arm at any price may be better.
        undecided: undecided(&others, |usd| arm.name == best.name || usd < usd_per_month),
        on_credits: arms
            .iter()
            .any(|arm| burst::sustained_share(trials, &arm.name) < 1.0),
        sustained: sustained(question, trials, arms),
    })
}

/// The cheapest of the arms whose mean, with burst credits spent, is worse than the best one's by at most the margin;
/// only for metrics that scale with the rate at which the disks serve.
fn sustained(
    question: &Question,
    trials: &Trials,
    arms: &[&ArmQuestion],
) -> Option<CheapestSustained> {
    let metric = question.metric.as_str();
    if !(metric.ends_with("_per_s") || metric == "iops" || metric == "elapsed_s") {
        return None;
    }
    let better = better(metric);
    let mut on_credits = false;
    let mut means = Vec::new();
    for arm in arms {
        let share = burst::sustained_share(trials, &arm.name);
        on_credits |= share < 1.0;
        let mean = mean(question, trials, &arm.name)?;
        let sustained = match better {
            Better::Higher => mean * share,
            Better::Lower => mean / share,
        };
        means.push((*arm, sustained));
    }
    let values = means.iter().map(|(_, mean)| *mean);
    let best = match better {
        Better::Higher => values.fold(f64::NEG_INFINITY, f64::max),
        Better::Lower => values.fold(f64::INFINITY, f64::min),
    };
    let as_good = means.iter().filter(|(_, mean)| match better {
        Better::Higher => *mean >= best * (1.0 - question.margin),
        Better::Lower => *mean <= best * (1.0 + question.margin),
    });
    let (arm, usd_per_month) = as_good
        .filter_map(|(arm, _)| Some((*arm, arm.usd_per_month?)))
        .min_by(|(_, a), (_, b)| a.total_cmp(b))?;
    on_credits.then(|| CheapestSustained {
        arm: arm.name.clone(),
        usd_per_month,
    })
}

/// The arms that are statistically tied with the best, at prices that matter.
fn undecided(
    others: &[(&ArmQuestion, statistics::Comparison)],
    matters: impl Fn(f64) -> bool,
) -> Vec<Undecided> {
    let open = others
        .iter()
        .filter(|(_, compared)| compared.verdict == Verdict::CannotTell);
    open.filter_map(|(arm, compared)| {
        let usd_per_month = arm.usd_per_month.filter(|usd| matters(*usd))?;
        Some(Undecided {
            arm: arm.name.clone(),
            usd_per_month,
            blocks_needed: compared.blocks_needed,
        })
    })
    .collect()
}

fn mean(question: &Question, trials: &Trials, arm: &str) -> Option<f64> {
    let finished = trials.finished(arm).iter();
    let values: Vec<f64> = finished
        .filter_map(|record| value(record, &question.metric))
        .collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::super::disks::measured_s;
    use super::super::make;
    use super::*;
    use experiment::examples::{limit, question, records, trial};
    use experiment::record::{BurstRecord, LimitRecord};
    use model::Counts;

    fn priced(prices: [Option<f64>; 2]) -> Question {
        let mut question = question();
        for (arm, price) in question.arms.iter_mut().zip(prices) {
            arm.usd_per_month = price;
        }
        question
    }

    #[test]
    fn an_arm_within_the_margin_is_bought_when_it_is_cheaper() {
        // p30 is 1.04x slower, and the margin is 5 %.
        let found = make(&priced([Some(300.0), Some(135.0)]), &records()).cheapest;

        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].arm.as_str(), found[0].usd_per_month),
            ("p30", 135.0)
        );
        assert_eq!(found[0].best, "local-ssd");
    }

    #[test]
    fn a_cheaper_arm_that_is_slower_is_not_bought() {
        let slower = |block| trial("p30", block, 300.0 + f64::from(block));
        let mut records: Vec<_> = records();
        records.retain(|record| record.arm == "local-ssd");
        records.extend((0..3).map(slower));

        let found = make(&priced([Some(300.0), Some(135.0)]), &records).cheapest;

        assert_eq!(found[0].arm, "local-ssd");
    }

    #[test]
    fn one_block_shows_no_arm_to_be_the_cheapest() {
        let mut records = records();
        records.retain(|record| record.block == 0);

        assert_eq!(
            make(&priced([Some(300.0), Some(135.0)]), &records).cheapest,
            []
        );
    }

    #[test]
    fn an_arm_that_could_not_be_distinguished_is_named_with_the_blocks_that_would() {
        let mut records = records();
        for record in records.iter_mut().filter(|record| record.arm == "p30") {
            // 164.5, 163.1 and 164.0 s become 164.5, 179.4 and 196.8 s.
            let elapsed = record.metrics.get_mut("elapsed_s").expect("it has one");
            *elapsed *= 1.0 + 0.1 * f64::from(record.block);
        }

        let found = &make(&priced([Some(300.0), Some(135.0)]), &records).cheapest[0];

        assert_eq!(
            (found.arm.as_str(), found.best.as_str()),
            ("local-ssd", "local-ssd")
        );
        assert_eq!(found.undecided.len(), 1);
        assert_eq!(found.undecided[0].arm, "p30");
        assert!(found.undecided[0].blocks_needed > Some(3));
    }

    #[test]
    fn an_arm_without_a_verdict_has_no_part_in_a_price() {
        let mut records = records();
        for record in records.iter_mut().filter(|record| record.arm == "p30") {
            record.volumes[0].name = "f".into();
            let disk = &mut record.volumes[0].disks[0];
            (disk.reads, disk.writes) = (0, 0);
            (disk.read_bytes, disk.write_bytes) = (0, 0);
        }

        assert_eq!(
            make(&priced([Some(300.0), Some(135.0)]), &records).cheapest,
            []
        );
    }

    #[test]
    fn with_credits_spent_the_cheapest_is_chosen_by_what_limits_sustain() {
        // p30 is as fast as local-ssd while credits last; then its disk sustains a quarter.
        let mut records = records();
        for record in records.iter_mut().filter(|record| record.arm == "p30") {
            let seconds = measured_s(record);
            record.limits = vec![LimitRecord {
                used: 2_000.0 * seconds,
                rate: 500.0,
                burst: Some(BurstRecord {
                    rate: 3_000.0,
                    credits_start: 5_400_000.0,
                    credits_end: 5_000_000.0,
                }),
                ..limit("disk.f.1.iops", Counts::All, 0.9)
            }];
        }

        let found = &make(&priced([Some(300.0), Some(135.0)]), &records).cheapest[0];

        assert_eq!(found.arm, "p30");
        let sustained = found.sustained.as_ref().expect("credits were spent");
        assert_eq!(
            (sustained.arm.as_str(), sustained.usd_per_month),
            ("local-ssd", 300.0)
        );
    }

    #[test]
    fn without_different_prices_there_is_nothing_to_choose_by() {
        for prices in [[None, None], [Some(135.0), Some(135.0)], [None, Some(1.0)]] {
            assert_eq!(make(&priced(prices), &records()).cheapest, []);
        }
    }
}
