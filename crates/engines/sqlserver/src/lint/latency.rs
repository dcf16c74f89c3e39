//! Published latency ladders: how slow is slow? They disagree by more than a hundredfold, so each is a rule that is disabled
//! unless selected by name, and its name is part of its outcome.

use crate::capture::{Capture, FileIo, FileKind, Product};
use crate::tsql::question;

use super::locations::{missing, place};
use super::profile::Profile;
use super::sources::{AZURE_ANALYSIS, DBATOOLS_SPEED, FILE_STATS, FRK, SLOW_IO};
use super::{Applies, Rule};
use rules::{Finding, Location, Outcome, Severity};

/// Below this many requests a mean of whole milliseconds is not meaningful. Our choice.
const REQUESTS_MIN: i64 = 1000;

/// A step of a ladder: mean latency threshold, the source's term, and our severity.
type Step = (f64, &'static str, Option<Severity>);

const MICROSOFT: &[Step] = &[
    (0.0, "excellent", None),
    (2.0, "very good", None),
    (6.0, "good", None),
    (16.0, "poor", Some(Severity::Low)),
    (100.0, "bad", Some(Severity::Medium)),
    (500.0, "deplorable", Some(Severity::High)),
];
const DBATOOLS: &[Step] = &[
    (0.0, "very good", None),
    (10.0, "ok", None),
    (20.0, "slow, needs attention", Some(Severity::Low)),
    (50.0, "serious I/O bottleneck", Some(Severity::High)),
];
const FIRST_RESPONDER_KIT: &[Step] = &[
    (0.0, "not slow", None),
    (100.0, "slow", Some(Severity::Medium)),
];
const AZURE: &[Step] = &[
    (0.0, "not slow", None),
    (500.0, "slow", Some(Severity::Medium)),
];

const fn ladder(profile: Profile) -> Applies {
    Applies {
        products: &[
            Product::Boxed,
            Product::ManagedInstance,
            Product::AzureDatabase,
        ],
        profile: Some(profile),
        ..Applies::BOXED
    }
}

const WHY: &str =
    "as far up as the ladder's own words; another ladder says otherwise of the same disk";

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "latency-microsoft",
        title: "files are slow by Microsoft's ladder",
        severity: Severity::High,
        why: WHY,
        says: "Mean latency of a file: below 2 ms excellent, to 5 very good, to 15 good, to 100 poor, to 500 bad, above deplorable. \
               The page itself calls the mean very approximate.",
        sources: &[SLOW_IO, FILE_STATS],
        applies: ladder(Profile::Microsoft),
        judge: |capture| climb(capture, MICROSOFT),
    },
    Rule {
        id: "latency-dbatools",
        title: "files are slow by dbatools' ladder",
        severity: Severity::High,
        why: WHY,
        says: "Mean latency of a file: below 10 ms very good, below 20 ok, below 50 slow, from 50 on a serious bottleneck.",
        sources: &[DBATOOLS_SPEED, FILE_STATS],
        applies: ladder(Profile::Dbatools),
        judge: |capture| climb(capture, DBATOOLS),
    },
    Rule {
        id: "latency-first-responder-kit",
        title: "files are slow by the First Responder Kit",
        severity: Severity::Medium,
        why: WHY,
        says: "Mean latency of a file from 100 ms on, and only where the waits matter.",
        sources: &[FRK, FILE_STATS],
        applies: ladder(Profile::FirstResponderKit),
        judge: |capture| climb(capture, FIRST_RESPONDER_KIT),
    },
    Rule {
        id: "latency-azure",
        title: "files are slow by Azure's I/O analysis",
        severity: Severity::Medium,
        why: WHY,
        says: "Latency above 500 ms over five minutes, which a mean since the start of the server can only hint at.",
        sources: &[AZURE_ANALYSIS, FILE_STATS],
        applies: ladder(Profile::Azure),
        judge: |capture| climb(capture, AZURE),
    },
];

fn climb(capture: &Capture, ladder: &[Step]) -> Vec<Outcome> {
    if capture.file_io.is_empty() {
        return vec![missing(
            capture,
            &question::FILE_IO,
            "what the files did",
            "capture again as a login with VIEW SERVER STATE (2022 and later: VIEW SERVER PERFORMANCE STATE)",
        )];
    }
    let mut outcomes = Vec::new();
    let (mut fine, mut few) = (0, 0);
    for io in &capture.file_io {
        if io.reads.saturating_add(io.writes) < REQUESTS_MIN {
            few += 1;
            continue;
        }
        match rated(capture, io, ladder) {
            Some(finding) => outcomes.push(finding),
            None => fine += 1,
        }
    }
    if fine > 0 {
        outcomes.push(Outcome::fine(format!(
            "{fine} of {} files",
            capture.file_io.len()
        )));
    }
    if few > 0 {
        outcomes.push(Outcome::cannot_tell(
            format!(
                "the latency of {few} of {} files, which had fewer than {REQUESTS_MIN} requests",
                capture.file_io.len()
            ),
            "capture again later",
        ));
    }
    outcomes
}

fn rated(capture: &Capture, io: &FileIo, ladder: &[Step]) -> Option<Outcome> {
    let kinds = [
        ("reads", io.reads, io.read_stall_ms),
        ("writes", io.writes, io.write_stall_ms),
    ];
    let mut worst: Option<(&str, f64, &str, Severity)> = None;
    for (what, requests, stall_ms) in kinds {
        if requests < REQUESTS_MIN {
            continue;
        }
        let mean = stall_ms as f64 / requests as f64;
        let step = ladder.iter().rev().find(|(from, _, _)| mean >= *from);
        if let Some((_, words, Some(severity))) = step
            && worst.is_none_or(|(_, worst, _, _)| mean > worst)
        {
            worst = Some((what, mean, words, *severity));
        }
    }
    let (what, mean, words, severity) = worst?;
    let file = capture
        .files
        .iter()
        .find(|file| file.database_id == io.database_id && file.id == io.file_id);
    let database = capture.database(io.database_id);
    let name = match file {
        Some(file) if file.kind == FileKind::Log => format!("{database}.{}, a log", file.name),
        Some(file) => format!("{database}.{}", file.name),
        None => format!("file {} of {database}", io.file_id),
    };
    let at = match file {
        Some(file) => place(capture, file),
        None => Location {
            database: Some(database),
            ..Location::default()
        },
    };
    Some(
        Finding::new(
            severity,
            format!("{what} of {name} took {mean:.0} ms on average: {words}"),
        )
        .with("reads", mean_of(io.reads, io.read_stall_ms))
        .with("writes", mean_of(io.writes, io.write_stall_ms))
        .with("since", &capture.machine.started)
        .at([at])
        .remedy("hold it against the disk's own limits and against another layout before against a ladder"),
    )
}

fn mean_of(requests: i64, stall_ms: i64) -> String {
    match requests {
        0 => "none".to_owned(),
        requests => format!(
            "{requests}, {:.0} ms each",
            stall_ms as f64 / requests as f64
        ),
    }
}
