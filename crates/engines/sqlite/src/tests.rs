//! Tests of SQLite as a real engine.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;

use host::site::Site;
use model::{DiskSpec, Duration, Iops, MachineSpec, Throughput, VolumeSpec, random};
use paced::PacedSite;
use reading::Reading;
use tempfile::TempDir;

use super::SqliteEngine;
use engine::{Client, Engine, EngineError, WaitKind};
use experiment::spec::{Settings, Spec, Temperature, Variant};
use workload::{Driver, Script, Statement, Value, Workload};

/// Plain directories; nothing is counted.
struct Directories(Vec<PathBuf>);

impl Site for Directories {
    fn directory(&self, volume: usize) -> &Path {
        &self.0[volume]
    }

    fn reading(&self) -> io::Result<Reading> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn go_cold(&self, _: bool) -> io::Result<Vec<String>> {
        Ok(Vec::new())
    }

    fn environment(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// A client as a script drives it.
struct SessionContext<'a>(Box<dyn Client + 'a>);

impl Driver for SessionContext<'_> {
    type Error = String;

    fn statement(
        &mut self,
        index: usize,
        statement: &Statement,
        arguments: &[Value],
    ) -> Result<(), String> {
        self.0.statement(index, statement, arguments)
    }

    fn sleep(&mut self, span: Duration) -> Result<(), String> {
        self.0.sleep(span)
    }
}

/// One data volume, one temp volume, one for the log; 8 MiB of memory.
fn settings() -> Settings {
    let text = r#"
        name = "test"
        question = "?"
        [machine]
        cores = 2
        memory = "1 GiB"
        [volume.d]
        disk = "unlimited"
        [volume.t]
        disk = "unlimited"
        [volume.l]
        disk = "unlimited"
        [placement.a]
        data = { volumes = "d", files = 2 }
        temp = { volumes = "t", files = 2 }
        log = { volumes = "l" }
        [workload]
        name = "trade"
        operations = 10
        [engine]
        memory = "8 MiB"
    "#;
    let spec = Spec::parse("test.toml", text, &[], Variant::default()).expect("a valid spec");
    spec.arms[0].settings.clone()
}

fn directories(root: &Path) -> Vec<PathBuf> {
    let made = ["d", "t", "l"].map(|name| root.join(name));
    made.iter()
        .for_each(|path| std::fs::create_dir(path).expect("a new name"));
    made.to_vec()
}

fn small(name: &str) -> Workload {
    let mut workload = Workload::builtin(name, workload::Dialect::SQLITE).expect("it is built in");
    let sizes = [
        ("rows", 3_000),
        ("customers", 50),
        ("names", 20),
        ("items", 500),
        ("accounts", 250),
        ("securities", 35),
        ("trades", 500),
        ("range", 20),
        ("lock_hold_us", 100),
    ];
    for (parameter, value) in sizes {
        if workload.parameters().contains_key(parameter) {
            let set = workload.set_parameter(parameter, Value::Int(value));
            set.expect("it is a number");
        }
    }
    workload
}

fn execute(
    script: &Script,
    number: u64,
    workload: &Workload,
    seat: &mut SessionContext<'_>,
) -> Result<(), String> {
    let mut variables = workload.variables(0, 1);
    variables.set_operation(number);
    let mut random = random::stream(number, "test");
    let result = script.execute(&mut variables, &mut random, seat);
    result.map_err(|error| format!("{}: {error}", script.name))
}

fn load(engine: &SqliteEngine, workload: &Workload) {
    let mut seat = SessionContext(engine.connect(0).expect("it lets in"));
    for (index, script) in workload.load.all().enumerate() {
        seat.0.enter(index);
        execute(script, 0, workload, &mut seat).expect("it loads");
    }
}

fn operate(engine: &SqliteEngine, workload: &Workload, operations: u64) {
    let mut seat = SessionContext(engine.connect(0).expect("it lets in"));
    for number in 0..operations {
        for (index, weighted) in workload.run.scripts.iter().enumerate() {
            seat.0.enter(index);
            execute(&weighted.script, number, workload, &mut seat).expect("it goes on");
        }
    }
}

fn cold(engine: &SqliteEngine) -> Vec<String> {
    engine.quiesce().expect("it settles");
    let mut forgot = false;
    let mut forget = || {
        forgot = true;
        Ok::<_, EngineError>(vec!["forgotten".to_owned()])
    };
    let notes = engine
        .start(Temperature::Cold, &mut forget)
        .expect("it starts");
    assert!(forgot);
    notes
}

#[test]
fn every_workload_is_loaded_and_goes_on_after_a_cold_start() {
    for name in Workload::builtin_names() {
        let root = TempDir::new().expect("a temporary folder");
        let site = Directories(directories(root.path()));
        let workload = small(name);
        let mut engine =
            SqliteEngine::start(&settings(), &workload, &site, None).expect("empty folders");
        load(&engine, &workload);
        assert!(cold(&engine).contains(&"forgotten".to_owned()));
        let before = engine.counters().expect("it answers");
        operate(&engine, &workload, 4);
        let after = engine.counters().expect("it answers");
        let more = |counter: &str| after[counter] - before[counter];
        assert!(more("statements") > 0.0, "{name}");
        assert!(more("physical_reads") > 0.0, "{name} was not cold");
        assert!(more("logical_reads") > 0.0, "{name}");
        engine.stop().expect("it is ours");
        for volume in 0..3 {
            let left = site.directory(volume).read_dir().expect("it is there");
            assert_eq!(left.count(), 0, "{name} left files");
        }
    }
}

#[test]
fn a_warm_start_finds_everything_in_memory() {
    let root = TempDir::new().expect("a temporary folder");
    let site = Directories(directories(root.path()));
    let workload = small("trade");
    let engine = SqliteEngine::start(&settings(), &workload, &site, None).expect("empty folders");
    load(&engine, &workload);
    engine.quiesce().expect("it settles");
    let never =
        &mut || -> Result<Vec<String>, EngineError> { panic!("a warm start forgets nothing") };
    engine.start(Temperature::Warm, never).expect("it starts");
    let before = engine.counters().expect("it answers");
    operate(&engine, &workload, 3);
    let after = engine.counters().expect("it answers");
    // The whole database is smaller than 8 MiB.
    let read = after["physical_reads"] - before["physical_reads"];
    assert!(read < 10.0, "{read} pages were read");
}

#[test]
fn sessions_that_read_before_they_write_do_not_fail_each_other() {
    let root = TempDir::new().expect("a temporary folder");
    let site = Directories(directories(root.path()));
    let workload = small("trade");
    let engine = SqliteEngine::start(&settings(), &workload, &site, None).expect("empty folders");
    load(&engine, &workload);
    let mut scripts = workload.run.scripts.iter();
    let order = scripts.find(|weighted| weighted.script.name.contains("trade-order"));
    let order = &order.expect("it is one of the mix").script;
    thread::scope(|scope| {
        for session in 0..4 {
            let (engine, workload) = (&engine, &workload);
            scope.spawn(move || {
                let mut seat = SessionContext(engine.connect(session).expect("it lets in"));
                for number in 0..100 {
                    let done = execute(order, number, workload, &mut seat);
                    assert_eq!(done, Ok(()), "session {session}");
                }
            });
        }
    });
}

#[test]
fn a_session_that_waits_is_seen_waiting_and_can_be_interrupted() {
    let root = TempDir::new().expect("a temporary folder");
    // A page per second: no session finishes before it is interrupted.
    let slow = DiskSpec::limited(Iops(1), Throughput::from_mb_per_s(1));
    let volumes = ["d", "t", "l"].map(|name| match name {
        "d" => VolumeSpec::of(name, slow.clone()),
        _ => VolumeSpec::of(name, DiskSpec::unlimited()),
    });
    let places = volumes.into_iter().zip(directories(root.path()));
    let site = PacedSite::new(&MachineSpec::unlimited(), places.collect(), 1);
    let workload = small("cold-lookup");
    let engine = SqliteEngine::start(&settings(), &workload, &site, Some(site.pacer()))
        .expect("empty folders");
    let schema = &workload.load.schema[0];
    let (seen, over) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut waits = engine.waits().expect("it tells").expect("it can tell");
            while !over.load(SeqCst) {
                let sample = waits.sample().expect("it answers");
                let reads = sample.iter().any(|waiting| {
                    matches!(waiting.kind, WaitKind::Read | WaitKind::Write)
                        && waiting.event.ends_with("/data")
                });
                if reads {
                    seen.store(true, SeqCst);
                    engine.interrupt();
                }
                thread::yield_now();
            }
        });
        let mut seat = SessionContext(engine.connect(0).expect("it lets in"));
        execute(schema, 0, &workload, &mut seat).expect("the log is quick");
        for script in &workload.load.scripts {
            // What does not fit into 8 MiB waits for the data volume, and fails.
            let _ = execute(script, 0, &workload, &mut seat);
        }
        over.store(true, SeqCst);
    });
    assert!(seen.load(SeqCst), "nobody was seen waiting");
}

#[test]
fn what_it_is_is_said() {
    let root = TempDir::new().expect("a temporary folder");
    let site = Directories(directories(root.path()));
    let workload = small("trade");
    let engine = SqliteEngine::start(&settings(), &workload, &site, None).expect("empty folders");
    let record = engine.describe();
    assert_eq!(record.name, "sqlite");
    assert!(record.version.starts_with("3."), "{}", record.version);
    assert_eq!(record.settings["synchronous"], "FULL");
    assert_eq!(record.settings["buffer_pool"], "8 MiB for all sessions");
}

#[test]
fn only_volumes_with_files_are_used_and_in_their_order() {
    let root = TempDir::new().expect("a temporary folder");
    let mut settings = settings();
    // The site has no directory for a volume without files.
    settings.placement.data = settings.placement.temp.clone();
    let directories = directories(root.path()).split_off(1);
    let site = Directories(directories);
    let workload = small("trade");
    let engine = SqliteEngine::start(&settings, &workload, &site, None).expect("empty folders");
    assert!(root.path().join("t/data-2").exists());
    assert!(root.path().join("l/log-1").exists());
    let counters = engine.counters().expect("it answers");
    assert!(counters.contains_key("vfs.t.writes") && !counters.contains_key("vfs.d.writes"));
    drop(engine);
    assert!(!root.path().join("l/log-1").exists());
}
