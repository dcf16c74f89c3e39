//! What a commit waits for, and how files are written.

use rules::{Finding, Outcome, Severity};

use super::known::{at, data, is_on_zfs, variable_missing};
use super::sources::{
    MARIADB_DIRECT, MARIADB_FLUSH_METHOD, MARIADB_GROUP_COMMIT, MARIADB_VARIABLES, MYSQL_DISK,
};
use super::{Applies, Rule};
use crate::capture::Capture;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "commits-not-durable",
        title: "a crash can lose transactions that were committed",
        severity: Severity::Note,
        why: "note: it is a documented trade of safety for speed, and sometimes meant",
        says: "innodb_flush_log_at_trx_commit is 1 (or 3), and with a binary log sync_binlog is 1. MariaDB's default for \
               sync_binlog is 0.",
        sources: &[MARIADB_GROUP_COMMIT, MARIADB_VARIABLES],
        applies: Applies::BOTH,
        judge: durable,
    },
    Rule {
        id: "innodb-flush-method",
        title: "InnoDB's files pass through the page cache, or are not flushed",
        severity: Severity::High,
        why: "high where nothing is flushed (nosync, littlesync); low where data is cached twice and memory is lost to it",
        says: "innodb_flush_method is O_DIRECT or O_DIRECT_NO_FSYNC; from MariaDB 11.0 on innodb_data_file_buffering is OFF. \
               Exempt: ZFS, which caches in any case.",
        sources: &[MARIADB_FLUSH_METHOD, MARIADB_DIRECT, MYSQL_DISK],
        applies: Applies::BOTH,
        judge: flush_method,
    },
];

fn durable(capture: &Capture) -> Vec<Outcome> {
    let Some(flush) = capture.number("innodb_flush_log_at_trx_commit") else {
        return vec![variable_missing("innodb_flush_log_at_trx_commit")];
    };
    let mut outcomes = Vec::new();
    if !matches!(flush, 1 | 3) {
        outcomes.push(
            Finding::new(
                Severity::Note,
                "a commit does not wait until the redo log is on disk",
            )
            .with("innodb_flush_log_at_trx_commit", flush)
            .remedy(
                "set it to 1, or accept that a crash of the machine loses about the last second",
            ),
        );
    }
    if capture.switch("log_bin") == Some(true) {
        match capture.number("sync_binlog") {
            None => outcomes.push(variable_missing("sync_binlog")),
            Some(1) => {}
            Some(sync) => outcomes.push(
                Finding::new(
                    Severity::Note,
                    "a commit does not wait until the binary log is on disk",
                )
                .with("sync_binlog", sync)
                .remedy(
                    "set it to 1, or accept that after a crash of the machine replicas and a restore to a point in time \
                     differ from the data",
                ),
            ),
        }
    }
    if outcomes.is_empty() {
        outcomes.push(Outcome::fine("commits wait for the disk"));
    }
    outcomes
}

fn flush_method(capture: &Capture) -> Vec<Outcome> {
    let method = capture.variable("innodb_flush_method");
    let buffered = capture.switch("innodb_data_file_buffering");
    // The variables decide without it.
    let path = data(capture).unwrap_or_default();
    let shown = |finding: Finding| {
        let finding = match method {
            Some(method) => finding.with("innodb_flush_method", method),
            None => finding,
        };
        match buffered {
            Some(on) => finding.with("innodb_data_file_buffering", if on { "ON" } else { "OFF" }),
            None => finding,
        }
    };
    if let Some(method @ ("nosync" | "littlesync")) = method {
        let message = format!(
            "with {method}, data files are not flushed: a crash of the machine can destroy them"
        );
        let finding = shown(Finding::new(Severity::High, message));
        return vec![finding.remedy("set innodb_flush_method to O_DIRECT, and restart")];
    }
    // If both exist, the newer one applies.
    let direct = match (buffered, method) {
        (Some(buffered), _) => !buffered,
        // The latter is for Windows.
        (None, Some(method)) => method.starts_with("O_DIRECT") || method.ends_with("unbuffered"),
        (None, None) => return vec![variable_missing("innodb_flush_method")],
    };
    if direct {
        return vec![Outcome::fine("data files bypass the page cache")];
    }
    if is_on_zfs(capture, &path) {
        let why = "the data is on ZFS, whose cache direct I/O does not bypass in every release";
        return vec![Outcome::exempt("zfs", why)];
    }
    let remedy = match buffered {
        Some(_) => "set innodb_data_file_buffering to OFF",
        None => {
            "set innodb_flush_method to O_DIRECT and restart; give the buffer pool the memory that this frees"
        }
    };
    let finding = Finding::new(
        Severity::Low,
        "data files pass through the page cache, which keeps a second copy of what the buffer pool has",
    );
    let finding = shown(finding).at((!path.is_empty()).then(|| at(capture, &path)));
    vec![finding.remedy(remedy)]
}
