//! Runs that are ended: by a signal, by the network, by the server.

use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;
use tds_double::server::SqlServer;
use testing::sqlserver::{Bench, PASSWORD, measured};

use crate::relay::Relay;
use crate::{DATA_VOLUMES, MANY, data_files, is_measured, moving, settle, small};

#[test]
fn a_run_that_is_killed_in_the_middle_of_a_move_is_put_right_by_the_next() {
    let bench = Bench::start(SqlServer::windows(PASSWORD));
    let before = bench.tempdb();
    // It restarts the server and then does not come back itself.
    let hangs = format!("{}; sleep 600", bench.restart_command());
    let mut killed = bench.begin(&measured(
        &bench.server(),
        "tempdb-ssd-vs-premium",
        &small(&["--restart-command", &hangs]),
    ));
    killed.until(|bench| bench.tempdb() != before);
    killed.kill();

    moving(&bench, &[]).assert().success();
    bench.is_as_before(&before);
    settle(&bench);
}

#[test]
fn a_server_that_a_killed_run_left_down_is_started_by_the_next() {
    let bench = Bench::start(SqlServer::windows(PASSWORD));
    let before = bench.tempdb();
    let (server, restart) = (bench.server(), bench.restart_command());
    let arguments = small(&["--restart-command", &restart, MANY[0], MANY[1]]);
    let mut run = bench.begin(&measured(&server, "tempdb-ssd-vs-premium", &arguments));
    run.until(is_measured);
    run.kill();
    bench.double().go_down();

    bench
        .run("tempdb-ssd-vs-premium", &small(&["--fresh"]))
        .assert()
        .failure()
        .stderr(contains("an earlier run changed it").and(contains("rescue.sql")));
    let again = small(&["--restart-command", &restart, "--fresh"]);
    bench
        .run("tempdb-ssd-vs-premium", &again)
        .assert()
        .success();

    bench.is_as_before(&before);
    settle(&bench);
}

#[test]
fn ctrl_c_puts_everything_back() {
    let bench = Bench::start(SqlServer::windows(PASSWORD));
    let before = bench.tempdb();
    let memory = || bench.double().model().settings["max server memory (MB)"].in_use;
    let unlimited = memory();
    let restart = bench.restart_command();
    let mut run = bench.begin(&measured(
        &bench.server(),
        "tempdb-ssd-vs-premium",
        &small(&["--restart-command", &restart, MANY[0], MANY[1]]),
    ));
    run.until(|bench| {
        bench
            .double()
            .model()
            .session_reads
            .is_some_and(|reads| reads[0] > 10_000)
    });
    assert_ne!(bench.tempdb(), before);
    assert_ne!(memory(), unlimited);

    let said = run.interrupt();

    assert!(
        said.contains("interrupted; finished trials are kept in out"),
        "{said}"
    );
    bench.is_as_before(&before);
    assert_eq!(memory(), unlimited);
    assert_eq!(bench.databases(), ["master", "tempdb", "model", "msdb"]);
    assert!(!bench.owes(), "{said}");
    settle(&bench);
}

#[test]
fn a_server_that_goes_down_fails_the_trial_and_gets_tempdb_back_once_it_is_up() {
    let bench = Bench::start(SqlServer::windows(PASSWORD));
    let before = bench.tempdb();
    let restart = bench.restart_command();
    let mut run = bench.begin(&measured(
        &bench.server(),
        "tempdb-ssd-vs-premium",
        &small(&["--restart-command", &restart, MANY[0], MANY[1]]),
    ));
    run.until(is_measured);
    bench.double().go_down();

    // What follows on the next trial is ended, too.
    run.until(|bench| !bench.records().is_empty());
    run.interrupt();

    let records = bench.records();
    let errors = records.iter().map(|record| &record["outcome"]["error"]);
    let mut errors = errors.filter_map(serde_json::Value::as_str);
    assert!(
        errors.any(|error| error.starts_with("the engine is gone: ")),
        "{records:?}"
    );
    bench.is_as_before(&before);
}

#[test]
fn a_network_that_falls_silent_holds_nobody_up_for_ever() {
    let bench = Bench::start(SqlServer::windows(PASSWORD));
    let relay = Relay::to(bench.double().address());
    let server = format!("sqlserver://sa@127.0.0.1:{}", relay.address.port());
    let experiment = data_files(&bench);
    let mut run = bench.begin(&measured(
        &server,
        &experiment,
        &[&DATA_VOLUMES[..], &MANY].concat(),
    ));
    run.until(|bench| {
        let heard = bench.double().heard();
        heard.iter().any(|text| text.contains("FROM outer_rows"))
    });
    relay.fall_silent();

    let said = run.interrupt();

    assert!(
        said.contains("the next run on this server restores it"),
        "{said}"
    );
    assert!(bench.owes());
    assert_eq!(bench.databases().len(), 5);
    // By another way to the same server: what was changed is known by the server's own name.
    bench
        .run(&experiment, &[&DATA_VOLUMES[..], &["--fresh"]].concat())
        .assert()
        .success();
    assert_eq!(bench.databases(), ["master", "tempdb", "model", "msdb"]);
    assert!(!bench.owes());
}

#[test]
fn ctrl_c_ends_a_statement_of_our_own_that_takes_long() {
    // A file that is made, and a tempdb that is tried out.
    for tries_out in [false, true] {
        let hangs = move |text: &str| {
            text.starts_with("CREATE DATABASE [dbstow_")
                && text.contains("dbstow_probe_") == tries_out
        };
        let mut server = SqlServer::windows(PASSWORD);
        server.hangs(move |question| hangs(&question.text));
        let bench = Bench::start(server);
        let before = bench.tempdb();
        let server = bench.server();
        let restart = bench.restart_command();
        let arguments = small(&["--restart-command", &restart]);
        let mut run = bench.begin(&measured(&server, "tempdb-ssd-vs-premium", &arguments));
        run.until(|bench| {
            let heard = bench.double().heard();
            heard.iter().any(|text| hangs(text))
        });

        let said = run.interrupt();

        assert!(
            said.contains("CREATE DATABASE [dbstow_")
                && said.contains("SQL Server rolls back what this statement did"),
            "{said}"
        );
        assert_ne!(bench.double().attentions(), 0, "{said}");
        bench.is_as_before(&before);
        settle(&bench);
    }
}

#[test]
fn ctrl_c_while_tempdb_grows_at_its_new_place_brings_it_back() {
    let mut server = SqlServer::windows(PASSWORD);
    // 64 MiB are wanted; the rollback shrinks tempdb to the 8 MiB it had.
    let grows = |text: &str| text.contains("MODIFY FILE") && text.contains(" SIZE = 64MB");
    server.hangs(move |question| grows(&question.text));
    let bench = Bench::start(server);
    let before = bench.tempdb();
    let server = bench.server();
    let restart = bench.restart_command();
    let arguments = small(&["--restart-command", &restart]);
    let mut run = bench.begin(&measured(&server, "tempdb-ssd-vs-premium", &arguments));
    run.until(|bench| bench.tempdb() != before);
    run.until(|bench| {
        let heard = bench.double().heard();
        heard.iter().any(|text| grows(text))
    });

    let said = run.interrupt();

    assert!(said.contains("SQL Server rolls back"), "{said}");
    bench.is_as_before(&before);
    settle(&bench);
}

#[test]
fn a_database_of_a_managed_instance_that_somebody_is_in_is_reported_and_dropped_by_the_next_run() {
    const SOMEBODY: u16 = 999;
    let bench = Bench::start(SqlServer::windows(PASSWORD).edition("12.0.2000.8", 8));
    let server = bench.server();
    let experiment = data_files(&bench);
    let mut run = bench.begin(&measured(&server, &experiment, &MANY));
    run.until(|bench| {
        let heard = bench.double().heard();
        heard.iter().any(|text| text.contains("FROM outer_rows"))
    });
    let own = bench.databases().pop().expect("that of the run");
    let enter = |bench: &Bench| bench.double().model().inside.insert(SOMEBODY, own.clone());
    enter(&bench);

    let said = run.interrupt();

    // Both are reported: what blocks it, and why no session was disconnected.
    assert!(
        said.contains(&format!("DROP DATABASE [{own}]"))
            && ["error 3702", "end its sessions (KILL)", "error 5008"]
                .iter()
                .all(|part| said.contains(part)),
        "{said}"
    );
    assert!(bench.databases().contains(&own) && bench.owes(), "{said}");

    bench.double().model().inside.remove(&SOMEBODY);
    bench.run(&experiment, &["--fresh"]).assert().success();
    assert_eq!(bench.databases(), ["master", "tempdb", "model", "msdb"]);
    assert!(!bench.owes());
    settle(&bench);
}
