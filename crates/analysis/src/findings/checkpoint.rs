//! Checkpoints that the disks did not keep up with.

use super::trials::Trials;
use super::warnings::{list, warning};
use super::{Findings, Warning};

/// The record's counter: the longest time by which a page stayed dirty beyond the target.
const LATE: &str = "checkpoint_late_s";

/// Smallest reported excess: less may be one write that waited for another one.
const LATE_MIN_S: f64 = 1.0;

/// Warns where pages stayed dirty for longer than `engine.checkpoint` allows.
pub(super) fn warnings(trials: &Trials, findings: &Findings) -> Option<Warning> {
    let late = |arm: &str| {
        let records = trials.finished(arm).iter();
        let late = records.filter_map(|record| record.counters.get(LATE).copied());
        late.fold(0.0, f64::max)
    };
    let arms = list(findings.arms.iter().filter_map(|arm| {
        let late = late(&arm.name);
        (late >= LATE_MIN_S).then(|| format!("{} (up to {late:.0} s longer)", arm.name))
    }))?;
    Some(warning(
        "checkpoint-late",
        format!(
            "the disks do not keep up with the checkpoint: pages of data files stayed dirty for longer than \
             engine.checkpoint says in {arms}. More of them are written in a longer run, which may be slower."
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::make;
    use super::LATE;
    use experiment::examples::{question, records};

    #[test]
    fn an_arm_whose_pages_stay_dirty_is_reported_with_how_long() {
        let reported = |late_s: f64| {
            let mut records = records();
            let mut p30 = records.iter_mut().filter(|record| record.arm == "p30");
            let record = p30.next().expect("there is one");
            record.counters.insert(LATE.to_owned(), late_s);
            let warnings = make(&question(), &records).warnings.into_iter();
            let mut texts = warnings.filter(|warning| warning.id == "checkpoint-late");
            texts.next().map(|warning| warning.text)
        };
        assert_eq!(reported(0.9), None);
        let text = reported(14.2).expect("it is worth a word");
        assert!(text.contains("in p30 (up to 14 s longer)."), "{text}");
    }
}
