//! `dbstow rehearse` with what sessions of a real PostgreSQL do besides plain statements, and what ends them. Needs root, loop devices and
//! PostgreSQL.
#![cfg(all(target_os = "linux", feature = "postgres"))]
#![allow(
    clippy::unwrap_used,
    reason = "a panic with its line is what a failing test should give"
)]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};

use testing::folder::Folder;
use testing::server::binaries;
use testing::theirs::Theirs;

use super::rehearse::{arguments, document, layout};

/// A session that sends one statement after the other, and is open until its input is closed.
fn session(theirs: &Theirs, statements: &str) -> Child {
    let mut command = theirs.psql_command();
    let child = command
        .arg("-XAtq")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.as_ref().unwrap();
    input.write_all(statements.as_bytes()).unwrap();
    child
}

/// Waits until a session has printed a line that is `last`.
fn await_line(child: &mut Child, last: &str) {
    let mut lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == last), "no {last}");
}

/// Savepoints, prepared statements, cursors and messages; three of them fail.
const ALONE: &str = "BEGIN;\nSAVEPOINT a;\nINSERT INTO notes VALUES (1, 'again');\nROLLBACK TO a;\n\
     INSERT INTO notes VALUES (3, 'three');\nRELEASE a;\nCOMMIT;\n\
     PREPARE p(int) AS SELECT note FROM notes WHERE id = $1;\nEXECUTE p(3);\nDISCARD ALL;\nEXECUTE p(3);\n\
     BEGIN;\nDECLARE c CURSOR FOR SELECT id FROM notes ORDER BY id;\nFETCH 1 FROM c;\nMOVE 1 IN c;\nCLOSE c;\nFETCH 1 FROM c;\nCOMMIT;\n\
     LISTEN news;\nNOTIFY news, 'one';\nUNLISTEN *;\n";

/// Two that wait for each other: the first one is the first to find out, and fails.
const FIRST: &str = "SELECT pg_advisory_lock(7);\nBEGIN;\nUPDATE notes SET note = 'a' WHERE id = 1;\nSELECT pg_sleep(0.6);\n\
     UPDATE notes SET note = 'b' WHERE id = 2;\nCOMMIT;\nSELECT pg_advisory_unlock(7);\n";
const SECOND: &str = "SELECT pg_sleep(0.4);\nBEGIN;\nUPDATE notes SET note = 'c' WHERE id = 2;\nSELECT pg_sleep(0.4);\n\
     UPDATE notes SET note = 'd' WHERE id = 1;\nCOMMIT;\nSELECT pg_advisory_lock(7);\nSELECT pg_advisory_unlock(7);\n";

#[test]
fn what_sessions_do_and_what_ends_them_is_replayed_as_it_was() {
    let Some(binaries) = binaries() else { return };
    let theirs = Theirs::start(&binaries);
    theirs.sql("CREATE TABLE notes(id int PRIMARY KEY, note text); INSERT INTO notes VALUES (1, 'one'), (2, 'two')");
    let base = theirs.path("base");
    theirs.hand_over(&theirs.path("pgpass"));
    theirs.run("pg_basebackup", |command| {
        command
            .env("PGPASSFILE", theirs.path("pgpass"))
            .arg("-h")
            .arg(theirs.path(""))
            .args(["-p", &theirs.port().to_string(), "-U", "boss"])
            .args(["--no-password", "--checkpoint=fast", "-D"])
            .arg(&base)
    });
    let up = || {
        theirs.up(&[
            "logging_collector=on",
            "log_destination=csvlog",
            &format!("log_directory={}", theirs.path("logs").display()),
            "log_filename=server.log",
            "log_min_duration_statement=0",
            "log_connections=on",
            "log_disconnections=on",
        ]);
    };
    up();
    let alone = session(&theirs, ALONE);
    assert!(alone.wait_with_output().unwrap().status.success());
    let pair = [FIRST, SECOND].map(|statements| session(&theirs, statements));
    for session in pair {
        assert!(session.wait_with_output().unwrap().status.success());
    }
    // One is cut off in its transaction, and another by its server.
    let open = "BEGIN;\nUPDATE notes SET note = 'lost' WHERE id = 3;\nSELECT 'open';\n";
    let mut cut = session(&theirs, open);
    await_line(&mut cut, "open");
    cut.kill().unwrap();
    cut.wait().unwrap();
    let mut left = session(&theirs, open);
    await_line(&mut left, "open");
    up();
    assert_eq!(theirs.sql("SELECT note FROM notes WHERE id = 3"), "three");
    drop(left.stdin.take());
    left.wait().unwrap();
    theirs.up(&[]);

    let folder = Folder::with(&[("today.toml", layout(3_000))]);
    let (base, log) = (base.display().to_string(), theirs.path("logs/server.csv"));
    let more = ["--pace", "original", "--with-text", "--full"];
    folder.stdout(&arguments(&base, log.to_str().unwrap(), &more));
    let document = document(&folder, "rehearsal");
    let statements = [ALONE, FIRST, SECOND, open, open].map(|all| all.lines().count());
    assert_eq!(
        document["log"]["statements"],
        statements.iter().sum::<usize>() + 1,
        "{document}"
    );
    assert_eq!(document["log"]["sessions"], 6, "{document}");
    assert_eq!(document["layouts"][0]["fidelity"], 1.0, "{document}");
    let changed = document["backup"]["changed"].to_string();
    assert!(
        changed.contains("log_min_duration_statement = 0"),
        "{changed}"
    );
}
