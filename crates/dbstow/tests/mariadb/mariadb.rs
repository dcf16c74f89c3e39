//! MariaDB as a trial's engine, for real, on plain directories.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::{Engine, WaitKind, Waiting};
use model::random::stream;
use testing::leaves::leaves_what_it_leaves_in_sqlite;
use testing::mariadb::{PrivateMariaDb, query, start};
use testing::private::{self, Private};
use testing::server::{self, Folders, SessionContext, experiment, experiment_with, load, run};
use workload::{Dialect, Names, Script, Value, Variables, Workload};

fn execute(seat: &mut SessionContext<'_>, sql: &str) -> Result<(), String> {
    server::execute(seat, Dialect::MARIADB, sql)
}

/// Paths of the files under `folder`, as seen from there, in order.
fn files_in(folder: &Path) -> Vec<PathBuf> {
    fn add(folder: &Path, files: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            match entry.file_type().expect("its kind").is_dir() {
                true => add(&entry.path(), files),
                false => files.push(entry.path()),
            }
        }
    }
    let mut files = Vec::new();
    add(folder, &mut files);
    let inside = |file: &PathBuf| file.strip_prefix(folder).expect("it is inside").to_owned();
    let mut files: Vec<PathBuf> = files.iter().map(inside).collect();
    files.sort();
    files
}

/// Names of the files under `folder` that end with `ending`.
fn named(folder: &Path, ending: &str) -> Vec<String> {
    let names = files_in(folder).into_iter();
    let names = names.map(|file| file.display().to_string());
    names.filter(|name| name.ends_with(ending)).collect()
}

#[test]
fn every_builtin_workload_leaves_in_mariadb_what_it_leaves_in_sqlite() {
    for name in Workload::builtin_names() {
        let (settings, workload) = experiment(name, "mariadb", 2, 1);
        let site = Folders::new(2);
        let Some(mut engine) = start(&site, &settings, &workload) else {
            return;
        };
        let socket = engine.socket();
        leaves_what_it_leaves_in_sqlite(name, &engine, &workload, &|sql| query(&socket, sql));
        engine.stop().expect("nothing left");
        assert_eq!(site.content(), [""; 0], "{name}");
    }
}

#[test]
fn several_sessions_run_at_once() {
    private::sessions_run_at_once::<PrivateMariaDb>();
}

/// Lines of a placement with the roles that MariaDB alone has.
const OWN_ROLES: &str = "binlog = { volumes = \"a\" }\nundo = { volumes = \"b\" }\n\
     doublewrite = { volumes = \"b\" }\n";

#[test]
fn each_role_lies_where_the_placement_says() {
    let (settings, workload) = experiment_with(("version-store", "mariadb"), 4, 1, OWN_ROLES);
    let site = Folders::new(2);
    let Some(mut engine) = start(&site, &settings, &workload) else {
        return;
    };
    load(&engine, &workload, 1);
    let mut seat = SessionContext(engine.connect(0).expect("a connection"));
    assert_eq!(run(&mut seat, &workload, (0, 1), 100), [""; 0]);
    engine.quiesce().expect("a checkpoint");

    // Assigned in turn: files 1 and 3 to the first volume, 2 and 4 to the second.
    let volume = |number: usize| site.parent().join(["v1", "v0"][number % 2]);
    let mut parts = Vec::new();
    for number in 1..=4 {
        let data = volume(number).join(format!("data_{number}/session_0"));
        let tables = match number {
            // What says where the others are lies there as well.
            1 => named(&data, "#P#p1.ibd"),
            _ => named(&data, ".ibd"),
        };
        for table in &tables {
            let length = fs::metadata(data.join(table)).expect("it is there").len();
            assert!(length >= 16_384, "{table}: {length}");
        }
        let part = format!("#P#p{number}.ibd");
        let of = |table: &String| table.strip_suffix(&part).map(str::to_owned);
        let names: Option<Vec<String>> = tables.iter().map(of).collect();
        parts.push(names.unwrap_or_else(|| panic!("other parts in {data:?}: {tables:?}")));
    }
    assert_eq!(parts[0].len(), 4, "{parts:?}");
    assert!(parts.iter().all(|names| *names == parts[0]), "{parts:?}");

    let on = |folder: &str, ending: &str| named(&site.parent().join(folder), ending);
    let nothing = [""; 0];
    assert_eq!(on("v1/log", "ib_logfile0"), ["ib_logfile0"]);
    assert_eq!(on("v0/binlog", "000001"), ["binlog.000001"]);
    assert_eq!(on("v1/undo", ""), ["undo001", "undo002", "undo003"]);
    assert_eq!(on("v1/doublewrite", ""), ["ibdata1"]);
    assert_eq!(on("v0/temp_1", "ibtmp1"), ["ibtmp1"]);
    for name in [
        "ib_logfile0",
        "ibdata1",
        "ibtmp1",
        "undo001",
        "binlog.000001",
    ] {
        assert_eq!(on("v0/data_1", name), nothing, "{name}");
    }
    let answer = query(&engine.socket(), "SELECT @@tmpdir");
    let temp = |number: usize| volume(number).join(format!("temp_{number}"));
    let temp: Vec<String> = (1..=4).map(|n| temp(n).display().to_string()).collect();
    assert_eq!(answer, [temp.join(":")]);

    let counters = engine.counters().expect("counters");
    for file in ["data_1", "data_4", "binlog", "undo", "doublewrite"] {
        let written = counters[&format!("file.{file}.written_bytes")];
        assert!(written > 0.0, "{file}: {counters:?}");
    }
    let elsewhere = counters.get("file.elsewhere.written_bytes");
    assert_eq!(elsewhere, None);
    drop(seat);
    engine.stop().expect("nothing left");
    assert_eq!(site.content(), [""; 0]);
}

#[test]
fn tables_without_parts_are_assigned_to_the_data_files_in_turn() {
    let (settings, workload) = experiment("trade", "mariadb", 3, 1);
    let site = Folders::new(2);
    let Some(engine) = start(&site, &settings, &workload) else {
        return;
    };
    load(&engine, &workload, 1);
    let tables = |place: &str| named(&site.parent().join(place).join("workload"), ".ibd").len();
    // 14 tables on 3 files.
    assert_eq!(
        (
            tables("v0/data_1"),
            tables("v1/data_2"),
            tables("v0/data_3")
        ),
        (5, 5, 4)
    );
}

#[test]
fn a_cold_start_forgets_while_the_server_is_down_and_keeps_what_was_loaded() {
    private::a_cold_start_keeps_what_was_loaded::<PrivateMariaDb>(|_, grown| {
        let read = grown("file.temp_1.read_bytes") + grown("file.temp_2.read_bytes");
        assert!(read > 0.0, "its tables are in temp space");
    });
}

#[test]
fn what_does_not_fit_into_memory_spills_into_temp_space() {
    let (settings, mut workload) = experiment("spill", "mariadb", 2, 1);
    // More than a sort or a temporary table of these settings has in memory.
    workload
        .set_parameter("rows", workload::Value::Int(20_000))
        .expect("it has rows");
    let site = Folders::new(2);
    let Some(engine) = start(&site, &settings, &workload) else {
        return;
    };
    load(&engine, &workload, 1);
    let before = engine.counters().expect("counters");
    let mut seat = SessionContext(engine.connect(0).expect("a connection"));
    assert_eq!(run(&mut seat, &workload, (0, 1), 4), [""; 0]);
    let after = engine.counters().expect("counters");
    let grown = |name: &str| after[name] - before.get(name).copied().unwrap_or(0.0);
    for counter in [
        "created_tmp.disk_tables",
        "created_tmp.files",
        "sort.merge_passes",
    ] {
        assert!(grown(counter) > 0.0, "{counter}: {after:?}");
    }
}

#[test]
fn settings_in_force_are_the_experiments_and_are_recorded() {
    let (settings, workload) = experiment_with(("version-store", "mariadb"), 2, 1, OWN_ROLES);
    let site = Folders::new(2);
    let Some(engine) = start(&site, &settings, &workload) else {
        return;
    };
    let record = engine.describe();
    assert_eq!(
        (record.name.as_str(), record.file.as_str()),
        ("mariadb", "directory")
    );
    for (name, value) in [
        ("innodb_buffer_pool_size", "16777216"),
        ("innodb_buffer_pool_load_at_startup", "OFF"),
        ("innodb_flush_method", "O_DIRECT"),
        ("innodb_flush_log_at_trx_commit", "1"),
        ("innodb_doublewrite", "ON"),
        ("sync_binlog", "1"),
        ("binlog_format", "ROW"),
        ("sort_buffer_size", "65536"),
        ("tmp_table_size", "65536"),
        ("aria_pagecache_buffer_size", "16777216"),
    ] {
        assert_eq!(record.settings[name], value, "{name}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn data_files_are_read_and_written_past_the_page_cache() {
    let (settings, workload) = experiment("cold-lookup", "mariadb", 2, 1);
    let site = Folders::new(2);
    let Some(engine) = start(&site, &settings, &workload) else {
        return;
    };
    load(&engine, &workload, 1);
    let process = engine.process().expect("a server");
    let open = fs::read_dir(format!("/proc/{process}/fd")).expect("Linux tells");
    let mut seen = 0;
    for entry in open.flatten() {
        let path = fs::read_link(entry.path()).unwrap_or_default();
        let is_data = path.extension().is_some_and(|end| end == "ibd");
        if !path.starts_with(site.parent()) || !is_data {
            continue;
        }
        seen += 1;
        let number = entry.file_name();
        let info = fs::read_to_string(format!("/proc/{process}/fdinfo/{}", number.display()));
        let info = info.expect("it is open");
        let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
        let flags = i32::from_str_radix(flags.expect("it has flags").trim(), 8).expect("octal");
        assert_ne!(flags & nix::libc::O_DIRECT, 0, "{}", path.display());
    }
    assert!(seen > 0, "no data file is open");
}

#[test]
fn the_page_cache_is_limited_where_the_machine_lets_us() {
    // 16 MiB of buffers, 256 MiB for the server, and a session of 8 MiB that sorts in 64 KiB, twice at once
    private::the_page_cache_is_limited::<PrivateMariaDb>("280.1 MiB");
}

#[test]
fn a_server_that_dies_is_an_error_with_the_end_of_its_log_and_leaves_nothing() {
    private::a_killed_server_is_an_error::<PrivateMariaDb>();
}

#[test]
fn an_abandoned_server_is_gone_and_leaves_nothing() {
    private::an_abandoned_server_is_gone::<PrivateMariaDb>();
}

#[test]
fn an_interrupted_session_comes_back_at_once_with_an_error() {
    let runs = |sample: &[Waiting]| {
        let has = |kind| sample.iter().any(|waiting| waiting.kind == kind);
        has(WaitKind::Cpu) && has(WaitKind::Client)
    };
    let statement = "SELECT benchmark(100000000000, 1 + 1); SELECT 1;";
    private::interrupted_sessions_end::<PrivateMariaDb>(statement, runs, "interrupted");
}

#[test]
fn an_operation_that_fails_keeps_no_lock_and_no_transaction() {
    let (settings, workload) = experiment("read-only", "mariadb", 2, 2);
    let site = Folders::new(2);
    let Some(engine) = start(&site, &settings, &workload) else {
        return;
    };
    let mut one = SessionContext(engine.connect(0).expect("a connection"));
    let mut other = SessionContext(engine.connect(1).expect("a connection"));
    execute(
        &mut one,
        "CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1);",
    )
    .expect("a table");
    let error = execute(
        &mut one,
        "BEGIN; UPDATE t SET id = 2; INSERT INTO t VALUES (2);",
    )
    .unwrap_err();
    assert!(error.contains("Duplicate entry"), "{error}");
    one.0.roll_back();
    let update = "SET lock_wait_timeout = 5; SET innodb_lock_wait_timeout = 5; UPDATE session_0.t SET id = 3";
    execute(&mut other, update).expect("the row is free");
    execute(&mut one, "SELECT 1").expect("no transaction is left");
    one.0.settle().expect("nothing to settle");
}

#[test]
fn every_kind_of_answer_is_read_to_its_end() {
    let (settings, workload) = experiment("read-only", "mariadb", 2, 1);
    let site = Folders::new(2);
    let Some(engine) = start(&site, &settings, &workload) else {
        return;
    };
    let mut seat = SessionContext(engine.connect(0).expect("a connection"));
    execute(
        &mut seat,
        "CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (7); CREATE TABLE copied (text TEXT); \
         EXECUTE IMMEDIATE 'CREATE PROCEDURE several() BEGIN SELECT 1; SELECT seq FROM seq_1_to_3; SELECT 2; END'; \
         EXECUTE IMMEDIATE 'CREATE PROCEDURE fails() BEGIN SELECT 1; SIGNAL SQLSTATE \"45000\"; END'",
    )
    .expect("tables and procedures");
    let columns = format!("SELECT {}", ["1"; 300].join(", "));
    for (answer, statement) in [
        ("a row", "SELECT 1"),
        ("no row", "SELECT id FROM t WHERE id < 0"),
        ("10 MB", "SELECT repeat('x', 100000) FROM seq_1_to_100"),
        (
            "a row of 16 MiB and more",
            "SELECT repeat('x', 9000000), repeat('y', 9000000)",
        ),
        ("a row changed", "INSERT INTO t VALUES (8)"),
        ("300 columns", &columns),
        ("several results", "CALL several()"),
    ] {
        execute(&mut seat, statement).unwrap_or_else(|error| panic!("{answer}: {error}"));
        // What was left of the answer would be taken for this one's.
        let error = execute(&mut seat, "INSERT INTO t VALUES (7)").unwrap_err();
        assert!(error.contains("Duplicate entry '7'"), "{answer}: {error}");
    }
    let file = "LOAD DATA LOCAL INFILE '/etc/hostname' INTO TABLE copied";
    let late = "SELECT (SELECT seq FROM seq_1_to_2 WHERE every.seq > 500) FROM seq_1_to_1000 every";
    for (fails, why) in [
        (late, "Subquery returns more than 1 row"),
        ("CALL fails()", "Unhandled user-defined exception"),
        (file, "local infile"),
    ] {
        let error = execute(&mut seat, fails).unwrap_err();
        assert!(error.contains(why), "{error}");
        execute(&mut seat, "DELETE FROM t WHERE id = 8").expect("the error was the end");
    }
    let socket = engine.socket();
    assert_eq!(query(&socket, "SELECT id FROM session_0.t"), ["7"]);
    assert_eq!(
        query(&socket, "SELECT count(*) FROM session_0.copied"),
        ["0"]
    );
}

#[test]
fn an_argument_that_is_larger_than_a_packet_arrives() {
    const LENGTH: usize = 17 << 20;
    let (settings, workload) = experiment("read-only", "mariadb", 2, 1);
    let site = Folders::new(2);
    let Some(engine) = start(&site, &settings, &workload) else {
        return;
    };
    let socket = engine.socket();
    query(&socket, "SET GLOBAL max_allowed_packet = 64 * 1024 * 1024");
    let mut seat = SessionContext(engine.connect(0).expect("a connection"));
    let text = "CREATE TABLE t (text LONGTEXT); INSERT INTO t VALUES (:text)";
    let mut names = Names::new();
    let script = Script::parse("test.sql", text, Dialect::MARIADB, &mut names).expect(text);
    let mut variables = Variables::new(Arc::new(names), 0, 1);
    assert!(variables.set("text", Value::Text("x".repeat(LENGTH))));
    script
        .execute(&mut variables, &mut stream(1, "test"), &mut seat)
        .expect("it is stored");
    let length = query(&socket, "SELECT length(text) FROM session_0.t");
    assert_eq!(length, [LENGTH.to_string()]);
}

#[test]
fn a_session_that_is_killed_gets_an_error_for_each_statement() {
    let (settings, workload) = experiment("read-only", "mariadb", 2, 1);
    let site = Folders::new(2);
    let Some(engine) = start(&site, &settings, &workload) else {
        return;
    };
    let mut seat = SessionContext(engine.connect(0).expect("a connection"));
    execute(&mut seat, "SELECT 1").expect("an answer");
    let socket = engine.socket();
    let number = "SELECT id FROM information_schema.processlist WHERE db = 'session_0'";
    query(&socket, &format!("KILL {}", query(&socket, number)[0]));
    for _ in 0..3 {
        let error = execute(&mut seat, "SELECT 1").unwrap_err();
        assert!(!error.contains('{'), "{error}");
    }
}

#[test]
fn tables_that_would_not_outlive_the_load_are_refused() {
    private::tables_that_would_not_outlive_the_load_are_refused::<PrivateMariaDb>();
}

#[test]
fn a_directory_that_is_there_is_left_alone() {
    private::a_directory_in_the_way_is_left_alone::<PrivateMariaDb>();
}

#[test]
fn a_path_that_mariadb_cannot_write_into_its_lists_is_refused() {
    let (settings, workload) = experiment("read-only", "mariadb", 2, 1);
    for character in [':', ';'] {
        let site = Folders::named(&format!("v{character}"), 2);
        let Some(made) = PrivateMariaDb::start(&site, &settings, &workload) else {
            return;
        };
        let error = made.err().expect("it cannot be written").to_string();
        let path = site.parent().join(format!("v{character}0"));
        assert!(error.contains(&path.display().to_string()), "{error}");
        assert!(error.contains(&format!("`{character}`")), "{error}");
        assert_eq!(site.content(), [""; 0]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_directory_that_its_user_does_not_get_through_to_is_named_with_the_remedy() {
    if !nix::unistd::geteuid().is_root() {
        // Only root's server has another user.
        return;
    }
    let (settings, workload) = experiment("read-only", "mariadb", 2, 1);
    let site = Folders::new(2);
    fs::set_permissions(site.parent(), fs::Permissions::from_mode(0o700)).expect("it is ours");
    let Some(made) = PrivateMariaDb::start(&site, &settings, &workload) else {
        return;
    };
    let error = made.err().expect("it is closed").to_string();
    assert!(error.contains("chmod o+x"), "{error}");
    assert!(error.contains("AppArmor"), "{error}");
    assert_eq!(site.content(), [""; 0]);
}
