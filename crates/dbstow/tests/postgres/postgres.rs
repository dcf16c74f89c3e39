//! PostgreSQL as a trial's engine, for real, on plain directories.

#![cfg(unix)]

use std::path::Path;

use engine::{Engine, WaitKind, Waiting};
use testing::postgres::PrivatePostgres;
use testing::private;
use testing::rows::{self, Sqlite, psql};
use testing::server::{
    self, Folders, SessionContext, binaries, experiment, load, load_in, run, start,
};
use workload::{Database, Dialect, Workload};

fn execute(seat: &mut SessionContext<'_>, sql: &str) -> Result<(), String> {
    server::execute(seat, Dialect::POSTGRES, sql)
}

/// Bytes of all files under `folder`.
fn bytes_in(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).expect("a folder").flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => bytes_in(&entry.path()),
            Ok(metadata) => metadata.len(),
            // Removed in the meantime.
            Err(_) => 0,
        })
        .sum()
}

#[test]
fn every_builtin_workload_leaves_in_postgresql_what_it_leaves_in_sqlite() {
    let Some(binaries) = binaries() else { return };
    for name in Workload::builtin_names() {
        let sqlite = Sqlite::after(name, 60);
        let (settings, workload) = experiment(name, "postgres", 2, 1);
        let site = Folders::new(2);
        let Some(mut engine) = start(&site, &settings, &workload) else {
            return;
        };
        if !workload.load.measured {
            load(&engine, &workload, 1);
            engine.quiesce().expect("a checkpoint");
        }
        let mut seat = SessionContext(engine.connect(0).expect("a connection"));
        if workload.load.measured {
            load_in(&engine, &workload, &mut seat, (0, 1));
        }
        let errors = run(&mut seat, &workload, (0, 1), 60);
        assert_eq!(errors, [""; 0], "{name}");
        if workload.load.measured {
            // Temporary, so that it is private.
            execute(&mut seat, "CREATE TABLE copy AS SELECT * FROM test_rows").expect(name);
            execute(&mut seat, "DROP TABLE test_rows").expect(name);
            execute(&mut seat, "ALTER TABLE copy RENAME TO test_rows").expect(name);
        }
        let schema = match workload.database {
            Database::PerSession => "session_0",
            Database::Shared => "workload",
        };
        let content = rows::content(&binaries, &engine, schema, &sqlite.tables());
        for (table, expected) in sqlite.content() {
            assert_eq!(
                content[&table].len(),
                expected.len(),
                "rows of {name}'s {table}"
            );
            assert_eq!(content[&table], expected, "{name}'s {table}");
        }
        drop(seat);
        engine.stop().expect("nothing left");
        assert_eq!(site.content(), [""; 0], "{name}");
    }
}

#[test]
fn several_sessions_run_at_once() {
    private::sessions_run_at_once::<PrivatePostgres>();
}

#[test]
fn data_temp_space_and_log_lie_where_the_placement_says() {
    let Some(binaries) = binaries() else { return };
    let (settings, workload) = experiment("version-store", "postgres", 4, 1);
    let site = Folders::new(2);
    let Some(mut engine) = start(&site, &settings, &workload) else {
        return;
    };
    load(&engine, &workload, 1);
    let mut seat = SessionContext(engine.connect(0).expect("a connection"));
    // More than the session's own buffers hold, so that they reach the files.
    assert_eq!(run(&mut seat, &workload, (0, 1), 100), [""; 0]);
    engine.quiesce().expect("a checkpoint");

    // Dealt in turn: files 1 and 3 to the first volume, 2 and 4 to the second.
    let volume = |number: usize| site.parent().join(["v1", "v0"][number % 2]);
    for role in ["data", "temp"] {
        for number in 1..=4 {
            let directory = volume(number).join(format!("{role}_{number}"));
            let sql = format!(
                "SELECT pg_tablespace_location(oid) FROM pg_tablespace WHERE spcname = '{role}_{number}'"
            );
            let location = psql(&binaries, &engine.url(), &sql);
            assert_eq!(location, [directory.display().to_string()]);
            assert!(
                bytes_in(&directory) >= 8192,
                "nothing in {}",
                directory.display()
            );
        }
    }
    assert!(bytes_in(&site.parent().join("v1/wal")) > 0);
    assert!(site.parent().join("v0/cluster/pg_wal").is_symlink());
    // Each of the four tables has four parts, with their indexes beside them, and nothing lies elsewhere.
    let sql = "SELECT c.relkind, t.spcname, count(*) FROM pg_class AS c \
         LEFT JOIN pg_tablespace AS t ON t.oid = c.reltablespace \
         WHERE c.relnamespace = 'session_0'::regnamespace AND c.relkind IN ('r', 'i') \
         GROUP BY 1, 2 ORDER BY 1, 2";
    assert_eq!(
        psql(&binaries, &engine.url(), sql),
        [
            "i|data_1|4",
            "i|data_2|4",
            "i|data_3|4",
            "i|data_4|4", //
            "r|data_1|4",
            "r|data_2|4",
            "r|data_3|4",
            "r|data_4|4",
        ]
    );
    drop(seat);
    engine.stop().expect("nothing left");
}

#[test]
fn tables_without_parts_are_dealt_to_the_data_files() {
    let Some(binaries) = binaries() else { return };
    let (settings, workload) = experiment("trade", "postgres", 3, 1);
    let site = Folders::new(2);
    let Some(engine) = start(&site, &settings, &workload) else {
        return;
    };
    load(&engine, &workload, 1);
    let sql = "SELECT t.spcname, count(*) FROM pg_class AS c \
         LEFT JOIN pg_tablespace AS t ON t.oid = c.reltablespace \
         WHERE c.relnamespace = 'workload'::regnamespace AND c.relkind = 'r' GROUP BY 1 ORDER BY 1";
    // 14 tables on 3 files.
    let expected = ["data_1|5", "data_2|5", "data_3|4"];
    assert_eq!(psql(&binaries, &engine.url(), sql), expected);
}

#[test]
fn a_cold_start_forgets_while_the_server_is_down_and_keeps_what_was_loaded() {
    let Some(binaries) = binaries() else { return };
    private::a_cold_start_keeps_what_was_loaded::<PrivatePostgres>(|server, grown| {
        assert!(grown("database.blk_read_time_ms") > 0.0);
        let sql = "SELECT relpersistence, count(*) FROM pg_class \
             WHERE relnamespace = 'session_0'::regnamespace AND relkind = 'r' GROUP BY 1";
        assert_eq!(
            psql(&binaries, &server.url(), sql),
            ["u|2"],
            "tables in temp space are unlogged"
        );
    });
}

#[test]
fn what_does_not_fit_into_memory_spills_into_temp_space() {
    let (settings, workload) = experiment("spill", "postgres", 2, 1);
    let site = Folders::new(2);
    let Some(engine) = start(&site, &settings, &workload) else {
        return;
    };
    load(&engine, &workload, 1);
    let before = engine.counters().expect("counters");
    let mut seat = SessionContext(engine.connect(0).expect("a connection"));
    assert_eq!(run(&mut seat, &workload, (0, 1), 4), [""; 0]);
    drop(seat);
    let clock = host::clock::Clock::start();
    loop {
        let after = engine.counters().expect("counters");
        // 300 rows of 370 bytes are more than the 64 KiB of a sort.
        if after["database.temp_bytes"] - before["database.temp_bytes"] > 65_536.0 {
            break;
        }
        assert!(clock.now().as_secs_f64() < 30.0, "nothing was spilled");
        host::clock::Clock::sleep(model::Duration::from_millis(20));
    }
}

#[test]
fn settings_in_force_are_the_experiments_and_are_recorded() {
    let (settings, workload) = experiment("version-store", "postgres", 2, 1);
    let site = Folders::new(2);
    let Some(engine) = start(&site, &settings, &workload) else {
        return;
    };
    let record = engine.describe();
    assert_eq!(
        (record.name.as_str(), record.file.as_str()),
        ("postgres", "tablespace")
    );
    for (name, value) in [
        ("shared_buffers", "16MB"),
        ("work_mem", "64kB"),
        ("autovacuum", "off"),
        ("synchronous_commit", "on"),
        ("full_page_writes", "on"),
        ("wal_level", "minimal"),
        ("checkpoint_timeout", "1min"),
        ("temp_tablespaces", "temp_1, temp_2"),
    ] {
        assert_eq!(record.settings[name], value, "{name}");
    }
}

#[test]
fn the_page_cache_is_limited_where_the_machine_lets_us() {
    // 16 MiB of buffers, 64 MiB for the server, and a session of 8 MiB that sorts in 64 KiB, twice at once
    private::the_page_cache_is_limited::<PrivatePostgres>("88.1 MiB");
}

#[test]
fn a_server_that_dies_is_an_error_with_the_end_of_its_log_and_leaves_nothing() {
    private::a_killed_server_is_an_error::<PrivatePostgres>();
}

#[test]
fn an_abandoned_server_is_gone_and_leaves_nothing() {
    private::an_abandoned_server_is_gone::<PrivatePostgres>();
}

#[test]
fn an_interrupted_session_comes_back_at_once_with_an_error() {
    let runs = |sample: &[Waiting]| {
        let mut waiting = sample.iter();
        waiting.any(|waiting| waiting.event == "Timeout/PgSleep")
            && sample
                .iter()
                .any(|waiting| waiting.kind == WaitKind::Client)
    };
    let statement = "SELECT pg_sleep(600); SELECT 1;";
    private::interrupted_sessions_end::<PrivatePostgres>(statement, runs, "SQLSTATE 57014");
}

#[test]
fn an_operation_that_fails_keeps_no_lock_and_no_transaction() {
    let (settings, workload) = experiment("read-only", "postgres", 2, 2);
    let site = Folders::new(2);
    let Some(engine) = start(&site, &settings, &workload) else {
        return;
    };
    let mut one = SessionContext(engine.connect(0).expect("a connection"));
    let mut other = SessionContext(engine.connect(1).expect("a connection"));
    let error = execute(&mut one, "BEGIN; SELECT pg_advisory_lock(1); SELECT 1 / 0;").unwrap_err();
    assert!(
        error.starts_with("line 1: SQLSTATE 22012: division by zero"),
        "{error}"
    );
    one.0.roll_back();
    execute(&mut other, "SELECT 1 / pg_try_advisory_lock(1)::int").expect("the lock is free");
    execute(&mut one, "SELECT 1").expect("no transaction is left");
    one.0.settle().expect("nothing to settle");
}

#[test]
fn tables_that_would_not_outlive_the_load_are_refused() {
    private::tables_that_would_not_outlive_the_load_are_refused::<PrivatePostgres>();
}

#[test]
fn a_directory_that_is_there_is_left_alone() {
    private::a_directory_in_the_way_is_left_alone::<PrivatePostgres>();
}
