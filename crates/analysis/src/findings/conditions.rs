//! Whether real trials ran under the intended conditions: with a disk to themselves, cold, and in use.

use std::collections::{BTreeMap, BTreeSet};

use super::trials::Trials;
use super::warnings::{list, warning};
use super::{Arm, ArmVolume, Findings, Warning, no_write_back};
use experiment::record::{NOT_LIMITED, Note, PAGE_CACHE, Record};
use reading::fact;
use table::quantity::percent;

/// Share of a disk's bytes from which on those of others are reported.
const OTHER_MIN: f64 = 0.10;
/// Bytes of others in a trial below which a share is meaningless: journals, system logs.
const OTHER_BYTES_MIN: f64 = 16e6;
/// Facts of a machine that all trials of a result should have in common.
const MACHINE: [&str; 7] = [
    "system",
    "kernel",
    "cpu",
    "cpus",
    "memory",
    "cloud",
    fact::FRONT,
];

/// Warns of every deviation in the conditions of the trials.
pub(super) fn warnings(trials: &Trials, findings: &Findings) -> Vec<Warning> {
    let all = [
        other_activity(trials, findings),
        not_cold(trials, findings),
        page_cache(trials, findings),
        shared_device(trials, findings),
        mixed_environment(trials),
    ];
    all.into_iter().flatten().collect()
}

fn other_activity(trials: &Trials, findings: &Findings) -> Option<Warning> {
    let arms = list(findings.arms.iter().filter_map(|arm| {
        let finished = trials.finished(&arm.name);
        let seen = others(finished).into_iter().filter(|(_, seen)| {
            let each = seen.other / (finished.len() as f64).max(1.0);
            seen.other > OTHER_MIN * seen.all && each > OTHER_BYTES_MIN
        });
        let volumes: Vec<String> = seen
            .map(|(volumes, seen)| format!("{} on {volumes}", percent(seen.other / seen.all)))
            .collect();
        (!volumes.is_empty()).then(|| format!("{} ({})", arm.name, volumes.join(", ")))
    }))?;
    Some(warning(
        "other-activity",
        format!(
            "something else used the same disks during trials, by share of all bytes: {arms}. Figures \
             are those of a disk under other load too; stop what it is, or give the volumes disks of \
             their own, and run again. A server that dbstow did not start counts as something else."
        ),
    ))
}

/// Bytes transferred by disks.
#[derive(Clone, Copy, Debug, Default)]
struct Transferred {
    all: f64,
    other: f64,
}

/// Bytes transferred by the disks of each group of volumes, and how much of it for others, over all of `trials`.
fn others(trials: &[&Record]) -> BTreeMap<String, Transferred> {
    let mut groups: BTreeMap<String, Transferred> = BTreeMap::new();
    for counters in trials.iter().map(|record| &record.counters) {
        for (name, other) in counters {
            let Some(volumes) = name.strip_prefix("other_bytes.") else {
                continue;
            };
            let of = |what: &str| counters.get(&format!("{what}.{volumes}")).copied();
            let all = of("device_bytes").unwrap_or(0.0);
            // Two upper bounds, and the second is not always known.
            let other = other.min(of("foreign_bytes").unwrap_or(f64::INFINITY));
            let seen = groups.entry(volumes.to_owned()).or_default();
            seen.all += all;
            seen.other += other.clamp(0.0, all);
        }
    }
    groups
}

fn not_cold(trials: &Trials, findings: &Findings) -> Option<Warning> {
    let mut noticed: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for arm in &findings.arms {
        let finished = trials.finished(&arm.name).iter();
        let notes = finished.flat_map(|record| &record.notes);
        for note in notes {
            if let Note::NotCold(what) = note {
                noticed.entry(what).or_default().insert(&arm.name);
            }
        }
    }
    let noticed = list(noticed.into_iter().map(|(what, arms)| {
        let arms: Vec<&str> = arms.into_iter().collect();
        format!("{} ({what})", arms.join(", "))
    }))?;
    Some(warning(
        "not-cold",
        format!(
            "trials did not start as cold as asked: {noticed}. Reads may have come from memory, so that \
             disks look faster than they are; make the data larger than memory, or fix the causes listed."
        ),
    ))
}

fn page_cache(trials: &Trials, findings: &Findings) -> Option<Warning> {
    if no_write_back::is_noted(trials) {
        // There was none.
        return None;
    }
    let why = |record: &&Record| {
        let value = record.engine.as_ref()?.settings.get(PAGE_CACHE)?;
        Some(value.strip_prefix(NOT_LIMITED)?.trim().to_owned())
    };
    let reasons: BTreeSet<String> = findings
        .arms
        .iter()
        .flat_map(|arm| trials.finished(&arm.name))
        .filter_map(why)
        .collect();
    let reasons = list(reasons.into_iter())?;
    Some(warning(
        "page-cache",
        format!(
            "the engine had all free memory of this machine as a second buffer pool {reasons}. What fits \
             into it is read from its disk once, and written when the system likes, so that placements look \
             more alike than they are; run as root with control groups, or make the data larger than \
             memory."
        ),
    ))
}

fn shared_device(trials: &Trials, findings: &Findings) -> Option<Warning> {
    let mut groups: BTreeSet<BTreeSet<&str>> = BTreeSet::new();
    for record in trials.all_finished() {
        for (name, others) in &record.environment {
            if let Some((volume, fact::SHARES_A_DISK)) = fact::parts(name) {
                groups.insert(others.split(", ").chain([volume]).collect());
            }
        }
    }
    let uses = |arm: &Arm, group: &BTreeSet<&str>| {
        let used = arm.volumes.iter().filter(|volume| holds_files(volume));
        used.filter(|volume| group.contains(volume.name.as_str()))
            .count()
            > 1
    };
    let groups = list(groups.into_iter().filter_map(|group| {
        let arms = findings.arms.iter().filter(|arm| uses(arm, &group));
        let arms: Vec<&str> = arms.map(|arm| arm.name.as_str()).collect();
        let volumes: Vec<&str> = group.into_iter().collect();
        (!arms.is_empty()).then(|| format!("{} (in {})", volumes.join(" and "), arms.join(", ")))
    }))?;
    Some(warning(
        "shared-device",
        format!(
            "volumes that are on one disk: {groups}. Spreading files over them spreads nothing, and \
             their figures are those of the disk as a whole, listed with the first; give each volume a \
             directory on a disk of its own."
        ),
    ))
}

fn holds_files(volume: &ArmVolume) -> bool {
    volume.files.values().any(|files| *files > 0)
}

fn mixed_environment(trials: &Trials) -> Option<Warning> {
    let mut values: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for record in trials.all_finished() {
        for name in MACHINE {
            let value = record.environment.get(name).cloned();
            values.entry(name).or_default().extend(value);
        }
        let engine = record.engine.as_ref();
        let engine = engine.map(|engine| format!("{} {}", engine.name, engine.version));
        values.entry("engine").or_default().extend(engine);
    }
    let mixed = list(values.into_iter().filter_map(|(name, values)| {
        let words: Vec<String> = values.into_iter().collect();
        (words.len() > 1).then(|| format!("{name} ({})", words.join("; ")))
    }))?;
    Some(warning(
        "mixed-environment",
        format!(
            "trials did not all run in the same place: {mixed}. Comparisons stand only where all arms of \
             a block ran together; keep each place's result in a folder of its own."
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::make;
    use super::*;
    use experiment::examples::{in_mode, measured};
    use experiment::spec::Role;

    fn warning_text(id: &str, change: impl Fn(&mut Record)) -> Option<String> {
        let (question, mut records) = in_mode("measure", measured);
        records.iter_mut().for_each(change);
        let warnings = make(&question, &records).warnings;
        let warning = warnings.into_iter().find(|warning| warning.id == id);
        warning.map(|warning| warning.text)
    }

    #[test]
    fn others_at_the_disk_are_reported_by_their_share() {
        let busy = |foreign: f64| {
            move |record: &mut Record| {
                let counters = &mut record.counters;
                counters.insert("other_bytes.temp".into(), 2.1e9);
                counters.insert("foreign_bytes.temp".into(), foreign);
            }
        };

        let text = warning_text("other-activity", busy(3.0e9)).unwrap();

        // 2.1 of 8.4 GB
        assert!(text.contains("p30 (25 % on temp)"), "{text}");
        assert_eq!(warning_text("other-activity", busy(1.0e6)), None);
    }

    #[test]
    fn a_cache_that_stayed_is_distinguished_from_other_notes() {
        let warm = |record: &mut Record| {
            record.notes.push(Note::NotCold("volume d: tmpfs".into()));
            record.notes.push(Note::Other("odd".into()));
        };

        assert!(
            warning_text("not-cold", warm)
                .unwrap()
                .contains("local-ssd, p30 (volume d: tmpfs)")
        );
        assert_eq!(warning_text("noted", warm).unwrap(), "local-ssd, p30: odd");
    }

    /// Adds a volume with the log on the same disk.
    fn second_volume(record: &mut Record) {
        let mut log = record.volumes[0].clone();
        log.name = "log".into();
        log.files = [(Role::Log, 1)].into();
        log.disks.clear();
        record.volumes.push(log);
        let facts = [
            ("volume temp: shares a disk with", "log"),
            ("volume log: shares a disk with", "temp"),
        ];
        let facts = facts.map(|(name, value)| (name.to_owned(), value.to_owned()));
        record.environment.extend(facts);
    }

    #[test]
    fn volumes_on_one_disk_are_reported_where_an_arm_uses_both() {
        let text = warning_text("shared-device", |record| {
            if record.arm == "p30" {
                second_volume(record);
            }
        });

        assert!(text.unwrap().contains("log and temp (in p30)"));
        let one_used = |record: &mut Record| {
            second_volume(record);
            record.volumes.pop();
        };
        assert_eq!(warning_text("shared-device", one_used), None);
    }

    #[test]
    fn trials_from_two_machines_are_reported() {
        let text = warning_text("mixed-environment", |record| {
            if record.block == 1 {
                record.environment.insert("kernel".into(), "5.15".into());
            }
        });

        assert!(text.unwrap().contains("kernel (5.15; 6.18.1)"));
        assert_eq!(warning_text("mixed-environment", |_| {}), None);
    }
}
