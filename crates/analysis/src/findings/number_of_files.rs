//! Arms that differ only in the number of files on the same disks, which simulate cannot tell apart.

use super::trials::Trials;
use super::warnings::{list, warning};
use super::{Comparison, Findings, Warning, in_question};
use experiment::record::Record;
use experiment::spec::Mode;

/// Says of which comparisons: their ties are made by what the model leaves out.
pub(super) fn warnings(trials: &Trials, findings: &Findings) -> Option<Warning> {
    if findings.mode() != Some(Mode::Simulate) {
        return None;
    }
    let pairs = list(findings.comparisons.iter().filter_map(|comparison| {
        let Comparison {
            baseline,
            candidate,
            ..
        } = comparison;
        let one = trials.finished(baseline).first()?;
        let other = trials.finished(candidate).first()?;
        let differs = !in_question::roles(one, other).is_empty();
        (differs && disks(one) == disks(other)).then(|| format!("{candidate} vs {baseline}"))
    }))?;
    Some(warning(
        "number-of-files",
        format!(
            "these arms differ only in the number of files on the same disks: {pairs}. Simulate has no contention for \
             allocation pages, so that it cannot say how many files are enough; compare them on a server (--mode emulate \
             or measure)."
        ),
    ))
}

/// Volumes and disks, whatever the number of files on them.
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

    use super::super::make;
    use experiment::examples::{question, records};
    use experiment::spec::Role;

    fn is_warned(change: impl Fn(&mut experiment::record::VolumeRecord)) -> bool {
        let mut records = records();
        for record in records.iter_mut().filter(|record| record.arm == "p30") {
            change(&mut record.volumes[0]);
        }
        let warnings = make(&question(), &records).warnings;
        warnings
            .iter()
            .any(|warning| warning.id == "number-of-files")
    }

    #[test]
    fn more_files_on_the_same_disk_are_not_judged_by_the_model() {
        assert!(is_warned(
            |volume| volume.files = BTreeMap::from([(Role::Temp, 8)])
        ));
        assert!(!is_warned(|volume| {
            volume.files = BTreeMap::from([(Role::Temp, 8)]);
            volume.disk = "another".into();
        }));
        assert!(!is_warned(|_| {}));
    }
}
