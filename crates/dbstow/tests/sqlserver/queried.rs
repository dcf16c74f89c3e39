//! What only queries a server: `doctor`, and `lint` of a live one.

use std::fs;
use std::net::{Ipv4Addr, UdpSocket};
use std::thread;

use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;
use serde_json::Value;
use tds_double::server::SqlServer;
use testing::sqlserver::{Bench, PASSWORD};

use crate::settle;

fn json(text: &[u8]) -> Value {
    serde_json::from_slice(text).expect("JSON")
}

#[test]
fn lint_says_the_same_of_a_server_and_of_its_capture() {
    let bench = Bench::start(SqlServer::windows(PASSWORD));
    let server = bench.server();
    let login = ["--server", &server, "--encrypt", "off-insecure"];
    let capture = ["--plain", "--out", "server.json"];
    bench
        .dbstow(&[&["doctor"], &login[..], &capture].concat())
        .assert()
        .success()
        .stdout(contains("dbstow lint server.json"));

    let mut live = bench.dbstow(&[&["lint", "--format", "json"], &login[..]].concat());
    let live = json(&live.assert().success().get_output().stdout);
    let offline = bench
        .dbstow(&["lint", "--format", "json", "server.json"])
        .assert();
    let offline = json(&offline.success().get_output().stdout);

    assert_eq!(live["rules"], offline["rules"]);
    let rules = live["rules"].as_array().expect("a list");
    assert!(rules.len() > 20, "{live}");
    settle(&bench);
}

#[test]
fn lint_of_a_server_fails_where_a_finding_is_that_severe() {
    let mut server = SqlServer::windows(PASSWORD);
    // Setup's own default of an older version: one file of tempdb that grows by a tenth.
    let tempdb = server.databases.get_mut(&2).expect("tempdb");
    tempdb.files.remove(&3);
    let data = tempdb.files.get_mut(&1).expect("a data file");
    data.growth = tds_double::server::text::Growth::Percent(10);
    let bench = Bench::start(server);
    let server = bench.server();
    let arguments = ["lint", "--server", &server, "--encrypt", "off-insecure"];
    bench
        .dbstow(&[&arguments[..], &["--fail-on", "low"]].concat())
        .assert()
        .code(3)
        .stdout(contains("tempdb"));
    settle(&bench);
}

#[test]
fn doctor_says_of_a_login_that_may_only_look_what_is_missing_for_what() {
    let mut server = SqlServer::windows(PASSWORD);
    server.add_login("reader", PASSWORD, &["VIEW SERVER PERFORMANCE STATE"]);
    let bench = Bench::start(server);
    let port = bench.double().address().port();
    let reader = format!("sqlserver://reader@127.0.0.1:{port}");
    bench
        .dbstow(&["doctor", "--server", &reader, "--encrypt", "off-insecure"])
        .assert()
        .success()
        .stdout(
            contains("GRANT CREATE ANY DATABASE")
                .and(contains("GRANT VIEW ANY DEFINITION"))
                // sys.dm_server_services, from 2022 on.
                .and(contains("GRANT VIEW SERVER SECURITY STATE"))
                .and(contains("ALTER SERVER ROLE sysadmin ADD MEMBER")),
        );
    settle(&bench);
}

#[test]
fn names_with_quotes_and_brackets_are_names() {
    let mut server = SqlServer::windows(PASSWORD);
    server.name = "DB'1]".to_owned();
    server.add_login("we]ird'login", PASSWORD, &["CONTROL SERVER"]);
    let bench = Bench::start(server);
    {
        let double = bench.double();
        let mut model = double.model();
        let mut strange = model.databases[&4].clone();
        strange.name = "x]y'; DROP DATABASE msdb; --".to_owned();
        for file in strange.files.values_mut() {
            file.now.path = file.now.path.replace("MSDB", "O'Brien [x]");
            file.next.path.clone_from(&file.now.path);
        }
        model.databases.insert(5, strange);
    }
    let address = bench.double().address();
    let server = format!("127.0.0.1,{}", address.port());
    let login = ["--server", &server, "--encrypt", "off-insecure"];
    for command in ["doctor", "lint"] {
        bench
            .dbstow(&[&[command], &login[..]].concat())
            .env("SQLCMDUSER", "we]ird'login")
            .assert()
            .success();
    }
    let restart = bench.restart_command();
    let strange = crate::small(&[
        "--restart-command",
        &restart,
        "--volume",
        "f=D:\\o'brien [x]",
    ]);
    bench
        .run("tempdb-ssd-vs-premium", &strange)
        .assert()
        .success();
    let heard = bench.double().heard();
    assert!(
        heard
            .iter()
            .any(|text| text.contains("N'D:\\o''brien [x]\\dbstow_"))
    );
    settle(&bench);
}

/// Answers as SQL Server Browser does, until the test's process ends; false where another program does.
///
/// Source: Microsoft, [MC-SQLR], 2.2.5 `SVR_RESP` (read 2026-11).
fn browser(instance: &'static str, port: u16) -> bool {
    let Ok(socket) = UdpSocket::bind((Ipv4Addr::LOCALHOST, 1434)) else {
        return false;
    };
    thread::spawn(move || {
        let mut bytes = [0; 1024];
        while let Ok((length, client)) = socket.recv_from(&mut bytes) {
            // CLNT_UCAST_INST: 4, the name, 0.
            let asked = bytes[..length].strip_prefix(&[4]);
            let asked = asked.and_then(|asked| asked.strip_suffix(&[0]));
            if asked != Some(instance.as_bytes()) {
                continue;
            }
            let told = format!(
                "ServerName;DOUBLE;InstanceName;{instance};IsClustered;No;Version;16.0.4085.2;tcp;{port};;"
            );
            let length = u16::try_from(told.len())
                .expect("a short text")
                .to_le_bytes();
            let answer = [&[5], &length[..], told.as_bytes()].concat();
            socket.send_to(&answer, client).expect("the client waits");
        }
    });
    true
}

#[test]
fn a_named_instance_is_found_by_the_browser_or_the_browser_is_named() {
    let bench = Bench::start(SqlServer::windows(PASSWORD));
    if !browser("SQL2022", bench.double().address().port()) {
        testing::skip("UDP port 1434 is taken");
        return;
    }
    let doctor = |server: &str| {
        let mut command =
            bench.dbstow(&["doctor", "--server", server, "--encrypt", "off-insecure"]);
        command.env("SQLCMDUSER", "sa");
        command.assert()
    };
    doctor("127.0.0.1\\SQL2022").success();
    doctor("127.0.0.1\\SQL2019")
        .failure()
        .stderr(contains("SQL Server Browser").and(contains("UDP 1434")));
    settle(&bench);
    let out = fs::read_dir(bench.path("")).expect("the user's folder");
    assert_eq!(
        out.count(),
        0,
        "doctor writes nothing that it was not asked for"
    );
}
