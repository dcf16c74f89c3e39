//! Volumes: formatting, sharing, room.

use dbstow_sqlserver::capture::{FileKind, HostFacts, VolumeFacts};

use crate::support::{GIB, assert_quiet, assert_says, azure, capture, facts, file, good};

fn with_unit(bytes: i64) -> dbstow_sqlserver::capture::Capture {
    let mut capture = good();
    let volume = |mount: &str| VolumeFacts {
        mount_point: mount.to_owned(),
        allocation_unit_bytes: Some(bytes),
        ..VolumeFacts::default()
    };
    capture.supplied = Some(HostFacts {
        azure: Some(false),
        volumes: vec![volume("E:\\"), volume("L:\\"), volume("T:\\")],
    });
    capture
}

#[test]
fn an_allocation_unit_of_four_kib_is_found_and_sixty_four_is_fine() {
    assert_quiet(&with_unit(65_536), "volume-allocation-unit");
    let capture = with_unit(4096);
    assert_says(
        &capture,
        "volume-allocation-unit",
        "low: E:\\ is formatted with units of 4 KiB",
    );
    assert_says(
        &capture,
        "volume-allocation-unit",
        "exempt (system-volume): C:\\",
    );
}

#[test]
fn an_allocation_unit_that_was_not_captured_is_not_judged() {
    assert_says(
        &good(),
        "volume-allocation-unit",
        "cannot tell: the allocation unit of E:\\; --host FILE",
    );
}

#[test]
fn refs_is_exempt_from_the_rule_about_ntfs() {
    let mut capture = with_unit(4096);
    for volume in &mut capture.volumes {
        volume.file_system = "ReFS".into();
    }
    assert_says(&capture, "volume-allocation-unit", "exempt (refs): E:\\");
    assert_quiet(&capture, "volume-allocation-unit");
}

#[test]
fn azures_temporary_disk_may_keep_its_four_kib() {
    let mut capture = azure();
    assert_says(
        &capture,
        "volume-allocation-unit",
        "exempt (temporary-disk): D:\\",
    );
    assert_quiet(&capture, "volume-allocation-unit");
    facts(&mut capture, "F:\\").allocation_unit_bytes = Some(4096);
    assert_says(&capture, "volume-allocation-unit", "medium: F:\\");
}

#[test]
fn databases_on_c_are_found_and_the_servers_own_are_not() {
    let mut capture = good();
    assert_quiet(&capture, "data-on-system-volume");
    file(&mut capture, "sales").path = "c:\\data\\sales.mdf".into();
    // What the server says of the file counts before its path.
    assert_quiet(&capture, "data-on-system-volume");
    capture
        .volumes
        .iter_mut()
        .for_each(|volume| volume.files.clear());
    assert_says(
        &capture,
        "data-on-system-volume",
        "medium: sales is on C:\\",
    );
}

#[test]
fn a_mount_point_below_c_is_not_c() {
    let mut capture = good();
    let volume = capture
        .volumes
        .iter_mut()
        .find(|volume| volume.mount_point == "E:\\");
    volume.expect("it is there").mount_point = "C:\\mnt\\data\\".into();
    file(&mut capture, "sales").path = "C:\\mnt\\data\\sales.mdf".into();
    assert_quiet(&capture, "data-on-system-volume");
    capture
        .volumes
        .iter_mut()
        .for_each(|volume| volume.files.clear());
    assert_quiet(&capture, "data-on-system-volume");
}

#[test]
fn linux_has_no_drive_letters() {
    let capture = capture("linux-2022-container");
    assert_says(
        &capture,
        "data-on-system-volume",
        "exempt (linux-no-drive-letters): ",
    );
    assert_says(
        &capture,
        "volume-allocation-unit",
        "not applicable: for Windows",
    );
}

#[test]
fn data_and_log_together_is_a_note_with_its_counter_example() {
    let mut capture = good();
    assert_quiet(&capture, "data-and-log-together");
    capture
        .volumes
        .iter_mut()
        .for_each(|volume| volume.files.clear());
    file(&mut capture, "sales_log").path = "E:\\log\\sales_log.ldf".into();
    assert_says(
        &capture,
        "data-and-log-together",
        "note: data and log of sales share E:\\",
    );
    let rule = dbstow_sqlserver::lint::rule("data-and-log-together").expect("it is a rule");
    assert!(rule.says.contains("counter-example"), "{}", rule.says);
}

#[test]
fn growth_that_does_not_fit_is_worse_than_little_room() {
    let with_free = |free: i64| {
        let mut capture = good();
        let volume = capture
            .volumes
            .iter_mut()
            .find(|volume| volume.mount_point == "T:\\");
        volume.expect("it is there").available_bytes = free;
        capture
    };
    // Nine files there, each grows by 512 MiB: 4.5 GiB in all. 10 % of the volume are 25.6 GiB.
    assert_says(
        &with_free(GIB / 4),
        "volume-nearly-full",
        "high: the next growth of tempdb.",
    );
    assert_says(
        &with_free(2 * GIB),
        "volume-nearly-full",
        "medium: T:\\ has no room",
    );
    assert_says(
        &with_free(20 * GIB),
        "volume-nearly-full",
        "low: T:\\ has 7.8 % free",
    );
    assert_quiet(&with_free(26 * GIB), "volume-nearly-full");
}

#[test]
fn a_file_at_its_own_limit_needs_no_room() {
    let mut capture = good();
    for file in capture
        .files
        .iter_mut()
        .filter(|file| file.database_id == 2)
    {
        file.max_bytes = Some(file.size_bytes);
    }
    let volume = capture
        .volumes
        .iter_mut()
        .find(|volume| volume.mount_point == "T:\\");
    volume.expect("it is there").available_bytes = 0;
    assert_says(&capture, "volume-nearly-full", "low: T:\\ has 0 % free");
}

#[test]
fn anything_but_tempdb_on_a_temporary_disk_is_as_good_as_lost() {
    let mut capture = azure();
    assert_says(
        &capture,
        "ephemeral-volume-holds-data",
        "fine: D:\\ holds tempdb alone",
    );
    let volume = capture
        .volumes
        .iter_mut()
        .find(|volume| volume.mount_point == "D:\\");
    volume.expect("it is there").files.push((5, 1));
    capture
        .volumes
        .iter_mut()
        .filter(|volume| volume.mount_point == "F:\\")
        .for_each(|volume| volume.files.clear());
    assert_says(
        &capture,
        "ephemeral-volume-holds-data",
        "high: shop will be lost with D:\\",
    );
    assert!(capture.files.iter().any(|file| file.kind == FileKind::Log));
}
