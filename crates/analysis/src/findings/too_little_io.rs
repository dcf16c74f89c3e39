//! Whether the files in question saw enough I/O for a verdict: the objection in the first article's comments. A
//! temp table that fits into memory never reaches the disk that it is to decide.

use std::collections::BTreeMap;

use super::trials::Trials;
use super::warnings::{list, warning};
use super::{Comparison, Findings, Verdict, Warning};
use crate::quantity::number;
use experiment::record::Record;
use experiment::spec::Role;

/// Fewest requests of the files in question in a trial. Where latencies are exponential, the mean of `n` of them
/// has a relative error of `1 / sqrt(n)`: 3 % of 1,000.
const REQUESTS_LEAST: f64 = 1_000.0;

/// The counters of an engine that counts by role: `files.<role>.reads` and `.writes`.
const PREFIX: &str = "files";

/// Takes the verdict back where it would stand on nothing.
pub(super) fn withhold(trials: &Trials, comparisons: Vec<Comparison>) -> Vec<Comparison> {
    let judged = |comparison: Comparison| match seen(trials, &comparison) {
        Some(_) => Comparison {
            verdict: Verdict::CannotTell,
            blocks_needed: None,
            ..comparison
        },
        None => comparison,
    };
    comparisons.into_iter().map(judged).collect()
}

/// Says of which comparisons, and what would help.
pub(super) fn warnings(trials: &Trials, findings: &Findings) -> Option<Warning> {
    let arms = list(findings.comparisons.iter().filter_map(|comparison| {
        let Seen { roles, requests } = seen(trials, comparison)?;
        Some(format!(
            "{} ({} requests of {} files in a trial)",
            comparison.candidate,
            format_args!("{requests:.0}"),
            roles
                .iter()
                .map(|role| role.name())
                .collect::<Vec<_>>()
                .join(" and ")
        ))
    }))?;
    Some(warning(
        "too-little-io",
        format!(
            "the files whose placement is in question saw next to no I/O: {arms}. There is no verdict: at least \
             {} requests are needed. Make the data at least four times the server's memory (--set \
             workload.parameters.rows=.., or less memory: --set engine.memory=\"1 GiB\"), or run longer.",
            number(REQUESTS_LEAST)
        ),
    ))
}

/// What the files in question saw.
struct Seen {
    roles: Vec<Role>,
    /// In the trial with the fewest.
    requests: f64,
}

/// `None` where it is enough, where nobody counts it, or where no file is placed differently.
fn seen(trials: &Trials, comparison: &Comparison) -> Option<Seen> {
    let baseline = trials.finished(&comparison.baseline);
    let candidate = trials.finished(&comparison.candidate);
    let roles = in_question(baseline.first()?, candidate.first()?);
    let requests = |record: &&Record| -> Option<f64> {
        let of = |role: &Role| {
            let count = |what| {
                record
                    .counters
                    .get(&format!("{PREFIX}.{role}.{what}"))
                    .copied()
            };
            Some(count("reads")? + count("writes")?)
        };
        let counts: Vec<f64> = roles.iter().filter_map(of).collect();
        (!counts.is_empty()).then(|| counts.iter().sum())
    };
    let least = baseline
        .iter()
        .chain(candidate)
        .filter_map(requests)
        .reduce(f64::min)?;
    (least < REQUESTS_LEAST).then_some(Seen {
        roles,
        requests: least,
    })
}

/// Roles whose files are elsewhere, or in another number.
fn in_question(baseline: &Record, candidate: &Record) -> Vec<Role> {
    let of = |record: &Record| -> BTreeMap<Role, Vec<(String, u32)>> {
        let mut roles: BTreeMap<Role, Vec<(String, u32)>> = BTreeMap::new();
        for volume in &record.volumes {
            for (role, files) in &volume.files {
                roles
                    .entry(*role)
                    .or_default()
                    .push((volume.name.clone(), *files));
            }
        }
        roles
    };
    let (one, other) = (of(baseline), of(candidate));
    let differs = |role: &&Role| one.get(*role) != other.get(*role);
    let mut roles: Vec<Role> = one.keys().filter(differs).copied().collect();
    roles.extend(
        other
            .keys()
            .filter(|role| !one.contains_key(*role))
            .copied(),
    );
    roles
}

#[cfg(test)]
mod tests {
    use super::super::{Question, make};
    use super::*;
    use experiment::examples::{measured, question};

    /// tempdb on another volume, with so many requests in each trial.
    fn findings(requests: f64) -> Findings {
        let question = Question {
            mode: "measure".into(),
            ..question()
        };
        let records: Vec<Record> = (0..3)
            .flat_map(|block| [("local-ssd", "d", 158.0, block), ("p30", "f", 120.0, block)])
            .map(|(arm, volume, elapsed_s, block)| {
                let mut record = measured(arm, block, elapsed_s + f64::from(block) / 10.0);
                record.volumes[0].name = volume.into();
                record.volumes[0].files = BTreeMap::from([(Role::Temp, 8)]);
                record.counters = BTreeMap::from([
                    ("files.temp.reads".into(), requests / 4.0),
                    ("files.temp.writes".into(), requests * 3.0 / 4.0),
                ]);
                record
            })
            .collect();
        make(&question, &records)
    }

    #[test]
    fn next_to_no_io_gives_no_verdict_however_clear_the_times() {
        let findings = findings(40.0);

        assert_eq!(findings.comparisons[0].verdict, Verdict::CannotTell);
        let warning = findings
            .warnings
            .iter()
            .find(|warning| warning.id == "too-little-io");
        let text = &warning.expect("it is said").text;
        assert!(
            text.contains("p30 (40 requests of temp files in a trial)"),
            "{text}"
        );
        assert!(text.contains("four times"), "{text}");
    }

    #[test]
    fn enough_io_is_judged() {
        let findings = findings(1_000.0);

        assert_eq!(findings.comparisons[0].verdict, Verdict::Faster);
        assert!(
            findings
                .warnings
                .iter()
                .all(|warning| warning.id != "too-little-io")
        );
    }
}
