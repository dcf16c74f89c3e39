//! Arms whose volumes have different names but share a disk: their comparison is of a disk with itself.

use std::collections::BTreeSet;

use super::trials::Trials;
use super::warnings::{list, warning};
use super::{Comparison, Findings, Warning, in_question};
use experiment::record::Record;
use experiment::spec::Role;
use reading::fact;

/// Facts that may differ between volumes on one disk, and make a comparison worthwhile.
const ALIKE: [&str; 2] = ["filesystem", "mount options"];

/// Warns of such comparisons.
pub(super) fn warnings(trials: &Trials, findings: &Findings) -> Option<Warning> {
    let pairs = list(findings.comparisons.iter().filter_map(|comparison| {
        let disk = disk(trials, comparison)?;
        let Comparison {
            baseline,
            candidate,
            ..
        } = comparison;
        Some(format!("{baseline} and {candidate} ({disk})"))
    }))?;
    Some(warning(
        "same-disk",
        format!(
            "the volumes that differ between these arms are on one and the same disk: {pairs}. There is no verdict, \
             since a disk was compared with itself; give each volume a directory on the disk that it stands for."
        ),
    ))
}

/// The disk that holds the files in question of both arms, where their volumes differ only in name.
pub(super) fn disk(trials: &Trials, comparison: &Comparison) -> Option<String> {
    let baseline = trials.finished(&comparison.baseline).first()?;
    let candidate = trials.finished(&comparison.candidate).first()?;
    let roles = in_question::roles(baseline, candidate);
    let names = |record| -> BTreeSet<&str> {
        let volumes = in_question::volumes(record, &roles);
        volumes.map(|volume| volume.name.as_str()).collect()
    };
    // Another number of files on one disk is a separate question.
    let files = |record| -> u32 {
        let volumes = in_question::volumes(record, &roles);
        let files =
            volumes.flat_map(|volume| roles.iter().filter_map(|role| volume.files.get(role)));
        files.sum()
    };
    if names(baseline) == names(candidate) || files(baseline) != files(candidate) {
        return None;
    }
    let disks = disks(baseline, &roles)?;
    let one = disks == self::disks(candidate, &roles)? && disks.len() == 1;
    one.then(|| disks.into_iter().next().expect("there is one"))
}

/// The location of the volumes of `roles`; `None` where any is unknown.
fn disks(record: &Record, roles: &[Role]) -> Option<BTreeSet<String>> {
    let volumes = in_question::volumes(record, roles);
    let disks: Option<BTreeSet<String>> = volumes
        .map(|volume| disk_of(record, &volume.name))
        .collect();
    disks.filter(|disks| !disks.is_empty())
}

/// The disk beneath a volume, which partitions and logical volumes with the same filesystem share; the device itself
/// where several disks make it up, or none is known.
fn disk_of(record: &Record, volume: &str) -> Option<String> {
    let fact = |fact| record.environment.get(&fact::of_volume(volume, fact));
    let is_one = |disks: &&String| !disks.is_empty() && !disks.contains(", ");
    match fact(fact::DISKS).filter(is_one) {
        Some(disk) => Some(match ALIKE.map(fact) {
            [Some(filesystem), Some(options)] => format!("{disk}, {filesystem} with {options}"),
            _ => disk.clone(),
        }),
        None => Some(format!(
            "{}, mounted on {}",
            fact("device")?,
            fact("mount")?
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Verdict, Withheld, make};
    use experiment::examples::{in_mode, measured};
    use reading::fact;

    /// `p30` on a separate volume, on `device` with a filesystem.
    fn verdict(
        (device, of_p30): (&str, &str),
        disks: Option<&str>,
    ) -> (Verdict, Option<Withheld>, bool) {
        let (question, mut records) = in_mode("measure", measured);
        for record in &mut records {
            let (name, device, filesystem) = match record.arm.as_str() {
                "p30" => ("f", device, of_p30),
                _ => ("d", "sda (8:0)", "ext4"),
            };
            record.volumes[0].name = name.into();
            let mut note = |fact: &str, value: &str| {
                let name = fact::of_volume(name, fact);
                record.environment.insert(name, value.to_owned());
            };
            note("device", device);
            note("mount", "/");
            if let Some(disks) = disks {
                note(fact::DISKS, disks);
                note("filesystem", filesystem);
                note("mount options", "rw");
            }
        }
        let findings = make(&question, &records);
        let warned = findings
            .warnings
            .iter()
            .any(|warning| warning.id == "same-disk");
        let comparison = &findings.comparisons[0];
        (comparison.verdict, comparison.withheld, warned)
    }

    #[test]
    fn a_disk_is_not_compared_with_itself() {
        let withheld = (Verdict::CannotTell, Some(Withheld::SameDisk), true);
        let given = (Verdict::NoDifference, None, false);
        assert_eq!(verdict(("sda (8:0)", "ext4"), None), withheld);
        assert_eq!(verdict(("sdb (8:16)", "ext4"), None), given);
    }

    #[test]
    fn partitions_of_one_disk_are_the_same_disk_unless_their_filesystems_differ() {
        let withheld = (Verdict::CannotTell, Some(Withheld::SameDisk), true);
        let given = (Verdict::NoDifference, None, false);
        let partition = |filesystem| verdict(("sda2 (8:2) on sda", filesystem), Some("sda"));
        assert_eq!(partition("ext4"), withheld);
        assert_eq!(partition("xfs"), given);
        // Two disks can form either a stripe or a mirror.
        assert_eq!(
            verdict(("md1 (9:1) on sda, sdb", "ext4"), Some("sda, sdb")),
            given
        );
    }
}
