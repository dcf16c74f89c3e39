//! How a run handles a server that is slow to come back.

use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;
use tds_double::server::SqlServer;
use testing::sqlserver::{Bench, PASSWORD};

use crate::{moving, settle};

#[test]
fn a_tempdb_that_recovers_after_the_server_answers_is_waited_for() {
    let mut server = SqlServer::windows(PASSWORD);
    server.tempdb_recovers = 2;
    let bench = Bench::start(server);
    let before = bench.tempdb();

    moving(&bench, &[])
        .assert()
        .success()
        .stderr(contains("waiting for the server").and(contains("922")));

    let records = bench.records();
    assert_eq!(records.len(), 2);
    for record in records {
        assert_eq!(record["outcome"]["status"], "finished", "{record}");
    }
    bench.is_as_before(&before);
    settle(&bench);
}

#[test]
fn a_tempdb_that_never_recovers_ends_the_waiting_with_the_limit_that_was_asked_for() {
    let mut server = SqlServer::windows(PASSWORD);
    server.tempdb_recovers = u32::MAX;
    let bench = Bench::start(server);

    moving(&bench, &["--restart-limit", "10 ms"])
        .assert()
        .failure()
        .stderr(
            contains("tempdb cannot be used yet")
                .and(contains("after 10 ms (--restart-limit)"))
                .and(contains("rescue.sql")),
        );
    assert!(bench.owes(), "what was changed is known to the next run");
}

#[test]
fn a_file_that_something_still_uses_is_removed_after_another_restart() {
    let mut server = SqlServer::windows(PASSWORD);
    server.tempdb_in_use = true;
    let bench = Bench::start(server);
    let before = bench.tempdb();

    // One file more than tempdb has: it is removed by the rollback.
    moving(&bench, &["--set", "placement.p30.temp.files=3"])
        .assert()
        .success()
        .stderr(contains("5054").and(contains("restart the server again")));

    bench.is_as_before(&before);
    settle(&bench);
}

#[test]
fn page_headers_that_a_shrink_reports_are_no_failure_where_the_file_shrank() {
    let mut server = SqlServer::windows(PASSWORD);
    server.page_headers = true;
    let bench = Bench::start(server);
    let before = bench.tempdb();

    moving(&bench, &[])
        .assert()
        .success()
        .stderr(contains("8909").and(contains("shrunk all the same")));

    bench.is_as_before(&before);
    settle(&bench);
}
