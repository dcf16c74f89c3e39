//! Whether the files in question saw enough I/O for a verdict: the objection in the first article's comments. A temp
//! table that fits into memory never reaches the disk under test.

use super::trials::Trials;
use super::warnings::{list, warning};
use super::{Comparison, Findings, Warning, in_question};
use experiment::record::Record;
use experiment::spec::Role;
use table::quantity::number;

/// Fewest requests of the files in question in a trial. For exponential latencies, the mean of `n` of them has a relative
/// error of `1 / sqrt(n)`: 3 % for 1,000.
const REQUESTS_LEAST: f64 = 1_000.0;

/// Fewest bytes, for files with large requests: the same number of 64 KiB each.
const BYTES_LEAST: f64 = REQUESTS_LEAST * 65_536.0;

/// Warns of such comparisons, with a remedy.
pub(super) fn warnings(trials: &Trials, findings: &Findings) -> Option<Warning> {
    let arms = list(findings.comparisons.iter().filter_map(|comparison| {
        let FileIo { roles, requests } = seen(trials, comparison)?;
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
            "the files whose placement is in question saw next to no I/O: {arms}. This says nothing about where to put \
             them, so there is no verdict: at least {} requests are needed. Make the data at least four times the \
             engine's memory (more rows: --set workload.parameters.rows=.., or less memory: --set engine.memory=..; \
             for temporary files --set engine.sort_memory=..), or run longer.",
            number(REQUESTS_LEAST)
        ),
    ))
}

/// I/O of the files in question.
pub(super) struct FileIo {
    roles: Vec<Role>,
    /// In the trial with the fewest.
    requests: f64,
}

/// `None` where it is enough, is not counted, or where no file is placed differently.
pub(super) fn seen(trials: &Trials, comparison: &Comparison) -> Option<FileIo> {
    let baseline = trials.finished(&comparison.baseline);
    let candidate = trials.finished(&comparison.candidate);
    let roles = in_question::roles(baseline.first()?, candidate.first()?);
    if roles.is_empty() {
        return None;
    }
    let least = baseline
        .iter()
        .chain(candidate)
        .filter_map(|record| requests(record, &roles))
        .reduce(f64::min)?;
    (least < REQUESTS_LEAST).then_some(FileIo {
        roles,
        requests: least,
    })
}

/// Requests of the files of `roles` as the engine counts them, or else of all their disks; `None` where they are not
/// counted, or those of the disks are few and large.
fn requests(record: &Record, roles: &[Role]) -> Option<f64> {
    in_question::requests_by_role(record, roles).or_else(|| {
        let moved = in_question::bytes(record, roles);
        in_question::requests_of_disks(record, roles).filter(|_| moved < BYTES_LEAST)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::{Question, Verdict, Withheld, make};
    use super::*;
    use experiment::examples::{measured, question, records};

    /// tempdb on another volume, with this many requests in each trial.
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

        let comparison = &findings.comparisons[0];
        assert_eq!(comparison.verdict, Verdict::CannotTell);
        assert_eq!(comparison.withheld, Some(Withheld::TooLittleIo));
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
    fn where_roles_are_not_counted_their_disks_are() {
        let verdict = |requests: u64| {
            let mut records = records();
            for record in records.iter_mut().filter(|record| record.arm == "p30") {
                record.volumes[0].disk = "another".into();
                let disk = &mut record.volumes[0].disks[0];
                (disk.reads, disk.writes) = (requests, 0);
                (disk.read_bytes, disk.write_bytes) = (requests * 8_192, 0);
            }
            make(&question(), &records).comparisons[0].withheld
        };

        assert_eq!(verdict(999), Some(Withheld::TooLittleIo));
        assert_eq!(verdict(1_000), None);
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
