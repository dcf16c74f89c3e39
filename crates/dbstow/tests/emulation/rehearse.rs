//! `dbstow rehearse` as a user runs it: a backup and a log of a real PostgreSQL, on modelled disks. Needs root, loop devices and
//! PostgreSQL.
#![cfg(all(target_os = "linux", feature = "postgres"))]
#![allow(
    clippy::unwrap_used,
    reason = "a panic with its line is what a failing test should give"
)]

use std::fs;
use std::path::Path;

use serde_json::Value;
use testing::folder::{Folder, contains};
use testing::server::binaries;
use testing::theirs::Theirs;

/// A layout on one disk of a catalogue.
pub(super) fn layout(iops: u32) -> String {
    format!(
        "[machine]\ntype = \"aws.m7i.large\"\n\n[volume.data]\ndisk = \"aws.gp3\"\nsize = \"20 GiB\"\niops = {iops}\n\n\
         [placement.all]\ndata = {{ volumes = \"data\" }}\ntemp = {{ volumes = \"data\" }}\nlog = {{ volumes = \"data\" }}\n"
    )
}

/// Takes a base backup into this folder of the server's.
pub(super) fn back_up(theirs: &Theirs, folder: &str, more: &[&str]) {
    // It is read by the server's user, and by root.
    theirs.hand_over(&theirs.path("pgpass"));
    theirs.run("pg_basebackup", |command| {
        command
            .env("PGPASSFILE", theirs.path("pgpass"))
            .args(["-h", theirs.path("").to_str().unwrap()])
            .args(["-p", &theirs.port().to_string()])
            .args(["-U", "boss", "--no-password", "--checkpoint=fast"])
            .args(more)
            .arg("-D")
            .arg(theirs.path(folder))
    });
}

/// A backup of a server with pgbench's tables, and the log of what pgbench did afterwards.
pub(super) fn rehearsed() -> Option<(Folder, Theirs)> {
    let binaries = binaries()?;
    let theirs = Theirs::start(&binaries);
    theirs.pgbench(&["-i", "-q", "-s", "1"]);
    let settings = |more: &[&str]| {
        let folder = theirs.path("logs");
        let directory = format!("log_directory={}", folder.display());
        let mut all = vec![
            "logging_collector=on",
            "log_destination=csvlog,stderr",
            &directory,
            "log_filename=server.log",
        ];
        all.extend(more);
        theirs.up(&all);
    };
    theirs.sql("CREATE TABLE notes(id int PRIMARY KEY, note text)");
    back_up(&theirs, "base", &[]);
    back_up(&theirs, "packed", &["--format=tar", "--gzip"]);
    settings(&["log_min_duration_statement=0", "log_connections=on"]);
    theirs.pgbench(&["-c", "2", "-t", "40", "-n", "-M", "prepared"]);
    theirs.pgbench(&["-c", "2", "-t", "20", "-n"]);
    theirs.sql("INSERT INTO notes VALUES (1, 'it''s one')");
    // An error, which is to be one again.
    theirs.sql("INSERT INTO notes VALUES (1, 'and another')");
    settings(&["log_min_duration_statement=-1"]);
    let folder = Folder::with(&[
        ("today.toml", layout(3_000)),
        ("candidate.toml", layout(6_000)),
    ]);
    Some((folder, theirs))
}

pub(super) fn arguments<'a>(base: &'a str, log: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut all = vec![
        "rehearse",
        "--backup",
        base,
        "--statements",
        log,
        "--layout",
        "today.toml",
        "--blocks",
        "1",
    ];
    all.extend(more);
    all
}

/// The document of a rehearsal, which keeps to its schema.
pub(super) fn document(folder: &Folder, name: &str) -> Value {
    let schema = include_str!("../../../../schema/rehearsal.schema.json");
    let schema: Value = serde_json::from_str(schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let document = serde_json::from_str(&folder.read(&format!("{name}/rehearsal.json"))).unwrap();
    let errors = validator.iter_errors(&document);
    let errors: Vec<String> = errors.map(|error| error.to_string()).collect();
    assert_eq!(errors, [""; 0], "{document}");
    document
}

/// Names, sizes and times of all files.
pub(super) fn content(folder: &Path) -> Vec<(String, u64, std::time::SystemTime)> {
    let mut all = Vec::new();
    let mut left = vec![folder.to_owned()];
    while let Some(next) = left.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            if metadata.is_dir() {
                left.push(path.clone());
            }
            all.push((
                path.display().to_string(),
                metadata.len(),
                metadata.modified().unwrap(),
            ));
        }
    }
    all.sort();
    all
}

#[test]
fn statements_of_a_log_end_as_recorded_and_the_backup_stays_as_it_was() {
    let Some((folder, theirs)) = rehearsed() else {
        return;
    };
    let base = theirs.path("base");
    let before = content(&base);
    let (backup, log) = (
        base.display().to_string(),
        theirs.path("logs/server.csv").display().to_string(),
    );
    let more = [
        "--layout",
        "candidate.toml",
        "--pace",
        "x50",
        "--with-text",
        "--full",
    ];
    let printed = folder.stdout(&arguments(&backup, &log, &more));
    contains(
        &printed,
        &[
            "candidate",
            "base backup",
            "UPDATE pgbench_accounts SET abalance = abalance + ",
        ],
    );
    let document = document(&folder, "rehearsal");
    // 60 transactions of 7 statements on 2 clients each, two questions of each pgbench, and the two of the notes.
    assert_eq!(
        document["log"]["statements"],
        2 * (40 + 20) * 7 + 2 * 2 + 2,
        "{document}"
    );
    for layout in document["layouts"].as_array().unwrap() {
        assert_eq!(layout["fidelity"], 1.0, "{document}");
    }
    // By object: the accounts are changed by every transaction of pgbench that wrote, and read by all.
    let objects = document["objects"].as_array().unwrap();
    let accounts = objects
        .iter()
        .find(|object| object["name"] == "public.pgbench_accounts");
    let accounts = accounts.unwrap();
    assert_eq!(accounts["kind"], "table");
    for used in accounts["layouts"].as_array().unwrap() {
        assert_eq!(used["changed_rows"], 2 * (40 + 20), "{document}");
        // Cold, at least one block was read.
        assert!(used["read_bytes"].as_u64().unwrap() >= 8192, "{document}");
    }
    let is_index = |object: &&Value| object["name"] == "public.pgbench_accounts_pkey";
    assert_eq!(objects.iter().find(is_index).unwrap()["kind"], "index");
    contains(&printed, &["By object", "public.pgbench_accounts_pkey"]);
    assert_eq!(content(&base), before);
    assert!(!folder.path("rehearsal/volumes").exists());

    // The records are those of a run.
    let report = folder.stdout(&["report", "rehearsal"]);
    contains(&report, &["candidate", "postgres"]);

    // The same by the other log, of which only reads are played; and no texts.
    let stderr = theirs.path("logs/server.log").display().to_string();
    let more = [
        "--reads-only",
        "--prefix",
        "%m [%p] ",
        "--database",
        "postgres",
        "--user",
        "boss",
        "--out",
        "reads",
    ];
    let printed = folder.stdout(&arguments(&backup, &stderr, &more));
    contains(&printed, &["stderr", "One placement alone"]);
    let reads = folder.read("reads/rehearsal.json");
    let mut reads: Value = serde_json::from_str(&reads).unwrap();
    // Names of tables are no texts of statements.
    let objects = reads.as_object_mut().unwrap().remove("objects").unwrap();
    assert!(objects.as_array().unwrap().len() > 2, "{objects}");
    let others = reads.to_string();
    assert!(
        !others.contains("SELECT") && !others.contains("pgbench"),
        "{others}"
    );
    assert_eq!(reads["layouts"][0]["fidelity"], 1.0, "{reads}");

    // The same backup in archives, of which nothing is unpacked beside them; settings of the user's come before its own.
    let packed = theirs.path("packed");
    let before = content(&packed);
    folder.write("own.conf", "shared_buffers = 48MB\n");
    let more = ["--settings", "own.conf", "--out", "packed", "--full"];
    let printed = folder.stdout(&arguments(packed.to_str().unwrap(), &log, &more));
    contains(
        &printed,
        &["base backup in tar format", "shared_buffers = 48MB"],
    );
    let from_archives: Value = serde_json::from_str(&folder.read("packed/rehearsal.json")).unwrap();
    assert_eq!(from_archives["layouts"][0]["fidelity"], 1.0);
    assert_eq!(content(&packed), before);
    assert!(!folder.path("packed/volumes").exists());

    // Of a log whose statements fail there is no verdict: what is inserted here is in the log's database alone.
    let stamp = "2026-11-28 09:00:00.000 UTC [812] LOG:  duration: 1.0 ms  statement: ";
    folder.write(
        "other.log",
        format!("{stamp}SELECT secret FROM elsewhere WHERE a = 7\n"),
    );
    let more = ["--database", "postgres", "--user", "boss", "--out", "other"];
    let printed = folder.printed(&arguments(&backup, "other.log", &more));
    assert_eq!(printed.code, 1, "{}", printed.stderr);
    contains(&printed.stderr, &["no operation succeeded"]);
    contains(&printed.stderr, &["SQLSTATE 42P01"]);
    assert!(!printed.stderr.contains("elsewhere"), "{}", printed.stderr);

    // Where some fail there is none either, and the answer says of how many. Sections of the layout that say what runs are told to have no
    // effect, and the machine's part in the answer stands beside it.
    folder.write(
        "some.log",
        format!("{stamp}SELECT 1\n{stamp}SELECT secret FROM elsewhere\n{stamp}SELECT 1; COPY notes FROM STDIN\n"),
    );
    folder.write(
        "today.toml",
        layout(3_000) + "\n[engine]\nmemory = \"64 MiB\"\n",
    );
    let more = ["--database", "postgres", "--user", "boss", "--out", "some"];
    let printed = folder.printed(&arguments(&backup, "some.log", &more));
    assert_eq!(printed.code, 3, "{}", printed.stderr);
    contains(
        &printed.stdout,
        &[
            "No verdict: too few statements ended as in the log",
            "50.0 % on today",
            "processors are those of this machine",
        ],
    );
    contains(
        &printed.stderr,
        &[
            "without effect: engine (statements are those of the log",
            "not replayed: 1 statement of COPY FROM STDIN",
            "too few statements ended as in the log",
        ],
    );
}

#[test]
fn what_cannot_be_rehearsed_is_refused_before_anything_is_made() {
    let Some(_) = binaries() else { return };
    let folder = Folder::with(&[("today.toml", layout(3_000)), ("log.csv", String::new())]);
    folder.make_folder("base");
    let said = folder.fails(&arguments("base", "log.csv", &[]), 1);
    contains(&said, &["base: it has no PG_VERSION", "pg_basebackup"]);
    let said = folder.fails(&arguments("nowhere", "log.csv", &[]), 1);
    contains(&said, &["nowhere"]);
    folder.refuses(
        &arguments("base", "log.csv", &["--layout", "today.toml"]),
        &["another layout is called \"today\" too"],
    );
    let said = folder.fails(&arguments("base", "log.csv", &["--pace", "fast"]), 2);
    contains(&said, &["give closed, original, or x"]);
    assert!(!folder.path("rehearsal").exists());
}
