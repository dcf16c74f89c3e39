//! Runs without a restart command: at a terminal, where the user is prompted.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{ChildStdin, Stdio};
use std::sync::Arc;
use std::thread;

use parking_lot::Mutex;
use sqlserver::session::{Credentials, Driver, Encryption, Limits, Login, Server, Session};
use tds_double::server::{self, SqlServer};
use testing::place::Running;
use testing::sqlserver::{Bench, PASSWORD, measured};

use crate::{MANY, settle, small};

/// dbstow at a separate terminal.
struct Terminal {
    program: Running,
    keys: ChildStdin,
    shown: Arc<Mutex<String>>,
}

impl Terminal {
    fn start(bench: &Bench, more: &[&str]) -> Terminal {
        let server = bench.server();
        let arguments = measured(&server, "tempdb-ssd-vs-premium", more);
        let quoted = arguments
            .iter()
            .map(|argument| format!("'{}'", argument.replace('\'', "'\\''")));
        let command = format!(
            "exec '{}' {}",
            assert_cmd::cargo::cargo_bin("dbstow").display(),
            quoted.collect::<Vec<_>>().join(" ")
        );
        let arguments = ["--quiet", "--return", "--command", &command, "/dev/null"];
        let mut child = bench
            .process(Path::new("script"), &arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("util-linux has a terminal");
        let shown = Arc::new(Mutex::new(String::new()));
        let mut screen = child.stdout.take().expect("it is piped");
        let writes = Arc::clone(&shown);
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = screen.read(&mut bytes) {
                let text = String::from_utf8_lossy(&bytes[..read]).into_owned();
                let mut writes = writes.lock();
                writes.push_str(&text);
            }
        });
        Terminal {
            keys: child.stdin.take().expect("it is piped"),
            program: Running(child),
            shown,
        }
    }

    fn shown(&self) -> String {
        let shown = self.shown.lock();
        shown.clone()
    }

    /// Waits until the user was prompted this many times.
    fn until_asked(&self, bench: &Bench, times: usize) {
        bench.until(|_| self.shown().matches("Press Enter").count() >= times);
    }

    fn press(&mut self, key: u8) {
        self.keys.write_all(&[key]).expect("it listens");
        self.keys.flush().expect("it listens");
    }

    fn end(mut self) -> (i32, String) {
        let status = self.program.0.wait().expect("it is ours");
        (status.code().unwrap_or(-1), self.shown())
    }
}

const ENTER: u8 = b'\r';
const CTRL_C: u8 = 3;

/// Runs a script that dbstow wrote, as `sqlcmd -i` does.
fn apply(bench: &Bench, script: &str) {
    let folders = fs::read_dir(bench.path("state/dbstow/sqlserver")).expect("a run is here");
    let mut folders = folders.flatten().map(|entry| entry.path());
    let folder = folders.find(|path| path.extension().is_some_and(|end| end == "scripts"));
    let text = fs::read_to_string(folder.expect("scripts").join(script)).expect("text");
    let server = Server::parse(&bench.server()).expect("a server");
    let password = |name: &str| (name == "SQLCMDPASSWORD").then(|| PASSWORD.to_owned());
    let login = Login {
        credentials: Credentials::from_environment(server.user(), password).expect("a password"),
        encryption: Encryption::OffInsecure,
        trust_certificate: false,
    };
    let mut session =
        Driver::connect(&server, &login, "sqlcmd", &Limits::default()).expect("it answers");
    for batch in text
        .split("\nGO\n")
        .filter(|batch| !batch.trim().is_empty())
    {
        let done = session.batch(batch, None).and_then(|batch| batch.refused());
        done.unwrap_or_else(|failure| panic!("{failure}: {batch}"));
    }
}

fn restart(bench: &Bench) {
    server::restart(&mut bench.double()).expect("it starts");
}

#[test]
fn a_user_who_is_asked_applies_the_scripts_and_restarts() {
    let bench = Bench::start(SqlServer::windows(PASSWORD));
    let before = bench.tempdb();
    let mut terminal = Terminal::start(&bench, &small(&[]));
    terminal.until_asked(&bench, 1);
    // Too early: prompted again.
    terminal.press(ENTER);
    terminal.until_asked(&bench, 2);
    let shown = terminal.shown();
    assert!(shown.contains("has not been restarted yet"), "{shown}");
    // To the first placement, to the second, and back.
    for asked in 2..=4 {
        terminal.until_asked(&bench, asked);
        apply(&bench, "apply.sql");
        restart(&bench);
        terminal.press(ENTER);
    }

    let (code, shown) = terminal.end();

    assert_eq!(code, 0, "{shown}");
    assert_eq!(bench.records().len(), 2, "{shown}");
    bench.is_as_before(&before);
    settle(&bench);
}

#[test]
fn a_restart_without_the_script_fails_the_trial_and_nothing_grows_at_the_old_place() {
    let bench = Bench::start(SqlServer::windows(PASSWORD));
    let sizes = || {
        let double = bench.double();
        let model = double.model();
        let (_, tempdb) = model.database("tempdb").expect("there is always one");
        let places = tempdb.files.values();
        places
            .map(|file| (file.next.path.clone(), file.next.pages))
            .collect::<Vec<_>>()
    };
    let before = sizes();
    let mut terminal = Terminal::start(&bench, &small(&[]));
    for asked in 1..=2 {
        terminal.until_asked(&bench, asked);
        restart(&bench);
        terminal.press(ENTER);
    }

    let (code, shown) = terminal.end();

    assert_ne!(code, 0, "{shown}");
    assert!(shown.contains("apply.sql was not run"), "{shown}");
    assert_eq!(sizes(), before);
    assert!(!bench.owes(), "{shown}");
    settle(&bench);
}

#[test]
fn undo_leads_back_to_the_beginning_from_the_second_placement() {
    let bench = Bench::start(SqlServer::windows(PASSWORD));
    let before = bench.tempdb();
    let mut terminal = Terminal::start(&bench, &small(&[]));
    for asked in 1..=2 {
        terminal.until_asked(&bench, asked);
        apply(&bench, "apply.sql");
        restart(&bench);
        terminal.press(ENTER);
    }
    terminal.until_asked(&bench, 3);
    assert_ne!(bench.tempdb(), before);

    apply(&bench, "undo.sql");
    restart(&bench);
    apply(&bench, "after-undo.sql");

    assert_eq!(bench.tempdb(), before);
    terminal.press(ENTER);
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    assert!(!bench.owes(), "{shown}");
    settle(&bench);
}

#[test]
fn ctrl_c_ends_the_asking_and_leaves_a_server_that_was_not_touched() {
    let bench = Bench::start(SqlServer::windows(PASSWORD));
    let before = bench.tempdb();
    let mut terminal = Terminal::start(&bench, &small(&[]));
    terminal.until_asked(&bench, 1);
    terminal.press(CTRL_C);

    let (code, shown) = terminal.end();

    assert_ne!(code, 0, "{shown}");
    assert!(shown.contains("interrupted"), "{shown}");
    bench.is_as_before(&before);
    settle(&bench);
}

#[test]
fn ctrl_c_in_the_run_asks_for_the_way_back() {
    let bench = Bench::start(SqlServer::windows(PASSWORD));
    let before = bench.tempdb();
    let mut terminal = Terminal::start(&bench, &small(&MANY));
    terminal.until_asked(&bench, 1);
    apply(&bench, "apply.sql");
    restart(&bench);
    terminal.press(ENTER);
    bench.until(crate::is_measured);
    terminal.press(CTRL_C);
    terminal.until_asked(&bench, 2);
    apply(&bench, "apply.sql");
    restart(&bench);
    terminal.press(ENTER);

    let (_, shown) = terminal.end();

    assert!(shown.contains("interrupted"), "{shown}");
    bench.is_as_before(&before);
    settle(&bench);
}
