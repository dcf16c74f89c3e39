//! Defects of the records: missing, failed, damaged, inconsistent.

use super::metrics::value;
use super::trials::{Trials, share_failed};
use super::{Findings, Warning};
use experiment::question::Question;
use experiment::record::{Note, Record, histogram};
use table::quantity::percent;

/// Everything that the records lack, or report about themselves.
pub(super) fn warnings(question: &Question, trials: &Trials, findings: &Findings) -> Vec<Warning> {
    [
        missing_trials(findings),
        failed_trials(question, trials),
        missing_metric(question, trials),
        errors(question, trials),
        foreign_records(question, trials),
        repeated_records(trials),
        paused(question, trials),
        damaged_histograms(question, trials),
    ]
    .into_iter()
    .flatten()
    .chain(notes(question, trials))
    .collect()
}

pub(super) fn warning(id: &str, text: String) -> Warning {
    Warning {
        id: id.into(),
        text,
    }
}

fn missing_trials(findings: &Findings) -> Option<Warning> {
    let missing = |done: u32| findings.blocks.saturating_sub(done);
    let arms = list(findings.arms.iter().filter_map(|arm| {
        let missing = missing(arm.trials + arm.trials_failed);
        (missing > 0).then(|| format!("{} ({missing} of {})", arm.name, findings.blocks))
    }))?;
    Some(warning(
        "missing-trials",
        format!(
            "trials without a record: {arms}. Intervals are wider than planned; run the same command \
             again to fill in what is missing."
        ),
    ))
}

fn failed_trials(question: &Question, trials: &Trials) -> Option<Warning> {
    let arms = list(question.arms.iter().filter_map(|arm| {
        let failed = trials.failed(&arm.name);
        let (block, error) = failed.first()?;
        Some(format!(
            "{} failed {}, first in block {}: {error}",
            arm.name,
            times(failed.len()),
            block + 1
        ))
    }))?;
    Some(warning(
        "failed-trials",
        format!(
            "{arms}. A failed trial is left out of every estimate, so that an arm may look better than \
             it is; fix the cause and run again with --fresh, which repeats all trials."
        ),
    ))
}

fn missing_metric(question: &Question, trials: &Trials) -> Option<Warning> {
    let metric = &question.metric;
    let arms = list(question.arms.iter().filter_map(|arm| {
        let finished = trials.finished(&arm.name);
        let lacks = finished
            .iter()
            .any(|record| value(record, metric).is_none());
        lacks.then(|| arm.name.clone())
    }))?;
    Some(warning(
        "missing-metric",
        format!(
            "trials that have no `{metric}`, which decides: {arms}. They are not compared; choose a \
             metric that every arm has."
        ),
    ))
}

fn errors(question: &Question, trials: &Trials) -> Option<Warning> {
    let arms = list(question.arms.iter().filter_map(|arm| {
        let finished = trials.finished(&arm.name);
        let counts = finished.iter().map(|record| record.errors.count);
        let failed = counts.fold(0, u64::saturating_add);
        let first = finished
            .iter()
            .find_map(|record| record.errors.first.first());
        (failed > 0).then(|| {
            let rate = share_failed(finished.iter().copied())
                .map_or_else(String::new, |rate| format!(", {} of all", percent(rate)));
            let first = first.map_or_else(String::new, |text| format!(", first: {text}"));
            format!("{} ({failed}{rate}{first})", arm.name)
        })
    }))?;
    Some(warning(
        "errors",
        format!(
            "operations failed: {arms}. Failed operations often cost less than good ones, so that rates \
             and times may look too good; find the cause before relying on the figures."
        ),
    ))
}

fn foreign_records(question: &Question, trials: &Trials) -> Option<Warning> {
    (trials.foreign > 0).then(|| {
        warning(
            "foreign-records",
            format!(
                "{} left out: not of experiment `{}` in mode `{}`, or of an arm it does not have. Keep \
                 each result in a folder of its own.",
                records(trials.foreign),
                question.experiment,
                question.mode
            ),
        )
    })
}

fn repeated_records(trials: &Trials) -> Option<Warning> {
    (trials.repeated > 0).then(|| {
        warning(
            "repeated-records",
            format!(
                "{} left out: another record of the same arm and block was there. Keep each result in a \
                 folder of its own.",
                records(trials.repeated)
            ),
        )
    })
}

fn paused(question: &Question, trials: &Trials) -> Option<Warning> {
    let arms = list(question.arms.iter().flat_map(|arm| {
        let finished = trials.finished(&arm.name).iter();
        let notes = finished.flat_map(|record| record.notes.iter().map(move |note| (record, note)));
        notes.filter_map(|(record, note)| {
            let Note::Paused(what) = note else {
                return None;
            };
            Some(format!(
                "{} in block {} ({what})",
                arm.name,
                record.block + 1
            ))
        })
    }))?;
    Some(warning(
        "paused",
        format!(
            "trials that were paused during measurement: {arms}. Their rates are too low and their times too \
             long; delete their records and run the same command again, which repeats these trials."
        ),
    ))
}

fn damaged_histograms(question: &Question, trials: &Trials) -> Option<Warning> {
    let arms = list(question.arms.iter().filter_map(|arm| {
        let finished = trials.finished(&arm.name);
        let texts = finished.iter().flat_map(|record| histograms(record));
        let damaged = texts
            .filter(|text| histogram::decode(text).is_err())
            .count();
        (damaged > 0).then(|| format!("{} ({damaged})", arm.name))
    }))?;
    Some(warning(
        "damaged-histograms",
        format!(
            "latency histograms that cannot be read: {arms}. Latencies leave them out; delete the \
             records and run those trials again."
        ),
    ))
}

fn histograms(record: &Record) -> impl Iterator<Item = &str> {
    let disks = record.volumes.iter().flat_map(|volume| &volume.disks);
    let of_disks = disks.flat_map(|disk| [&disk.read_latency, &disk.write_latency]);
    of_disks
        .chain([&record.operations])
        .filter_map(|text| text.as_deref())
}

/// Other notes by the trials, each once with the arms that have it.
fn notes(question: &Question, trials: &Trials) -> Vec<Warning> {
    let mut noticed: Vec<(&Note, Vec<&str>)> = Vec::new();
    // The others have warnings of their own.
    let is_other = |note: &&Note| matches!(note, Note::NotCleanedUp(_) | Note::Other(_));
    for arm in &question.arms {
        let finished = trials.finished(&arm.name).iter();
        for note in finished.flat_map(|record| &record.notes).filter(is_other) {
            match noticed.iter_mut().find(|(known, _)| *known == note) {
                Some((_, arms)) if arms.last() == Some(&arm.name.as_str()) => {}
                Some((_, arms)) => arms.push(&arm.name),
                None => noticed.push((note, vec![&arm.name])),
            }
        }
    }
    noticed
        .into_iter()
        .map(|(note, arms)| warning("noted", format!("{}: {note}", arms.join(", "))))
        .collect()
}

/// Items joined with `; `; `None` when there are none.
pub(super) fn list(items: impl Iterator<Item = String>) -> Option<String> {
    let items: Vec<String> = items.collect();
    (!items.is_empty()).then(|| items.join("; "))
}

fn times(count: usize) -> String {
    match count {
        1 => "once".into(),
        2 => "twice".into(),
        more => format!("{more} times"),
    }
}

fn records(count: usize) -> String {
    format!("{count} record{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::super::make;
    use experiment::examples::{question, records};
    use experiment::record::{Note, Outcome, Record};

    fn text_of(id: &str, change: impl Fn(&mut Vec<Record>)) -> String {
        let mut records = records();
        change(&mut records);
        let findings = make(&question(), &records);
        let warning = findings
            .warnings
            .into_iter()
            .find(|warning| warning.id == id);
        warning.unwrap_or_else(|| panic!("no warning `{id}`")).text
    }

    #[test]
    fn a_missing_trial_is_counted_by_arm() {
        let text = text_of("missing-trials", |records| drop(records.remove(1)));

        assert!(
            text.starts_with("trials without a record: p30 (1 of 3)."),
            "{text}"
        );
    }

    #[test]
    fn a_failed_trial_is_reported_with_its_error() {
        let text = text_of("failed-trials", |records| {
            records[3].outcome = Outcome::Failed {
                error: "disk is full".into(),
            };
        });

        assert!(
            text.starts_with("p30 failed once, first in block 2: disk is full."),
            "{text}"
        );
    }

    #[test]
    fn errors_are_reported_with_their_rate_and_first_text() {
        let text = text_of("errors", |records| {
            for record in records.iter_mut().filter(|record| record.arm == "p30") {
                let rate = 1_000.0 / record.metrics["elapsed_s"];
                record.metrics.insert("operations_per_s".into(), rate);
            }
            records[1].errors.count = 10;
            records[1].errors.first = vec!["database is locked".into()];
        });

        // 1,000 good operations in each of 3 trials: 10 of 3,010 failed, and of the first trial less than 1 %
        let expected = "operations failed: p30 (10, 0.3 % of all, first: database is locked).";
        assert!(text.starts_with(expected), "{text}");
    }

    #[test]
    fn a_trial_that_stood_still_is_reported_with_what_to_do() {
        let text = text_of("paused", |records| {
            let note = Note::Paused("the process was stopped for 8.0 s".to_owned());
            records[1].notes.push(note);
        });

        let expected = "trials that were paused during measurement: p30 in block 1 (the process was stopped for 8.0 s).";
        assert!(text.starts_with(expected), "{text}");
        assert!(text.contains("delete their records"), "{text}");
    }

    #[test]
    fn a_damaged_histogram_is_reported_and_the_rest_stands() {
        let text = text_of("damaged-histograms", |records| {
            records[0].volumes[0].disks[0].read_latency = Some("~".into());
        });

        assert!(text.contains("local-ssd (1)"), "{text}");
    }

    #[test]
    fn the_same_note_of_many_trials_is_reported_once() {
        let text = text_of("noted", |records| {
            for record in records {
                record
                    .notes
                    .push(Note::Other("the burst bucket began full".into()));
            }
        });

        assert_eq!(text, "local-ssd, p30: the burst bucket began full");
    }

    #[test]
    fn a_missing_metric_is_reported() {
        let text = text_of("missing-metric", |records| {
            records[0].metrics.remove("elapsed_s");
        });

        assert!(
            text.contains("`elapsed_s`") && text.contains("local-ssd"),
            "{text}"
        );
    }

    #[test]
    fn records_of_another_experiment_are_reported() {
        let text = text_of("foreign-records", |records| {
            records[0].experiment = "other".into()
        });

        assert!(text.starts_with("1 record left out"), "{text}");
    }
}
