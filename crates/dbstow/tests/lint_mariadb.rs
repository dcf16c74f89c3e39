//! `dbstow doctor` and `dbstow lint` on a real MariaDB of our own, first badly set, then well.

#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

const SERVER: &str = "/usr/sbin/mariadbd";
const PASSWORD: &str = "hunter2";

/// What the rules should find.
const BAD: [&str; 10] = [
    "--log-bin=binlog",
    "--sync-binlog=1",
    "--binlog-expire-logs-seconds=0",
    "--tmpdir=/dev/shm",
    "--innodb-flush-method=fsync",
    "--skip-innodb-doublewrite",
    "--innodb-temp-data-file-path=ibtmp1:12M:autoextend",
    "--performance-schema=OFF",
    "--innodb-buffer-pool-size=16M",
    "--innodb-log-file-size=8M",
];

/// The same settings as the rules want them; `tmpdir` is added.
const GOOD: [&str; 7] = [
    "--log-bin=binlog",
    "--sync-binlog=1",
    "--innodb-flush-log-at-trx-commit=1",
    "--binlog-expire-logs-seconds=604800",
    "--innodb-flush-method=O_DIRECT",
    "--innodb-temp-data-file-path=ibtmp1:12M:autoextend:max:1G",
    "--performance-schema=ON",
];

/// A data directory, and the server on it until it is dropped.
struct Server {
    folder: TempDir,
    process: Option<Child>,
}

impl Server {
    /// A new data directory; `None` where no MariaDB is installed, which is said.
    fn made() -> Option<Server> {
        if !Path::new(SERVER).exists() {
            let why = "there is no MariaDB; apt-get install mariadb-server";
            assert!(std::env::var_os("DBSTOW_SKIP_NOTHING").is_none(), "{why}");
            eprintln!("skipped: {why}");
            return None;
        }
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut command = Command::new("mariadb-install-db");
        command
            .args(["--no-defaults", "--auth-root-authentication-method=normal"])
            .arg(format!(
                "--datadir={}",
                folder.path().join("data").display()
            ))
            .args(as_root());
        let output = command.output().expect("it is installed with the server");
        assert!(output.status.success(), "{output:?}");
        let process = None;
        Some(Server { folder, process })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Starts the server, in place of the one before; `password` is what root has by now.
    fn start(&mut self, settings: &[String], password: &str) {
        self.stop();
        let log = self.path("log");
        let mut command = Command::new(SERVER);
        command
            .args(["--no-defaults", "--skip-networking"])
            .args(as_root())
            .arg(format!("--datadir={}", self.path("data").display()))
            .arg(format!("--socket={}", self.path("s").display()))
            .arg(format!("--pid-file={}", self.path("pid").display()))
            .args(settings)
            .stdout(Stdio::null())
            .stderr(File::create(&log).expect("a log"));
        self.process = Some(command.spawn().expect("it starts"));
        // It waits for the socket itself, so that nothing sleeps here.
        let ping = Command::new("mariadb-admin")
            .args(["--no-defaults", "--user=root", "--wait=60", "ping"])
            .arg(format!("--password={password}"))
            .arg(format!("--socket={}", self.path("s").display()))
            .output();
        let ping = ping.expect("it is installed with the server");
        let said = fs::read_to_string(&log).unwrap_or_default();
        assert!(ping.status.success(), "{ping:?}\n{said}");
    }

    fn stop(&mut self) {
        if let Some(mut process) = self.process.take() {
            let _ = process.kill();
            let _ = process.wait();
        }
        let _ = fs::remove_file(self.path("s"));
    }

    fn execute(&self, sql: &str, password: &str) {
        let output = Command::new("mariadb")
            .args(["--no-defaults", "--user=root", "--execute", sql])
            .arg(format!("--password={password}"))
            .arg(format!("--socket={}", self.path("s").display()))
            .output()
            .expect("it is installed with the server");
        assert!(output.status.success(), "{output:?}");
    }

    /// Its URL, with the password in it, which a user should not do.
    fn url(&self) -> String {
        let socket = self.path("s");
        format!(
            "mysql://root:{PASSWORD}@localhost/?socket={}",
            socket.display()
        )
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A server started by root wants to be told that it may stay so.
fn as_root() -> &'static [&'static str] {
    match nix::unistd::Uid::effective().is_root() {
        true => &["--user=root"],
        false => &[],
    }
}

fn dbstow(arguments: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_dbstow"))
        .args(arguments)
        .output()
        .expect("it starts");
    for text in [&output.stdout, &output.stderr] {
        let text = String::from_utf8_lossy(text);
        assert!(!text.contains(PASSWORD), "{arguments:?}: {text}");
    }
    output
}

#[track_caller]
fn fits(document: &Value, schema: &str) {
    let schema = serde_json::from_str(schema).expect("it is JSON");
    let validator = jsonschema::validator_for(&schema).expect("it is a schema");
    let errors = validator.iter_errors(document);
    let places: Vec<String> = errors
        .map(|error| error.instance_path().to_string())
        .collect();
    assert!(places.is_empty(), "{places:?} of {document:#}");
}

/// What each rule says first: `fine`, or a finding's severity.
fn said(document: &[u8]) -> BTreeMap<String, String> {
    let document: Value = serde_json::from_slice(document).expect("one document");
    fits(&document, include_str!("../../../schema/lint.schema.json"));
    assert_eq!(document["server"]["product"], "mariadb");
    let rules = document["rules"].as_array().expect("rules");
    let said = |rule: &Value| {
        let outcome = &rule["outcomes"][0];
        let kind = outcome["severity"].as_str().or(outcome["outcome"].as_str());
        let id = rule["id"].as_str().expect("an id").to_owned();
        (id, kind.expect("a kind").to_owned())
    };
    rules.iter().map(said).collect()
}

#[test]
fn a_badly_set_server_is_found_and_the_same_well_set_is_not() {
    let Some(mut server) = Server::made() else {
        return;
    };
    let settings: Vec<String> = BAD.iter().map(|set| (*set).to_owned()).collect();
    server.start(&settings, "");
    server.execute(&format!("SET PASSWORD = PASSWORD('{PASSWORD}')"), "");
    // A table of texts is made on disk.
    server.execute(
        "SELECT DISTINCT description FROM mysql.help_topic",
        PASSWORD,
    );

    let url = server.url();
    let output = dbstow(&["lint", "--server", &url, "--format", "json"]);
    assert!(output.status.success(), "{output:?}");
    let found = said(&output.stdout);
    for (rule, expected) in [
        ("binlog-and-redo-together", "low"),
        ("binlog-never-expires", "medium"),
        ("innodb-flush-method", "low"),
        ("tmpdir-in-memory", "medium"),
        ("temp-tablespace-unbounded", "low"),
        ("undo-in-system-tablespace", "low"),
        ("performance-schema-off", "note"),
        // It has just been started.
        ("buffer-pool-small", "cannot-tell"),
    ] {
        assert_eq!(found[rule], expected, "{rule}: {found:?}");
    }
    // How bad it is depends on the disk under this test.
    assert_ne!(found["doublewrite-off"], "fine", "{found:?}");

    let failing = dbstow(&["lint", "--server", &url, "--fail-on", "medium"]);
    assert_eq!(failing.status.code(), Some(3), "{failing:?}");

    a_saved_capture_says_the_same(&server, &found);

    fs::create_dir(server.path("tmp")).expect("a folder");
    let tmp = format!("--tmpdir={}", server.path("tmp").display());
    let good = GOOD.iter().map(|set| (*set).to_owned());
    let good: Vec<String> = good.chain([tmp]).collect();
    server.start(&good, PASSWORD);
    let output = dbstow(&["lint", "--server", &url, "--format", "json"]);
    assert!(output.status.success(), "{output:?}");
    let found = said(&output.stdout);
    for rule in [
        "binlog-never-expires",
        "commits-not-durable",
        "innodb-flush-method",
        "doublewrite-off",
        "temp-tablespace-unbounded",
        "performance-schema-off",
    ] {
        assert_eq!(found[rule], "fine", "{rule}: {found:?}");
    }
}

/// The file has no name of this machine's folders, and lint says of it what it says of the server.
fn a_saved_capture_says_the_same(server: &Server, found: &BTreeMap<String, String>) {
    let file = server.path("server.json");
    let file = file.to_str().expect("its path is text");
    let output = dbstow(&["doctor", "--server", &server.url(), "--out", file]);
    assert!(output.status.success(), "{output:?}");
    let report = String::from_utf8_lossy(&output.stdout);
    assert!(report.starts_with("MariaDB "), "{report}");
    assert!(report.contains("tmpfs"), "{report}");
    assert!(report.contains("Next:    dbstow lint "), "{report}");

    let text = fs::read_to_string(file).expect("it was written");
    let folder = server.folder.path().file_name().expect("it has a name");
    let folder = folder.to_str().expect("its name is text");
    assert!(!text.contains(folder), "{text}");
    let capture: Value = serde_json::from_str(&text).expect("a capture is JSON");
    fits(
        &capture,
        include_str!("../../../schema/mariadb-capture.json"),
    );

    let output = dbstow(&["lint", file, "--format", "json"]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(&said(&output.stdout), found);
    let shown = dbstow(&["doctor", file]);
    assert!(shown.status.success(), "{shown:?}");
}
