//! Virtual machines of Azure.

use crate::support::{assert_quiet, assert_says, azure, capture, facts, good};

fn tempdb_on_f() -> dbstow_sqlserver::capture::Capture {
    let mut capture = azure();
    for file in capture
        .files
        .iter_mut()
        .filter(|file| file.database_id == 2)
    {
        file.path = file.path.replace("D:\\tempDb", "F:\\tempdb");
    }
    capture
}

#[test]
fn rules_for_azure_ask_first_whether_it_is_azure() {
    let mut capture = capture("windows-2019-azure-vm");
    assert_says(
        &capture,
        "azure-data-cache",
        "cannot tell: whether this is a virtual machine of Azure; --host FILE",
    );
    capture.machine.azure = Some(false);
    assert_says(&capture, "azure-data-cache", "not applicable: ");
    // A machine that is not virtual is not one of Azure's.
    assert_says(&good(), "azure-data-cache", "not applicable: ");
}

#[test]
fn tempdb_elsewhere_than_on_the_temporary_disk_is_found_with_its_exceptions() {
    assert_quiet(&azure(), "azure-tempdb-local-disk");
    let mut capture = tempdb_on_f();
    assert_says(
        &capture,
        "azure-tempdb-local-disk",
        "medium: tempdb is on F:\\, and the machine has a temporary disk, D:\\",
    );
    capture.identity.clustered = Some(true);
    assert_says(
        &capture,
        "azure-tempdb-local-disk",
        "exempt (failover-cluster-instance): ",
    );
    capture.identity.clustered = Some(false);
    // 16 GiB of tempdb do not fit 12.
    let volume = capture
        .volumes
        .iter_mut()
        .find(|volume| volume.mount_point == "D:\\");
    volume.expect("it is there").total_bytes = 12 << 30;
    assert_says(
        &capture,
        "azure-tempdb-local-disk",
        "exempt (temporary-disk-too-small): ",
    );
    facts(&mut capture, "D:\\").ephemeral = Some(false);
    assert_says(
        &capture,
        "azure-tempdb-local-disk",
        "exempt (no-temporary-disk): ",
    );
    facts(&mut capture, "F:\\").ephemeral = None;
    assert_says(&capture, "azure-tempdb-local-disk", "cannot tell: ");
}

#[test]
fn a_folder_on_the_temporary_disk_has_to_be_made_again() {
    let mut capture = azure();
    assert_says(&capture, "azure-temp-disk-folder", "medium: ");
    for file in capture
        .files
        .iter_mut()
        .filter(|file| file.database_id == 2)
    {
        file.path = file.path.replace("D:\\tempDb\\Data\\", "D:\\");
    }
    assert_quiet(&capture, "azure-temp-disk-folder");
    assert_quiet(&tempdb_on_f(), "azure-temp-disk-folder");
}

#[test]
fn data_wants_a_read_only_cache() {
    let mut capture = azure();
    assert_quiet(&capture, "azure-data-cache");
    for (cache, start) in [
        (Some("none"), "high: F:\\ has data, and no cache"),
        (
            Some("read-write"),
            "high: F:\\ has data, and a cache that writes back",
        ),
        (None, "cannot tell: the host's cache for F:\\"),
    ] {
        facts(&mut capture, "F:\\").host_cache = cache.map(str::to_owned);
        assert_says(&capture, "azure-data-cache", start);
    }
}

#[test]
fn disks_without_a_cache_are_exempt_from_having_one() {
    for (disk, exception) in [
        ("azure.premium_v2", "premium-ssd-v2"),
        ("azure.ultra.2026", "ultra-disk"),
        ("azure.premium.p50", "disk-of-4-tib"),
        ("azure.premium.p80", "disk-of-4-tib"),
    ] {
        let mut capture = azure();
        facts(&mut capture, "F:\\").disk = Some(disk.into());
        facts(&mut capture, "F:\\").host_cache = Some("none".into());
        assert_says(
            &capture,
            "azure-data-cache",
            &format!("exempt ({exception}): "),
        );
        assert_quiet(&capture, "azure-data-cache");
    }
    // One disk of 4 TiB, its product not specified; and four of 1 TiB each, which have a cache.
    let mut capture = azure();
    facts(&mut capture, "F:\\").disk = None;
    facts(&mut capture, "F:\\").host_cache = Some("none".into());
    assert_says(&capture, "azure-data-cache", "high: ");
    facts(&mut capture, "F:\\").disks = Some(1);
    assert_says(&capture, "azure-data-cache", "exempt (disk-of-4-tib): ");
}

#[test]
fn a_log_wants_no_cache_and_beside_data_the_rules_disagree() {
    let mut capture = azure();
    // archive has both on F:\, which is cached for the sake of the data.
    assert_says(&capture, "azure-log-cache", "low: F:\\ holds data too");
    assert_says(&capture, "azure-log-cache", "fine: G:\\ has no cache");
    facts(&mut capture, "g:").host_cache = Some("read-only".into());
    assert_says(
        &capture,
        "azure-log-cache",
        "high: G:\\ has logs, and a read-only cache",
    );
    facts(&mut capture, "F:\\").host_cache = Some("read-write".into());
    assert_says(
        &capture,
        "azure-log-cache",
        "high: F:\\ has logs, and a cache that writes back",
    );
}

#[test]
fn tempdb_and_the_cache_share_a_limit_only_where_both_are_used() {
    let mut capture = azure();
    assert_says(
        &capture,
        "azure-cached-limit-shared",
        "note: tempdb on D:\\ and cached reads of F:\\",
    );
    facts(&mut capture, "F:\\").host_cache = Some("none".into());
    assert_quiet(&capture, "azure-cached-limit-shared");
}

#[test]
fn standard_disks_are_for_tests() {
    let mut capture = azure();
    assert_quiet(&capture, "azure-disk-class");
    facts(&mut capture, "g:").disk = Some("azure.stdssd.e30".into());
    assert_says(
        &capture,
        "azure-disk-class",
        "high: shop is on G:\\, a standard disk",
    );
    facts(&mut capture, "g:").disk = None;
    assert_says(
        &capture,
        "azure-disk-class",
        "cannot tell: what disk G:\\ is",
    );
}
