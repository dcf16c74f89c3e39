//! The server's settings, and its waits.

use crate::support::{assert_quiet, assert_says, capture, good};

#[test]
fn zeroing_of_data_files_is_found_and_silence_is_not_consent() {
    let mut capture = good();
    assert_quiet(&capture, "instant-file-initialization");
    capture.services[0].instant_file_initialization = Some(false);
    assert_says(&capture, "instant-file-initialization", "high: ");
    // The agent's service does not report it.
    capture.services[0].instant_file_initialization = None;
    assert_says(&capture, "instant-file-initialization", "cannot tell: ");
}

#[test]
fn memory_without_a_limit_is_found_but_not_on_linux() {
    let mut capture = good();
    assert_quiet(&capture, "max-server-memory");
    let set = |capture: &mut dbstow_sqlserver::capture::Capture, mb| {
        capture.settings.insert("max server memory (MB)".into(), mb);
    };
    set(&mut capture, 2_147_483_647);
    assert_says(&capture, "max-server-memory", "medium: ");
    // 127 of 128 GiB.
    set(&mut capture, 130_048);
    assert_says(
        &capture,
        "max-server-memory",
        "low: max server memory is 99 %",
    );
    capture.machine.memory_bytes = None;
    assert_says(
        &capture,
        "max-server-memory",
        "cannot tell: the machine's memory",
    );
    let linux = crate::support::capture("linux-2022-container");
    assert_says(&linux, "max-server-memory", "exempt (linux-memory-limit): ");
}

#[test]
fn latches_of_pages_in_memory_ask_for_files_and_reads_for_disks() {
    assert_quiet(&good(), "page-latch-waits");
    let files = capture("linux-2022-container");
    assert_says(
        &files,
        "page-latch-waits",
        "medium: sessions wait more for pages in memory",
    );
    let disks = capture("standalone-2016-bad-layout");
    assert_says(
        &disks,
        "page-latch-waits",
        "note: sessions wait more for reads",
    );
    let mut nothing = good();
    nothing.waits.clear();
    assert_says(&nothing, "page-latch-waits", "cannot tell: ");
}
