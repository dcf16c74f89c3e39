//! dbstow against a double of SQL Server: what it says to a server, in which order, and what it leaves behind.
//!
//! No SQL Server is here. The double is strict: a text that it does not know fails the test.

#![cfg(target_os = "linux")]

#[path = "support/sqlserver.rs"]
mod bench;
#[path = "support/tsql.rs"]
mod tsql;

use std::fs;
use std::process::{Command as Process, Stdio};

use bench::{Bench, PASSWORD};
use model::Duration;
use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;
use tds_double::server::SqlServer;
use volume::clock::Clock;

/// Few operations; tempdb has to move between the arms.
const SMALL: [&str; 14] = [
    "--set",
    "workload.parameters.rows=100",
    "--set",
    "workload.operations=40",
    "--blocks",
    "1",
    "--volume",
    "d=C:\\fast",
    "--volume",
    "f=D:\\",
    "--set",
    "placement.local-ssd.temp.file_size=\"64 MiB\"",
    "--set",
    "placement.p30.temp.file_size=\"64 MiB\"",
];

fn small<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let log = [
        "--set",
        "placement.local-ssd.log.file_size=\"64 MiB\"",
        "--set",
        "placement.p30.log.file_size=\"64 MiB\"",
    ];
    [SMALL.as_slice(), &log, more].concat()
}

#[test]
fn tempdb_is_moved_measured_and_put_back() {
    let bench = Bench::start(SqlServer::windows(PASSWORD));
    let before = bench.tempdb();
    let restart = bench.restart_command();

    bench
        .run(
            "tempdb-ssd-vs-premium",
            &small(&["--restart-command", &restart]),
        )
        .assert()
        .success()
        .stdout(contains("local-ssd").and(contains("2 data files").or(contains("Why"))));

    assert_eq!(bench.tempdb(), before, "tempdb is where it was");
    assert_eq!(
        bench.databases(),
        ["master", "tempdb", "model", "msdb"],
        "nothing is left"
    );
    let double = bench.double();
    let moved = double
        .heard()
        .iter()
        .filter(|text| text.contains("_temp_1.mdf"))
        .count();
    assert!(moved > 0, "tempdb went to the placement's volume");
    drop(double);
    settle(&bench);
}

#[test]
fn records_hold_the_servers_own_counters_and_no_password() {
    let bench = Bench::start(SqlServer::windows(PASSWORD));
    let restart = bench.restart_command();
    bench
        .run(
            "tempdb-ssd-vs-premium",
            &small(&["--restart-command", &restart, "--format", "json"]),
        )
        .assert()
        .success();

    let records = fs::read_dir(bench.path("out/records")).expect("records");
    let texts: Vec<String> = records
        .map(|file| fs::read_to_string(file.expect("a file").path()).expect("text"))
        .collect();
    assert_eq!(texts.len(), 2);
    for text in &texts {
        assert!(!text.contains(PASSWORD), "a password in a record");
        let record: serde_json::Value = serde_json::from_str(text).expect("JSON");
        let counted = |name: &str| record["counters"][name].as_f64();
        // 40 operations of 12 reads of 64 KiB, in each of two data files, and as many loads as there were.
        assert!(
            counted("files.temp.reads").is_some_and(|reads| reads >= 960.0),
            "{}",
            record["counters"]
        );
        assert_eq!(record["engine"]["name"], "sqlserver");
        // The experiment asks for less, and a server is not given less than 1 GiB.
        let memory = record["engine"]["settings"]["memory"]
            .as_str()
            .unwrap_or_default();
        assert!(memory.starts_with("1024 MiB, not the"), "{memory}");
        assert_eq!(
            record["engine"]["settings"]["statements"],
            "driven by the client, prepared"
        );
    }
    settle(&bench);
}

#[test]
fn a_loop_on_the_server_is_one_round_trip_and_says_so() {
    let bench = Bench::start(SqlServer::windows(PASSWORD));
    let restart = bench.restart_command();
    bench
        .run(
            "tempdb-ssd-vs-premium",
            &small(&["--restart-command", &restart, "--driven", "server"]),
        )
        .assert()
        .success();

    let double = bench.double();
    let loops = double
        .heard()
        .iter()
        .filter(|text| text.contains("WHILE"))
        .count();
    assert_eq!(loops, 2, "40 operations are one trip in each arm");
    drop(double);
    settle(&bench);
}

#[test]
fn a_run_that_is_killed_in_the_middle_of_a_move_is_put_right_by_the_next() {
    let bench = Bench::start(SqlServer::windows(PASSWORD));
    let before = bench.tempdb();
    // It restarts the server and then does not come back itself.
    let hangs = format!("{}; sleep 600", bench.restart_command());
    let server = bench.server();
    let arguments = [
        vec![
            "run",
            "tempdb-ssd-vs-premium",
            "--mode",
            "measure",
            "--engine",
            "sqlserver",
            "--server",
            &server,
        ],
        vec![
            "--encrypt",
            "optional",
            "--out",
            "out",
            "--restart-command",
            &hangs,
        ],
        small(&[]),
    ]
    .concat();
    let mut killed = Process::new(assert_cmd::cargo::cargo_bin("dbstow"))
        .args(arguments)
        .current_dir(bench.path(""))
        .env("SQLCMDPASSWORD", PASSWORD)
        .env("XDG_STATE_HOME", bench.path("state"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let begun = Clock::start();
    while bench.tempdb() == before {
        assert!(
            begun.now().as_nanos() < Duration::from_secs(60).as_nanos(),
            "tempdb was to move"
        );
        Clock::sleep(Duration::from_millis(20));
    }
    killed.kill().expect("it runs");
    killed.wait().expect("it ends");

    let restart = bench.restart_command();
    bench
        .run(
            "tempdb-ssd-vs-premium",
            &small(&["--restart-command", &restart]),
        )
        .assert()
        .success();
    assert_eq!(
        bench.tempdb(),
        before,
        "tempdb is where it was before the run that was killed"
    );
    assert_eq!(bench.databases(), ["master", "tempdb", "model", "msdb"]);
    settle(&bench);
}

#[test]
fn without_somebody_to_ask_a_restart_needs_a_command() {
    let bench = Bench::start(SqlServer::windows(PASSWORD));
    bench
        .run("tempdb-ssd-vs-premium", &small(&[]))
        .assert()
        .stderr(contains("--restart-command"));
    assert_eq!(bench.databases(), ["master", "tempdb", "model", "msdb"]);
}

#[test]
fn products_that_place_files_themselves_are_refused_with_what_works_there() {
    for (engine, works) in [(5, "dbstow lint"), (8, "number and size of files")] {
        let bench = Bench::start(SqlServer::windows(PASSWORD).edition("12.0.2000.8", engine));
        bench
            .run("tempdb-ssd-vs-premium", &small(&[]))
            .assert()
            .failure()
            .stderr(contains(works));
    }
}

#[test]
fn a_managed_instance_gets_files_by_number_and_size_and_chooses_their_place() {
    let bench = Bench::start(SqlServer::windows(PASSWORD).edition("12.0.2000.8", 8));
    let large = "placement.user-1-file-132gb.data.file_size=\"1 GiB\"";
    bench
        .run(
            "managed-instance-files",
            &[
                "--set",
                "workload.parameters.rows=100",
                "--set",
                large,
                "--blocks",
                "1",
            ],
        )
        .assert()
        .success();

    assert_eq!(bench.databases(), ["master", "tempdb", "model", "msdb"]);
    let heard = bench.double().heard();
    let adds = heard.iter().filter(|text| text.contains("ADD FILE"));
    // Three further files in each of two arms, and eleven in each of two more.
    assert_eq!(adds.clone().count(), 2 * 3 + 2 * 11);
    assert!(
        adds.into_iter().all(|text| !text.contains("FILENAME")),
        "it takes no paths"
    );
    settle(&bench);
}

#[test]
fn a_volume_without_a_directory_is_refused() {
    let bench = Bench::start(SqlServer::windows(PASSWORD));
    bench
        .run("managed-instance-files", &["--blocks", "1"])
        .assert()
        .stderr(contains("has no directory").and(contains("--volume small-1=DIR")));
    assert_eq!(bench.databases(), ["master", "tempdb", "model", "msdb"]);
}

#[test]
fn a_missing_permission_is_named_with_its_grant() {
    for (permissions, grant) in [
        (&[][..], "GRANT VIEW SERVER PERFORMANCE STATE"),
        (&["VIEW SERVER STATE"][..], "GRANT CREATE ANY DATABASE"),
        (
            &["VIEW SERVER STATE", "CREATE ANY DATABASE"][..],
            "sysadmin",
        ),
    ] {
        let mut server = SqlServer::windows(PASSWORD);
        server.add_login("reader", PASSWORD, permissions);
        let bench = Bench::start(server);
        let port = bench.double().address().port();
        let named = format!("sqlserver://reader@127.0.0.1:{port}");
        bench
            .dbstow(&[
                "run",
                "tempdb-ssd-vs-premium",
                "--mode",
                "measure",
                "--engine",
                "sqlserver",
                "--server",
                &named,
                "--encrypt",
                "optional",
                "--volume",
                "d=C:\\",
                "--volume",
                "f=D:\\",
            ])
            .assert()
            .failure()
            .stderr(contains(grant));
    }
}

#[test]
fn what_cannot_be_reached_says_why_and_what_to_do() {
    let bench = Bench::start(SqlServer::windows(PASSWORD));
    let volumes = ["--volume", "d=C:\\", "--volume", "f=D:\\"];
    bench
        .run("tempdb-ssd-vs-premium", &volumes)
        .env("SQLCMDPASSWORD", "wrong")
        .assert()
        .failure()
        .stderr(
            contains("18456")
                .and(contains("SQLCMDPASSWORD"))
                .and(contains("wrong").not()),
        );
    bench
        .run("tempdb-ssd-vs-premium", &volumes)
        .env_remove("SQLCMDPASSWORD")
        .assert()
        .failure()
        .stderr(contains("SQLCMDPASSWORD"));
    for (server, words) in [
        ("sqlserver://sa@127.0.0.1:1", "look at host and port"),
        ("sqlserver://sa:secret@db1", "list of processes"),
        ("db1,99999", "no port"),
    ] {
        bench
            .dbstow(
                &[
                    &[
                        "run",
                        "tempdb-ssd-vs-premium",
                        "--mode",
                        "measure",
                        "--engine",
                        "sqlserver",
                        "--server",
                        server,
                    ],
                    volumes.as_slice(),
                ]
                .concat(),
            )
            .env("SQLCMDUSER", "sa")
            .assert()
            .failure()
            .stderr(contains(words).and(contains("secret").not()));
    }
}

#[test]
fn a_volume_that_the_service_cannot_write_fails_the_trial_with_the_remedy() {
    let mut server = SqlServer::windows(PASSWORD);
    server.volumes[1].writable = false;
    let bench = Bench::start(server);
    let before = bench.tempdb();
    let restart = bench.restart_command();
    bench
        .run(
            "tempdb-ssd-vs-premium",
            &small(&["--restart-command", &restart]),
        )
        .assert()
        .stderr(contains("5123").and(contains("icacls")));
    assert_eq!(bench.tempdb(), before);
    settle(&bench);
}

/// Fails where dbstow said what a server would not understand: nothing that the double does not know, and nothing
/// that Microsoft's parser does not take for T-SQL.
fn settle(bench: &Bench) {
    let double = bench.double();
    double.settle();
    let mut heard = double.heard();
    heard.sort();
    heard.dedup();
    let declared = |text: &String| {
        let used = (1..=9).filter(|number| text.contains(&format!("@p{number}")));
        let declared: String = used
            .map(|number| format!("DECLARE @p{number} bigint; "))
            .collect();
        (text.clone(), format!("{declared}{text}"))
    };
    let texts: Vec<(String, String)> = heard.iter().map(declared).collect();
    tsql::parses(&texts);
}
