//! Azure SQL Managed Instance and Azure SQL Database.

use crate::support::{GIB, assert_quiet, assert_says, capture, file, good, said, set_tempdb};

#[test]
fn an_instance_near_280_files_is_found() {
    let mut capture = capture("managed-instance");
    assert_quiet(&capture, "managed-file-count");
    let template = capture.files.last().expect("it has files").clone();
    // 280 x 0.9 = 252.
    capture.files.resize(252, template.clone());
    assert_says(
        &capture,
        "managed-file-count",
        "medium: the instance has 252 files",
    );
    capture.files.resize(280, template);
    assert_says(&capture, "managed-file-count", "high: ");
}

#[test]
fn small_files_are_said_with_the_iops_they_get() {
    let mut capture = capture("managed-instance");
    // 32 of 69 seconds of crm's waiting were governance.
    assert_says(
        &capture,
        "managed-file-size",
        "low: crm gets 500 IOPS from 1 data file",
    );
    assert_says(&capture, "managed-file-size", "fine: dwh");
    for io in &mut capture.file_io {
        io.read_governed_ms = 0;
        io.write_governed_ms = 0;
    }
    assert_says(&capture, "managed-file-size", "note: crm gets 500 IOPS");
    let files = capture.files.iter_mut();
    for file in files.filter(|file| file.database_id == 5) {
        file.size_bytes = 129 * GIB;
    }
    assert_quiet(&capture, "managed-file-size");
}

#[test]
fn a_file_just_below_the_next_class_is_said_with_what_that_has() {
    let mut capture = capture("managed-instance");
    assert_quiet(&capture, "managed-file-step");
    let mut resized = |size: i64| {
        let mut files = capture.files.iter_mut();
        let file = files.find(|file| file.database_id == 5).expect("crm");
        file.size_bytes = size;
        capture.clone()
    };
    // 90 % of 129 GiB are 116.1 GiB.
    assert_quiet(&resized(116 * GIB), "managed-file-step");
    assert_says(
        &resized(120 * GIB),
        "managed-file-step",
        "low: data_0 of crm is 120 GiB: at 129 GiB it gets 2300 IOPS instead of 500",
    );
    assert_says(
        &resized(128 * GIB),
        "managed-file-step",
        "low: data_0 of crm is 128 GiB: at 129 GiB it gets 2300 IOPS instead of 500",
    );
    assert_says(
        &resized(1000 * GIB),
        "managed-file-step",
        "low: data_0 of crm is 1000 GiB: at 1025 GiB it gets 7500 IOPS instead of 5000",
    );
    // From 2 TiB on there is nothing to gain, and none is asked of a file that is in the next class.
    assert_quiet(&resized(129 * GIB), "managed-file-step");
    assert_quiet(&resized(2000 * GIB), "managed-file-step");
}

#[test]
fn an_instance_has_one_log_for_each_database() {
    let mut capture = capture("managed-instance");
    assert_quiet(&capture, "managed-log-files");
    let second = file(&mut capture, "log").clone();
    capture.files.push(second);
    assert_says(&capture, "managed-log-files", "low: crm has 2 log files");
}

#[test]
fn names_of_tempdbs_files_have_sixteen_letters_at_most() {
    let mut capture = capture("managed-instance");
    assert_quiet(&capture, "managed-tempdb-names");
    file(&mut capture, "temp2").name = "a_name_of_16_let".into();
    assert_quiet(&capture, "managed-tempdb-names");
    file(&mut capture, "temp3").name = "a_name_of_17_lett".into();
    file(&mut capture, "temp4").name = "a space".into();
    let said = said(&capture, "managed-tempdb-names");
    assert_eq!(said.matches("medium: ").count(), 2, "{said}");
}

#[test]
fn twelve_files_of_tempdb_are_what_an_instance_comes_with() {
    let mut capture = capture("managed-instance");
    assert_says(&capture, "managed-tempdb-file-count", "fine: 12 data files");
    set_tempdb(&mut capture, 4, GIB);
    assert_says(
        &capture,
        "managed-tempdb-file-count",
        "low: tempdb has 4 data files",
    );
    set_tempdb(&mut capture, 24, GIB);
    assert_quiet(&capture, "managed-tempdb-file-count");
}

#[test]
fn waiting_for_governance_is_not_a_slow_disk() {
    let mut instance = capture("managed-instance");
    assert_says(&instance, "governed-io", "medium: 42 % of the time");
    for io in &mut instance.file_io {
        io.read_governed_ms = 0;
    }
    assert_quiet(&instance, "governed-io");
    assert_quiet(&capture("azure-sql-database"), "governed-io");
    assert_says(&good(), "governed-io", "not applicable: ");
}

#[test]
fn azure_sql_database_has_nothing_to_place() {
    let capture = capture("azure-sql-database");
    assert_says(
        &capture,
        "azure-database-placement",
        "exempt (azure-sql-database): ",
    );
    for rule in [
        "tempdb-shares-volume",
        "data-and-log-together",
        "max-server-memory",
        "tempdb-sizes-alike",
    ] {
        assert_says(&capture, rule, "not applicable: ");
    }
    assert_says(&good(), "azure-database-placement", "not applicable: ");
}
