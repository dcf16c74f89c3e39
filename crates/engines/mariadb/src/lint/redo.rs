//! The redo log: whether it is large enough for the write rate.

use rules::{Finding, Outcome, Severity, shown};

use super::known::{bytes, counter_missing, hours, variable_missing};
use super::sources::{MARIADB_VARIABLES, PERCONA_REDO};
use super::{Applies, Rule};
use crate::capture::Capture;

/// Hours of writes that it should hold: Percona's rule.
const HOURS: f64 = 1.0;
/// Below this many hours it is far too small. Our choice.
const HOURS_LOW: f64 = 0.25;
/// Checkpoint age, as a share of the maximum, from which flushing is urgent. Our choice: MariaDB 10.11 kept it at 87 % under
/// sysbench's oltp_write_only on a redo log of 16 MiB (`tests/captures`).
const AGE_MAX: f64 = 0.8;

pub(super) const RULES: &[Rule] = &[Rule {
    id: "redo-log-small",
    title: "the redo log is small for what is written",
    severity: Severity::Medium,
    why: "medium where pages are flushed in a hurry (checkpoint age above 80 % of its limit, or less than 15 min of writes, \
          ours); low below an hour",
    says: "The redo log holds an hour of writes at peak (Percona). The rate is the average since the server started, so peaks are \
           higher; some releases count the padding of blocks as well. A larger one makes recovery after a crash longer.",
    sources: &[PERCONA_REDO, MARIADB_VARIABLES],
    applies: Applies::BOTH,
    judge: small,
}];

/// Bytes of the redo log: one file, several, or the capacity of MySQL 8.0.30 and later, which may derive from the older
/// variables.
fn capacity(capture: &Capture) -> Option<u64> {
    let resized = capture.counter("Innodb_redo_log_capacity_resized");
    if let Some(capacity) = resized.or_else(|| capture.number("innodb_redo_log_capacity")) {
        return Some(capacity);
    }
    let files = capture.number("innodb_log_files_in_group").unwrap_or(1);
    Some(
        capture
            .number("innodb_log_file_size")?
            .saturating_mul(files),
    )
}

fn small(capture: &Capture) -> Vec<Outcome> {
    vec![judged(capture)]
}

fn judged(capture: &Capture) -> Outcome {
    let Some(capacity) = capacity(capture) else {
        return variable_missing("innodb_log_file_size or innodb_redo_log_capacity");
    };
    let age = capture.counter("Innodb_checkpoint_age");
    let age_max = capture.counter("Innodb_checkpoint_max_age");
    if let (Some(age), Some(max)) = (age, age_max)
        && age as f64 > AGE_MAX * max as f64
    {
        let share = shown::percent(age as f64 / max.max(1) as f64);
        let message = format!(
            "the checkpoint is at {share} of its largest age: pages are flushed in a hurry now"
        );
        return Finding::new(Severity::Medium, message)
            .with("redo log", bytes(capacity))
            .with("checkpoint age", bytes(age))
            .with("largest age", bytes(max))
            .remedy(REMEDY);
    }
    let hours = match hours(capture) {
        Ok(hours) => hours,
        Err(unknown) => return unknown,
    };
    let Some(written) = capture.counter("Innodb_os_log_written") else {
        return counter_missing("Innodb_os_log_written");
    };
    let per_hour = written as f64 / hours;
    if per_hour <= 0.0 {
        return Outcome::fine(format!("{}, and nothing is written", bytes(capacity)));
    }
    let holds = capacity as f64 / per_hour;
    let held = format!(
        "{} holds {} of writes at {} an hour",
        bytes(capacity),
        time(holds),
        bytes(per_hour as u64)
    );
    if holds >= HOURS {
        return Outcome::fine(held);
    }
    let severity = match holds < HOURS_LOW {
        true => Severity::Medium,
        false => Severity::Low,
    };
    Finding::new(severity, format!("a redo log of {held}"))
        .with("redo log", bytes(capacity))
        .with("written an hour", bytes(per_hour as u64))
        .with("average over", time(hours))
        .remedy(REMEDY)
}

const REMEDY: &str = "enlarge innodb_log_file_size (MariaDB, from 10.9 on without a restart) or innodb_redo_log_capacity (MySQL) \
                      to an hour of writes at peak";

/// `45 min`, `3.2 h`.
fn time(hours: f64) -> String {
    match hours < 1.5 {
        true => format!("{:.0} min", hours * 60.0),
        false => format!("{hours:.1} h"),
    }
}
