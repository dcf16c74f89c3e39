//! Errors for a server, a login or a volume that refuses.

use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;
use tds_double::server::{SqlServer, Work};
use tds_double::{Encryption, Reply};
use testing::sqlserver::{Bench, PASSWORD, temporary};

use crate::{DATA_VOLUMES, data_files, moving, settle, small};

#[test]
fn without_somebody_to_ask_a_restart_needs_a_command() {
    let bench = Bench::start(SqlServer::windows(PASSWORD));
    bench
        .run("tempdb-ssd-vs-premium", &small(&[]))
        .assert()
        .failure()
        .stderr(contains("--restart-command"));
    assert_eq!(bench.databases(), ["master", "tempdb", "model", "msdb"]);
    let heard = bench.double().heard();
    let tried = heard.iter().any(|text| text.contains("CREATE DATABASE"));
    assert!(!tried, "nothing is tried on the volumes before");
}

#[test]
fn a_volume_without_a_directory_is_refused() {
    let bench = Bench::start(SqlServer::windows(PASSWORD));
    bench
        .run("managed-instance-files", &["--blocks", "1"])
        .assert()
        .failure()
        .stderr(contains("has no directory").and(contains("--volume small-1=DIR")));
    assert_eq!(bench.databases(), ["master", "tempdb", "model", "msdb"]);
}

#[test]
fn a_failover_cluster_is_refused_where_tempdb_would_move() {
    let mut server = SqlServer::windows(PASSWORD);
    server.clustered = true;
    let bench = Bench::start(server);
    bench
        .run("tempdb-ssd-vs-premium", &small(&[]))
        .assert()
        .failure()
        .stderr(contains("failover cluster").and(contains("dbstow layout")));
    let experiment = data_files(&bench);
    let fresh = [&DATA_VOLUMES[..], &["--fresh"]].concat();
    bench.run(&experiment, &fresh).assert().success();
}

#[test]
fn volumes_of_a_server_cannot_be_kept() {
    let bench = Bench::start(SqlServer::windows(PASSWORD));
    bench
        .run("tempdb-ssd-vs-premium", &small(&["--keep"]))
        .assert()
        .failure()
        .stderr(contains("--keep"));
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
                "off-insecure",
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
        ("sqlserver://sa@127.0.0.1:1", "check host"),
        ("sqlserver://sa:secret@db1", "list of processes"),
        ("db1,99999", "not a number from 1 to 65535"),
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
fn a_server_without_tls_and_a_certificate_that_nobody_vouches_for_are_told_with_the_option() {
    let volumes = ["--volume", "d=C:\\", "--volume", "f=D:\\"];
    for (encryption, option) in [
        (Encryption::None, "--encrypt off-insecure"),
        (Encryption::Required, "--trust-server-certificate"),
    ] {
        let bench = Bench::start_with(SqlServer::windows(PASSWORD), encryption);
        let server = bench.server();
        let run = [
            "run",
            "tempdb-ssd-vs-premium",
            "--mode",
            "measure",
            "--engine",
            "sqlserver",
        ];
        bench
            .dbstow(&[&run[..], &["--server", &server], &volumes].concat())
            .assert()
            .failure()
            .stderr(contains(option).and(contains("--encrypt optional").not()));
    }
}

#[test]
fn a_server_that_is_too_old_for_strict_encryption_says_so() {
    // Before 2022 the first message is the server's own, and TLS comes within it.
    let server = SqlServer::windows(PASSWORD).edition("15.0.4000.1", 3);
    let bench = Bench::start_with(server, Encryption::Required);
    let server = bench.server();
    let login = ["--server", &server, "--encrypt", "strict"];
    for trust in [&[][..], &["--trust-server-certificate"]] {
        bench
            .dbstow(&[&["doctor"], &login[..], trust].concat())
            .assert()
            .failure()
            .stderr(
                contains("--encrypt strict needs SQL Server 2022 or later")
                    .and(contains("--encrypt mandatory")),
            );
    }
}

#[test]
fn a_server_without_tls_gets_no_password_unless_that_was_asked_for() {
    let bench = Bench::start(SqlServer::windows(PASSWORD));
    let server = bench.server();
    let doctor = |encrypt: &str| {
        let arguments = ["doctor", "--server", &server, "--encrypt", encrypt];
        bench.dbstow(&arguments).assert()
    };
    for encrypt in ["optional", "mandatory"] {
        doctor(encrypt)
            .failure()
            .stderr(contains("does not support encryption").and(contains("off-insecure")));
        assert_eq!(bench.double().logins_in_clear_text(), 0, "{encrypt}");
    }
    doctor("off-insecure").success();
    assert_ne!(bench.double().logins_in_clear_text(), 0);
}

#[test]
fn a_server_with_tls_is_used_with_encryption_that_is_optional() {
    let bench = Bench::start_with(SqlServer::windows(PASSWORD), Encryption::Required);
    let server = bench.server();
    let optional = ["doctor", "--server", &server, "--encrypt", "optional"];
    let arguments = [&optional[..], &["--trust-server-certificate"]].concat();
    bench.dbstow(&arguments).assert().success();
    assert_eq!(bench.double().logins_in_clear_text(), 0);
}

#[test]
fn a_volume_that_the_service_cannot_write_fails_the_trial_with_the_remedy() {
    let mut server = SqlServer::windows(PASSWORD);
    server.volumes[1].writable = false;
    let bench = Bench::start(server);
    let before = bench.tempdb();
    moving(&bench, &[])
        .assert()
        .stderr(contains("5123").and(contains("icacls")));
    bench.is_as_before(&before);
    settle(&bench);
}

#[test]
fn a_file_that_is_in_the_way_is_named() {
    let mut server = SqlServer::windows(PASSWORD);
    server.in_the_way.push("D:\\dbstow_probe_".to_owned());
    let bench = Bench::start(server);
    let before = bench.tempdb();
    moving(&bench, &[])
        .assert()
        .stderr(contains("5170").and(contains("check what uses it")));
    bench.is_as_before(&before);
    settle(&bench);
}

#[test]
fn a_volume_without_room_for_tempdb_is_found_before_tempdb_moves() {
    let mut server = SqlServer::windows(PASSWORD);
    let drive = &mut server.volumes[1];
    drive.other_bytes = drive.total_bytes - (32 << 20);
    let bench = Bench::start(server);
    let before = bench.tempdb();
    moving(&bench, &[])
        .assert()
        .stderr(contains("error 112").and(contains("make room")));

    bench.is_as_before(&before);
    let moved = bench.double().heard();
    let moved = moved
        .iter()
        .filter(|text| text.contains("MODIFY FILE") && text.contains("N'D:"));
    assert_eq!(
        moved.count(),
        0,
        "the trial on D: ends before anything moves there"
    );
    settle(&bench);
}

#[test]
fn a_volume_that_fills_in_the_run_fails_the_trial_and_keeps_the_others() {
    let mut server = SqlServer::windows(PASSWORD);
    // With room for tempdb's initial size, but not for its growth.
    let drive = &mut server.volumes[1];
    drive.other_bytes = drive.total_bytes - (420 << 20);
    server.works(
        |question| question.text.contains("#test_rows") && question.text.starts_with("SELECT"),
        Work {
            filled_pages: [("tempdb".to_owned(), 10_000)].into(),
            ..temporary()
        },
        Reply::new().done(),
    );
    let bench = Bench::start(server);
    let before = bench.tempdb();
    moving(&bench, &[])
        .assert()
        .stdout(contains("1105").and(contains("make room")));

    let records = bench.records();
    assert_eq!(records.len(), 2, "both are recorded");
    for record in &records {
        let errors = record["errors"]["count"].as_u64();
        let on_drive = record["arm"] == "p30";
        assert_eq!(errors.is_some_and(|count| count > 0), on_drive, "{record}");
    }
    bench.is_as_before(&before);
    settle(&bench);
}
