//! Azure SQL Managed Instance: the size of a file determines its speed, and nothing else can be placed.

use crate::capture::{Capture, File, FileKind};
use crate::tsql::question;

use super::files::{no_files, several_logs};
use super::locations::{machine_missing, place, places, tempdb_data, tempdb_missing, user_files};
use super::sources::{FILE_STATS, MANAGED_DIFFERENCES, MANAGED_LIMITS, MANAGED_TEMPDB};
use super::tempdb::FILES_START;
use super::{Applies, Rule};
use crate::capture::Product;
use rules::shown::{bytes, count, list, percent};
use rules::{Change, Finding, Outcome, Severity};

/// Files an instance of the General Purpose tier may have.
const FILES_MAX: usize = 280;
/// From this share of them on it is time to plan. Our choice.
const FILES_NEAR: f64 = 0.9;
/// Files of tempdb that an instance starts with.
const TEMPDB_FILES: usize = 12;
/// Maximum length of the logical name of a tempdb file.
const NAME_MAX: usize = 16;
/// How far below the next class a file is just below it, as a share. Our choice.
const STEP_NEAR: f64 = 0.10;
/// Share of request time added by governance from which it is reported. Our choice.
const GOVERNED_MAX: f64 = 0.10;

/// What a file of the General Purpose tier gets: up to which size, IOPS, MiB/s.
const BY_SIZE: [(i64, u32, u32); 6] = [
    (128 << 30, 500, 100),
    (512 << 30, 2300, 150),
    (1 << 40, 5000, 200),
    (2 << 40, 7500, 250),
    (4 << 40, 7500, 250),
    (8 << 40, 12_500, 250),
];

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "managed-file-count",
        title: "the instance is near its largest number of files",
        severity: Severity::High,
        why: "high: the next database or file cannot be made",
        says: "An instance of the General Purpose tier has at most 280 files; from 90 % on (ours) it is a finding. \
               Other tiers allow more, and a capture does not tell the tier.",
        sources: &[MANAGED_LIMITS, MANAGED_DIFFERENCES],
        applies: Applies::MANAGED,
        judge: file_count,
    },
    Rule {
        id: "managed-file-size",
        title: "small files of a managed instance are slow files",
        severity: Severity::Low,
        why: "low where the server held requests of the database back, else a note: a larger file is paid for",
        says: "In the General Purpose tier a file's size decides its IOPS and MiB/s: 500 and 100 up to 128 GiB, 2,300 and 150 up to 512 GiB, \
               5,000 and 200 up to 1 TiB, 7,500 and 250 up to 4 TiB, 12,500 and 250 up to 8 TiB. More files add up. Newer tiers pool the \
               instance's IOPS instead.",
        sources: &[MANAGED_LIMITS, FILE_STATS],
        applies: Applies::MANAGED,
        judge: file_size,
    },
    Rule {
        id: "managed-file-step",
        title: "a file of a managed instance is just below the size of the next class",
        severity: Severity::Low,
        why: "low where the server held requests of the file back, else a note: a few GiB more are paid for, and give up to 4.6 times the IOPS",
        says: "A data file of the General Purpose tier is not within 10 % (ours) below 129 GiB, 513 GiB or 1,025 GiB, from which on it \
               gets more IOPS. Newer tiers pool the instance's IOPS instead.",
        sources: &[MANAGED_LIMITS, FILE_STATS],
        applies: Applies::MANAGED,
        judge: file_step,
    },
    Rule {
        id: "managed-log-files",
        title: "a database of a managed instance has several logs",
        severity: Severity::Low,
        why: "low: only one is supported, and only one is written at a time",
        says: "One log file for each database.",
        sources: &[MANAGED_DIFFERENCES],
        applies: Applies::MANAGED,
        judge: |capture| several_logs(capture, "remove all but one when they are empty"),
    },
    Rule {
        id: "managed-tempdb-names",
        title: "a name of tempdb's files is too long or has a space",
        severity: Severity::Medium,
        why: "medium: statements that use such a name fail",
        says: "Logical names of tempdb's files have at most 16 letters and no space.",
        sources: &[MANAGED_TEMPDB],
        applies: Applies::MANAGED,
        judge: tempdb_names,
    },
    Rule {
        id: "managed-tempdb-file-count",
        title: "tempdb of a managed instance has fewer files than it came with",
        severity: Severity::Low,
        why: "low: this was chosen, and the choice outlives restarts and failovers",
        says: "12 data files are the default, up to 128 are possible. Fewer than the smaller of 8 and the number of processors are a finding; \
               the equality rule of other linters is not for an instance.",
        sources: &[MANAGED_TEMPDB],
        applies: Applies::MANAGED,
        judge: tempdb_file_count,
    },
    Rule {
        id: "governed-io",
        title: "Azure holds requests back",
        severity: Severity::Medium,
        why: "medium: the time is lost to a limit that can be bought, not to a slow disk",
        says: "The part of the files' waiting that the service's own governance added is below 10 % (ours).",
        sources: &[FILE_STATS, MANAGED_LIMITS],
        applies: Applies {
            products: &[Product::ManagedInstance, Product::AzureDatabase],
            ..Applies::BOXED
        },
        judge: governed,
    },
];

fn file_count(capture: &Capture) -> Vec<Outcome> {
    if capture.files.is_empty() {
        return vec![no_files(capture)];
    }
    let files = capture.files.len();
    let share = files as f64 / FILES_MAX as f64;
    if share < FILES_NEAR {
        return vec![Outcome::fine(format!("{files} of {FILES_MAX} files"))];
    }
    let severity = if files >= FILES_MAX {
        Severity::High
    } else {
        Severity::Medium
    };
    let message = format!(
        "the instance has {files} files, {} of the {FILES_MAX} that General Purpose allows",
        percent(share)
    );
    vec![
        Finding::new(severity, message)
            .with("files", files)
            .with(
                "files of users' databases",
                user_files(capture).count(),
            )
            .remedy("merge small files, or move databases to another instance; if the tier is another one, use --ignore managed-file-count"),
    ]
}

/// IOPS and MiB/s that a file of this size gets.
fn speed(size: i64) -> (u32, u32) {
    let row = BY_SIZE.iter().find(|(most, _, _)| size <= *most);
    let (_, iops, mib_per_s) = row.unwrap_or(&BY_SIZE[BY_SIZE.len() - 1]);
    (*iops, *mib_per_s)
}

fn file_size(capture: &Capture) -> Vec<Outcome> {
    let data: Vec<&File> = user_files(capture)
        .filter(|file| file.kind == FileKind::Rows)
        .collect();
    if data.is_empty() {
        return vec![match capture.files.is_empty() {
            true => no_files(capture),
            false => Outcome::fine("there are no databases of users"),
        }];
    }
    let mut databases: Vec<i64> = data.iter().map(|file| file.database_id).collect();
    databases.dedup();
    let small = |id: &i64| {
        data.iter()
            .any(|file| file.database_id == *id && file.size_bytes <= BY_SIZE[0].0)
    };
    let (slow, fast): (Vec<i64>, Vec<i64>) = databases.into_iter().partition(small);
    let mut outcomes: Vec<Outcome> = slow
        .into_iter()
        .map(|id| {
            let own: Vec<&File> = data
                .iter()
                .copied()
                .filter(|file| file.database_id == id)
                .collect();
            slow_files(capture, id, &own)
        })
        .collect();
    if !fast.is_empty() {
        let names: Vec<String> = fast.iter().map(|id| capture.database(*id)).collect();
        outcomes.push(Outcome::fine(format!(
            "{}: no file is in the slowest class",
            list(&names)
        )));
    }
    outcomes
}

fn slow_files(capture: &Capture, database: i64, files: &[&File]) -> Outcome {
    let held = governed_share(capture, |io| {
        io.database_id == database && files.iter().any(|file| file.id == io.file_id)
    });
    let name = capture.database(database);
    let sum = files.iter().map(|file| speed(file.size_bytes).0);
    let iops: u32 = sum.fold(0, u32::saturating_add);
    let severity = match held {
        Some(share) if share >= GOVERNED_MAX => Severity::Low,
        Some(_) | None => Severity::Note,
    };
    let message = format!(
        "{name} gets {iops} IOPS from {}, in the General Purpose tier",
        count(files.len(), "data file")
    );
    let mut finding = Finding::new(severity, message)
        .advises(Change::MoreDataFiles)
        .at(places(capture, files.iter().copied()));
    for file in files {
        let (iops, mib_per_s) = speed(file.size_bytes);
        let value = format!("{}: {iops} IOPS, {mib_per_s} MiB/s", bytes(file.size_bytes));
        finding = finding.with(&file.name, value);
    }
    if let Some(held) = held {
        finding = finding.with("waits limited by governance", percent(held));
    }
    finding.remedy(
        "if reads or writes of it are slow, make its files larger (129 GiB is the next class) or more; `dbstow run` compares both",
    )
}

fn file_step(capture: &Capture) -> Vec<Outcome> {
    if capture.files.is_empty() {
        return vec![no_files(capture)];
    }
    let data = user_files(capture).filter(|file| file.kind == FileKind::Rows);
    let near = data.filter_map(|file| Some((file, next_class(file.size_bytes)?)));
    let near: Vec<(&File, i64)> = near.collect();
    if near.is_empty() {
        return vec![Outcome::fine("no data file is just below the next class")];
    }
    let finding = |(file, next): (&File, i64)| {
        let held = governed_share(capture, |io| {
            io.database_id == file.database_id && io.file_id == file.id
        });
        let severity = match held {
            Some(share) if share >= GOVERNED_MAX => Severity::Low,
            Some(_) | None => Severity::Note,
        };
        let ((now, _), (then, _)) = (speed(file.size_bytes), speed(next));
        let message = format!(
            "{} of {} is {}: at {} GiB it gets {then} IOPS instead of {now}",
            file.name,
            capture.database(file.database_id),
            bytes(file.size_bytes),
            // Not rounded: 1 TiB is in the class below.
            next >> 30
        );
        let mut finding = Finding::new(severity, message).at([place(capture, file)]);
        if let Some(held) = held {
            finding = finding.with("waits limited by governance", percent(held));
        }
        finding.remedy("where its reads or writes are slow, make it that large; newer tiers have other limits (--ignore managed-file-step)")
    };
    near.into_iter().map(finding).collect()
}

/// The size of the next class, a GiB above the largest file of its own, where a file is within a tenth of it and that class has more IOPS.
fn next_class(size: i64) -> Option<i64> {
    let at = BY_SIZE.iter().position(|(most, _, _)| size <= *most)?;
    let (most, iops, _) = BY_SIZE[at];
    let (_, more, _) = BY_SIZE.get(at + 1)?;
    let next = most + (1 << 30);
    let is_near = size as f64 >= (1.0 - STEP_NEAR) * next as f64;
    (is_near && *more > iops && most < 2 << 40).then_some(next)
}

fn tempdb_names(capture: &Capture) -> Vec<Outcome> {
    if capture.tempdb().next().is_none() {
        return vec![tempdb_missing(capture)];
    }
    let bad: Vec<&File> = capture
        .tempdb()
        .filter(|file| file.name.chars().count() > NAME_MAX || file.name.contains(' '))
        .collect();
    if bad.is_empty() {
        return vec![Outcome::fine("every name has at most 16 letters")];
    }
    let finding = |file: &File| {
        let letters = file.name.chars().count();
        let message = format!("\"{}\" has {letters} letters or a space", file.name);
        Finding::new(Severity::Medium, message)
            .with("letters", letters)
            .at([place(capture, file)])
            .remedy("add a file with a shorter name and remove this one")
    };
    bad.into_iter().map(finding).collect()
}

fn tempdb_file_count(capture: &Capture) -> Vec<Outcome> {
    let files = tempdb_data(capture);
    if files.is_empty() {
        return vec![tempdb_missing(capture)];
    }
    let Some(processors) = capture.machine.processors else {
        return vec![machine_missing(capture, "the number of processors")];
    };
    let wanted = usize::try_from(processors)
        .unwrap_or(0)
        .clamp(1, FILES_START);
    let have = format!(
        "{}, {TEMPDB_FILES} by default",
        count(files.len(), "data file")
    );
    if files.len() >= wanted {
        return vec![Outcome::fine(have)];
    }
    let message = format!("tempdb has {have}, for {processors} processors");
    vec![
        Finding::new(Severity::Low, message)
            .with("data files", files.len())
            .with("processors", processors)
            .at(places(capture, files))
            .remedy("add files (ALTER DATABASE tempdb ADD FILE (NAME = ..)); they keep their number after failovers, and fill evenly from the next one on"),
    ]
}

/// The share of some files' wait time that governance added; `None`: no waits, or unknown.
fn governed_share(capture: &Capture, of: impl Fn(&crate::capture::FileIo) -> bool) -> Option<f64> {
    let mut waited = 0.0;
    let mut governed = 0.0;
    for io in capture.file_io.iter().filter(|io| of(io)) {
        waited += io.read_stall_ms as f64 + io.write_stall_ms as f64;
        governed += io.read_governed_ms as f64 + io.write_governed_ms as f64;
    }
    (waited > 0.0).then(|| governed / waited)
}

fn governed(capture: &Capture) -> Vec<Outcome> {
    let Some(share) = governed_share(capture, |_| true) else {
        return vec![super::locations::missing(
            capture,
            &question::FILE_IO,
            "what the files did",
            "capture again as a login that may read sys.dm_io_virtual_file_stats",
        )];
    };
    if share < GOVERNED_MAX {
        return vec![Outcome::fine(format!(
            "{} of the files' waiting",
            percent(share)
        ))];
    }
    let message = format!(
        "{} of the time that files took was governance",
        percent(share)
    );
    vec![
        Finding::new(Severity::Medium, message)
            .with("share of the waiting", percent(share))
            .with("since", &capture.machine.started)
            .remedy("a larger service objective, or on a managed instance larger files: the disks behind it are not the limit"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_files_size_is_its_speed() {
        // Microsoft's table of 2022-06: the upper end of each class belongs to it.
        let gib = 1_i64 << 30;
        let speeds = [1, 128, 129, 512, 1024, 3000, 5000].map(|size| speed(size * gib));
        assert_eq!(
            speeds,
            [
                (500, 100),
                (500, 100),
                (2300, 150),
                (2300, 150),
                (5000, 200),
                (7500, 250),
                (12_500, 250)
            ]
        );
    }
}
