//! The binary log: its device, and whether it expires.

use rules::{Change, Finding, Outcome, Severity};

use super::known::{at, share, variable_missing, volumes_missing};
use super::sources::{MARIADB_BINLOG, MARIADB_GROUP_COMMIT, MYSQL_DISK};
use super::{Applies, Rule};
use crate::capture::{Capture, Places};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "binlog-and-redo-together",
        title: "binary log and redo log share a device, and every commit waits for both",
        severity: Severity::Low,
        why: "low: group commit shares the flushes between sessions, and whether a second device pays depends on the disk",
        says: "With sync_binlog = 1 and innodb_flush_log_at_trx_commit = 1, binary log and redo log are on different devices \
               (ours; the sources give the number of flushes). Exempt: a commit does not wait for both.",
        sources: &[MARIADB_GROUP_COMMIT, MYSQL_DISK],
        applies: Applies::BOTH,
        judge: together,
    },
    Rule {
        id: "binlog-never-expires",
        title: "binary logs are never removed",
        severity: Severity::Medium,
        why: "medium where they fill the volume of the data, on which all writes then stop; low elsewhere",
        says: "binlog_expire_logs_seconds or expire_logs_days is above 0. Exempt: max_binlog_total_size limits them \
               (MariaDB 11.4 and later).",
        sources: &[MARIADB_BINLOG],
        applies: Applies::BOTH,
        judge: expiry,
    },
];

const NO_BINLOG: &str = "there is no binary log";

fn together(capture: &Capture) -> Vec<Outcome> {
    let outcome = match capture.switch("log_bin") {
        None => variable_missing("log_bin"),
        Some(false) => Outcome::fine(NO_BINLOG),
        Some(true) => shared(capture),
    };
    vec![outcome]
}

fn shared(capture: &Capture) -> Outcome {
    let flush = capture.number("innodb_flush_log_at_trx_commit");
    let sync = capture.number("sync_binlog");
    let (Some(flush), Some(sync)) = (flush, sync) else {
        return variable_missing("innodb_flush_log_at_trx_commit or sync_binlog");
    };
    if sync != 1 || !matches!(flush, 1 | 3) {
        let why = format!(
            "with sync_binlog = {sync} and innodb_flush_log_at_trx_commit = {flush}, a commit does not wait for both logs"
        );
        return Outcome::exempt("relaxed-commit", why);
    }
    let places = Places::of(capture);
    let (Some(binlog), Some(redo)) = (&places.binlog, &places.redo) else {
        return variable_missing("log_bin_basename or datadir");
    };
    match share(capture, binlog, redo) {
        None => volumes_missing("whether binary log and redo log share a device"),
        Some(false) => Outcome::fine("on different devices"),
        Some(true) => Finding::new(
            Severity::Low,
            "every commit flushes binary log and redo log, which share a device",
        )
        .advises(Change::BinlogApart)
        .with("sync_binlog", sync)
        .with("innodb_flush_log_at_trx_commit", flush)
        .at([at(capture, binlog)])
        .at((redo != binlog).then(|| at(capture, redo)))
        .remedy(
            "compare a layout with the binary log on a volume of its own (log_bin) before buying one: that takes a restart",
        ),
    }
}

fn expiry(capture: &Capture) -> Vec<Outcome> {
    if capture.switch("log_bin") == Some(false) {
        return vec![Outcome::fine(NO_BINLOG)];
    }
    let seconds = capture.number("binlog_expire_logs_seconds");
    // MariaDB has fractions of days.
    let days = capture.variable("expire_logs_days");
    let days: Option<f64> = days.and_then(|days| days.parse().ok());
    if seconds.is_none() && days.is_none() {
        return vec![variable_missing(
            "binlog_expire_logs_seconds or expire_logs_days",
        )];
    }
    if let Some(seconds) = seconds.filter(|seconds| *seconds > 0) {
        return vec![Outcome::fine(format!("removed after {seconds} s"))];
    }
    if let Some(days) = days.filter(|days| *days > 0.0) {
        return vec![Outcome::fine(format!("removed after {days} days"))];
    }
    if let Some(limit) = capture
        .number("max_binlog_total_size")
        .filter(|limit| *limit > 0)
    {
        let why = format!("max_binlog_total_size limits them to {limit} bytes");
        return vec![Outcome::exempt("total-size", why)];
    }
    let places = Places::of(capture);
    let (Some(binlog), Some(data)) = (&places.binlog, &places.data) else {
        return vec![variable_missing("log_bin_basename or datadir")];
    };
    // If unknown, the data may be there: the user must check for the worse case.
    let with_data = share(capture, binlog, data);
    let (severity, where_) = match with_data {
        Some(true) => (Severity::Medium, " and share a device with the data"),
        Some(false) => (Severity::Low, ", on a device of their own"),
        None => (Severity::Low, ""),
    };
    let message = format!("binary logs are kept until they are removed by hand{where_}");
    let finding = Finding::new(severity, message).with("binlog_expire_logs_seconds", 0);
    let finding = match capture.volume(binlog) {
        Some(volume) => finding.with("free", super::known::bytes(volume.available_bytes)),
        None => finding,
    };
    vec![finding.at([at(capture, binlog)]).remedy(
        "set binlog_expire_logs_seconds to as long as replicas and restores need them, or let a job purge them when they \
         are saved elsewhere",
    )]
}
