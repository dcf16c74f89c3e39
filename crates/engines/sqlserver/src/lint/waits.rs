//! Waits that show which remedy would help: more files, or another disk.

use crate::capture::Capture;
use crate::tsql::question;

use super::locations::missing;
use super::sources::{TEMPDB_CONTENTION, TRACE_FLAGS};
use super::{Applies, Rule};
use rules::{Change, Finding, Outcome, Severity};

/// Below this, waits for pages are not worth reporting. Our choice.
const WAIT_MIN_MS: i64 = 60_000;
/// From 2019 on the system tables of tempdb can be kept in memory.
const METADATA_IN_MEMORY: u32 = 15;

pub(super) const RULES: &[Rule] = &[Rule {
    id: "page-latch-waits",
    title: "sessions wait for pages: in memory, or for the disk",
    severity: Severity::Medium,
    why: "medium where latches of pages in memory lead: more files may help; note where reads lead: that is a matter of disks and memory",
    says: "PAGELATCH (a page in memory; on 2:n:1, 2:n:3 and the like allocation in tempdb) asks for more tempdb files; \
           PAGEIOLATCH (a page on its way from a disk) asks for a faster disk or more memory, and more files on the same volume \
           do nothing. The waits of the whole server do not say which database.",
    sources: &[TEMPDB_CONTENTION, TRACE_FLAGS],
    applies: Applies::BOXED,
    judge: latches,
}];

fn latches(capture: &Capture) -> Vec<Outcome> {
    if capture.waits.is_empty() {
        return vec![missing(
            capture,
            &question::WAITS,
            "what sessions waited for",
            "capture again as a login with VIEW SERVER STATE (2022 and later: VIEW SERVER PERFORMANCE STATE)",
        )];
    }
    let sum = |start: &str| -> i64 {
        let waits = capture.waits.iter();
        let matching = waits.filter(|wait| wait.kind.starts_with(start));
        matching.fold(0, |sum, wait| sum.saturating_add(wait.wait_ms))
    };
    // Shared latches are taken by readers of any page; those that change allocation pages are UP and EX.
    let changes = sum("PAGELATCH_UP").saturating_add(sum("PAGELATCH_EX"));
    let reads = sum("PAGEIOLATCH_");
    let with = |finding: Finding| {
        finding
            .with("PAGELATCH_UP and PAGELATCH_EX", seconds(changes))
            .with("PAGEIOLATCH", seconds(reads))
            .with("since", &capture.machine.started)
    };
    let outcome = if changes.max(reads) < WAIT_MIN_MS {
        Outcome::fine(format!(
            "{} for pages in memory and {} for reads since the start",
            seconds(changes),
            seconds(reads)
        ))
    } else if changes > reads {
        let in_memory = if capture.identity.major() >= METADATA_IN_MEMORY
            && capture.identity.tempdb_metadata_in_memory != Some(true)
        {
            "; on system tables of tempdb, keep those in memory instead (2019 and later)"
        } else {
            ""
        };
        with(Finding::new(
            Severity::Medium,
            "sessions wait more for pages in memory than for reads, which no disk makes shorter",
        ))
        .advises(Change::MoreTempFiles)
        .remedy(format!(
            "look at wait_resource in sys.dm_exec_requests while it happens; on 2:n:1, 2:n:2, 2:n:3 add tempdb files{in_memory}"
        ))
    } else {
        with(Finding::new(
            Severity::Note,
            "sessions wait more for reads than for pages in memory: more tempdb files on the same volume will not help",
        ))
        .remedy("compare faster or more disks, or more memory, with `dbstow run`")
    };
    vec![outcome]
}

fn seconds(ms: i64) -> String {
    match ms {
        ms if ms < 10_000 => format!("{:.1} s", ms as f64 / 1e3),
        ms if ms < 7_200_000 => format!("{} s", ms / 1000),
        ms => format!("{:.1} h", ms as f64 / 3.6e6),
    }
}
