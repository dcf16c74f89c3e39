//! `dbstow rehearse --dump`: a database that is restored from a real `pg_dump`. Needs root, loop devices and PostgreSQL.
#![cfg(all(target_os = "linux", feature = "postgres"))]
#![allow(
    clippy::unwrap_used,
    reason = "a panic with its line is what a failing test should give"
)]

use std::fs;
use std::path::Path;

use testing::folder::{Folder, contains};
use testing::server::binaries;
use testing::theirs::Theirs;

use crate::rehearse::{content, document, layout};

/// What a managed service has, and a private server must not.
const CALLS_OUT: &str = "CREATE EXTENSION postgres_fdw; CREATE EXTENSION pgcrypto; \
     CREATE SERVER other FOREIGN DATA WRAPPER postgres_fdw; CREATE USER MAPPING FOR boss SERVER other; \
     CREATE FOREIGN TABLE far(a int) SERVER other; CREATE PUBLICATION all_tables FOR ALL TABLES; \
     CREATE FUNCTION noticed() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END'; \
     CREATE EVENT TRIGGER noticing ON ddl_command_start EXECUTE FUNCTION noticed()";

/// Roles that own, and that have rights, with names that need quotes.
const ROLES: &str = "CREATE ROLE \"the owner\"; CREATE ROLE reader; \
     CREATE TABLE notes(id int PRIMARY KEY, note text); ALTER TABLE notes OWNER TO \"the owner\"; \
     GRANT SELECT ON notes, far TO reader; GRANT CONNECT ON DATABASE postgres TO reader; \
     CREATE POLICY seen ON notes TO reader, \"the owner\" USING (true); \
     ALTER ROLE reader IN DATABASE postgres SET work_mem = '8MB'";

#[test]
fn a_dump_is_restored_without_what_calls_out_and_its_statements_end_as_recorded() {
    let Some(binaries) = binaries() else { return };
    let theirs = Theirs::start(&binaries);
    theirs.pgbench(&["-i", "-q", "-s", "1"]);
    theirs.sql(CALLS_OUT);
    theirs.sql(ROLES);
    theirs.hand_over(&theirs.path("pgpass"));
    let dump = theirs.path("shop.dump");
    theirs.run("pg_dump", |command| {
        command
            .env("PGPASSFILE", theirs.path("pgpass"))
            .arg("--host")
            .arg(theirs.path(""))
            .args(["--port", &theirs.port().to_string(), "--username", "boss"])
            .args(["--format=directory", "--file"])
            .arg(&dump)
            .arg("postgres")
    });
    let logs = format!("log_directory={}", theirs.path("logs").display());
    theirs.up(&[
        "logging_collector=on",
        "log_destination=csvlog",
        &logs,
        "log_filename=server.log",
        "log_min_duration_statement=0",
        "log_connections=on",
    ]);
    theirs.pgbench(&["-c", "2", "-t", "20", "-n"]);
    theirs.sql("INSERT INTO notes VALUES (1, 'one')");
    theirs.sql("INSERT INTO notes VALUES (1, 'an error')");
    theirs.up(&[]);

    let folder = Folder::with(&[
        ("today.toml", layout(3_000)),
        (
            "server.conf",
            "shared_buffers = '32MB'\ndata_checksums = 'on'\narchive_command = 'cp'\n".to_owned(),
        ),
        ("none.conf", "# nothing\n".to_owned()),
    ]);
    let before = content(&dump);
    let dump_named = dump.display().to_string();
    let log = theirs.path("logs/server.csv").display().to_string();
    let run = |more: &[&str]| {
        let first = ["rehearse", "--dump", &dump_named, "--statements", &log];
        let rest = ["--layout", "today.toml", "--blocks", "1"];
        folder.printed(&[&first[..], &rest, more].concat())
    };

    let printed = run(&["--settings", "server.conf", "--full"]);
    assert_eq!(printed.code, 0, "{}", printed.stderr);
    contains(
        &printed.stdout,
        &[
            "restored from a dump of postgres",
            "shared_buffers = 32MB",
            "archive_command is off",
            "EXTENSION - postgres_fdw, which calls out",
            "FOREIGN TABLE public far",
            "tables and indexes were written anew",
        ],
    );
    let document = document(&folder, "rehearsal");
    // 20 transactions of 7 statements on 2 clients, pgbench's 2 questions, and the two of the notes.
    assert_eq!(
        document["log"]["statements"],
        2 * 20 * 7 + 2 + 2,
        "{document}"
    );
    assert_eq!(document["layouts"][0]["fidelity"], 1.0, "{document}");
    let document = document.to_string();
    contains(&document, &["(boss, reader, the owner)"]);
    assert!(!document.contains("defaults (shared_buffers"), "{document}");
    assert_eq!(content(&dump), before);
    assert!(!folder.path("rehearsal/volumes").exists());

    let printed = run(&["--settings", "none.conf", "--out", "none"]);
    assert_eq!(printed.code, 1, "{}", printed.stderr);
    contains(
        &printed.stderr,
        &["none.conf: it has no setting", "shared_buffers"],
    );

    // A log without names of databases is in the one that is given; another one than the dump's has nothing to play.
    let printed = run(&["--database", "elsewhere", "--out", "elsewhere"]);
    assert_eq!(printed.code, 2, "{}", printed.stderr);
    contains(&printed.stderr, &["server.csv"]);

    // A table that is cut off: one message, with what pg_restore said, and nothing is left.
    let largest = fs::read_dir(&dump).unwrap().map(Result::unwrap);
    let largest = largest
        .filter(|entry| entry.path().extension().is_some_and(|end| end == "gz"))
        .max_by_key(|entry| entry.metadata().unwrap().len())
        .unwrap()
        .path();
    let length = fs::metadata(&largest).unwrap().len();
    let file = fs::OpenOptions::new().write(true).open(&largest).unwrap();
    file.set_len(length / 2).unwrap();
    let printed = run(&["--out", "cut"]);
    assert_eq!(printed.code, 1, "{}", printed.stderr);
    contains(
        &printed.stderr,
        &["restore ", "shop.dump", "make the dump again"],
    );
    assert!(!folder.path("cut/volumes").exists());
}

/// A table whose rows are checked by a function that attacks the volume it is restored to, as the superuser who restores.
const ATTACK: &str = "CREATE FUNCTION attack(int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN IF current_user = 'dbstow' THEN \
     COPY (SELECT 1) TO PROGRAM 'rm -rf pg_stat && ln -s /etc pg_stat && ln -s /etc/passwd base/link && mkfifo base/pipe'; \
     END IF; RETURN 1; END $$; \
     CREATE TABLE trap(id int CHECK (attack(id) > 0)); INSERT INTO trap VALUES (1)";

#[test]
fn a_dump_that_attacks_its_volume_is_refused_and_reaches_nothing_else() {
    let Some(binaries) = binaries() else { return };
    let theirs = Theirs::start(&binaries);
    theirs.sql(ATTACK);
    theirs.hand_over(&theirs.path("pgpass"));
    let dump = theirs.path("shop.dump");
    theirs.run("pg_dump", |command| {
        command
            .env("PGPASSFILE", theirs.path("pgpass"))
            .arg("--host")
            .arg(theirs.path(""))
            .args(["--port", &theirs.port().to_string(), "--username", "boss"])
            .args(["--format=directory", "--compress=0", "--file"])
            .arg(&dump)
            .arg("postgres")
    });
    let folder = Folder::with(&[
        ("today.toml", layout(3_000)),
        (
            "log",
            "2026-11-28 09:00:00.000 UTC [812] boss@postgres LOG:  duration: 1 ms  statement: SELECT 1\n"
                .to_owned(),
        ),
    ]);
    let dump_named = dump.display().to_string();
    let run = |out: &str| {
        let first = ["rehearse", "--dump", &dump_named, "--statements", "log"];
        let rest = ["--layout", "today.toml", "--blocks", "1", "--out", out];
        folder.printed(&[&first[..], &rest].concat())
    };
    let before = content(Path::new("/etc"));
    let printed = run("attacked");
    assert_eq!(printed.code, 1, "{}", printed.stderr);
    contains(&printed.stderr, &["is a symbolic link"]);
    assert_eq!(content(Path::new("/etc")), before);
    assert!(!folder.path("attacked/volumes").exists());

    // A file of rows that its table of contents has elsewhere is opened by the user who owns nothing. A text has its length before it.
    let elsewhere = "../../../../../../../../etc/shadow";
    let contents = fs::read(dump.join("toc.dat")).unwrap();
    let names = fs::read_dir(&dump).unwrap().map(|entry| entry.unwrap());
    let mut names = names.map(|entry| entry.file_name().into_string().unwrap());
    let name = names.find(|name| {
        name != "toc.dat"
            && contents
                .windows(name.len())
                .any(|part| part == name.as_bytes())
    });
    let name = name.unwrap();
    let text = |text: &str| [&(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat();
    let (before, after) = (text(&name), text(elsewhere));
    let place = contents
        .windows(before.len())
        .position(|part| part == before);
    let place = place.unwrap();
    let changed = [
        &contents[..place],
        &after,
        &contents[place + before.len()..],
    ];
    fs::write(dump.join("toc.dat"), changed.concat()).unwrap();
    let printed = run("elsewhere");
    assert_eq!(printed.code, 1, "{}", printed.stderr);
    contains(&printed.stderr, &["etc/shadow"]);
    let refused = ["Permission denied", "invalid file name in archive"];
    assert!(
        refused.iter().any(|why| printed.stderr.contains(why)),
        "{}",
        printed.stderr
    );
    assert!(!folder.path("elsewhere/volumes").exists());
}

#[test]
fn what_is_no_dump_is_refused_before_anything_is_made() {
    let Some(_) = binaries() else { return };
    let folder = Folder::with(&[("today.toml", layout(3_000)), ("log.csv", String::new())]);
    folder.make_folder("shop.dump");
    let of = |dump: &'static str| {
        let rest = ["--statements", "log.csv", "--layout", "today.toml"];
        [&["rehearse", "--dump", dump][..], &rest].concat()
    };
    contains(
        &folder.fails(&of("shop.dump"), 1),
        &["shop.dump: it has no toc.dat", "pg_dump --format=directory"],
    );
    contains(
        &folder.fails(&of("log.csv"), 1),
        &["log.csv: it is a file", "--format=directory"],
    );
    let both = [&of("shop.dump")[..], &["--backup", "base"]].concat();
    contains(&folder.fails(&both, 2), &["--dump", "cannot be used with"]);
    assert!(!folder.path("rehearsal").exists());
}
