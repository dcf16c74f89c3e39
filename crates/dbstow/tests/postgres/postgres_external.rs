//! An external server: a separate database in it, and nothing else touched.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    reason = "a panic with its line is what a failing test should give"
)]

use std::fs;

use engine::{Engine, EngineError};
use experiment::spec::Temperature;
use postgres::{Postgres, ServerUrl};
use testing::server::{Folders, SessionContext, binaries, experiment, load, run};
use testing::theirs::{ENCODED, PASSWORD, Theirs};

fn given(url: &str, site: &Folders) -> Result<Postgres, EngineError> {
    let (settings, workload) = experiment("version-store", "postgres", 2, 1);
    Postgres::external(&ServerUrl::parse(url)?, site, &settings, &workload)
}

/// Command lines and, as far as we may read them, environments of all processes but ours that name this server: others have servers
/// with the same password.
fn processes(theirs: &Theirs) -> String {
    let own = std::process::id().to_string();
    let server = theirs.path("log").parent().unwrap().display().to_string();
    let read = |path| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_name().to_string_lossy() != own)
        .map(|entry| {
            ["cmdline", "environ"]
                .map(|file| read(entry.path().join(file)))
                .concat()
        })
        .filter(|process| process.contains(&server))
        .collect()
}

#[test]
fn a_given_server_gets_a_database_for_the_run_and_is_left_as_it_was() {
    let Some(binaries) = binaries() else { return };
    let theirs = Theirs::start(&binaries);
    let before = theirs.content();
    assert!(before.contains("postgres"), "{before}");
    let (_, workload) = experiment("version-store", "postgres", 2, 1);
    let site = Folders::new(2);
    let mut engine = given(&theirs.url(ENCODED), &site).expect("a database");
    assert!(theirs.content().contains("dbstow_"), "{}", theirs.content());

    load(&engine, &workload, 1);
    engine.quiesce().expect("a checkpoint");
    let mut forgotten = 0;
    let notes = engine.start(Temperature::Cold, &mut || {
        forgotten += 1;
        Ok(Vec::new())
    });
    let notes = notes.expect("it goes on").join("\n");
    assert_eq!(forgotten, 1);
    for said in ["not restarted", "pg_wal", "shared_buffers"] {
        assert!(notes.contains(said), "{notes}");
    }
    let mut seat = SessionContext(engine.connect(0).expect("a connection"));
    assert_eq!(run(&mut seat, &workload, (0, 1), 20), [""; 0]);

    // The password is nowhere but in this process.
    let processes = processes(&theirs);
    assert!(processes.contains("postgres"), "{processes}");
    let (what, url) = (engine.describe(), engine.url());
    let shown = format!("{what:?} {url} {notes} {processes}");
    assert!(!shown.contains(PASSWORD) && !shown.contains(ENCODED));
    let log = fs::read_to_string(theirs.path("log")).unwrap();
    assert!(!log.contains(PASSWORD));

    drop(seat);
    engine.stop().expect("nothing left");
    assert_eq!(theirs.content(), before);
    assert_eq!(site.content(), [""; 0]);
}

#[test]
fn a_wrong_password_is_refused_without_being_shown() {
    let Some(binaries) = binaries() else { return };
    let theirs = Theirs::start(&binaries);
    let site = Folders::new(2);
    let error = given(&theirs.url("hunter2"), &site)
        .err()
        .expect("wrong")
        .to_string();
    assert!(error.contains("SQLSTATE 28P01"), "{error}");
    assert!(!error.contains("hunter2"), "{error}");
    assert_eq!(site.content(), [""; 0]);
}

#[test]
fn what_cannot_be_made_leaves_nothing_in_the_server() {
    let Some(binaries) = binaries() else { return };
    let theirs = Theirs::start(&binaries);
    let before = theirs.content();
    let site = Folders::new(2);
    let in_the_way = site.parent().join("v1/temp_2");
    fs::create_dir(&in_the_way).unwrap();
    let error = given(&theirs.url(ENCODED), &site)
        .err()
        .expect("it is in the way");
    assert!(error.to_string().contains("temp_2"), "{error}");
    assert_eq!(theirs.content(), before);
    assert_eq!(site.content(), [in_the_way.display().to_string()]);
}

#[test]
fn a_server_that_is_not_there_says_where_it_was_looked_for() {
    let site = Folders::new(2);
    let error = given("postgresql://boss@/x?host=/nowhere", &site)
        .err()
        .expect("nobody there");
    let error = error.to_string();
    assert!(error.contains("/nowhere/.s.PGSQL.5432"), "{error}");
}
