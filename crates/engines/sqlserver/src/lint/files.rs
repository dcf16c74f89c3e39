//! Files of any database: their growth and maximum size.

use std::collections::BTreeMap;

use crate::capture::{Capture, File, FileKind, Growth, instant_file_initialization};
use crate::tsql::question;

use super::locations::{is_user, place, places, user_files};
use super::sources::{DBATOOLS_LOG_MAXIMUM, IFI, LOG_SIZE, RULESET};
use super::{Applies, Rule};
use rules::shown::{bytes, count, list, total};
use rules::{Finding, Outcome, Severity};

/// Longest step that is not a finding: 1,048,576 KB.
const STEP_MAX: i64 = 1 << 30;
/// Default maximum size of a log: 268,435,456 pages.
const LOG_MAXIMUM_DEFAULT: i64 = 268_435_456 * 8192;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "growth-step-large",
        title: "a file grows by more than 1 GiB at once",
        severity: Severity::Medium,
        why: "medium, as in Microsoft's ruleset: sessions wait while the new part is zeroed",
        says: "No step is larger than 1 GiB. Data files are exempt where instant file initialization is on; \
               logs never are: from 2022 on theirs is instant up to 64 MB only.",
        sources: &[RULESET, LOG_SIZE, IFI],
        applies: Applies::BOXED,
        judge: step_large,
    },
    Rule {
        id: "growth-percent",
        title: "a file grows by per cent",
        severity: Severity::Low,
        why: "low, as in Microsoft's ruleset",
        says: "Files of users' databases grow by a fixed amount: per cent of a large file is a long wait. tempdb has a rule of its own.",
        sources: &[RULESET, LOG_SIZE],
        applies: Applies::BOXED,
        judge: growth_percent,
    },
    Rule {
        id: "growth-off",
        title: "a database cannot grow",
        severity: Severity::Low,
        why: "low: it may be meant, and then it is watched; writes fail when the files are full. Note for tempdb, where filling a volume and not growing is a known choice",
        says: "Of the data files and of the logs of each database, one at least may grow.",
        sources: &[LOG_SIZE],
        applies: Applies::BOXED,
        judge: growth_off,
    },
    Rule {
        id: "file-max-size",
        title: "a file has a largest size",
        severity: Severity::Note,
        why: "note: Microsoft's ruleset calls it information; it protects the other files on the volume",
        says: "Files without a limit of their own. A log's limit of 2 TiB is the default, and not a finding.",
        sources: &[RULESET, DBATOOLS_LOG_MAXIMUM],
        applies: Applies::BOXED,
        judge: max_size,
    },
    Rule {
        id: "log-several-files",
        title: "a database has several logs",
        severity: Severity::Low,
        why: "low: a log is written in one file at a time, so the second one brings no speed",
        says: "One log file for each database; a second one is for a volume that is full.",
        sources: &[LOG_SIZE],
        applies: Applies::BOXED,
        judge: |capture| {
            several_logs(
                capture,
                "remove all but one when they are empty; spread one log over disks by striping its volume",
            )
        },
    },
];

/// `by 64 MiB`, `by 10 %`, `not at all`.
pub(super) fn growth_shown(growth: Growth) -> String {
    match growth {
        Growth::None => "not at all".to_owned(),
        Growth::Bytes(step) => format!("by {}", bytes(step)),
        Growth::Percent(percent) => format!("by {percent} %"),
    }
}

/// The next growth step of a file; 0 if it does not grow, or has reached its maximum.
pub(super) fn next_step(file: &File) -> i64 {
    let step = match file.growth {
        Growth::None => 0,
        Growth::Bytes(step) => step,
        // Parts first: 100 % of 16 TiB times 100 would still fit, but need not be relied on.
        Growth::Percent(percent) => (file.size_bytes / 100).saturating_mul(percent),
    };
    match file.max_bytes {
        Some(max) => step.min(max.saturating_sub(file.size_bytes).max(0)),
        None => step,
    }
}

pub(super) fn no_files(capture: &Capture) -> Outcome {
    super::locations::missing(
        capture,
        &question::FILES,
        "the files of the databases",
        "capture again as a login with VIEW ANY DEFINITION",
    )
}

fn step_large(capture: &Capture) -> Vec<Outcome> {
    if capture.files.is_empty() {
        return vec![no_files(capture)];
    }
    let instant = instant_file_initialization(&capture.services);
    let large = |file: &&File| matches!(file.growth, Growth::Bytes(step) if step > STEP_MAX);
    let (logs, data): (Vec<&File>, Vec<&File>) = capture
        .files
        .iter()
        .filter(large)
        .partition(|file| file.kind == FileKind::Log);
    let mut outcomes = Vec::new();
    if !logs.is_empty() {
        outcomes.push(large_steps(
            capture,
            &logs,
            "a log is always zeroed when it grows by so much",
        ));
    }
    if !data.is_empty() {
        outcomes.push(match instant {
            Some(true) => Outcome::exempt(
                "instant-file-initialization",
                format!(
                    "{} more than 1 GiB at once, which needs no zeroing here",
                    grow(data.len(), "data file")
                ),
            ),
            Some(false) => large_steps(
                capture,
                &data,
                "the new part is zeroed: instant file initialization is off",
            ),
            None => large_steps(
                capture,
                &data,
                "whether the new part is zeroed is not known: the capture does not tell of instant file initialization",
            ),
        });
    }
    if outcomes.is_empty() {
        outcomes.push(Outcome::fine("no step is larger than 1 GiB"));
    }
    outcomes
}

fn grow(number: usize, what: &str) -> String {
    let verb = if number == 1 { "grows by" } else { "grow by" };
    format!("{} {verb}", count(number, what))
}

fn large_steps(capture: &Capture, files: &[&File], because: &str) -> Outcome {
    let message = format!(
        "{} more than 1 GiB at once; {because}",
        grow(files.len(), "file")
    );
    let mut finding =
        Finding::new(Severity::Medium, message).at(places(capture, files.iter().copied()));
    for file in files {
        finding = finding.with(full_name(capture, file), growth_shown(file.growth));
    }
    finding.remedy("make the step 1 GiB or less, and the file large enough beforehand")
}

fn full_name(capture: &Capture, file: &File) -> String {
    format!("{}.{}", capture.database(file.database_id), file.name)
}

fn growth_percent(capture: &Capture) -> Vec<Outcome> {
    if capture.files.is_empty() {
        return vec![no_files(capture)];
    }
    let by_percent: Vec<&File> = user_files(capture)
        .filter(|file| matches!(file.growth, Growth::Percent(_)))
        .collect();
    if by_percent.is_empty() {
        return vec![Outcome::fine(
            "no file of a user's database grows by per cent",
        )];
    }
    let message = format!(
        "{} per cent of {} size",
        grow(by_percent.len(), "file"),
        if by_percent.len() == 1 {
            "its"
        } else {
            "their"
        }
    );
    let mut finding =
        Finding::new(Severity::Low, message).at(places(capture, by_percent.iter().copied()));
    for file in &by_percent {
        finding = finding.with(
            full_name(capture, file),
            format!(
                "{}, next {}",
                growth_shown(file.growth),
                bytes(next_step(file))
            ),
        );
    }
    vec![finding.remedy("give it a fixed amount (ALTER DATABASE .. MODIFY FILE .. FILEGROWTH)")]
}

fn growth_off(capture: &Capture) -> Vec<Outcome> {
    if capture.files.is_empty() {
        return vec![no_files(capture)];
    }
    let mut groups: BTreeMap<(i64, FileKind), Vec<&File>> = BTreeMap::new();
    for file in &capture.files {
        let grows_by_itself = matches!(file.kind, FileKind::Rows | FileKind::Log);
        if grows_by_itself && file.state == "ONLINE" {
            let key = (file.database_id, file.kind);
            groups.entry(key).or_default().push(file);
        }
    }
    let stuck = groups
        .into_iter()
        .filter(|(_, files)| files.iter().all(|file| file.growth == Growth::None));
    let mut outcomes: Vec<Outcome> = stuck
        .map(|((database, kind), files)| cannot_grow(capture, database, kind, &files))
        .collect();
    if outcomes.is_empty() {
        outcomes.push(Outcome::fine(
            "every database can grow, its data and its log",
        ));
    }
    outcomes
}

fn cannot_grow(capture: &Capture, database: i64, kind: FileKind, files: &[&File]) -> Outcome {
    let what = if kind == FileKind::Log {
        "log"
    } else {
        "data files"
    };
    let severity = if is_user(database) {
        Severity::Low
    } else {
        Severity::Note
    };
    let message = format!("the {what} of {} cannot grow", capture.database(database));
    Finding::new(severity, message)
        .with("size", bytes(total(files.iter().map(|file| file.size_bytes))))
        .at(files.iter().map(|file| place(capture, file)))
        .remedy("allow growth as a safety net, or watch how full it is; a full log stops all writes of its database")
}

fn max_size(capture: &Capture) -> Vec<Outcome> {
    if capture.files.is_empty() {
        return vec![no_files(capture)];
    }
    let is_default = |file: &File| {
        file.kind == FileKind::Log && file.max_bytes.is_some_and(|max| max >= LOG_MAXIMUM_DEFAULT)
    };
    let by_default = capture.files.iter().filter(|file| is_default(file)).count();
    let limited: Vec<&File> = capture
        .files
        .iter()
        .filter(|file| file.max_bytes.is_some() && !is_default(file))
        .collect();
    let mut outcomes = Vec::new();
    if by_default > 0 {
        outcomes.push(Outcome::exempt(
            "log-default-maximum",
            format!(
                "{} the default limit of a log, 2 TiB",
                match by_default {
                    1 => "1 log has".to_owned(),
                    more => format!("{more} logs have"),
                }
            ),
        ));
    }
    if limited.is_empty() {
        outcomes.push(Outcome::fine("no file has a limit that was set"));
        return outcomes;
    }
    let names: Vec<String> = limited
        .iter()
        .map(|file| full_name(capture, file))
        .collect();
    let verb = if limited.len() == 1 { "has" } else { "have" };
    let message = format!(
        "{} {verb} a largest size: {}",
        count(limited.len(), "file"),
        list(&names)
    );
    let mut finding =
        Finding::new(Severity::Note, message).at(places(capture, limited.iter().copied()));
    for file in &limited {
        finding = finding.with(
            full_name(capture, file),
            format!(
                "{}, at most {}",
                bytes(file.size_bytes),
                bytes(file.max_bytes.unwrap_or(0))
            ),
        );
    }
    outcomes.push(finding.remedy("nothing, if it is meant"));
    outcomes
}

/// Databases that have several logs, with their logs.
fn with_several_logs(capture: &Capture) -> Vec<(i64, Vec<&File>)> {
    let mut logs: BTreeMap<i64, Vec<&File>> = BTreeMap::new();
    for file in capture
        .files
        .iter()
        .filter(|file| file.kind == FileKind::Log)
    {
        logs.entry(file.database_id).or_default().push(file);
    }
    logs.into_iter()
        .filter(|(_, files)| files.len() > 1)
        .collect()
}

/// Databases that have several logs, as findings.
pub(super) fn several_logs(capture: &Capture, remedy: &str) -> Vec<Outcome> {
    if capture.files.is_empty() {
        return vec![no_files(capture)];
    }
    let several = with_several_logs(capture);
    if several.is_empty() {
        return vec![Outcome::fine("every database has one log")];
    }
    let finding = |(database, files): (i64, Vec<&File>)| {
        let name = capture.database(database);
        let message = format!("{name} has {}", count(files.len(), "log file"));
        Finding::new(Severity::Low, message)
            .with("log files", files.len())
            .at(places(capture, files))
            .remedy(remedy)
    };
    several.into_iter().map(finding).collect()
}
