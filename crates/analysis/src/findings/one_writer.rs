//! Sessions that block each other: SQLite allows one writer per database at a time, servers do not.

use super::split::{Family, Split};
use super::trials::Trials;
use super::warnings::{list, warning};
use super::{Findings, Warning};
use experiment::question::Question;
use products::EXAMPLE_SERVER;
use table::quantity::percent;

/// Share of the sessions' time from which waiting for the lock decides.
const LOCK_MIN: f64 = 0.5;

/// Reports which comparisons are dominated or limited by the lock.
///
/// Where each session has its own database, locks are the workload's own, as requested.
pub(super) fn warnings(
    question: &Question,
    trials: &Trials,
    findings: &Findings,
) -> Option<Warning> {
    if !question.one_writer {
        return None;
    }
    let waited = |arm: &str| -> Option<f64> {
        let families = Split::of(trials.finished(arm)).families();
        let lock = families.iter().find(|(family, _)| *family == Family::Lock);
        lock.map(|(_, share)| *share)
            .filter(|share| *share >= LOCK_MIN)
    };
    let arms = list(findings.arms.iter().filter_map(|arm| {
        let share = waited(&arm.name)?;
        Some(format!("{} ({} of session time)", arm.name, percent(share)))
    }))?;
    let of_lock = list(findings.comparisons.iter().filter_map(|comparison| {
        waited(&comparison.baseline)?;
        waited(&comparison.candidate)?;
        Some(format!(
            "{} vs {}",
            comparison.candidate, comparison.baseline
        ))
    }));
    let remedy = format!(
        "A server lets sessions write at the same time: run it on one (--engine {EXAMPLE_SERVER}), or in simulate."
    );
    Some(match of_lock {
        Some(pairs) => warning(
            "one-writer",
            format!(
                "sessions waited for SQLite's one writer in {arms}. Both arms are limited by it in {pairs}, so that \
                 these verdicts say little about the disks. {remedy}"
            ),
        ),
        None => warning(
            "one-writer-bound",
            format!(
                "sessions waited for SQLite's one writer in {arms}, so that faster disks may do more for a server than \
                 shown here. {remedy}"
            ),
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::super::make;
    use super::*;
    use experiment::examples::{question, records, split_of};

    fn warned(one_writer: bool, arms: &[&str]) -> Vec<String> {
        let question = Question {
            one_writer,
            ..question()
        };
        let mut records = records();
        for record in records
            .iter_mut()
            .filter(|record| arms.contains(&record.arm.as_str()))
        {
            record.time_split_ns = split_of(&[("lock", 920), ("read.service", 80)]);
        }
        let warnings = make(&question, &records).warnings.into_iter();
        let ids = warnings.map(|warning| warning.id);
        ids.filter(|id| id.starts_with("one-writer")).collect()
    }

    #[test]
    fn a_comparison_of_the_lock_with_itself_is_reported() {
        assert_eq!(warned(true, &["local-ssd", "p30"]), ["one-writer"]);
        assert_eq!(warned(true, &["p30"]), ["one-writer-bound"]);
        assert_eq!(warned(true, &[]), [""; 0]);
        // A lock of the workload itself.
        assert_eq!(warned(false, &["local-ssd", "p30"]), [""; 0]);
    }
}
