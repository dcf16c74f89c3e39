//! PostgreSQL as a trial's engine, in every supported version: a private server's life cycle on directories, and a whole
//! trial in measure or emulate. This machine's own version, and what does not differ between versions, is in
//! `postgres.rs`.

#![cfg(all(target_os = "linux", feature = "postgres"))]
#![allow(
    clippy::unwrap_used,
    reason = "a panic with its line is what a failing test should give"
)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

use engine::{Engine, WaitKind};
use experiment::spec::Temperature;
use host::clock::Clock;
use model::random::stream;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, geteuid};
use postgres::{Binaries, Postgres};
use serde_json::{Value, json};
use tempfile::TempDir;
use testing::server::{Folders, RUN, SessionContext, binaries, experiment, load, run, start_with};
use testing::theirs::Theirs;
use testing::versions::{copied, programs_folder, versions};
use workload::{Dialect, Names, Script, Variables};

/// A few operations, on more pages than the buffers have.
const TRIAL: &str = r#"name = "trial"
question = "Does it run?"

[machine]
cores = 2
memory = "1 GiB"

[volume.d]
disk = "azure.premium.p30"

[volume.l]
disk = "azure.premium.p30"

[placement.apart]
data = { volumes = "d", files = 2 }
temp = { volumes = "d", files = 2 }
log = { volumes = "l" }

[workload]
name = "trade"
sessions = 2
operations = 200

[workload.parameters]
customers = 200
accounts = 1_000
securities = 140
trades = 2_000

[engine]
memory = "2 MiB"

[protocol]
blocks = 1
metric = "operations_per_s"
"#;

/// The servers, where their user can reach them.
fn all() -> Option<Vec<(Binaries, TempDir)>> {
    let versions = versions()?.into_iter().map(|version| {
        let folder = programs_folder();
        (copied(&version, &folder), folder)
    });
    Some(versions.collect())
}

#[test]
fn a_private_server_of_each_version_lives_through_a_trial() {
    let Some(all) = all() else { return };
    for (binaries, _folder) in &all {
        lives(binaries);
    }
}

/// Placement, load, cold start, counters, waits, a crash, and no remains.
fn lives(binaries: &Binaries) {
    let major = binaries.major;
    let (mut settings, workload) = experiment("version-store", "postgres", 2, 1);
    let (asked, in_force) = reading(major);
    settings.engine.own = serde_json::from_value(json!({ "postgres": asked })).unwrap();
    let site = Folders::new(2);
    let mut engine = start_with(binaries, &site, &settings, &workload);
    let record = engine.describe();
    assert!(record.version.starts_with(&major.to_string()), "{record:?}");
    for (name, value) in [
        ("shared_buffers", "16MB"),
        ("autovacuum", "off"),
        ("full_page_writes", "on"),
        ("temp_tablespaces", "temp_1, temp_2"),
    ] {
        assert_eq!(record.settings[name], value, "PostgreSQL {major}: {name}");
    }
    for (name, value) in in_force {
        assert_eq!(record.settings[name], value, "PostgreSQL {major}: {name}");
    }
    load(&engine, &workload, 1);
    engine.quiesce().unwrap();
    let before = engine.postmaster().unwrap();
    let mut was_down = false;
    let mut forget = || {
        was_down = engine.postmaster().is_none();
        Ok(Vec::new())
    };
    engine.start(Temperature::Cold, &mut forget).unwrap();
    assert!(was_down && engine.postmaster().unwrap() != before);

    let earlier = engine.counters().unwrap();
    let mut seat = SessionContext(engine.connect(0).unwrap());
    assert_eq!(
        run(&mut seat, &workload, (0, 1), 60),
        [""; 0],
        "PostgreSQL {major}"
    );
    drop(seat);
    engine.quiesce().unwrap();
    counted(&engine, &earlier, major);
    sees_a_wait(&engine, major);
    // Distributed in rotation, with the log separate.
    for place in ["v0/data_1", "v1/data_2", "v1/wal"] {
        let place = site.parent().join(place);
        assert!(has_files(&place), "PostgreSQL {major}: {}", place.display());
    }
    for place in ["v0/temp_1", "v1/temp_2"] {
        assert!(
            site.parent().join(place).is_dir(),
            "PostgreSQL {major}: {place}"
        );
    }

    crashes(&engine, &workload, major);
    engine.stop().unwrap();
    assert_eq!(site.content(), [""; 0], "PostgreSQL {major}");
    // The next trial starts from scratch.
    let mut engine = start_with(binaries, &site, &settings, &workload);
    load(&engine, &workload, 1);
    engine.stop().unwrap();
    assert_eq!(site.content(), [""; 0], "PostgreSQL {major}");
}

/// No defaults: a version's keys of `[engine.postgres]`, and the settings that its server reports then.
fn reading(major: u32) -> (Value, Vec<(&'static str, &'static str)>) {
    let all = json!({ "effective_io_concurrency": 32 });
    let concurrency = ("effective_io_concurrency", "32");
    if major < 18 {
        return (all, vec![concurrency]);
    }
    let asked = json!({
        "effective_io_concurrency": 32,
        "io_method": "sync",
        "io_workers": 5,
        "io_combine_limit": "256 KiB",
    });
    let in_force = [
        concurrency,
        ("io_method", "sync"),
        ("io_workers", "5"),
        ("io_combine_limit", "256kB"),
        ("io_max_combine_limit", "256kB"),
    ];
    (asked, in_force.to_vec())
}

/// Waits until the counters include the sessions' activity: a session reports it when it ends, and before 15 through a
/// separate process.
fn counted(engine: &Postgres, earlier: &BTreeMap<String, f64>, major: u32) {
    let clock = Clock::start();
    let grown = loop {
        let now = engine.counters().unwrap();
        let grown: BTreeMap<String, f64> = now
            .into_iter()
            .map(|(name, value)| {
                let before = earlier.get(&name).copied().unwrap_or(0.0);
                (name, value - before)
            })
            .collect();
        let late = expected(major)
            .into_iter()
            .find(|(prefix, what, least)| sum(&grown, prefix, what) < *least);
        let Some(late) = late else { break grown };
        let seconds = clock.now().as_secs_f64();
        assert!(
            seconds < 30.0,
            "PostgreSQL {major}: {late:?} does not arrive"
        );
        Clock::sleep(model::Duration::from_millis(20));
    };
    let of = |name: &str| grown.get(name).copied();
    assert!(of("logical_reads") >= of("physical_reads"));
    assert_eq!(of("wal.wal_bytes").is_some(), major >= 14);
    if major < 16 {
        assert!(!grown.keys().any(|name| name.starts_with("io.")));
        return;
    }
    for (process, what) in [("client_backend", "reads"), ("checkpointer", "writes")] {
        let process = format!("io.relation.{process}.");
        let count = sum(&grown, &process, &format!(".{what}"));
        let bytes = sum(&grown, &process, &what.replace('s', "_bytes"));
        // One page or more each; 18 combines them.
        assert!(
            bytes >= 8192.0 * count,
            "PostgreSQL {major}: {process} {what}: {count}, {bytes} bytes"
        );
    }
    let all = grown["io.relation.reads"];
    let parts: f64 = grown
        .iter()
        .filter(|(name, _)| name.starts_with("io.relation.") && name.matches('.').count() == 4)
        .filter(|(name, _)| name.ends_with(".reads"))
        .map(|(_, value)| value)
        .sum();
    assert!(
        (all - parts).abs() < 0.5,
        "PostgreSQL {major}: {all} and {parts}"
    );
}

/// Minimum counts after 60 operations and a checkpoint: prefix and suffix of the counters' names, and their sum.
fn expected(major: u32) -> Vec<(&'static str, &'static str, f64)> {
    // Before 17 checkpoints are counted by the background writer.
    let checkpoints = match major {
        17.. => "checkpointer.num_requested",
        _ => "bgwriter.checkpoints_req",
    };
    let mut expected = vec![
        ("database.xact_commit", "", 60.0),
        ("physical_reads", "", 1.0),
        (checkpoints, "", 1.0),
    ];
    if major >= 16 {
        expected.push(("io.relation.client_backend.", ".reads", 1.0));
        expected.push(("io.relation.checkpointer.", ".writes", 1.0));
    }
    expected
}

fn sum(counters: &BTreeMap<String, f64>, beginning: &str, ending: &str) -> f64 {
    let of = counters
        .iter()
        .filter(|(name, _)| name.starts_with(beginning) && name.ends_with(ending));
    of.map(|(_, value)| value).sum()
}

/// A sleeping session is visible, under this version's name for it.
fn sees_a_wait(engine: &Postgres, major: u32) {
    let mut sampler = engine.waits().unwrap().expect("PostgreSQL tells");
    let (seen, ended) = std::thread::scope(|scope| {
        let sleeper = scope.spawn(|| {
            let mut names = Names::new();
            let sql = "SELECT pg_sleep(120);";
            let script = Script::parse("test.sql", sql, Dialect::POSTGRES, &mut names).unwrap();
            let mut seat = SessionContext(engine.connect(0).unwrap());
            seat.0.enter(2 * RUN);
            let mut variables = Variables::new(Arc::new(names), 0, 1);
            script.execute(&mut variables, &mut stream(1, "test"), &mut seat)
        });
        let clock = Clock::start();
        let is_sleep = |waiting: &engine::Waiting| {
            waiting.event == "Timeout/PgSleep" && waiting.kind == WaitKind::Other
        };
        // No panic before the interrupt: the scope would wait for the sleeper.
        let seen = loop {
            match sampler.sample() {
                Ok(sample) if sample.iter().any(is_sleep) => break Ok(()),
                Ok(_) if clock.now().as_secs_f64() < 60.0 => {}
                Ok(_) => break Err("no session sleeps".to_owned()),
                Err(error) => break Err(error.to_string()),
            }
        };
        engine.interrupt();
        (seen, sleeper.join())
    });
    assert_eq!(seen, Ok(()), "PostgreSQL {major}");
    assert!(ended.unwrap().is_err(), "PostgreSQL {major}");
}

/// After being killed, it reports how it ended, and does not restart.
fn crashes(engine: &Postgres, workload: &workload::Workload, major: u32) {
    let mut seat = SessionContext(engine.connect(0).unwrap());
    let postmaster = i32::try_from(engine.postmaster().unwrap()).unwrap();
    kill(Pid::from_raw(postmaster), Signal::SIGKILL).unwrap();
    let clock = Clock::start();
    let last = loop {
        let errors = run(&mut seat, workload, (0, 1), 1);
        if let Some(lost) = errors.into_iter().find(|error| error.contains("is lost")) {
            break lost;
        }
        let seconds = clock.now().as_secs_f64();
        assert!(seconds < 60.0, "PostgreSQL {major}: the connection stays");
    };
    assert!(
        last.contains("PostgreSQL has ended (signal: 9"),
        "PostgreSQL {major}: {last}"
    );
}

/// Whether any file beneath `folder` is not empty.
fn has_files(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).unwrap().flatten();
    let mut paths = entries.map(|entry| entry.path());
    paths.any(|path| match fs::symlink_metadata(&path) {
        Ok(metadata) if metadata.is_dir() => has_files(&path),
        Ok(metadata) => metadata.len() > 0,
        Err(_) => false,
    })
}

const MEASURE: [&str; 6] = ["--mode", "measure", "--volume", "d=vd", "--volume", "l=vl"];

/// A folder with the small experiment and a directory for each of its volumes.
fn trial_folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(folder.path().join("trial.toml"), TRIAL).unwrap();
    for volume in ["vd", "vl"] {
        fs::create_dir(folder.path().join(volume)).unwrap();
    }
    folder
}

/// A run of the small experiment.
fn run_of(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dbstow"));
    command
        .args(["run", "trial.toml", "--engine", "postgres", "--out", "r"])
        .args(arguments)
        .current_dir(folder);
    command
}

/// Runs it on a private server; returns its only record.
fn trial(folder: &Path, binaries: &Binaries, arguments: &[&str]) -> Value {
    let programs = ["--postgres-bin", binaries.folder.to_str().unwrap()];
    let output = run_of(folder, &[&programs, arguments].concat())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "PostgreSQL {}: {said}",
        binaries.version
    );
    let records: Vec<PathBuf> = fs::read_dir(folder.join("r/records"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert_eq!(records.len(), 1, "{said}");
    serde_json::from_slice(&fs::read(&records[0]).unwrap()).unwrap()
}

#[test]
#[ignore = "long: runs a trial on each version; its private server lives through one always"]
fn a_trial_runs_on_each_version_from_its_load_to_its_record() {
    let Some(all) = all() else { return };
    for (binaries, _folder) in &all {
        let folder = trial_folder();
        match binaries.major {
            ..16 => measured(binaries, folder.path()),
            _ if has_block_mode() => emulated(binaries, folder.path()),
            _ => {}
        }
        for volume in ["vd", "vl"] {
            let left = fs::read_dir(folder.path().join(volume)).unwrap().count();
            assert_eq!(left, 0, "PostgreSQL {}: {volume}", binaries.version);
        }
    }
}

/// Asserts that the run stopped before its first trial, with an error that contains `texts`.
fn refused(folder: &Path, output: &Output, texts: &[&str]) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{said}");
    for text in texts {
        assert!(said.contains(text), "{said}");
    }
    for volume in ["vd", "vl"] {
        assert_eq!(fs::read_dir(folder.join(volume)).unwrap().count(), 0);
    }
}

/// The programs of one version.
fn of_major(all: &[(Binaries, TempDir)], major: u32) -> &Binaries {
    let found = all.iter().find(|(binaries, _)| binaries.major == major);
    &found.expect("scripts/other-servers has it").0
}

#[test]
fn a_method_that_a_server_does_not_have_is_refused_before_the_run() {
    let Some(all) = all() else { return };
    for (major, why) in [(18, "was built without it"), (17, "since version 18")] {
        let folder = trial_folder();
        let programs = of_major(&all, major).folder.to_str().unwrap();
        let set = ["--set", "engine.postgres.io_method=io_uring"];
        let asked = [&["--postgres-bin", programs], &set[..], &MEASURE].concat();
        let said = ["arm \"apart\"", "\"io_uring\"", why];
        let output = run_of(folder.path(), &asked).output().unwrap();
        refused(folder.path(), &output, &said);
    }
}

#[test]
fn a_read_that_a_given_server_would_shorten_is_refused_before_the_run() {
    let (Some(all), Some(clients)) = (all(), binaries()) else {
        return;
    };
    let folder = trial_folder();
    // Its io_max_combine_limit is 128 kB unless it is set.
    let server = Theirs::with_clients(of_major(&all, 18), &clients, &[]);
    // Its password is in the file.
    let url = server.url("").replace(":@", "@");
    let set = ["--set", "engine.postgres.io_combine_limit='256 KiB'"];
    let asked = [&["--server", &url], &set[..], &MEASURE].concat();
    let said = ["arm \"apart\"", "\"256 KiB\"", "\"128 KiB\""];
    let output = run_of(folder.path(), &asked)
        .env("PGPASSFILE", server.path("pgpass"))
        .output()
        .unwrap();
    refused(folder.path(), &output, &said);
    assert!(!server.content().contains("dbstow"));
}

#[test]
fn a_drill_refuses_a_server_that_cannot_check_its_tables() {
    let Some(all) = all() else { return };
    if !has_block_mode() {
        return;
    }
    let folder = trial_folder();
    let programs = of_major(&all, 13).folder.to_str().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_dbstow"))
        .args(["drill", "trial.toml", "--postgres-bin", programs])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let said = ["has no verify_heapam", "version 14 or later"];
    refused(folder.path(), &output, &said);
}

/// Whether this machine supports file systems on modelled disks; reports what is missing.
fn has_block_mode() -> bool {
    let there = |path: &str| Path::new(path).exists();
    let has = geteuid().is_root() && there("/dev/fuse") && there("/dev/loop-control");
    if !has {
        let needs = "root, /dev/fuse and /dev/loop-control";
        testing::skip(format!("block mode needs {needs}"));
    }
    has
}

fn measured(binaries: &Binaries, folder: &Path) {
    ran(binaries, &trial(folder, binaries, &MEASURE));
}

fn emulated(binaries: &Binaries, folder: &Path) {
    let record = trial(folder, binaries, &["--mode", "emulate", "--backing", "vd"]);
    ran(binaries, &record);
    // All files are on modelled volumes.
    let disks = record["volumes"].as_array().unwrap();
    let count = |volume: usize, what: &str| disks[volume]["disks"][0][what].as_u64();
    let (reads, writes) = (count(0, "reads"), count(1, "writes"));
    let version = &binaries.version;
    assert!(
        reads > Some(0),
        "PostgreSQL {version}: {reads:?} reads of data"
    );
    assert!(
        writes > Some(0),
        "PostgreSQL {version}: {writes:?} writes of the log"
    );
}

/// Asserts that a trial finished, on that server, without errors.
fn ran(binaries: &Binaries, record: &Value) {
    let version = &binaries.version;
    assert_eq!(record["outcome"]["status"], "finished", "{record}");
    assert_eq!(
        record["errors"]["count"], 0,
        "PostgreSQL {version}: {}",
        record["errors"]
    );
    let said = record["engine"]["version"].as_str().unwrap();
    assert!(
        said.starts_with(version.as_str()),
        "{said} is not {version}"
    );
    assert!(record["metrics"]["operations_per_s"].as_f64() > Some(0.0));
    // Sessions report their activity at most once a second, which may be after the end of so short a run; the other test
    // of all versions waits for it.
    assert!(record["counters"]["logical_reads"].is_number(), "{record}");
    let shares = record["time_split_ns"].as_object().unwrap();
    assert!(!shares.is_empty(), "PostgreSQL {version}: {record}");
}
