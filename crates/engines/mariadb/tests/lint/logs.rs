//! Redo log, binary log, commits, doublewrite and undo.

use crate::support::{
    GIB, MIB, assert_says, counted, good, good_mysql, on, remote, said, with, with_facts,
};

#[test]
fn a_commit_that_does_not_wait_for_a_log_is_noted_for_each_log() {
    let rule = "commits-not-durable";
    assert_says(&good(), rule, "fine: ");
    let relaxed = with(good(), &[("innodb_flush_log_at_trx_commit", "2")]);
    assert_says(
        &relaxed,
        rule,
        "note: a commit does not wait until the redo log",
    );
    let twice = with(relaxed, &[("sync_binlog", "0")]);
    assert_eq!(said(&twice, rule).lines().count(), 2);
    // Without a binary log its flush does not matter; 3 flushes twice.
    let none = [
        ("log_bin", "OFF"),
        ("sync_binlog", "0"),
        ("innodb_flush_log_at_trx_commit", "3"),
    ];
    assert_says(&with(good(), &none), rule, "fine: ");
}

#[test]
fn logs_that_share_a_device_are_found_where_a_commit_waits_for_both() {
    let rule = "binlog-and-redo-together";
    assert_says(&good(), rule, "fine: on different devices");
    // Two partitions, or mounts, of one disk.
    let shared = on(good(), "/binlog", |volume| {
        volume.disks = vec!["sdb".into()];
    });
    assert_says(&shared, rule, "low: every commit flushes");
    let relaxed = with(shared, &[("sync_binlog", "1000")]);
    assert_says(&relaxed, rule, "exempt (relaxed-commit)");
    // If no volume is known, one directory is still one device.
    assert_says(
        &remote(),
        rule,
        "cannot tell: whether binary log and redo log share a device",
    );
    let one = with(remote(), &[("log_bin_basename", "/redo/bin")]);
    assert_says(&one, rule, "low: ");
    assert_says(&with(one, &[("log_bin", "OFF")]), rule, "fine: ");
}

#[test]
fn binary_logs_that_never_expire_are_worse_beside_the_data() {
    let rule = "binlog-never-expires";
    assert_says(&good(), rule, "fine: removed after 604800 s");
    let kept = with(good(), &[("binlog_expire_logs_seconds", "0")]);
    assert_says(
        &kept,
        rule,
        "low: binary logs are kept until they are removed by hand, on a device",
    );
    let beside = with(kept.clone(), &[("log_bin_basename", "/data/mysql/bin")]);
    assert_says(&beside, rule, "medium: ");
    let limited = with(beside, &[("max_binlog_total_size", "1073741824")]);
    assert_says(&limited, rule, "exempt (total-size)");
    let days = with(kept, &[("expire_logs_days", "0.500000")]);
    assert_says(&days, rule, "fine: removed after 0.5 days");
}

#[test]
fn a_redo_log_is_held_against_an_hour_of_writes() {
    let rule = "redo-log-small";
    // 24 GiB a day are 1 GiB an hour, and 8 GiB hold eight of them.
    assert_says(&good(), rule, "fine: 8 GiB holds 8.0 h of writes at 1 GiB");
    // 512 MiB hold 30 min, 128 MiB 7.5 min.
    let half = with(good(), &[("innodb_log_file_size", "536870912")]);
    assert_says(&half, rule, "low: a redo log of 512 MiB holds 30 min");
    let small = with(good(), &[("innodb_log_file_size", "134217728")]);
    assert_says(&small, rule, "medium: a redo log of 128 MiB holds 8 min");
    let capacity = (2 * GIB).to_string();
    let newer = with(good_mysql(), &[("innodb_redo_log_capacity", &capacity)]);
    assert_says(&newer, rule, "fine: 2 GiB holds 2.0 h");
    let resized = counted(newer, &[("Innodb_redo_log_capacity_resized", 3 * GIB)]);
    assert_says(&resized, rule, "fine: 3 GiB holds 3.0 h");
    let files = with(half, &[("innodb_log_files_in_group", "2")]);
    assert_says(&files, rule, "fine: 1 GiB holds 60 min");
}

#[test]
fn an_old_checkpoint_is_found_before_any_average() {
    let rule = "redo-log-small";
    let started = [("Uptime", 60)];
    let fresh = counted(good(), &started);
    assert_says(
        &fresh,
        rule,
        "cannot tell: rates: the server started 1 min ago",
    );
    // 56 of 70 MiB are 80 %, which is not yet above it.
    for (age, said) in [
        (56, "cannot tell: rates"),
        (57, "medium: the checkpoint is at 81 %"),
    ] {
        let aged = [
            ("Innodb_checkpoint_age", age * MIB),
            ("Innodb_checkpoint_max_age", 70 * MIB),
        ];
        assert_says(&counted(fresh.clone(), &aged), rule, said);
    }
}

#[test]
fn a_doublewrite_area_that_is_off_is_held_against_the_disk() {
    let rule = "doublewrite-off";
    assert_says(&good(), rule, "fine: ");
    let off = with(good(), &[("innodb_doublewrite", "OFF")]);
    assert_says(
        &off,
        rule,
        "high: the doublewrite area is off, and the disk promises no",
    );
    let detects = with(good_mysql(), &[("innodb_doublewrite", "DETECT_ONLY")]);
    assert_says(&detects, rule, "high: ");
    let less = on(off.clone(), "/data", |volume| {
        volume.atomic_write_bytes = Some(4096);
    });
    assert_says(
        &less,
        rule,
        "high: the doublewrite area is off, and the disk's promise",
    );
    let unknown = on(off.clone(), "/data", |volume| {
        volume.atomic_write_bytes = None;
    });
    assert_says(&unknown, rule, "medium: ");
    let promised = with_facts(off.clone(), |facts| facts.atomic_write_bytes = Some(16_384));
    assert_says(&promised, rule, "exempt (atomic-writes)");
    let zfs = on(off, "/data", |volume| volume.file_system = "zfs".into());
    assert_says(&zfs, rule, "exempt (copy-on-write)");
}

#[test]
fn a_doublewrite_area_that_is_not_needed_is_noted() {
    let rule = "doublewrite-not-needed";
    assert_says(&good(), rule, "fine: it is on, and the disk needs it");
    let promised = on(good(), "/data", |volume| {
        volume.atomic_write_bytes = Some(65_536);
    });
    assert_says(&promised, rule, "note: ");
    // Pages of 64 KiB are larger than what it guarantees.
    let less = with_facts(good(), |facts| facts.atomic_write_bytes = Some(16_384));
    assert_says(
        &with(less, &[("innodb_page_size", "65536")]),
        rule,
        "fine: it is on",
    );
    // Regardless of its disk's guarantee.
    for promise in [None, Some(0), Some(65_536)] {
        let zfs = on(good(), "/data", |volume| {
            volume.file_system = "zfs".into();
            volume.atomic_write_bytes = promise;
        });
        let said = "note: the doublewrite area is on, and the data is on ZFS";
        assert_says(&zfs, rule, said);
    }
    assert_says(
        &remote(),
        rule,
        "cannot tell: whether the disk writes 16 KiB",
    );
}

#[test]
fn undo_in_the_system_tablespace_is_found_in_mariadb_alone() {
    let rule = "undo-in-system-tablespace";
    assert_says(&good(), rule, "fine: 3 undo tablespaces");
    let none = with(good(), &[("innodb_undo_tablespaces", "0")]);
    assert_says(&none, rule, "low: ");
    let kept = with(good(), &[("innodb_undo_log_truncate", "OFF")]);
    assert_says(&kept, rule, "note: ");
    assert_says(&good_mysql(), rule, "not applicable: for MariaDB");
}
