//! Volumes, and how InnoDB writes to them.

use crate::support::{assert_says, good, good_mysql, on, remote, said, with, with_facts};

#[test]
fn files_on_a_network_file_system_are_found() {
    let rule = "data-on-network-file-system";
    assert_says(&good(), rule, "fine: ext4");
    let redo = on(good(), "/redo", |volume| volume.file_system = "nfs4".into());
    assert_says(&redo, rule, "medium: redo log on nfs4");
    assert_says(
        &remote(),
        rule,
        "cannot tell: the file system under data, undo, redo log, binary log",
    );
}

#[test]
fn files_that_are_lost_with_machine_or_container_are_found() {
    let rule = "data-on-volatile-file-system";
    assert_says(&good(), rule, "fine: ext4");
    let layer = on(good(), "/data", |volume| {
        volume.file_system = "overlay".into()
    });
    assert_says(
        &layer,
        rule,
        "high: data, undo on overlay, a container's writable layer",
    );
    let memory = on(layer, "/binlog", |volume| {
        volume.file_system = "tmpfs".into()
    });
    let said = said(&memory, rule);
    assert!(
        said.contains("high: binary log on tmpfs, a file system in memory"),
        "{said}"
    );
    assert_eq!(said.lines().count(), 2);
}

#[test]
fn files_on_a_disk_that_is_empty_after_a_stop_are_found() {
    let rule = "data-on-volatile-file-system";
    let local = |ephemeral| with_facts(good(), |facts| facts.ephemeral = ephemeral);
    assert_says(
        &local(Some(true)),
        rule,
        "high: data, undo on /data, which is empty after the machine was stopped or moved",
    );
    for kept in [Some(false), None] {
        assert_says(&local(kept), rule, "fine: ext4");
    }
    let temp = with_facts(good(), |facts| {
        facts.mount_point = "/fast".to_owned();
        facts.ephemeral = Some(true);
    });
    assert_says(&temp, rule, "fine: ext4");
}

#[test]
fn a_host_cache_that_writes_back_is_found_under_a_log_and_nowhere_else() {
    let rule = "log-cache-writes-back";
    assert_says(&good(), rule, "fine: no volume with a log");
    let cached = |mount: &str, cache: &str| {
        with_facts(good(), |facts| {
            facts.mount_point = mount.to_owned();
            facts.host_cache = Some(cache.to_owned());
        })
    };
    assert_says(
        &cached("/redo", "read-write"),
        rule,
        "medium: redo log on /redo, whose host cache writes back",
    );
    assert_says(
        &cached("/binlog", "read-write"),
        rule,
        "medium: binary log on /binlog, whose host cache writes back",
    );
    assert_says(&cached("/redo", "read-only"), rule, "fine: ");
    // Data is flushed by a checkpoint, which no session waits for.
    assert_says(&cached("/data", "read-write"), rule, "fine: ");
}

#[test]
fn files_that_are_cached_twice_are_found_and_those_that_are_not_flushed_are_worse() {
    let rule = "innodb-flush-method";
    assert_says(&good(), rule, "fine: data files bypass the page cache");
    let cached = with(good_mysql(), &[("innodb_flush_method", "fsync")]);
    assert_says(&cached, rule, "low: data files pass through the page cache");
    let unsafe_ = with(good(), &[("innodb_flush_method", "nosync")]);
    assert_says(&unsafe_, rule, "high: with nosync");
    // From MariaDB 11.0 on the new variable counts.
    let newer = with(cached.clone(), &[("innodb_data_file_buffering", "OFF")]);
    assert_says(&newer, rule, "fine: ");
    let newer = with(good(), &[("innodb_data_file_buffering", "ON")]);
    assert_says(&newer, rule, "low: ");
    let zfs = on(cached, "/data", |volume| volume.file_system = "zfs".into());
    assert_says(&zfs, rule, "exempt (zfs)");
}

#[test]
fn io_capacity_is_held_against_the_disk() {
    let rule = "innodb-io-capacity";
    assert_says(&good(), rule, "fine: 2000 on a solid-state disk");
    let default = with(good(), &[("innodb_io_capacity", "200")]);
    assert_says(
        &default,
        rule,
        "low: innodb_io_capacity is 200, a hard disk's",
    );
    let hard = on(default.clone(), "/data", |volume| {
        volume.solid_state = Some(false)
    });
    assert_says(&hard, rule, "fine: 200 on a hard disk");
    let virtual_disk = on(hard, "/data", |volume| volume.disks = vec!["vda".into()]);
    assert_says(&virtual_disk, rule, "cannot tell: what the disk serves");
    for (iops, said) in [
        (
            1000,
            "medium: innodb_io_capacity is 2000, and the disk serves 1000 IOPS",
        ),
        (3000, "fine: 2000 on a disk of 3000 IOPS"),
        // 20 x 2000.
        (40_000, "fine: "),
        (40_001, "low: "),
    ] {
        let known = with_facts(good(), |facts| facts.iops = Some(iops));
        assert_says(&known, rule, said);
    }
    assert_says(&remote(), rule, "cannot tell: what the disk serves");
}

#[test]
fn neighbours_are_flushed_for_nothing_on_a_solid_state_disk() {
    let rule = "innodb-flush-neighbors";
    assert_says(&good(), rule, "fine: neighbours are not flushed");
    let flushed = [("innodb_flush_neighbors", "1")];
    let mysql = with(good_mysql(), &flushed);
    assert_says(
        &mysql,
        rule,
        "low: neighbours are flushed on a disk without",
    );
    let mariadb = with(good(), &flushed);
    assert_says(&mariadb, rule, "exempt (detected)");
    let hard = on(mariadb, "/data", |volume| volume.solid_state = Some(false));
    assert_says(&hard, rule, "fine: 1 on a hard disk");
    // The driver of a virtual disk does not know what it is, and MariaDB believes it.
    let virtual_disk = on(hard.clone(), "/data", |volume| {
        volume.disks = vec!["vda".into()];
    });
    assert_says(
        &virtual_disk,
        rule,
        "cannot tell: whether the disk has moving parts",
    );
    let wrong = with_facts(hard, |facts| facts.solid_state = Some(true));
    assert_says(
        &wrong,
        rule,
        "low: neighbours are flushed, because the kernel",
    );
    assert_says(
        &with(remote(), &flushed),
        rule,
        "cannot tell: whether the disk has moving parts",
    );
}
