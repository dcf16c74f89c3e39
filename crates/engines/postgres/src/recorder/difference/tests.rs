use super::*;
use engine::recorder::{HostCounters, Taken};
use host::plain::DiskCounters;
use profile::Wait;

/// A snapshot `at_s` seconds into the recording.
fn snapshot(at_s: u64, rows: &[(&str, &str, &str)]) -> Snapshot {
    let mut snapshot = Snapshot {
        taken: Taken {
            at: Duration::from_secs(at_s),
            server_time_s: 1000.0 + at_s as f64,
            ..Taken::default()
        },
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
    let mut reconnected = after.clone();
    reconnected.taken.connection = 1;
    assert_eq!(counted(&before, &reconnected), Err(Lost::Gap));
    let mut set = after.clone();
    set.taken.server_time_s = 900.0;
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
    let mut after = snapshot(10, &rows);
    after.taken.own = 100.0;
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

#[test]
fn pages_that_were_found_or_read_are_logical_reads() {
    let rows = |found, read| {
        [
            ("database", "blks_hit", found),
            ("database", "blks_read", read),
            ("setting", "shared_buffers", "16384"),
            ("setting", "block_size", "8192"),
        ]
    };
    let (before, after) = (
        snapshot(0, &rows("10", "1")),
        snapshot(10, &rows("40", "3")),
    );
    let interval = counted(&before, &after).expect("an interval");
    // 30 were found, 2 read.
    assert_eq!(interval.logical_read_bytes, Some(32.0 * 8192.0));
    assert_eq!(before.buffers(), Some(model::Bytes::mib(128)));
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
    let mut snapshot = snapshot(10 * (wal > 0) as u64, &rows);
    snapshot.taken.host = Some(host);
    snapshot
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
