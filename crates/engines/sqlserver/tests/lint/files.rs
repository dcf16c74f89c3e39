//! Growth and limits of any file, and the number of logs.

use dbstow_sqlserver::capture::Growth;

use crate::support::{GIB, assert_quiet, assert_says, file, good, grow_all};

#[test]
fn steps_above_a_gib_are_exempt_for_data_where_they_need_no_zeroing() {
    let mut capture = good();
    grow_all(&mut capture, Growth::Bytes(GIB));
    assert_quiet(&capture, "growth-step-large");
    file(&mut capture, "sales").growth = Growth::Bytes(GIB + 8192);
    assert_says(
        &capture,
        "growth-step-large",
        "exempt (instant-file-initialization): 1 data file grows",
    );
    assert_quiet(&capture, "growth-step-large");
    capture.services[0].instant_file_initialization = Some(false);
    assert_says(
        &capture,
        "growth-step-large",
        "medium: sales.sales grows by more than 1 GiB at once; the new part is zeroed",
    );
    capture.services.clear();
    assert_says(
        &capture,
        "growth-step-large",
        "medium: sales.sales grows by more than 1 GiB at once; whether",
    );
}

#[test]
fn a_log_is_zeroed_in_any_case() {
    let mut capture = good();
    file(&mut capture, "sales_log").growth = Growth::Bytes(2 * GIB);
    assert_says(
        &capture,
        "growth-step-large",
        "medium: sales.sales_log grows by more than 1 GiB at once; a log",
    );
}

#[test]
fn growth_by_per_cent_is_for_users_databases_here() {
    let mut capture = good();
    file(&mut capture, "master").growth = Growth::Percent(10);
    file(&mut capture, "tempdev").growth = Growth::Percent(10);
    assert_quiet(&capture, "growth-percent");
    file(&mut capture, "sales").growth = Growth::Percent(10);
    assert_says(
        &capture,
        "growth-percent",
        "low: 1 file grows by per cent of its size",
    );
}

#[test]
fn a_database_that_cannot_grow_is_found_unless_another_file_can() {
    let mut capture = good();
    assert_quiet(&capture, "growth-off");
    file(&mut capture, "temp2").growth = Growth::None;
    assert_quiet(&capture, "growth-off");
    file(&mut capture, "sales_log").growth = Growth::None;
    assert_says(&capture, "growth-off", "low: the log of sales cannot grow");
    grow_all(&mut capture, Growth::None);
    assert_says(
        &capture,
        "growth-off",
        "note: the data files of tempdb cannot grow",
    );
}

#[test]
fn two_tib_is_what_a_log_has_when_nobody_set_a_limit() {
    let mut capture = good();
    assert_says(
        &capture,
        "file-max-size",
        "exempt (log-default-maximum): 5 logs have",
    );
    assert_quiet(&capture, "file-max-size");
    // The same number on a data file was set explicitly.
    file(&mut capture, "sales").max_bytes = Some(2 << 40);
    file(&mut capture, "sales_log").max_bytes = Some(64 * GIB);
    assert_says(
        &capture,
        "file-max-size",
        "note: 2 files have a largest size: sales.sales, sales.sales_log",
    );
}

#[test]
fn a_second_log_is_found() {
    let mut capture = good();
    assert_quiet(&capture, "log-several-files");
    let mut second = file(&mut capture, "sales_log").clone();
    second.id = 3;
    capture.files.push(second);
    assert_says(&capture, "log-several-files", "low: sales has 2 log files");
}
