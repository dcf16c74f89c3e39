//! Arms that differ only in the number of files on the same disks, which simulate cannot tell apart.

use super::trials::Trials;
use super::warnings::{list, warning};
use super::{Comparison, Findings, Warning, in_question};
use experiment::record::Record;
use experiment::spec::Mode;

/// Warns of such comparisons.
pub(super) fn warnings(trials: &Trials, findings: &Findings) -> Option<Warning> {
    let alike = |compared: &&Comparison| differ_in_it_alone(trials, compared);
    let pairs = findings.comparisons.iter().filter(alike);
    let pairs = list(pairs.map(|pair| format!("{} vs {}", pair.candidate, pair.baseline)))?;
    Some(warning(
        "number-of-files",
        format!(
            "these arms differ only in the number of files on the same disks: {pairs}. There is no verdict: simulate has no \
             contention for allocation pages, so that it cannot say how many files are enough; compare them on a server \
             (--mode emulate or measure)."
        ),
    ))
}

/// Whether two simulated arms differ only in the number of files, on the same disks.
pub(super) fn differ_in_it_alone(trials: &Trials, comparison: &Comparison) -> bool {
    let first = |arm: &str| trials.finished(arm).first().copied();
    let (Some(one), Some(other)) = (first(&comparison.baseline), first(&comparison.candidate))
    else {
        return false;
    };
    one.mode == Mode::Simulate.name()
        && !in_question::roles(one, other).is_empty()
        && disks(one) == disks(other)
}

/// Volumes and disks, regardless of the number of files on them.
fn disks(record: &Record) -> Vec<(&str, &str, usize, Vec<String>)> {
    let volumes = record.volumes.iter();
    volumes
        .map(|volume| {
            let roles = volume.files.keys().map(ToString::to_string).collect();
            (&*volume.name, &*volume.disk, volume.disks.len(), roles)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::{Withheld, make};
    use experiment::examples::{question, records};
    use experiment::record::VolumeRecord;
    use experiment::spec::Role;

    fn withheld(change: impl Fn(&mut VolumeRecord)) -> Option<Withheld> {
        let mut records = records();
        for record in records.iter_mut().filter(|record| record.arm == "p30") {
            change(&mut record.volumes[0]);
        }
        let findings = make(&question(), &records);
        let is_reported = findings
            .warnings
            .iter()
            .any(|warning| warning.id == "number-of-files");
        let withheld = findings.comparisons[0].withheld;
        assert_eq!(is_reported, withheld == Some(Withheld::NumberOfFiles));
        withheld
    }

    #[test]
    fn more_files_on_the_same_disk_are_not_judged_by_the_model() {
        let more = BTreeMap::from([(Role::Temp, 8)]);
        assert_eq!(
            withheld(|volume| volume.files = more.clone()),
            Some(Withheld::NumberOfFiles)
        );
        let elsewhere = withheld(|volume| {
            volume.files = more.clone();
            volume.disk = "another".into();
        });
        assert_eq!(elsewhere, None);
        assert_eq!(withheld(|_| {}), None);
    }
}
