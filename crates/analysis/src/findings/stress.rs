//! What SQLQueryStress would have shown for a workload, beside what was measured.

use model::Duration;

use super::trials::Trials;
use super::warnings::{list, warning};
use super::{Findings, Warning};
use crate::statistics::{self, StressAverages};
use experiment::record::{Note, Record, histogram};
use table::quantity::number;

/// Reports by how much the two averages differ, where trials ran such a workload.
pub(super) fn warnings(trials: &Trials, findings: &Findings) -> Option<Warning> {
    let arms = list(findings.arms.iter().filter_map(|arm| {
        let averages = averages(trials.finished(&arm.name))?;
        let ms = |seconds: Option<f64>| {
            seconds.map_or("---".to_owned(), |s| format!("{} ms", number(s * 1e3)))
        };
        Some(format!(
            "{}: {} an iteration; SQLQueryStress would show {} ({} of {} iterations left out)",
            arm.name,
            ms(averages.mean_s),
            ms(averages.shown_s),
            averages.dropped,
            averages.samples
        ))
    }))?;
    Some(warning(
        "sqlquerystress-average",
        format!(
            "SQLQueryStress counts whole milliseconds and leaves out iterations of 0, so that its average differs: \
             {arms}."
        ),
    ))
}

/// Both averages over all iterations of an arm; `None` for other workloads.
fn averages(trials: &[&Record]) -> Option<StressAverages> {
    let stressed = trials
        .iter()
        .filter(|record| record.notes.contains(&Note::Stress));
    let texts = stressed.filter_map(|record| record.operations.as_deref());
    let (latency, _) = histogram::merge(texts);
    let each = latency.iter_recorded().map(|iterated| {
        (
            Duration::from_nanos(iterated.value_iterated_to()),
            iterated.count_at_value(),
        )
    });
    (!latency.is_empty()).then(|| statistics::stress_averages(each))
}

#[cfg(test)]
mod tests {
    use super::super::{Question, make};
    use super::*;
    use experiment::examples::{measured, question};

    #[test]
    fn both_averages_are_reported_of_a_workload_of_sqlquerystress() {
        let question = Question {
            mode: "measure".into(),
            ..question()
        };
        let mut latency = histogram::empty();
        latency.record_n(400_000, 990).expect("the histogram grows");
        latency
            .record_n(2_000_000, 10)
            .expect("the histogram grows");
        let records: Vec<Record> = (0..2)
            .flat_map(|block| {
                [
                    measured("local-ssd", block, 158.0),
                    measured("p30", block, 164.0),
                ]
            })
            .map(|mut record| {
                record.operations = Some(histogram::encode(&latency));
                record.notes = vec![Note::Stress];
                record
            })
            .collect();

        let findings = make(&question, &records);

        let warning = findings
            .warnings
            .iter()
            .find(|warning| warning.id == "sqlquerystress-average");
        let text = &warning.expect("it is reported").text;
        // 990 x 0.4 ms and 10 x 2 ms over 1,000 are 0.416 ms; of two trials.
        assert!(text.contains("local-ssd: 0.416 ms"), "{text}");
        assert!(text.contains("would show 2 ms (1980 of 2000"), "{text}");
        assert!(
            findings
                .warnings
                .iter()
                .all(|warning| warning.id != "noted")
        );
    }
}
