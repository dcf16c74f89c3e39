//! The value of a swept key beyond which more stops helping.

use super::compared::comparison;
use super::trials::Trials;
use super::withheld::withhold;
use super::{Comparison, StopsHelping, Verdict};
use experiment::question::{Question, Sweep};

/// One entry for each sweep whose arms all finished a common block.
pub(super) fn stops_helping(question: &Question, trials: &Trials) -> Vec<StopsHelping> {
    let sweeps = question.sweeps.iter();
    sweeps
        .filter_map(|sweep| stop(question, trials, sweep))
        .collect()
}

fn stop(question: &Question, trials: &Trials, sweep: &Sweep) -> Option<StopsHelping> {
    let arms: Vec<&str> = sweep.values.iter().map(|value| &*value.arm).collect();
    // For each value, how all later ones compare with it.
    let later = |at: usize| -> Option<Vec<Comparison>> {
        let compared = arms[at + 1..].iter();
        let compared = compared.map(|later| comparison(question, trials, arms[at], later));
        Some(withhold(trials, compared.collect::<Option<Vec<_>>>()?))
    };
    let later = (0..arms.len()).map(later).collect::<Option<Vec<_>>>()?;
    let withheld = later
        .iter()
        .flatten()
        .find_map(|compared| compared.withheld);
    let is_better = |compared: &Comparison| compared.verdict == Verdict::Faster;
    let is_no_better =
        |compared: &Comparison| matches!(compared.verdict, Verdict::NoDifference | Verdict::Slower);
    // The last value has no later ones.
    let earliest = later
        .iter()
        .position(|later| !later.iter().any(is_better))?;
    let latest = later
        .iter()
        .position(|later| later.iter().all(is_no_better))?;
    let open = later[earliest..latest].iter().flatten();
    let open = open.filter(|compared| compared.verdict == Verdict::CannotTell);
    // One that more blocks do not settle leaves it open.
    let blocks: Option<Vec<u32>> = open.map(|compared| compared.blocks_needed).collect();
    Some(StopsHelping {
        of: sweep.of.clone(),
        key: sweep.key.clone(),
        values: sweep.values.clone(),
        earliest: sweep.values[earliest].value.clone(),
        latest: sweep.values[latest].value.clone(),
        margin: question.margin,
        blocks_needed: blocks.and_then(|blocks| blocks.into_iter().max()),
        withheld,
    })
}

#[cfg(test)]
mod tests {
    use super::super::make;
    use super::*;
    use experiment::examples::{question, trial};
    use experiment::question::SweepValue;

    /// Where it stops for arms with these times in seconds, one value each, varying by this much from block to block.
    fn found(times: &[f64], spread: f64) -> Vec<StopsHelping> {
        let mut question = question();
        let arm = question.arms[0].clone();
        let name = |at: usize| format!("d-iops-{at}");
        let arms = (0..times.len()).map(|at| experiment::question::ArmQuestion {
            name: name(at),
            ..arm.clone()
        });
        question.arms = arms.collect();
        question.baseline = Some(name(0));
        let value = |at: usize| SweepValue {
            value: (1000 * (at + 1)).to_string(),
            arm: name(at),
        };
        question.sweeps = vec![Sweep {
            of: "d".into(),
            key: "volume.d.iops".into(),
            values: (0..times.len()).map(value).collect(),
        }];
        let records: Vec<_> = (0..3)
            .flat_map(|block| {
                let time = move |(at, time): (usize, &f64)| {
                    let other = spread * f64::from(block) * if at % 2 == 0 { 1.0 } else { -1.0 };
                    trial(&name(at), block, time * (1.0 + other))
                };
                times.iter().enumerate().map(time).collect::<Vec<_>>()
            })
            .collect();
        make(&question, &records).stops_helping
    }

    fn range(found: &[StopsHelping]) -> (&str, &str) {
        (&found[0].earliest, &found[0].latest)
    }

    #[test]
    fn it_stops_at_the_first_value_that_all_later_ones_tie_with() {
        assert_eq!(
            range(&found(&[200.0, 100.0, 99.0, 98.0], 0.0)),
            ("2000", "2000")
        );
    }

    #[test]
    fn small_gains_are_summed_up() {
        // Each is 4 % better than the one before, and 8 % better than the one before that.
        assert_eq!(range(&found(&[108.0, 104.0, 100.0], 0.0)), ("2000", "2000"));
    }

    #[test]
    fn a_last_value_that_is_better_still_helps() {
        assert_eq!(range(&found(&[400.0, 200.0, 100.0], 0.0)), ("3000", "3000"));
    }

    #[test]
    fn nothing_helps_where_later_values_are_worse() {
        assert_eq!(range(&found(&[100.0, 110.0], 0.0)), ("1000", "1000"));
    }

    #[test]
    fn what_the_blocks_do_not_tell_is_a_range() {
        let found = found(&[200.0, 100.0, 97.0], 0.05);

        assert_eq!(range(&found), ("2000", "3000"));
        assert!(found[0].blocks_needed > Some(3));
    }
}
