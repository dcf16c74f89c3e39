//! How many reads the buffer pool saves, and what the server counts.

use rules::{Finding, Outcome, Severity, shown};

use super::known::{bytes, counter_missing, hours, variable_missing};
use super::sources::{MARIADB_VARIABLES, MYSQL_DISK, MYSQLTUNER};
use super::{Applies, Rule};
use crate::capture::Capture;

/// Misses above which a buffer pool is small. MySQLTuner's.
const MISSES_MAX: f64 = 0.10;
/// Misses above which it may be. Our choice.
const MISSES_SOME: f64 = 0.01;
/// Reads per second below which misses do not matter. Our choice: what a hard disk serves.
const READS_MIN: f64 = 100.0;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "buffer-pool-small",
        title: "the buffer pool misses often enough to load the disks",
        severity: Severity::Medium,
        why: "medium above 10 % of misses, low above 1 % (ours): memory is cheaper than IOPS, if there is some to give",
        says: "Fewer than 10 % of page requests miss (MySQLTuner), or the misses are fewer than 100 reads a second (ours): a rate \
               alone says nothing of the disks. Averages since the server started.",
        sources: &[MYSQL_DISK, MYSQLTUNER],
        applies: Applies::BOTH,
        judge: pool,
    },
    Rule {
        id: "performance-schema-off",
        title: "the server does not say which file is slow",
        severity: Severity::Note,
        why: "note: it costs memory and some processor time, and MariaDB's default is off",
        says: "performance_schema is ON, so that reads, writes and waits are counted for each file and kind. Without it, these rules see \
               totals alone.",
        sources: &[MARIADB_VARIABLES],
        applies: Applies::BOTH,
        judge: schema,
    },
];

fn pool(capture: &Capture) -> Vec<Outcome> {
    vec![missing(capture).unwrap_or_else(|unknown| unknown)]
}

fn missing(capture: &Capture) -> Result<Outcome, Outcome> {
    let counted = |name: &str| capture.counter(name).ok_or_else(|| counter_missing(name));
    let reads = counted("Innodb_buffer_pool_reads")? as f64;
    let requests = counted("Innodb_buffer_pool_read_requests")? as f64;
    let size = capture.number("innodb_buffer_pool_size");
    let size = bytes(size.ok_or_else(|| variable_missing("innodb_buffer_pool_size"))?);
    let per_s = reads / (hours(capture)? * 3600.0);
    let misses = reads / requests.max(1.0);
    let found = format!(
        "{} of page requests miss a buffer pool of {size}, {per_s:.0} reads a second",
        shown::percent(misses)
    );
    if misses <= MISSES_SOME {
        return Ok(Outcome::fine(found));
    }
    if per_s < READS_MIN {
        return Ok(Outcome::exempt("few-reads", found));
    }
    let severity = match misses > MISSES_MAX {
        true => Severity::Medium,
        false => Severity::Low,
    };
    let finding = Finding::new(severity, found)
        .with("innodb_buffer_pool_size", size)
        .with("Innodb_buffer_pool_reads", reads)
        .with("Innodb_buffer_pool_read_requests", requests);
    let finding = match capture.counter("Innodb_buffer_pool_wait_free") {
        Some(waits) if waits > 0 => finding.with("Innodb_buffer_pool_wait_free", waits),
        Some(_) | None => finding,
    };
    Ok(finding.remedy(
        "enlarge innodb_buffer_pool_size if the machine has memory; else size the disks for these reads",
    ))
}

fn schema(capture: &Capture) -> Vec<Outcome> {
    let outcome = match capture.switch("performance_schema") {
        None => variable_missing("performance_schema"),
        Some(true) => Outcome::fine("performance_schema is on"),
        Some(false) => Finding::new(
            Severity::Note,
            "performance_schema is off: which file or wait is slow cannot be seen, here or by any other tool",
        )
        .with("performance_schema", "OFF")
        .remedy("set performance_schema to ON and restart, at least while you look for a cause"),
    };
    vec![outcome]
}
