//! Whether the statements exercised what the workload is about: a sort that never spilled says nothing about temporary
//! files, and a single-threaded plan nothing about a degree of parallelism.

use super::trials::Trials;
use super::warnings::{list, warning};
use super::{Comparison, Findings, Warning};
use experiment::record::Note;

/// Warns of what was not exercised, and by which arms.
pub(super) fn warnings(trials: &Trials, findings: &Findings) -> Option<Warning> {
    let mut missed: Vec<(&str, Vec<&str>)> = Vec::new();
    for (arm, what) in (findings.comparisons.iter()).flat_map(|comparison| seen(trials, comparison))
    {
        match missed.iter_mut().find(|(known, _)| *known == what) {
            Some((_, arms)) if arms.contains(&arm) => {}
            Some((_, arms)) => arms.push(arm),
            None => missed.push((what, vec![arm])),
        }
    }
    let missed = missed.into_iter();
    let missed = list(missed.map(|(what, arms)| format!("{}: {what}", arms.join(", "))))?;
    Some(warning(
        "not-exercised",
        format!("the workload did not do what it is about: {missed}. There is no verdict."),
    ))
}

/// Arms, and what their trials did not exercise.
pub(super) fn seen<'a>(
    trials: &'a Trials,
    comparison: &'a Comparison,
) -> impl Iterator<Item = (&'a str, &'a str)> {
    let arms = [&comparison.baseline, &comparison.candidate];
    arms.into_iter().flat_map(|arm| {
        let records = trials.finished(arm).iter();
        let notes = records.flat_map(|record| &record.notes);
        notes.filter_map(move |note| {
            let Note::NotExercised(what) = note else {
                return None;
            };
            Some((arm.as_str(), what.as_str()))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Verdict, Withheld, make};
    use super::*;
    use experiment::examples::{question, records};

    #[test]
    fn an_arm_that_did_something_else_gets_no_verdict() {
        let before = make(&question(), &records());
        assert_ne!(before.comparisons[0].verdict, Verdict::CannotTell);
        let mut records = records();
        for record in records.iter_mut().filter(|record| record.arm == "p30") {
            let what = "spill.sql:6 did not spill";
            record.notes.push(Note::NotExercised(what.to_owned()));
        }

        let findings = make(&question(), &records);

        assert_eq!(findings.comparisons[0].verdict, Verdict::CannotTell);
        assert_eq!(
            findings.comparisons[0].withheld,
            Some(Withheld::NotExercised)
        );
        let (leading, _) = findings.warnings_by_weight();
        let warning = leading[0];
        assert_eq!(warning.id, "not-exercised");
        let expected = "the workload did not do what it is about: p30: spill.sql:6 did not spill. There is no verdict.";
        assert_eq!(warning.text, expected);
    }
}
