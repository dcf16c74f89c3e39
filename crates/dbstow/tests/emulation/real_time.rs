//! TrialRequest in real time, on a small test engine: SQLite over its ordinary file system.

mod failures;
mod phases;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use engine::{Client, Engine, EngineError, Started, Table, WaitKind, WaitSampler, Waiting};
use experiment::record::{Cause, EngineRecord, Note, Outcome, Record, histogram};
use experiment::spec::{Arm, EngineName, Mode, Role, Spec, Temperature, Variant};
use host::clock::Clock;
use host::site::Site;
use lab::inventory::{EMBEDDED, Inventory};
use lab::trial::real::{self, Event, Placed, Supply};
use lab::trial::{Stage, Subject, TrialId, Work};
use model::{Duration, Instant};
use reading::cause::{Io, Part};
use reading::{DiskReading, Reading};
use rusqlite::{Connection, InterruptHandle};
use tempfile::TempDir;
use workload::{Driver, Statement, Value};

/// Two arms on one volume each; the tests change the workload's section.
const SMALL: &str = r#"name = "small"
question = "Does it run?"

[machine]
cores = 4
memory = "8 GiB"

[volume.d]
disk = "azure.premium.p30"

[volume.l]
disk = "azure.premium.p30"

[placement.one]
data = { volumes = "d" }
temp = { volumes = "d" }
log = { volumes = "l" }

[workload]
folder = "FOLDER"
WORKLOAD

[engine]
memory = "1 MiB"
start = "START"
"#;

const MIX: &str = r#"name = "counted"
about = "Rows that are counted."
database = "DATABASE"
tables = "data"

[parameters]
rows = 100

[load]
measured = MEASURED
schema = ["schema.sql"]
scripts = ["load.sql"]

[run]
operations = 1
scripts = [{ file = "read.sql", weight = 3 }, { file = "write.sql" }]
"#;

const MEASURED: Variant = Variant {
    mode: Mode::Measure,
    engine: EngineName::SQLITE,
    quick: false,
};

/// The request of a test.
#[derive(Clone, Copy)]
struct TrialRequest<'a> {
    workload: &'a str,
    database: &'a str,
    measured: bool,
    start: &'a str,
    write: &'a str,
}

impl Default for TrialRequest<'_> {
    fn default() -> Self {
        TrialRequest {
            workload: "sessions = 2\noperations = 50",
            database: "shared",
            measured: false,
            start: "cold",
            write: "UPDATE t SET x = x + 1 WHERE id = :key;\n",
        }
    }
}

/// A resolved arm, and a folder for it.
struct Prepared {
    folder: TempDir,
    arm: Arm,
    stage: Stage,
    work: Work,
    id: TrialId,
}

impl Prepared {
    fn new(asked: TrialRequest<'_>) -> Prepared {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let own = folder.path().join("workload");
        std::fs::create_dir(&own).expect("the folder is ours");
        let write = |name: &str, text: &str| {
            std::fs::write(own.join(name), text).expect("the folder is ours");
        };
        let mix = MIX.replace("DATABASE", asked.database);
        write(
            "workload.toml",
            &mix.replace("MEASURED", &asked.measured.to_string()),
        );
        write(
            "schema.sql",
            "CREATE TABLE t (id INTEGER PRIMARY KEY, x INTEGER);\n",
        );
        write(
            "load.sql",
            "INSERT INTO t SELECT value, 0 FROM generate_series(1, :rows);\n",
        );
        let key = "\\set key random(1, :rows)\n";
        write(
            "read.sql",
            &format!("{key}SELECT x FROM t WHERE id = :key;\n"),
        );
        write("write.sql", &format!("{key}{}", asked.write));
        let text = SMALL
            .replace("FOLDER", &own.display().to_string())
            .replace("WORKLOAD", asked.workload)
            .replace("START", asked.start);
        let inventory = Inventory::with_engines(EMBEDDED);
        let spec = Spec::parse("small.toml", &text, &[], MEASURED)
            .and_then(|spec| spec.check(&inventory))
            .unwrap_or_else(|error| panic!("{error}"));
        let arm = spec.arms.into_iter().next().expect("it has one arm");
        Prepared {
            stage: Stage::new(&arm.settings, &inventory.catalogue).expect("it was checked"),
            work: inventory
                .work(&arm.settings.workload)
                .expect("it was checked"),
            id: TrialId {
                experiment: "small".to_owned(),
                plan: "0".repeat(16),
                arm: arm.name.clone(),
                block: 0,
                position: 0,
                seed: 7,
            },
            arm,
            folder,
        }
    }

    fn subject(&self) -> Subject<'_> {
        Subject {
            id: &self.id,
            mode: MEASURED.mode,
            engine: dbstow::engines::ENGINES
                .find(&MEASURED.engine)
                .expect("every build has it"),
            settings: &self.arm.settings,
            stage: &self.stage,
            work: &self.work,
        }
    }

    fn supply(&self) -> Folder {
        Folder {
            root: self.folder.path().join("volumes"),
            events: Arc::default(),
            dies: false,
            stalls: false,
        }
    }

    /// Runs the trial.
    fn record(&self, supply: &Folder) -> Record {
        let record = real::run_trial(&self.subject(), supply, &|_| {}, &|| false);
        record.expect("nobody cancels it")
    }
}

/// Directories under a root, and an engine on them that logs its calls.
struct Folder {
    root: PathBuf,
    events: Arc<Mutex<Vec<String>>>,
    /// Whether the engine goes away during the run.
    dies: bool,
    /// Whether the engine is not ready after loading before it is abandoned.
    stalls: bool,
}

impl Folder {
    fn events(&self) -> Vec<String> {
        self.events.lock().expect("no test panics with it").clone()
    }
}

impl Supply for Folder {
    fn place<'a>(&'a self, subject: &'a Subject<'a>) -> Result<Placed<'a>, String> {
        let volumes = subject.stage.volumes.iter();
        let directories: Vec<PathBuf> = volumes.map(|v| self.root.join(&v.name)).collect();
        for directory in &directories {
            std::fs::create_dir_all(directory).map_err(|error| error.to_string())?;
        }
        let engine = Tiny {
            directory: directories[0].clone(),
            shared: subject.workload().database == workload::Database::Shared,
            events: Arc::clone(&self.events),
            connections: Mutex::default(),
            alive: AtomicBool::new(true),
            dies: self.dies,
            stalls: AtomicBool::new(self.stalls),
            statements: AtomicU64::new(0),
        };
        let (root, disks) = (
            self.root.clone(),
            vec!["directory".to_owned(); directories.len()],
        );
        let events = Arc::clone(&self.events);
        Ok(Placed {
            site: Arc::new(Folders {
                directories,
                clock: Clock::start(),
                events: Arc::clone(&self.events),
            }),
            disks,
            engine: Box::new(move || Ok(Started::Engine(Box::new(engine)))),
            close: Box::new(move || {
                note(&events, "close");
                let removed = std::fs::remove_dir_all(root);
                removed
                    .err()
                    .map(|error| error.to_string())
                    .into_iter()
                    .collect()
            }),
            keep: false,
            player: None,
        })
    }
}

fn note(events: &Mutex<Vec<String>>, event: &str) {
    events
        .lock()
        .expect("no test panics with it")
        .push(event.to_owned());
}

/// A site whose disks count how often they were sampled.
struct Folders {
    directories: Vec<PathBuf>,
    clock: Clock,
    events: Arc<Mutex<Vec<String>>>,
}

impl Site for Folders {
    fn directory(&self, volume: usize) -> &Path {
        &self.directories[volume]
    }

    fn reading(&self) -> io::Result<Reading> {
        let at = self.clock.now();
        let ms = at.since(Instant::ZERO).as_nanos() / 1_000_000;
        let disk = |volume: usize| DiskReading {
            volume,
            name: format!("{}.1", ["d", "l"][volume]),
            reads: ms,
            writes: 2 * ms,
            flushes: 0,
            cache_hits: 0,
            read_bytes: 8_192 * ms,
            write_bytes: 8_192 * ms,
            read_ns: 500_000 * ms,
            write_ns: 4_000_000 * ms,
            busy_ns: None,
            in_flight: 0,
            spent_ns: BTreeMap::new(),
            latency: None,
        };
        Ok(Reading {
            at,
            disks: (0..self.directories.len()).map(disk).collect(),
            limits: Vec::new(),
            pacing: None,
        })
    }

    fn go_cold(&self, host_cache: bool) -> io::Result<Vec<String>> {
        note(&self.events, &format!("go cold, host cache {host_cache}"));
        Ok(vec!["pages stayed".to_owned()])
    }

    fn environment(&self) -> Vec<(String, String)> {
        vec![("kernel".to_owned(), "a test's".to_owned())]
    }
}

/// SQLite over its ordinary file system.
struct Tiny {
    directory: PathBuf,
    shared: bool,
    events: Arc<Mutex<Vec<String>>>,
    connections: Mutex<Vec<InterruptHandle>>,
    alive: AtomicBool,
    dies: bool,
    stalls: AtomicBool,
    statements: AtomicU64,
}

impl Engine for Tiny {
    fn describe(&self) -> EngineRecord {
        EngineRecord {
            name: "tiny".to_owned(),
            version: rusqlite::version().to_owned(),
            file: "file".to_owned(),
            settings: BTreeMap::new(),
        }
    }

    fn connect(&self, session: u32) -> Result<Box<dyn Client + '_>, EngineError> {
        let name = if self.shared {
            "shared".to_owned()
        } else {
            format!("session-{session}")
        };
        let connection = Connection::open(self.directory.join(name))
            .map_err(|error| EngineError::failed("opening the database", error))?;
        let busy = connection.busy_timeout(std::time::Duration::from_secs(60));
        busy.expect("a timeout can be set");
        rusqlite::vtab::series::load_module(&connection).expect("it is built in");
        let handle = connection.get_interrupt_handle();
        self.connections.lock().expect("no panic").push(handle);
        note(&self.events, "connect");
        Ok(Box::new(TinyClient {
            engine: self,
            connection,
            statements: 0,
        }))
    }

    fn distribute_tables(&self, session: u32) -> Result<(), EngineError> {
        note(&self.events, &format!("spread {session}"));
        Ok(())
    }

    fn quiesce(&self) -> Result<(), EngineError> {
        note(&self.events, "quiesce");
        let mut abandoned = false;
        while self.stalls.load(Ordering::Relaxed) {
            std::thread::yield_now();
            abandoned = true;
        }
        match abandoned {
            true => Err(EngineError::failed("settling down", "abandoned")),
            false => Ok(()),
        }
    }

    fn abandon(&self) {
        note(&self.events, "abandon");
        self.stalls.store(false, Ordering::Relaxed);
    }

    fn start(
        &self,
        temperature: Temperature,
        forget: &mut dyn FnMut() -> Result<Vec<String>, EngineError>,
    ) -> Result<Vec<String>, EngineError> {
        note(&self.events, &format!("start {temperature:?}"));
        match temperature {
            Temperature::Cold => forget(),
            Temperature::Warm => Ok(Vec::new()),
        }
    }

    fn counters(&self) -> Result<BTreeMap<String, f64>, EngineError> {
        if !self.alive.load(Ordering::Relaxed) {
            return Err(EngineError::failed("asking for counters", "nobody answers"));
        }
        let statements = self.statements.load(Ordering::Relaxed) as f64;
        Ok(BTreeMap::from([
            ("logical_reads".to_owned(), 3.0 * statements),
            ("statements".to_owned(), statements),
        ]))
    }

    fn waits(&self) -> Result<Option<Box<dyn WaitSampler + '_>>, EngineError> {
        Ok(Some(Box::new(HalfReads)))
    }

    fn interrupt(&self) {
        note(&self.events, "interrupt");
        for handle in self.connections.lock().expect("no panic").iter() {
            handle.interrupt();
        }
    }

    fn keep(&mut self) {}

    fn stop(&mut self) -> Result<(), EngineError> {
        note(&self.events, "stop");
        Ok(())
    }
}

/// Sees one session read and another compute.
struct HalfReads;

impl WaitSampler for HalfReads {
    fn sample(&mut self) -> Result<Vec<Waiting>, EngineError> {
        let seen = |kind, event: &str| Waiting {
            kind,
            event: event.to_owned(),
        };
        Ok(vec![
            seen(WaitKind::Read, "IO/Read"),
            seen(WaitKind::Cpu, ""),
        ])
    }
}

struct TinyClient<'a> {
    engine: &'a Tiny,
    connection: Connection,
    statements: u64,
}

impl Driver for TinyClient<'_> {
    type Error = String;

    fn statement(
        &mut self,
        _index: usize,
        statement: &Statement,
        arguments: &[Value],
    ) -> Result<(), String> {
        self.statements += 1;
        let all = self.engine.statements.fetch_add(1, Ordering::Relaxed);
        if self.engine.dies && all > 20 {
            self.engine.alive.store(false, Ordering::Relaxed);
            return Err("the connection is closed".to_owned());
        }
        let mut prepared = self.connection.prepare_cached(&statement.text);
        let prepared = prepared.as_mut().map_err(|error| error.to_string())?;
        for (place, argument) in (1..).zip(arguments) {
            let Value::Int(value) = argument else {
                return Err(format!("{argument} is not a whole number"));
            };
            prepared
                .raw_bind_parameter(place, value)
                .map_err(|error| error.to_string())?;
        }
        let mut rows = prepared.raw_query();
        while rows.next().map_err(|error| error.to_string())?.is_some() {}
        Ok(())
    }

    fn sleep(&mut self, _span: Duration) -> Result<(), String> {
        panic!("the trial sleeps itself, so that it can end the sleep");
    }
}

impl Client for TinyClient<'_> {
    fn enter(&mut self, _script: usize) {}

    fn roll_back(&mut self) {}

    fn statements(&self) -> u64 {
        self.statements
    }

    fn table(&mut self, _query: &str) -> Result<Table, String> {
        panic!("the trial's workload has no parameters from a query");
    }
}
