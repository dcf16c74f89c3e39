//! Memory, and what the server counts.

use crate::support::{assert_says, counted, good, with};

#[test]
fn misses_count_where_they_load_the_disks() {
    let rule = "buffer-pool-small";
    // 100,000 of 1,000,000,000.
    assert_says(&good(), rule, "fine: 0.0 % of page requests miss");
    let misses = |reads: u64, requests: u64| {
        let counters = [
            ("Innodb_buffer_pool_reads", reads),
            ("Innodb_buffer_pool_read_requests", requests),
        ];
        counted(good(), &counters)
    };
    // 86,400,000 in a day are 1,000 a second.
    assert_says(
        &misses(86_400_000, 432_000_000),
        rule,
        "medium: 20 % of page requests miss",
    );
    assert_says(
        &misses(86_400_000, 1_728_000_000),
        rule,
        "low: 5 % of page requests miss",
    );
    // 10 a second.
    assert_says(&misses(864_000, 4_320_000), rule, "exempt (few-reads)");
    let fresh = counted(misses(86_400_000, 432_000_000), &[("Uptime", 3599)]);
    assert_says(&fresh, rule, "cannot tell: rates");
}

#[test]
fn a_server_that_counts_nothing_by_file_is_noted() {
    let rule = "performance-schema-off";
    assert_says(&good(), rule, "fine: ");
    let off = with(good(), &[("performance_schema", "OFF")]);
    assert_says(&off, rule, "note: performance_schema is off");
}
