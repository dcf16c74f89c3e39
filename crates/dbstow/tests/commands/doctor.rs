//! `dbstow doctor` as a user runs it, without a SQL Server: captures made by hand, and servers that are not
//! there.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use assert_cmd::Command;
use tds_double::server::SqlServer;
use tds_double::{Double, Encryption};
use testing::folder::{self, Folder, said};

fn captures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../engines/sqlserver/tests/captures")
}

fn doctor(arguments: &[&str]) -> Command {
    let mut command = Command::new(testing::program());
    command.arg("doctor").args(arguments);
    command
        .env_remove("SQLCMDUSER")
        .env_remove("SQLCMDPASSWORD");
    command
}

/// Output of a successful doctor.
fn stdout(arguments: &[&str]) -> String {
    folder::stdout(&doctor(arguments).assert().success())
}

/// How far the support of SQL Server has been checked.
const CHECKED: &str = "T-SQL and client run against Babelfish 4.4 (all loads equal to SQLite's); not yet run on SQL Server";

/// A text in one line.
fn unbroken(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Its one line of complaint.
fn complaint(command: &mut Command, code: i32) -> String {
    let output = command.assert().code(code).stdout("");
    let text = said(&output);
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}

#[test]
fn captures_are_shown_and_written_without_a_server() {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema/capture.json");
    let schema = fs::read_to_string(schema).expect("the schema is in the repository");
    let schema = serde_json::from_str(&schema).expect("a schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("a valid schema");
    let folder = Folder::new();
    let out = &*folder.text("redacted.json");
    let entries = captures().read_dir().expect("captures for tests").flatten();
    let files = entries.map(|entry| entry.path());
    let files: Vec<_> = files
        .filter(|file| file.extension().is_some_and(|end| end == "json"))
        .collect();
    assert_eq!(files.len(), 6);
    for file in files {
        let file = file.to_str().expect("its name is text");
        let text = stdout(&[file, "--out", out]);
        assert!(unbroken(&text).contains(CHECKED), "{text}");
        assert!(text.contains("Next:    dbstow lint"), "{text}");
        let wide = text.lines().find(|line| line.chars().count() > 100);
        assert!(wide.is_none_or(|line| line.contains(out)), "{wide:?}");
        let written = folder.read("redacted.json");
        assert_eq!(stdout(&[file, "--format", "json"]), written);
        let value: serde_json::Value = serde_json::from_str(&written).expect("it is JSON");
        assert!(validator.is_valid(&value), "{file}");
        assert_eq!(value["redacted"], true);
        // Redacted once, it stays as it is.
        assert_eq!(stdout(&[out, "--format", "json"]), written);
    }
}

#[test]
fn names_stay_where_that_is_asked_for() {
    let file = captures().join("windows-2019-azure-vm.json");
    let file = file.to_str().expect("its name is text");
    assert!(stdout(&[file, "--format", "json", "--plain"]).contains("shop_log"));
    assert!(!stdout(&[file, "--format", "json"]).contains("shop_log"));
}

#[test]
fn a_server_that_is_not_there_is_told_at_once_with_what_helps() {
    let server = ["--server", "sqlserver://sa@127.0.0.1:1"];
    let mut command = doctor(&server);
    command
        .env("SQLCMDPASSWORD", "hunter2")
        .timeout(Duration::from_secs(20));
    let text = complaint(&mut command, 1);
    for part in ["127.0.0.1,1", "check host"] {
        assert!(text.contains(part), "no {part:?} in: {text}");
    }
    assert!(!text.contains("hunter2"), "{text}");
}

#[test]
fn what_is_missing_for_a_login_is_told_before_anything_is_tried() {
    let without = complaint(&mut doctor(&["--server", "sqlserver://sa@127.0.0.1:1"]), 2);
    assert!(without.contains("SQLCMDPASSWORD"), "{without}");
    let inside = complaint(&mut doctor(&["--server", "sqlserver://sa:hunter2@db1"]), 2);
    assert!(inside.contains("holds a password"), "{inside}");
    assert!(!inside.contains("hunter2"), "{inside}");
    let other = complaint(&mut doctor(&["--server", "postgresql://db1"]), 2);
    assert!(
        other.contains("is not the address of a SQL Server"),
        "{other}"
    );
    let token = [
        "--server",
        "db1",
        "--access-token-env",
        "DBSTOW_NO_SUCH_TOKEN",
    ];
    let token = complaint(&mut doctor(&token), 2);
    assert!(token.contains("DBSTOW_NO_SUCH_TOKEN"), "{token}");
}

#[test]
fn what_is_no_capture_is_refused_with_its_name() {
    let folder = Folder::new();
    let name = &*folder.text("x.json");
    let missing = complaint(&mut doctor(&[name]), 2);
    assert!(
        missing.contains("x.json") && missing.contains("--out"),
        "{missing}"
    );
    folder.write("x.json", "{\"schema\": \"dbstow.record/1\"}");
    let other = complaint(&mut doctor(&[name]), 2);
    assert!(other.contains("another document of dbstow"), "{other}");
    folder.write("x.json", "{\"format\": 9, \"dbstow\": \"7.0.0\"}");
    let newer = complaint(&mut doctor(&[name]), 2);
    assert!(
        newer.contains("format 9") && newer.contains("7.0.0"),
        "{newer}"
    );
}

#[test]
fn help_says_how_far_it_was_checked_and_shows_examples() {
    let help = unbroken(&stdout(&["--help"]));
    for part in [CHECKED, "Examples:", "dbstow lint", "--plain"] {
        assert!(help.contains(part), "no {part:?} in: {help}");
    }
}

// Against a double, which says nothing about SQL Server: tests that the dialogue works, and its end.

const PASSWORD: &str = "Correct-horse-1433";

fn double(server: SqlServer) -> (Double<SqlServer>, String) {
    let double = Double::start(server, Encryption::None).expect("a free port");
    let port = double.address().port();
    (double, format!("sqlserver://sa@127.0.0.1:{port}"))
}

#[test]
fn a_server_is_asked_and_its_capture_written() {
    let (double, server) = double(SqlServer::windows(PASSWORD));
    let folder = Folder::new();
    let out = &*folder.text("double.json");
    let arguments = [
        "--server",
        &server,
        "--encrypt",
        "off-insecure",
        "--out",
        out,
    ];
    let output = doctor(&arguments)
        .env("SQLCMDPASSWORD", PASSWORD)
        .assert()
        .success();
    let text = folder::stdout(&output);
    for part in [
        "SQL Server 2022 (16.0.4085.2)",
        "asked as: sa in master of DOUBLE",
        r"C:\Data\tempdb.mdf",
    ] {
        assert!(text.contains(part), "no {part:?} in: {text}");
    }
    assert!(!text.contains("Without an answer"), "{text}");
    let written = folder.read("double.json");
    assert!(
        !written.contains("DOUBLE") && !written.contains(PASSWORD),
        "{written}"
    );
    assert_eq!(stdout(&[out, "--format", "json"]), written);
    double.settle();
}

#[test]
fn a_login_that_may_little_is_told_what_to_ask_for() {
    let mut server = SqlServer::linux(PASSWORD);
    server.add_login("guest", PASSWORD, &[]);
    let (double, address) = double(server);
    let address = address.replace("sa@", "guest@");
    let arguments = ["--server", &address, "--encrypt", "off-insecure"];
    let output = doctor(&arguments)
        .env("SQLCMDPASSWORD", PASSWORD)
        .assert()
        .success();
    let text = folder::stdout(&output);
    for part in [
        "GRANT VIEW SERVER PERFORMANCE STATE TO [login];",
        "[login] is [guest]",
        "Without an answer",
    ] {
        assert!(text.contains(part), "no {part:?} in: {text}");
    }
    double.settle();
}

#[test]
fn a_wrong_password_is_told_with_where_to_look() {
    let (_double, server) = double(SqlServer::linux(PASSWORD));
    let arguments = ["--server", &server, "--encrypt", "off-insecure"];
    let text = complaint(doctor(&arguments).env("SQLCMDPASSWORD", "hunter2"), 1);
    assert!(
        text.contains("18456") && text.contains("SQLCMDPASSWORD"),
        "{text}"
    );
    assert!(!text.contains("hunter2"), "{text}");
}
