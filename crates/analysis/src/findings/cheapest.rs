//! Which placement to buy.

use std::collections::BTreeSet;

use super::Cheapest;
use super::compared::compare;
use super::metrics::{better, value};
use super::trials::Trials;
use crate::statistics::{Better, Verdict};
use experiment::question::{ArmQuestion, Question};

/// One entry for each set of arms that are compared with each other, where prices tell them apart.
pub(super) fn cheapest(question: &Question, trials: &Trials) -> Vec<Cheapest> {
    let sets = question.arms.iter().map(|arm| set(question, arm));
    let mut seen = BTreeSet::new();
    sets.filter(|set| seen.insert(*set))
        .filter_map(|wanted| {
            let arms = question.arms.iter();
            let arms: Vec<&ArmQuestion> = arms.filter(|arm| set(question, arm) == wanted).collect();
            of_set(question, trials, &arms)
        })
        .collect()
}

/// The set of an arm: the baseline that it is compared with, or is.
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
    let as_good = |arm: &&&ArmQuestion| {
        arm.name == best.name
            || compare(question, trials, &best.name, &arm.name).is_some_and(|compared| {
                matches!(compared.verdict, Verdict::NoDifference | Verdict::Faster)
            })
    };
    let (arm, usd_per_month) = arms
        .iter()
        .filter(as_good)
        .filter_map(|arm| Some((arm, arm.usd_per_month?)))
        .min_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let mut prices = arms.iter().filter_map(|arm| arm.usd_per_month);
    let first = prices.next()?;
    prices.any(|price| price != first).then(|| Cheapest {
        arm: arm.name.clone(),
        usd_per_month,
        best: best.name.clone(),
        best_usd_per_month: best.usd_per_month,
        margin: question.margin,
    })
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
    use super::super::make;
    use super::*;
    use experiment::examples::{question, records, trial};

    fn priced(prices: [Option<f64>; 2]) -> Question {
        let mut question = question();
        for (arm, price) in question.arms.iter_mut().zip(prices) {
            arm.usd_per_month = price;
        }
        question
    }

    #[test]
    fn an_arm_within_the_margin_is_bought_when_it_is_cheaper() {
        // p30 takes 1.04 times as long, and the margin is 5 %.
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
    fn without_different_prices_there_is_nothing_to_choose_by() {
        for prices in [[None, None], [Some(135.0), Some(135.0)], [None, Some(1.0)]] {
            assert_eq!(make(&priced(prices), &records()).cheapest, []);
        }
    }
}
