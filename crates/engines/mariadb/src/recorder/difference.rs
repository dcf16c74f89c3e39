//! Computes an interval from two snapshots and the samples between them, or the reason why it is not possible. Pure.

use profile::{Interval, Io, Lost, Wait};
use reading::Role;

use super::host::has_undo;
use super::requests::Grown;
use super::snapshot::Snapshot;
use engine::recorder::{Host, Samples, add};

/// Maximum difference between two reported start times of the server, which have a resolution of a second.
const STARTED_APART_S: f64 = 2.0;

/// Transaction ids used by a writing transaction: one when it starts to write, one when it commits.
/// Source: 10,598 transactions of sysbench took 21,204 (MariaDB 10.11, 2026-11-25).
const NUMBERS_PER_COMMIT: f64 = 2.0;

/// Status variables that only grow, unless the server is restarted or they are reset.
const GROWING: [&str; 7] = [
    "innodb_data_reads",
    "innodb_data_written",
    "innodb_dblwr_writes",
    "innodb_log_writes",
    "innodb_pages_written",
    "questions",
    "uptime_since_flush_status",
];

/// What was counted from `before` to `after`.
///
/// # Errors
/// Why it cannot be determined.
pub(super) fn interval(
    before: &Snapshot,
    after: &Snapshot,
    samples: &Samples,
    host: Option<&Host>,
) -> Result<Interval, Lost> {
    let grown = comparable(before, after)?;
    let mut figures = Interval {
        operations: operations(&grown),
        commits: commits(&grown),
        logical_read_bytes: grown.logical_read_bytes(),
        roles: grown.roles(),
        ..after.taken.interval(&before.taken, samples)
    };
    if !after.server.counts.waits {
        // They are not visible, which does not mean that none exist.
        figures
            .waiting
            .retain(|wait, _| matches!(wait, Wait::Lock | Wait::Log));
    }
    if let Some((host, counted)) = host.zip(after.taken.of_host(&before.taken, host)?) {
        figures.processor = Some(counted.processor);
        for role in Role::ALL.into_iter().filter(|role| host.is_alone(*role)) {
            let mut io = Io::default();
            for (_, disk) in (counted.disks.iter()).filter(|(roles, _)| roles.contains(&role)) {
                add(&mut io, *disk);
            }
            figures.roles.insert(role, io);
        }
    }
    Ok(figures)
}

fn comparable<'a>(before: &'a Snapshot, after: &'a Snapshot) -> Result<Grown<'a>, Lost> {
    if (before.started_s() - after.started_s()).abs() > STARTED_APART_S {
        return Err(Lost::Restart);
    }
    after.taken.follows(&before.taken)?;
    let grown = Grown { before, after };
    let is_shrunk = |name: &&str| grown.status(name).is_some_and(|by| by < 0.0);
    let files = before.files.as_ref().zip(after.files.as_ref());
    let files_shrank = files.is_some_and(|(before, after)| {
        let mut kinds = after.growing().into_iter().zip(before.growing());
        kinds.any(|(after, before)| after.is_less(before))
    });
    if files_shrank || GROWING.iter().any(is_shrunk) {
        return Err(Lost::Reset);
    }
    Ok(grown)
}

/// Transactions if the server counts them, otherwise statements except our own, which are not transactions.
fn operations(grown: &Grown<'_>) -> Option<f64> {
    let transactions = grown.after.transactions.zip(grown.before.transactions);
    if let Some((after, before)) = transactions {
        return Some((after - before).max(0.0));
    }
    let own = grown.after.taken.own - grown.before.taken.own;
    let statements = grown.status("questions")?;
    Some((statements - own).max(0.0))
}

/// Writing transactions: those in the binary log, or else derived from the number of assigned ids.
fn commits(grown: &Grown<'_>) -> Option<f64> {
    if grown.after.server.is_on("log_bin") {
        let with_tables = grown.status("binlog_cache_use")?;
        return Some(with_tables + grown.status("binlog_stmt_cache_use").unwrap_or(0.0));
    }
    let numbers = grown.status("innodb_max_trx_id")?;
    Some((numbers / NUMBERS_PER_COMMIT).max(0.0))
}

/// Assumptions that a user of the figures must know.
pub(super) fn assumptions(first: &Snapshot, host: Option<&Host>) -> Vec<String> {
    let server = &first.server;
    let counts = server.counts;
    let mut known = Vec::new();
    let mut assume = |text: &str| known.push(text.to_owned());
    let is_alone = |role: Role| host.is_some_and(|host| host.is_alone(role));
    assume(
        "Requests are those of the server; of files that go through the operating system's cache, fewer reach the disk.",
    );
    if Role::ALL.into_iter().any(is_alone) {
        assume(
            "Roles with a disk of their own have that disk's requests: other programs' count too.",
        );
    }
    if !counts.files {
        assume(
            "performance_schema does not count requests to files: data includes undo; temp and binlog are missing.",
        );
    } else if server.is_mariadb() && !is_alone(Role::Temp) {
        assume(
            "MariaDB does not count sorts that spill, nor writes of its temporary tables in Aria: temp is a lower bound.",
        );
    }
    if counts.files && !counts.times {
        assume("Requests to files are not timed by the server: latencies were not recorded.");
    }
    assume("Bytes of logs are those that were written, and a page of 4 KiB more for each write.");
    assume("Writes of data are made in the background: the server does not know their latency.");
    if !has_undo(server) {
        assume("Undo records are in the system tablespace: they count as data.");
    }
    if !counts.transactions {
        assume("Operations are statements: the server does not count transactions.");
    }
    match (
        server.is_on("log_bin"),
        first.status.contains_key("innodb_max_trx_id"),
    ) {
        (true, _) => {}
        (false, true) => assume(
            "Commits are half of the transaction numbers that InnoDB gave out: it takes two for a change.",
        ),
        (false, false) => assume("Commits were not counted: the server has no binary log."),
    }
    if !counts.waits {
        assume(
            "Waits for reads and writes are not shown by the server: only those for locks and commits were seen.",
        );
    }
    known
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use engine::recorder::Taken;
    use model::Duration;

    use super::*;
    use crate::recorder::files::{Counted, Sums};
    use crate::recorder::snapshot::{Counts, Facts};

    /// A snapshot `at_s` seconds into the recording.
    fn snapshot(at_s: u64, status: &[(&str, f64)]) -> Snapshot {
        let variables = [
            ("log_bin", "ON"),
            ("innodb_doublewrite", "ON"),
            ("innodb_undo_tablespaces", "3"),
            ("innodb_page_size", "16384"),
        ];
        let server = Facts {
            version: "10.11.19-MariaDB".to_owned(),
            variables: variables
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            counts: Counts {
                times: true,
                ..Counts::default()
            },
        };
        let uptime = ("uptime", 1000.0 + at_s as f64);
        let status = status.iter().chain([&uptime]);
        Snapshot {
            taken: Taken {
                at: Duration::from_secs(at_s),
                server_time_s: 5000.0 + at_s as f64,
                ..Taken::default()
            },
            server: Arc::new(server),
            status: status
                .map(|(name, value)| ((*name).to_owned(), *value))
                .collect(),
            ..Snapshot::default()
        }
    }

    fn between(before: &Snapshot, after: &Snapshot) -> Result<Interval, Lost> {
        interval(before, after, &Samples::default(), None)
    }

    #[test]
    fn an_interval_that_cannot_be_known_has_its_reason() {
        let before = snapshot(0, &[("questions", 100.0)]);
        let after = snapshot(10, &[("questions", 300.0)]);
        assert_eq!(
            between(&before, &after).map(|it| it.operations),
            Ok(Some(200.0))
        );
        let fewer = snapshot(10, &[("questions", 30.0)]);
        assert_eq!(between(&before, &fewer), Err(Lost::Reset));
        let mut restarted = after.clone();
        restarted.status.insert("uptime".to_owned(), 4.0);
        assert_eq!(between(&before, &restarted), Err(Lost::Restart));
        let mut again = after.clone();
        again.taken.connection = 1;
        assert_eq!(between(&before, &again), Err(Lost::Gap));
        // The clock was set: the start appears to have changed, too.
        let mut set = after.clone();
        set.taken.server_time_s += 60.0;
        set.status.insert("uptime".to_owned(), 1070.0);
        assert_eq!(between(&before, &set), Err(Lost::Clock));
        let mut files = after;
        files.files = Some(Counted::default());
        let mut more = before;
        more.files = Some(Counted {
            binlog: Sums([1.0; 8]),
            ..Counted::default()
        });
        assert_eq!(between(&more, &files), Err(Lost::Reset));
    }

    #[test]
    fn what_is_written_counts_for_its_role() {
        let status = [
            ("questions", 0.0),
            ("innodb_dblwr_writes", 0.0),
            ("innodb_dblwr_pages_written", 0.0),
            ("innodb_log_writes", 0.0),
            ("innodb_os_log_written", 0.0),
            ("innodb_data_fsyncs", 0.0),
            ("innodb_buffer_pool_read_ahead", 0.0),
            ("binlog_cache_use", 0.0),
        ];
        let mut before = snapshot(0, &status);
        before.files = Some(Counted::default());
        let grown = [500.0, 2.0, 60.0, 40.0, 9000.0, 50.0, 20.0, 40.0];
        let status: Vec<(&str, f64)> = status
            .iter()
            .zip(grown)
            .map(|((name, _), value)| (*name, value))
            .collect();
        let mut after = snapshot(10, &status);
        let page = 16384.0;
        after.files = Some(Counted {
            // 100 reads of 1 ms, 20 of them ahead and without time: 80 ms. 102 writes, and 10 flushes.
            data: Sums([
                100.0,
                100.0 * page,
                8e10,
                102.0,
                160.0 * page,
                9e9,
                10.0,
                2e10,
            ]),
            undo: Sums([0.0, 0.0, 0.0, 5.0, 5.0 * page, 0.0, 1.0, 0.0]),
            binlog: Sums([0.0, 0.0, 0.0, 40.0, 4000.0, 1e9, 30.0, 3e10]),
            ..Counted::default()
        });
        let interval = between(&before, &after).expect("comparable");
        assert_eq!(interval.commits, Some(40.0));
        let of = |role: Role| interval.roles[&role];
        let (data, undo) = (of(Role::Data), of(Role::Undo));
        // 102 writes less 5 of undo and 2 of copies, which are 60 pages.
        assert_eq!(data.writes.count, Some(95.0));
        assert_eq!(data.writes.bytes, Some(95.0 * page));
        assert_eq!(undo.writes.bytes, Some(5.0 * page));
        // 80 reads took 80 ms, so 100 would have taken 100 ms.
        assert_eq!(data.reads.waited, Some(Duration::from_millis(100)));
        assert_eq!(data.writes.waited, None);
        assert_eq!(of(Role::Doublewrite).writes.bytes, Some(60.0 * page));
        // 50 flushes of InnoDB, 10 of them of data files. A write adds a page of 4 KiB.
        let log = of(Role::Log);
        assert_eq!(
            (log.writes.count, log.flushes.count),
            (Some(40.0), Some(40.0))
        );
        assert_eq!(log.writes.bytes, Some(9000.0 + 40.0 * 4096.0));
        // 40 writes are flushed 30 times, and reach the disk as often.
        let binlog = of(Role::Binlog);
        assert_eq!(binlog.writes.count, Some(30.0));
        assert_eq!(binlog.writes.bytes, Some(4000.0 + 30.0 * 4096.0));
        assert_eq!(binlog.flushes.waited, Some(Duration::from_millis(30)));
        // No wait events: unobserved is not 0.
        assert_eq!(
            interval.waiting.keys().copied().collect::<Vec<_>>(),
            [Wait::Log, Wait::Lock]
        );
    }

    #[test]
    fn without_performance_schema_the_totals_of_innodb_are_left() {
        let names = [
            "innodb_data_reads",
            "innodb_data_read",
            "innodb_pages_written",
            "innodb_data_fsyncs",
            "innodb_log_writes",
            "innodb_os_log_written",
            "innodb_buffer_pool_read_requests",
        ];
        let before = snapshot(0, &names.map(|name| (name, 0.0)));
        let grown = [7.0, 7.0 * 16384.0, 3.0, 12.0, 10.0, 5000.0, 90.0];
        let mut pairs = names.map(|name| (name, 0.0));
        for (pair, value) in pairs.iter_mut().zip(grown) {
            pair.1 = value;
        }
        let interval = between(&before, &snapshot(10, &pairs)).expect("comparable");
        let data = interval.roles[&Role::Data];
        assert_eq!(data.reads.count, Some(7.0));
        assert_eq!(data.writes.bytes, Some(3.0 * 16384.0));
        assert_eq!(data.flushes.count, Some(2.0));
        assert_eq!(interval.logical_read_bytes, Some(90.0 * 16384.0));
        assert!(!interval.roles.contains_key(&Role::Binlog));
        assert!(!interval.roles.contains_key(&Role::Temp));
    }
}
