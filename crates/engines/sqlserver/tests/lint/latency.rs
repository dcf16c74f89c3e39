//! Ladders of latency: the same file, four opinions.

use crate::support::{assert_quiet, assert_says, good};

/// A server whose one busy file took so many milliseconds for each of 10,000 reads.
fn took(ms: i64) -> dbstow_sqlserver::capture::Capture {
    let mut capture = good();
    capture.file_io.truncate(1);
    let io = &mut capture.file_io[0];
    (io.reads, io.read_stall_ms) = (10_000, 10_000 * ms);
    (io.writes, io.write_stall_ms) = (0, 0);
    capture
}

#[test]
fn the_same_latency_is_fine_by_one_ladder_and_a_bottleneck_by_another() {
    let capture = took(60);
    assert_says(
        &capture,
        "latency-microsoft",
        "low: reads of sales.sales took 60 ms on average: poor",
    );
    assert_says(
        &capture,
        "latency-dbatools",
        "high: reads of sales.sales took 60 ms on average: serious",
    );
    assert_quiet(&capture, "latency-first-responder-kit");
    assert_quiet(&capture, "latency-azure");
}

#[test]
fn each_ladder_is_quiet_below_its_own_step() {
    for (rule, quiet, found) in [
        ("latency-microsoft", 15, 16),
        ("latency-dbatools", 19, 20),
        ("latency-first-responder-kit", 99, 100),
        ("latency-azure", 499, 500),
    ] {
        assert_quiet(&took(quiet), rule);
        let said = crate::support::said(&took(found), rule);
        assert!(!said.starts_with("fine"), "{said}");
    }
}

#[test]
fn few_requests_have_no_latency() {
    let mut capture = took(60);
    capture.file_io[0].reads = 999;
    assert_says(
        &capture,
        "latency-dbatools",
        "cannot tell: the latency of 1 of 1 files",
    );
}
