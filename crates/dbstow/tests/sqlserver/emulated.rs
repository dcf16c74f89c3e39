//! Modelled volumes under a server on this machine: real mounts, on which the double makes no file.
//!
//! What is shown here is the order: volumes come before tempdb moves to them, and go after it has left. How SQL
//! Server's files do on them is not.

use std::fs;
use std::path::Path;

use predicates::str::contains;
use tds_double::server::SqlServer;
use testing::sqlserver::{Bench, PASSWORD};

use crate::{MANY, is_measured, settle};

/// A run with mounts in the test's folder.
fn emulated<'a>(server: &'a str, restart: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let fixed = [
        "run",
        "tempdb-ssd-vs-premium",
        "--mode",
        "emulate",
        "--engine",
        "sqlserver",
        "--server",
        server,
        "--encrypt",
        "off-insecure",
        "--front",
        "file",
        "--backing",
        ".",
        "--out",
        "out",
        "--restart-command",
        restart,
        "--blocks",
        "1",
        "--set",
        "workload.parameters.rows=100",
    ];
    [&fixed, more].concat()
}

/// Mounts in the test's folder.
fn mounts(bench: &Bench) -> usize {
    let table = fs::read_to_string("/proc/self/mounts").expect("the table of mounts");
    let here = bench.path("");
    let here = here.to_str().expect("it is text");
    table.lines().filter(|line| line.contains(here)).count()
}

#[test]
fn tempdb_moves_to_modelled_volumes_and_leaves_before_these_go() {
    let bench = Bench::start(SqlServer::linux(PASSWORD));
    let before = bench.tempdb();
    let (server, restart) = (bench.server(), bench.restart_command());
    let mut run = bench.begin(&emulated(&server, &restart, &MANY));
    run.until(is_measured);

    assert_ne!(mounts(&bench), 0);
    for (_, path) in bench.tempdb() {
        let folder = Path::new(&path).parent().expect("a folder");
        assert!(folder.starts_with(bench.path("")), "{path}");
        assert!(folder.is_dir(), "{path}");
    }

    let said = run.interrupt();

    bench.is_as_before(&before);
    assert_eq!(mounts(&bench), 0, "{said}");
    assert!(!bench.owes(), "{said}");
    settle(&bench);
}

#[test]
fn each_trial_has_volumes_of_its_own_and_tempdb_returns_in_between() {
    let bench = Bench::start(SqlServer::linux(PASSWORD));
    let before = bench.tempdb();
    let (server, restart) = (bench.server(), bench.restart_command());
    let few = ["--set", "workload.operations=40"];
    bench
        .dbstow(&emulated(&server, &restart, &few))
        .env("TMPDIR", bench.path(""))
        .assert()
        .success();

    let records = bench.records();
    assert_eq!(records.len(), 2);
    for record in &records {
        assert_eq!(record["outcome"]["status"], "finished", "{record}");
    }
    // To the volumes and back, in each of two trials.
    assert_eq!(bench.double().model().starts, 5);
    bench.is_as_before(&before);
    assert_eq!(mounts(&bench), 0);
    settle(&bench);
}

#[test]
fn volumes_stay_while_tempdb_cannot_leave_them() {
    let bench = Bench::start(SqlServer::linux(PASSWORD));
    let before = bench.tempdb();
    // The second restart, which is the first way back, fails.
    let count = bench.path("restarts").display().to_string();
    let restart = format!(
        "echo >> '{count}'; [ $(wc -l < '{count}') != 2 ] || exit 1; {}",
        bench.restart_command()
    );
    let server = bench.server();
    let few = ["--set", "workload.operations=40"];
    bench
        .dbstow(&emulated(&server, &restart, &few))
        .env("TMPDIR", bench.path(""))
        .assert()
        .success()
        .stderr(contains("they stay until it has left"));

    assert_eq!(bench.records().len(), 2);
    bench.is_as_before(&before);
    assert_eq!(mounts(&bench), 0);
    assert!(!bench.owes());
    settle(&bench);
}
