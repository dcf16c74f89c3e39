//! Records grouped by arm: which of them count, and why the others do not.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::disks::measured_s;
use super::metrics::value;
use experiment::question::{Question, twin_of};
use experiment::record::{NO_OPERATIONS, Outcome, Record, histogram};
use table::quantity::percent;

/// The records of one question.
#[derive(Debug, Default)]
pub(super) struct Trials<'a> {
    finished: BTreeMap<&'a str, Vec<&'a Record>>,
    failed: BTreeMap<&'a str, Vec<(u32, Cow<'a, str>)>>,
    /// Records of another experiment or mode, or of an arm that the question does not have.
    pub(super) foreign: usize,
    /// Duplicate records of a trial.
    pub(super) repeated: usize,
}

impl<'a> Trials<'a> {
    /// Groups `records` by arm and block.
    ///
    /// Of several records of one trial, the first that finished counts, or else the first.
    pub(super) fn of(question: &Question, records: &'a [Record]) -> Trials<'a> {
        let arms = arms_asked(question);
        let mut trials = Trials::default();
        let mut sorted: Vec<&Record> = records
            .iter()
            .filter(|record| belongs(question, &arms, record))
            .collect();
        trials.foreign = records.len() - sorted.len();
        let failure = |record| failure(record, question.errors_max);
        sorted.sort_by_cached_key(|record| (&record.arm, record.block, failure(record).is_some()));
        let mut seen = BTreeSet::new();
        for record in sorted {
            if !seen.insert((record.arm.as_str(), record.block)) {
                trials.repeated += 1;
                continue;
            }
            let arm = record.arm.as_str();
            match failure(record) {
                None => trials.finished.entry(arm).or_default().push(record),
                Some(error) => trials
                    .failed
                    .entry(arm)
                    .or_default()
                    .push((record.block, error)),
            }
        }
        trials
    }

    /// The finished trials of `arm`, by block.
    pub(super) fn finished(&self, arm: &str) -> &[&'a Record] {
        self.finished.get(arm).map_or(&[], Vec::as_slice)
    }

    /// Every finished trial, by arm and block, including twins and variations.
    pub(super) fn all_finished(&self) -> impl Iterator<Item = &'a Record> {
        self.finished.values().flatten().copied()
    }

    /// Block and error of the failed trials of `arm`.
    pub(super) fn failed(&self, arm: &str) -> &[(u32, Cow<'a, str>)] {
        self.failed.get(arm).map_or(&[], Vec::as_slice)
    }
}

/// Names of the arms that records may belong to.
fn arms_asked(question: &Question) -> BTreeSet<String> {
    let twin = question
        .baseline
        .as_deref()
        .filter(|_| question.aa)
        .map(twin_of);
    let variations = question.variations.iter();
    question
        .arms
        .iter()
        .map(|arm| arm.name.clone())
        .chain(twin)
        .chain(variations.map(|variation| variation.name.clone()))
        .collect()
}

fn belongs(question: &Question, arms: &BTreeSet<String>, record: &Record) -> bool {
    record.experiment == question.experiment
        && record.mode == question.mode
        && arms.contains(&record.arm)
}

/// Why a trial does not count: it failed, no operation completed in it, or more than `errors_max` of them failed.
fn failure(record: &Record, errors_max: f64) -> Option<Cow<'_, str>> {
    match &record.outcome {
        Outcome::Finished if record.operations.is_none() && has_no_rate(record) => {
            Some(NO_OPERATIONS.into())
        }
        Outcome::Finished if record.errors.count == 0 => None,
        Outcome::Finished => {
            let share = share_failed([record]).filter(|share| *share > errors_max)?;
            let first = record.errors.first.first();
            let first = first.map_or_else(String::new, |text| format!(", first: {text}"));
            Some(
                format!(
                    "{} of its operations failed (at most {} may: protocol.errors_max){first}",
                    percent(share),
                    percent(errors_max)
                )
                .into(),
            )
        }
        Outcome::Failed { error } => Some(error.into()),
    }
}

/// Failed operations of `records` as a share of all; `None` where those that succeeded are not counted.
pub(super) fn share_failed<'a>(records: impl IntoIterator<Item = &'a Record>) -> Option<f64> {
    let (mut failed, mut all) = (0.0, 0.0);
    for record in records {
        let errors = record.errors.count as f64;
        failed += errors;
        all += errors + succeeded(record)?;
    }
    (all > 0.0).then(|| failed / all)
}

/// Operations that succeeded, where they are counted.
fn succeeded(record: &Record) -> Option<f64> {
    match record.operations.as_deref().map(histogram::decode) {
        Some(Ok(latency)) if !latency.is_empty() => Some(latency.len() as f64),
        // Operations in a server-side loop have no latencies.
        Some(Ok(_) | Err(_)) | None => {
            Some(value(record, "operations_per_s")? * measured_s(record))
        }
    }
}

/// Whether the record reports a rate of zero operations per second.
fn has_no_rate(record: &Record) -> bool {
    record.metrics.get("operations_per_s") == Some(&0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::examples::{question, trial};

    #[test]
    fn records_of_another_mode_are_not_pooled() {
        let mut other = trial("p30", 0, 164.0);
        other.mode = "measure".into();
        let records = [trial("p30", 0, 164.0), other];

        let trials = Trials::of(&question(), &records);

        assert_eq!((trials.finished("p30").len(), trials.foreign), (1, 1));
    }

    #[test]
    fn a_trial_without_an_operation_has_no_figures() {
        let mut idle = trial("p30", 0, 164.0);
        idle.metrics.insert("operations_per_s".into(), 0.0);
        idle.operations = None;
        let records = [idle];

        let trials = Trials::of(&question(), &records);

        assert!(trials.finished("p30").is_empty());
        assert!(trials.failed("p30")[0].1.contains("no operation ended"));
    }

    #[test]
    fn a_trial_whose_operations_failed_does_not_count() {
        let failed = |count: u64| {
            let mut record = trial("p30", 0, 100.0);
            // 99 successful ones
            record.metrics.insert("operations_per_s".into(), 0.99);
            record.operations = None;
            record.errors.count = count;
            record.errors.first = vec!["database is locked".into()];
            let records = [record];
            let trials = Trials::of(&question(), &records);
            trials
                .failed("p30")
                .first()
                .map(|(_, error)| error.to_string())
        };

        // 1 of 100 is 1 %, which may fail; 2 of 101 are more.
        assert_eq!(failed(1), None);
        let warning = failed(2).expect("it does not count");
        assert_eq!(
            warning,
            "2 % of its operations failed (at most 1 % may: protocol.errors_max), first: database is locked"
        );
    }

    #[test]
    fn operations_without_latencies_are_counted_by_their_rate() {
        let mut looped = trial("p30", 0, 100.0);
        // 10,000 in a server-side loop, of which one failed.
        looped.metrics.insert("operations_per_s".into(), 100.0);
        looped.operations = Some(histogram::encode(&histogram::empty()));
        looped.errors.count = 1;

        assert_eq!(share_failed([&looped]), Some(1.0 / 10_001.0));
    }

    #[test]
    fn a_trial_counts_once_and_its_finished_record_first() {
        let mut failed = trial("p30", 0, 0.0);
        failed.outcome = Outcome::Failed {
            error: "disk full".into(),
        };
        let records = [failed, trial("p30", 0, 164.0)];

        let trials = Trials::of(&question(), &records);

        assert_eq!(trials.finished("p30").len(), 1);
        assert_eq!((trials.failed("p30").len(), trials.repeated), (0, 1));
    }
}
