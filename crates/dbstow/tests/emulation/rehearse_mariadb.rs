//! `dbstow rehearse` as a user runs it: files and logs of a real MariaDB, on modelled disks. Needs root, loop devices, MariaDB and sysbench.
#![cfg(all(target_os = "linux", feature = "mariadb", feature = "postgres"))]
#![allow(
    clippy::unwrap_used,
    reason = "a panic with its line is what a failing test should give"
)]

use std::process::Command;

use serde_json::Value;
use testing::folder::{Folder, contains};
use testing::mysqld::{Mysqld, PASSWORD};

use super::rehearse::{arguments, content, layout};

/// Files of a server with sysbench's table, and the logs of what sysbench and others did afterwards.
fn rehearsed() -> Option<(Folder, Mysqld)> {
    let server = Mysqld::start(&[])?;
    let sysbench = |more: &[&str]| {
        let small = [
            "--tables=1",
            "--table-size=5000",
            "--rand-type=uniform",
            "--threads=2",
            "--events=20",
        ];
        let ended = server.sysbench(&[&small, more].concat()).wait();
        assert!(ended.unwrap().success());
    };
    sysbench(&["prepare"]);
    server.sql("CREATE TABLE sbtest.notes(id INT PRIMARY KEY, note TEXT); GRANT SELECT ON sbtest.notes TO guest@'%'");
    let variables = server.sql("SHOW GLOBAL VARIABLES");
    mariadb_backup(&server, &["--backup", "--user=root"]);
    mariadb_backup(&server, &["--prepare"]);
    server.down();
    let copied = Command::new("cp")
        .arg("-a")
        .arg(server.path("data"))
        .arg(server.path("base"))
        .status();
    assert!(copied.unwrap().success());
    let file = |name: &str| server.path(&format!("run/{name}")).display().to_string();
    server.up(&[
        "--general-log=ON",
        &format!("--general-log-file={}", file("general.log")),
        "--slow-query-log=ON",
        &format!("--slow-query-log-file={}", file("slow.log")),
        "--long-query-time=0",
    ]);
    sysbench(&["run"]);
    server.sql(
        "USE sbtest; INSERT INTO notes VALUES (1, 'it''s \"one\"\n\\'s two'); SET autocommit = 0; UPDATE notes SET note = 'x'; COMMIT; \
         PREPARE s FROM 'SELECT note FROM notes WHERE id = ?'; SET @a = 1; EXECUTE s USING @a",
    );
    // From a host that is not here any more.
    let guest = Command::new("mariadb")
        .args([
            "--no-defaults",
            "--skip-ssl",
            "--host=127.0.0.1",
            "--user=guest",
            "sbtest",
        ])
        .arg(format!("--port={}", server.port()))
        .args(["--execute", "SELECT note FROM notes"])
        .env("MYSQL_PWD", PASSWORD)
        .output();
    assert!(guest.as_ref().unwrap().status.success(), "{guest:?}");
    server.down();
    let folder = Folder::with(&[
        ("today.toml", layout(3_000)),
        ("candidate.toml", layout(6_000)),
        ("settings.tsv", variables),
    ]);
    Some((folder, server))
}

/// `mariadb-backup` as docs/rehearse.md has it, of this server.
fn mariadb_backup(server: &Mysqld, what: &[&str]) {
    let target = format!("--target-dir={}", server.path("prepared").display());
    let socket = format!("--socket={}", server.path("run/s.sock").display());
    let output = Command::new("mariadb-backup")
        .args(what)
        .args([target, socket])
        .output()
        .expect("scripts/packages installs it");
    assert!(output.status.success(), "{output:?}");
}

/// Whether nearly all statements ended as in the log: two sessions may deadlock, here as there.
fn is_faithful(layout: &Value) -> bool {
    layout["fidelity"].as_f64().unwrap() > 0.98
}

fn document(folder: &Folder, name: &str) -> Value {
    serde_json::from_str(&folder.read(&format!("{name}/rehearsal.json"))).unwrap()
}

#[test]
fn statements_of_a_server_s_logs_end_as_recorded_and_its_files_stay_as_they_were() {
    let Some((folder, server)) = rehearsed() else {
        return;
    };
    let base = server.path("base");
    let before = content(&base);
    let place = |name: &str| server.path(name).display().to_string();
    let (backup, slow) = (place("base"), place("run/slow.log"));
    let more = [
        "--layout",
        "candidate.toml",
        "--settings",
        "settings.tsv",
        "--pace",
        "x50",
        "--with-text",
        "--full",
    ];
    let printed = folder.stdout(&arguments(&backup, &slow, &more));
    contains(
        &printed,
        &[
            "candidate",
            "data directory of a stopped server",
            "COMMIT",
            "the log does not say which statements failed",
            "innodb_buffer_pool_size = 16777216",
        ],
    );
    let slow = document(&folder, "rehearsal");
    for layout in slow["layouts"].as_array().unwrap() {
        assert!(is_faithful(layout), "{slow}");
    }
    // What a cold server read of the table, with its indexes, and wrote to it.
    let objects = slow["objects"].as_array().unwrap();
    let table = objects
        .iter()
        .find(|object| object["name"] == "sbtest.sbtest1");
    let table = table.unwrap_or_else(|| panic!("{slow}"));
    for used in table["layouts"].as_array().unwrap() {
        assert!(used["read_bytes"].as_u64().unwrap() >= 16_384, "{slow}");
        assert!(used["written_bytes"].is_u64(), "{slow}");
    }
    assert_eq!(content(&base), before);
    assert!(!folder.path("rehearsal/volumes").exists());

    // The same by the other log, whose statements are the same but for those that SQL prepares; and no texts.
    let general = place("run/general.log");
    folder.stdout(&arguments(
        &backup,
        &general,
        &["--database", "sbtest", "--out", "general"],
    ));
    let mut general = document(&folder, "general");
    // Names of tables are no texts of statements.
    general.as_object_mut().unwrap().remove("objects").unwrap();
    let text = general.to_string();
    assert!(
        !text.contains("notes") && !text.contains("sbtest1"),
        "{text}"
    );
    assert!(is_faithful(&general["layouts"][0]), "{general}");
    assert_eq!(general["log"]["has_durations"], false);
    // 20 transactions of 20 statements by sysbench, more after a deadlock, 7 of the notes, and one of the guest.
    let statements = general["log"]["statements"].as_u64().unwrap();
    assert!(statements > 20 * 20 + 7, "{general}");

    // The same of a backup that was taken while the server ran.
    let prepared = place("prepared");
    let taken = content(&server.path("prepared"));
    let more = ["--settings", "settings.tsv", "--out", "prepared", "--full"];
    let printed = folder.stdout(&arguments(&prepared, &place("run/slow.log"), &more));
    contains(&printed, &["prepared mariadb-backup"]);
    let of_backup = document(&folder, "prepared");
    assert!(is_faithful(&of_backup["layouts"][0]), "{of_backup}");
    assert_eq!(content(&server.path("prepared")), taken);

    // What fails here, or returns other rows, counts as having ended otherwise; an account that is not there is named.
    let head = "# Time: 261128 23:09:19\n# User@Host: boss[boss] @ localhost []\n# Thread_id: 13  Schema: sbtest  QC_hit: No\n";
    let entry = |rows: u32, text: &str| {
        format!(
            "{head}# Query_time: 0.0001  Lock_time: 0.0  Rows_sent: {rows}  Rows_examined: 1\nSET timestamp=1;\n{text};\n"
        )
    };
    let log = [
        entry(1, "SELECT 1"),
        entry(2, "SELECT 1"),
        entry(0, "SELECT secret FROM nowhere"),
        entry(0, "LOAD DATA LOCAL INFILE 'x' INTO TABLE notes"),
    ];
    folder.write("some.log", log.concat());
    let printed = folder.printed(&arguments(&backup, "some.log", &["--out", "some"]));
    assert_eq!(printed.code, 3, "{}", printed.stderr);
    contains(&printed.stdout, &["33.3 % on today"]);
    contains(
        &printed.stderr,
        &["not replayed: 1 statement of COPY FROM STDIN, LOAD DATA LOCAL or INSERT BULK"],
    );
    let some = document(&folder, "some");
    let mut how: Vec<&str> = some["differing"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["first"].as_str().unwrap())
        .collect();
    how.sort_unstable();
    assert_eq!(how, ["1 rows, and 2 in the log", "error 1146"]);
    assert_eq!(content(&base), before);
}

#[test]
fn files_that_need_not_fit_together_are_refused_before_anything_is_made() {
    let folder = Folder::with(&[("today.toml", layout(3_000)), ("log", "hello\n".to_owned())]);
    folder.make_folder("base");
    folder.write(
        "base/xtrabackup_checkpoints",
        "backup_type = full-backuped\n",
    );
    let said = folder.fails(&arguments("base", "log", &[]), 1);
    contains(
        &said,
        &[
            "base: it is a backup that is not prepared",
            "mariadb-backup --prepare --target-dir=base",
        ],
    );
    assert!(!folder.path("rehearsal").exists());
}
