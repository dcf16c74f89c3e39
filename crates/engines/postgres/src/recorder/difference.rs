//! Computes an interval from two snapshots and the samples between them, or the reason why it is not possible. Pure.

use std::collections::BTreeMap;

use model::Duration;
use profile::{Interval, Io, Lost, Requests};
use reading::Role;

use super::host::{Host, HostCounters};
use engine::recorder::Samples;
use engine::recorder::disks::{self, millis};
use engine::row::Number as _;

/// How far the server's clock and ours may drift apart within an interval.
const CLOCK_APART_S: f64 = 1.5;

/// Page of the log, `XLOG_BLCKSZ`, in bytes.
const LOG_PAGE: f64 = 8192.0;

/// A server's state at an instant.
#[derive(Clone, Debug, Default)]
pub(super) struct Snapshot {
    /// Since the recording began, by our clock.
    pub(super) at: Duration,
    /// The server's clock.
    pub(super) server_time_s: f64,
    /// When the server was started, by its clock.
    pub(super) started_s: f64,
    /// Number of our connection that took it.
    pub(super) connection: u32,
    /// Number of our own transactions on it so far.
    pub(super) own: f64,
    /// `view.column`; for pg_stat_io `io.process|object|context|column`.
    pub(super) counters: BTreeMap<String, f64>,
    /// When statistics of a view were reset, in the server's format.
    pub(super) resets: BTreeMap<String, String>,
    pub(super) settings: BTreeMap<String, String>,
    /// Tablespaces and their directories; empty for those in the data directory.
    pub(super) tablespaces: BTreeMap<String, String>,
    /// Sessions, and when their state last changed.
    pub(super) sessions: BTreeMap<u32, f64>,
    /// Counters of this machine, if the server is on it.
    pub(super) host: Option<HostCounters>,
}

impl Snapshot {
    /// Adds one row of the result.
    pub(super) fn note(&mut self, view: &str, key: &str, value: &str) {
        let number = f64::of(value);
        match (view, number) {
            ("server", Some(number)) if key == "time" => self.server_time_s = number,
            ("server", Some(number)) if key == "started" => self.started_s = number,
            ("setting", _) => drop(self.settings.insert(key.to_owned(), value.to_owned())),
            ("tablespace", _) => drop(self.tablespaces.insert(key.to_owned(), value.to_owned())),
            ("session", Some(since)) => {
                if let Ok(process) = key.parse() {
                    self.sessions.insert(process, since);
                }
            }
            _ if key.ends_with("stats_reset") => {
                self.resets
                    .insert(format!("{view}.{key}"), value.to_owned());
            }
            // Not a counter: the size of an operation.
            (_, Some(number)) => drop(self.counters.insert(format!("{view}.{key}"), number)),
            (_, None) => {}
        }
    }

    fn is_on(&self, setting: &str) -> bool {
        self.settings
            .get(setting)
            .is_some_and(|value| value == "on")
    }

    /// Whether statistics were reset after `before` was taken.
    ///
    /// PostgreSQL up to 14 dates a database's statistics when the database is first used, which is not a reset.
    fn is_reset_since(&self, before: &Snapshot) -> bool {
        let dates_first_use = self
            .number("server_version_num")
            .is_some_and(|version| version < 150_000.0);
        self.resets.iter().any(|(name, date)| {
            let earlier = before.resets.get(name);
            let is_first_use =
                earlier.is_none() && dates_first_use && name.starts_with("database.");
            earlier != Some(date) && !is_first_use
        })
    }

    /// A setting that is a number.
    fn number(&self, setting: &str) -> Option<f64> {
        f64::of(self.settings.get(setting)?)
    }

    fn block(&self) -> f64 {
        self.number("block_size").unwrap_or(8192.0)
    }
}

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
    let seen = after.sessions.iter();
    let changed = seen.filter(|(_, since)| **since >= before.server_time_s);
    let ended = grown.of("database.xact_commit").unwrap_or(0.0)
        + grown.of("database.xact_rollback").unwrap_or(0.0);
    let mut figures = Interval {
        operations: Some((ended - (after.own - before.own)).max(0.0)),
        ..samples.interval(changed.map(|(process, _)| *process))
    };
    let log = log(&grown, after.is_on("track_wal_io_timing"));
    match host {
        None => figures.roles = of_server(&grown, log),
        Some(host) => {
            let (Some(from), Some(until)) = (&before.host, &after.host) else {
                return Err(Lost::Gap);
            };
            // When an ended process is reaped, its time disappears.
            if until.processor < from.processor {
                return Err(Lost::Reset);
            }
            figures.processor = Some(until.processor.saturating_sub(from.processor));
            figures.roles = of_host(host, from, until, log)?;
        }
    }
    Ok(figures)
}

/// Assumptions that a user of the figures must know.
pub(super) fn assumptions(first: &Snapshot, host: Option<&Host>) -> Vec<String> {
    let mut known = Vec::new();
    let mut assume = |text: &str| known.push(text.to_owned());
    if !first
        .counters
        .keys()
        .any(|name| name.ends_with("|wal|normal|write_bytes"))
    {
        assume(
            "Bytes of the log are those of its records, and a page more for each write, which is of whole pages.",
        );
    }
    match host {
        Some(host) => {
            assume("Requests are those of whole disks: other programs' count too.");
            if host
                .disks
                .iter()
                .any(|roles| roles.len() > 1 && roles.contains(&Role::Log))
            {
                assume(
                    "The log shares a disk: the server's log writes and flushes are taken off the disk's, at its mean \
                     latency.",
                );
                if !first.is_on("track_wal_io_timing") {
                    assume("track_wal_io_timing is off: the log's own latency was not recorded.");
                }
            }
            if host
                .disks
                .iter()
                .any(|roles| roles.contains(&Role::Data) && roles.contains(&Role::Temp))
            {
                assume("Temporary files share a disk with data: their requests count as data.");
            }
        }
        None => {
            if !first.is_on("track_io_timing") {
                assume(
                    "track_io_timing is off: times of reads and writes of data were not recorded.",
                );
            }
            if !first.is_on("track_wal_io_timing") {
                assume("track_wal_io_timing is off: times of the log were not recorded.");
            }
            assume(
                "Spilled sorts and hashes are in no view of the server: they are missing; temporary tables count as data.",
            );
            assume("Processor time of a server that is not seen here was not recorded.");
        }
    }
    known
}

/// How much counters grew.
struct Grown<'a> {
    before: &'a Snapshot,
    after: &'a Snapshot,
}

fn comparable<'a>(before: &'a Snapshot, after: &'a Snapshot) -> Result<Grown<'a>, Lost> {
    // Both are from one server, so a different value means a restart.
    if (before.started_s - after.started_s).abs() > 1e-3 {
        return Err(Lost::Restart);
    }
    if before.connection != after.connection {
        return Err(Lost::Gap);
    }
    let own = (after.at.saturating_sub(before.at)).as_secs_f64();
    if (after.server_time_s - before.server_time_s - own).abs() > CLOCK_APART_S {
        return Err(Lost::Clock);
    }
    let is_shrunk = |(name, value): (&String, &f64)| {
        let is_counter = !name.ends_with("op_bytes");
        let later = after.counters.get(name);
        is_counter && later.is_some_and(|later| later < value)
    };
    if after.is_reset_since(before) || before.counters.iter().any(is_shrunk) {
        return Err(Lost::Reset);
    }
    Ok(Grown { before, after })
}

impl Grown<'_> {
    /// `None` if the server does not count it.
    fn of(&self, name: &str) -> Option<f64> {
        let (before, after) = (
            self.before.counters.get(name)?,
            self.after.counters.get(name)?,
        );
        Some(after - before)
    }

    /// The sum over rows of pg_stat_io that are `wanted` by process, object and context; `None` without such a row.
    fn io(&self, column: &str, wanted: impl Fn(&str, &str, &str) -> bool) -> Option<f64> {
        let mut sum = None;
        for (name, after) in &self.after.counters {
            let Some(row) = name.strip_prefix("io.") else {
                continue;
            };
            let parts: Vec<&str> = row.split('|').collect();
            if let [process, object, context, of] = parts.as_slice()
                && *of == column
                && wanted(process, object, context)
            {
                // A new row started at 0.
                let before = self.before.counters.get(name).copied().unwrap_or(0.0);
                *sum.get_or_insert(0.0) += after - before;
            }
        }
        sum
    }
}

fn log(grown: &Grown, is_timed: bool) -> Io {
    let wal = |_: &str, object: &str, context: &str| object == "wal" && context == "normal";
    let count = grown
        .of("wal.wal_write")
        .or_else(|| grown.io("writes", wal));
    let records = grown
        .of("wal.wal_bytes")
        .or_else(|| grown.of("server.wal_lsn"));
    // A write is whole pages: half of one more at each end, on average.
    let bytes = records.map(|bytes| bytes + count.unwrap_or(0.0) * LOG_PAGE);
    let time = |ms: Option<f64>| ms.filter(|_| is_timed).map(millis);
    Io {
        writes: Requests {
            count,
            bytes: grown.io("write_bytes", wal).or(bytes),
            waited: time(
                grown
                    .of("wal.wal_write_time")
                    .or_else(|| grown.io("write_time", wal)),
            ),
        },
        flushes: Requests {
            count: grown.of("wal.wal_sync").or_else(|| grown.io("fsyncs", wal)),
            bytes: None,
            waited: time(
                grown
                    .of("wal.wal_sync_time")
                    .or_else(|| grown.io("fsync_time", wal)),
            ),
        },
        ..Io::default()
    }
}

/// Requests as counted by the server.
fn of_server(grown: &Grown, log: Io) -> BTreeMap<Role, Io> {
    let block = grown.after.block();
    let is_timed = grown.after.is_on("track_io_timing");
    let time = |ms: Option<f64>| ms.filter(|_| is_timed).map(millis);
    let data = |_: &str, object: &str, _: &str| object != "wal";
    let own = |process: &str, object: &str, _: &str| {
        object != "wal" && matches!(process, "client backend" | "parallel worker")
    };
    let both =
        |a: &str, b: &str, of: &dyn Fn(&str) -> Option<f64>| Some(of(a)? + of(b).unwrap_or(0.0));
    let io = match grown.io("reads", data) {
        Some(reads) => {
            let sum = |column: &str| grown.io(column, data);
            let writes = both("writes", "extends", &sum);
            let blocks = |count: Option<f64>| count.map(|count| count * block);
            Io {
                reads: Requests {
                    count: Some(reads),
                    bytes: sum("read_bytes").or(Some(reads * block)),
                    waited: time(sum("read_time")),
                },
                writes: Requests {
                    count: writes,
                    bytes: both("write_bytes", "extend_bytes", &sum).or(blocks(writes)),
                    waited: time(both("write_time", "extend_time", &sum)),
                },
                flushes: Requests {
                    count: sum("fsyncs"),
                    bytes: None,
                    waited: time(sum("fsync_time")),
                },
                session_writes: both("writes", "extends", &|column: &str| grown.io(column, own)),
            }
        }
        None => {
            let reads = grown.of("database.blks_read");
            let columns = ["buffers_checkpoint", "buffers_clean", "buffers_backend"];
            let writes = columns
                .iter()
                .map(|column| grown.of(&format!("bgwriter.{column}")))
                .sum::<Option<f64>>();
            Io {
                reads: Requests {
                    count: reads,
                    bytes: reads.map(|reads| reads * block),
                    waited: time(grown.of("database.blk_read_time")),
                },
                writes: Requests {
                    count: writes,
                    bytes: writes.map(|writes| writes * block),
                    waited: None,
                },
                session_writes: grown.of("bgwriter.buffers_backend"),
                ..Io::default()
            }
        }
    };
    BTreeMap::from([(Role::Data, io), (Role::Log, log)])
}

/// Requests of the disks; if the log shares one, the server's counts of the log are subtracted.
fn of_host(
    host: &Host,
    from: &HostCounters,
    until: &HostCounters,
    log: Io,
) -> Result<BTreeMap<Role, Io>, Lost> {
    let mut roles: BTreeMap<Role, Io> = BTreeMap::new();
    for (on, (before, after)) in host.disks.iter().zip(from.disks.iter().zip(&until.disks)) {
        let disk = disks::difference(before, after).ok_or(Lost::Reset)?;
        let mut disk = disk.without_flushes_among_writes();
        let role = [Role::Data, Role::Temp, Role::Log]
            .into_iter()
            .find(|role| on.contains(role));
        let role = role.unwrap_or(Role::Data);
        if on.contains(&Role::Log) && role != Role::Log {
            add(roles.entry(Role::Log).or_default(), taken(&mut disk, log));
        }
        add(roles.entry(role).or_default(), disk);
    }
    Ok(roles)
}

/// Subtracts the log's requests from the disk's. The log's latency is the one timed by the server, or unknown: the disk's is
/// mostly that of other writes.
fn taken(disk: &mut Io, log: Io) -> Io {
    let flushes = take(&mut disk.flushes, log.flushes);
    // Linux writes the log's pages when the log is flushed.
    let timed = log.writes.waited.zip(log.flushes.waited);
    let timed = timed.map(|(writing, flushing)| {
        let both = writing + flushing;
        both.saturating_sub(flushes.waited.unwrap_or_default())
    });
    let writes = take(&mut disk.writes, log.writes);
    Io {
        writes: Requests {
            waited: timed,
            ..writes
        },
        flushes,
        ..Io::default()
    }
}

/// Subtracts a part from requests, capped at their total; the part has their mean latency.
fn take(whole: &mut Requests, part: Requests) -> Requests {
    let least = |part: Option<f64>, whole: Option<f64>| {
        part.map(|part| whole.map_or(part, |whole| part.min(whole)))
    };
    let count = least(part.count, whole.count);
    let bytes = least(part.bytes, whole.bytes);
    let waited = match (count, whole.count, whole.waited) {
        (Some(count), Some(all), Some(waited)) if all > 0.0 => {
            Some(Duration::from_secs_f64(waited.as_secs_f64() * count / all))
        }
        (Some(_), Some(_), Some(_)) => Some(Duration::ZERO),
        _ => part.waited,
    };
    let left = |whole: Option<f64>, part: Option<f64>| {
        whole.map(|whole| (whole - part.unwrap_or(0.0)).max(0.0))
    };
    let taken = Requests {
        count,
        bytes,
        waited,
    };
    *whole = Requests {
        count: left(whole.count, count),
        bytes: left(whole.bytes, bytes),
        waited: whole
            .waited
            .map(|all| all.saturating_sub(waited.unwrap_or(Duration::ZERO))),
    };
    taken
}

fn add(to: &mut Io, more: Io) {
    profile::add(&mut to.reads, more.reads);
    profile::add(&mut to.writes, more.writes);
    profile::add(&mut to.flushes, more.flushes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use profile::Wait;
    use volume::plain::DiskCounters;

    /// A snapshot `at_s` seconds into the recording.
    fn snapshot(at_s: u64, rows: &[(&str, &str, &str)]) -> Snapshot {
        let mut snapshot = Snapshot {
            at: Duration::from_secs(at_s),
            server_time_s: 1000.0 + at_s as f64,
            started_s: 500.0,
            ..Snapshot::default()
        };
        for (view, key, value) in rows {
            snapshot.note(view, key, value);
        }
        snapshot
    }

    fn counted(before: &Snapshot, after: &Snapshot) -> Result<Interval, Lost> {
        interval(before, after, &Samples::default(), None)
    }

    #[test]
    fn a_restart_a_reset_a_lost_connection_and_a_set_clock_are_no_intervals() {
        let before = snapshot(0, &[("database", "xact_commit", "10")]);
        let after = snapshot(10, &[("database", "xact_commit", "30")]);
        assert_eq!(
            counted(&before, &after).expect("20 s").operations,
            Some(20.0)
        );

        let restarted = Snapshot {
            started_s: 700.0,
            ..after.clone()
        };
        assert_eq!(counted(&before, &restarted), Err(Lost::Restart));
        let reconnected = Snapshot {
            connection: 1,
            ..after.clone()
        };
        assert_eq!(counted(&before, &reconnected), Err(Lost::Gap));
        let set = Snapshot {
            server_time_s: 900.0,
            ..after.clone()
        };
        assert_eq!(counted(&before, &set), Err(Lost::Clock));
        let shrunk = snapshot(10, &[("database", "xact_commit", "9")]);
        assert_eq!(counted(&before, &shrunk), Err(Lost::Reset));
        // Larger than before, but reset anyway.
        let mut reset = after;
        reset.note("wal", "stats_reset", "2026-11-22T10:00:00+00:00");
        assert_eq!(counted(&before, &reset), Err(Lost::Reset));
    }

    #[test]
    fn a_database_s_first_use_is_no_reset_where_the_server_dates_it() {
        let rows = |version| {
            [
                ("database", "xact_commit", "10"),
                ("setting", "server_version_num", version),
            ]
        };
        let first_use = ("database", "16384.stats_reset", "2026-11-22T10:00:00+00:00");
        let interval_of = |version| {
            let before = snapshot(0, &rows(version));
            let after = snapshot(10, &[&rows(version)[..], &[first_use]].concat());
            (
                counted(&before, &after),
                counted(&after, &{
                    let mut again = after.clone();
                    again.note(first_use.0, first_use.1, "2026-11-22T10:00:05+00:00");
                    again
                }),
            )
        };
        let (used, reset) = interval_of("140012");
        assert_ne!(used, Err(Lost::Reset));
        assert_eq!(reset, Err(Lost::Reset));
        assert_eq!(interval_of("150004").0, Err(Lost::Reset));
    }

    #[test]
    fn own_transactions_are_no_operations_and_sessions_count_once() {
        let rows = [
            ("database", "xact_commit", "0"),
            ("database", "xact_rollback", "0"),
        ];
        let before = snapshot(0, &rows);
        let rows = [
            ("database", "xact_commit", "150"),
            ("database", "xact_rollback", "5"),
            ("session", "7", "1003.5"),
            ("session", "8", "999"),
        ];
        let after = Snapshot {
            own: 100.0,
            ..snapshot(10, &rows)
        };
        let mut samples = Samples::default();
        samples.add([(7, Some(Wait::Log)), (9, None)].into_iter());
        samples.add([(7, Some(Wait::Log))].into_iter());
        let interval = interval(&before, &after, &samples, None).expect("an interval");
        assert_eq!(interval.operations, Some(55.0));
        // 7 and 9 were seen, 7 also changed within the interval; 8 before it.
        assert_eq!(interval.sessions, Some(2.0));
        assert_eq!(interval.running, Some(1.5));
        assert_eq!(interval.waiting[&Wait::Log], 1.0);
        assert_eq!(interval.waiting[&Wait::Lock], 0.0);
    }

    /// Rows of a view before and after, for a remote server.
    fn remote(before: &[(&str, &str, &str)], after: &[(&str, &str, &str)]) -> BTreeMap<Role, Io> {
        counted(&snapshot(0, before), &snapshot(10, after))
            .expect("an interval")
            .roles
    }

    #[test]
    fn version_13_knows_bytes_of_the_log_alone() {
        let rows = |lsn, reads, wrote| {
            [
                ("server", "wal_lsn", lsn),
                ("database", "blks_read", reads),
                ("database", "blk_read_time", "0"),
                ("bgwriter", "buffers_checkpoint", wrote),
                ("bgwriter", "buffers_clean", "0"),
                ("bgwriter", "buffers_backend", "0"),
            ]
        };
        let roles = remote(&rows("1000", "1", "4"), &rows("5000", "3", "9"));
        assert_eq!(roles[&Role::Log].writes.bytes, Some(4000.0));
        assert_eq!(roles[&Role::Log].writes.count, None);
        assert_eq!(roles[&Role::Log].flushes, Requests::default());
        assert_eq!(roles[&Role::Data].reads.bytes, Some(2.0 * 8192.0));
        assert_eq!(roles[&Role::Data].writes.count, Some(5.0));
        // Timing is off: 0 is not recorded.
        assert_eq!(roles[&Role::Data].reads.waited, None);
    }

    #[test]
    fn version_18_counts_the_log_in_its_io_view() {
        let rows = |count, bytes, ms| {
            [
                ("setting", "track_io_timing", "on"),
                ("wal", "wal_bytes", "7"),
                ("io", "client backend|wal|normal|writes", count),
                ("io", "client backend|wal|normal|write_bytes", bytes),
                ("io", "client backend|wal|init|writes", count),
                ("io", "walwriter|wal|normal|fsyncs", count),
                ("io", "client backend|relation|normal|reads", count),
                ("io", "client backend|relation|normal|read_bytes", bytes),
                ("io", "io worker|relation|normal|reads", count),
                ("io", "io worker|relation|normal|read_time", ms),
            ]
        };
        let roles = remote(&rows("0", "0", "0"), &rows("3", "24576", "1.5"));
        assert_eq!(roles[&Role::Log].writes.count, Some(3.0));
        assert_eq!(roles[&Role::Log].writes.bytes, Some(24576.0));
        assert_eq!(roles[&Role::Log].flushes.count, Some(3.0));
        assert_eq!(roles[&Role::Log].writes.waited, None);
        assert_eq!(roles[&Role::Data].reads.count, Some(6.0));
        assert_eq!(roles[&Role::Data].reads.waited, Some(millis(1.5)));
    }

    fn on_disk(writes: u64, wal: u64, own_ms: u64) -> Snapshot {
        let count = wal.to_string();
        let rows = [
            ("wal", "wal_write", count.as_str()),
            ("wal", "wal_sync", count.as_str()),
            ("wal", "wal_bytes", count.as_str()),
        ];
        let disk = DiskCounters {
            // Linux counts a flush, of 1 ms here, as a write too.
            writes: writes + wal,
            write_bytes: writes * 8192,
            write_ms: own_ms + wal,
            flushes: Some(wal),
            flush_ms: Some(wal),
            ..DiskCounters::default()
        };
        let host = HostCounters {
            disks: vec![disk],
            processor: Duration::ZERO,
        };
        Snapshot {
            host: Some(host),
            ..snapshot(10 * (wal > 0) as u64, &rows)
        }
    }

    #[test]
    fn a_log_that_shares_a_disk_is_taken_off_its_writes() {
        let host = Host::of(&[&[Role::Data, Role::Log, Role::Temp]]);
        // 10 writes of 2 ms, 4 of them the log's; the kernel's milliseconds start over in between.
        let (before, after) = (on_disk(0, 0, 4_294_967_290), on_disk(10, 4, 14));
        let interval =
            interval(&before, &after, &Samples::default(), Some(&host)).expect("an interval");
        let (data, log) = (interval.roles[&Role::Data], interval.roles[&Role::Log]);
        assert_eq!(
            (data.writes.count, log.writes.count),
            (Some(6.0), Some(4.0))
        );
        // The log's are subtracted at the disk's mean, and their own latency is unknown.
        assert_eq!(log.writes.waited, None);
        assert_eq!(data.writes.waited, Some(Duration::from_millis(12)));
        assert_eq!(
            (data.flushes.count, log.flushes.count),
            (Some(0.0), Some(4.0))
        );
        assert!(!interval.roles.contains_key(&Role::Temp));
    }

    #[test]
    fn a_log_that_shares_a_disk_has_the_latency_that_the_server_timed() {
        let host = Host::of(&[&[Role::Data, Role::Log]]);
        let (mut before, mut after) = (on_disk(0, 0, 0), on_disk(10, 4, 20));
        for (snapshot, writing, flushing) in [(&mut before, "0", "0"), (&mut after, "1", "15")] {
            snapshot.note("setting", "track_wal_io_timing", "on");
            snapshot.note("wal", "wal_write_time", writing);
            snapshot.note("wal", "wal_sync_time", flushing);
        }
        let interval =
            interval(&before, &after, &Samples::default(), Some(&host)).expect("an interval");
        let log = interval.roles[&Role::Log];
        // 16 ms, of which the disk flushed for 4.
        assert_eq!(log.writes.waited, Some(Duration::from_millis(12)));
        assert_eq!(log.flushes.waited, Some(Duration::from_millis(4)));
    }

    #[test]
    fn the_log_never_takes_more_than_there_was() {
        let host = Host::of(&[&[Role::Data, Role::Log]]);
        let (before, after) = (on_disk(0, 0, 0), on_disk(2, 9, 1));
        let interval =
            interval(&before, &after, &Samples::default(), Some(&host)).expect("an interval");
        assert_eq!(interval.roles[&Role::Data].writes.count, Some(0.0));
        assert_eq!(interval.roles[&Role::Log].writes.count, Some(2.0));
    }
}
