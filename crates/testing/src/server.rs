//! A real server on plain directories, for tests.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::{Client, Engine, EngineError, Engines};
use experiment::spec::{EngineName, Settings, Spec, Variant};
use host::orphans::Registration;
use host::site::Site;
use lab::inventory::Inventory;
use model::random::stream;
use model::{Duration, Instant};
use postgres::{self, Binaries, Postgres};
use reading::Reading;
use tempfile::TempDir;
use workload::{Database, Dialect, Driver, Names, Script, Statement, Value, Variables, Workload};

/// The programs; `None`, with a message, on a machine without them.
pub fn binaries() -> Option<Binaries> {
    crate::or_skip(Binaries::find(None))
}

/// Directories of volumes that are only directories.
pub struct Folders {
    parent: TempDir,
    volumes: Vec<PathBuf>,
    pub registration: Arc<Registration>,
}

impl Folders {
    pub fn new(count: usize) -> Folders {
        Folders::named("v", count)
    }

    /// Their names begin with `name`.
    pub fn named(name: &str, count: usize) -> Folders {
        let parent = tempfile::tempdir().expect("a folder");
        // The server's own user must be able to traverse it.
        fs::set_permissions(parent.path(), fs::Permissions::from_mode(0o755)).expect("its owner");
        let volumes: Vec<PathBuf> = (0..count)
            .map(|number| parent.path().join(format!("{name}{number}")))
            .collect();
        for volume in &volumes {
            fs::create_dir(volume).expect("a folder");
        }
        Folders::of(parent, volumes)
    }

    /// Existing directories.
    pub fn of(parent: TempDir, volumes: Vec<PathBuf>) -> Folders {
        Folders {
            parent,
            volumes,
            registration: Arc::new(Registration::new().expect("a state directory")),
        }
    }

    /// Names of the files in all volumes.
    pub fn content(&self) -> Vec<String> {
        let entries = self
            .volumes
            .iter()
            .flat_map(|volume| fs::read_dir(volume).expect("a folder"));
        entries
            .map(|entry| entry.expect("a file").path().display().to_string())
            .collect()
    }

    pub fn parent(&self) -> &Path {
        self.parent.path()
    }
}

impl Drop for Folders {
    fn drop(&mut self) {
        // A failed test reports the cause itself.
        let _ = self.registration.finish();
    }
}

impl Site for Folders {
    fn directory(&self, volume: usize) -> &Path {
        &self.volumes[volume]
    }

    fn reading(&self) -> io::Result<Reading> {
        Ok(Reading {
            at: Instant::ZERO,
            disks: Vec::new(),
            limits: Vec::new(),
            pacing: None,
        })
    }

    fn go_cold(&self, _: bool) -> io::Result<Vec<String>> {
        Ok(Vec::new())
    }

    fn environment(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// Sizes so small that a test does not notice, for whichever workload has such a parameter.
const SMALL: [(&str, i64); 10] = [
    ("rows", 300),
    ("range", 10),
    ("operations", 60),
    ("customers", 50),
    ("names", 20),
    ("items", 500),
    ("accounts", 100),
    ("securities", 60),
    ("trades", 200),
    ("lock_hold_us", 100),
];

/// Settings and workload of a small experiment: two volumes, `files` each for data and temp.
pub fn experiment(
    name: &str,
    engine: &'static str,
    files: u32,
    sessions: u32,
) -> (Settings, Workload) {
    experiment_with((name, engine), files, sessions, "")
}

/// The engines whose servers start on plain directories, and the embedded one that they are compared with.
const ENGINES: Engines = Engines {
    built: &[&sqlite::Provider, &postgres::Provider, &::mariadb::Provider],
    left_out: &[],
};

/// The same with more lines in its placement.
pub fn experiment_with(
    (name, engine): (&str, &'static str),
    files: u32,
    sessions: u32,
    placed: &str,
) -> (Settings, Workload) {
    let text = format!(
        "name = \"test\"\nquestion = \"Does it work?\"\n[machine]\ncores = 2\nmemory = \"1 GiB\"\n\
         [volume.a]\ndisk = \"unlimited\"\n[volume.b]\ndisk = \"unlimited\"\n\
         [placement.split]\ndata = {{ volumes = [\"a\", \"b\"], files = {files} }}\n\
         temp = {{ volumes = [\"a\", \"b\"], files = {files} }}\nlog = {{ volumes = \"b\" }}\n{placed}\
         [workload]\nname = \"{name}\"\nsessions = {sessions}\noperations = 60\n\
         [engine]\nmemory = \"16 MiB\"\nsort_memory = \"64 KiB\"\n\
         [engine.versions]\nbytes_per_row = \"400 B\"\nretention = \"1 s\"\n"
    );
    let engine = EngineName::new(engine);
    let inventory = Inventory::with_engines(ENGINES).of_engine(&engine);
    let variant = Variant {
        engine,
        ..Variant::default()
    };
    let spec = Spec::parse("test.toml", &text, &[], variant)
        .and_then(|spec| spec.check(&inventory))
        .unwrap_or_else(|error| panic!("{error}"));
    let settings = spec.arms[0].settings.clone();
    let mut workload = inventory.workload(&settings.workload).expect(name);
    for (parameter, value) in SMALL {
        if workload.parameters().contains_key(parameter) {
            workload
                .set_parameter(parameter, Value::Int(value))
                .expect(parameter);
        }
    }
    (settings, workload)
}

/// A server for an experiment on two volumes.
pub fn start(site: &Folders, settings: &Settings, workload: &Workload) -> Option<Postgres> {
    Some(start_with(&binaries()?, site, settings, workload))
}

/// The same of these programs.
pub fn start_with(
    binaries: &Binaries,
    site: &Folders,
    settings: &Settings,
    workload: &Workload,
) -> Postgres {
    let made = private(binaries, site, settings, workload);
    made.unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn private(
    binaries: &Binaries,
    site: &Folders,
    settings: &Settings,
    workload: &Workload,
) -> Result<Postgres, EngineError> {
    let owner = postgres::owner().expect("a user for PostgreSQL");
    let asked = (site as &dyn Site, settings, workload);
    Postgres::private(binaries, owner, &site.registration, asked)
}

/// A session that scripts can drive.
pub struct SessionContext<'a>(pub Box<dyn Client + 'a>);

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

/// Where the numbers of the run's scripts begin, behind those of the load.
pub const RUN: usize = 100;

/// Runs SQL in a session; scripts of their own number.
pub fn execute(seat: &mut SessionContext<'_>, dialect: Dialect, sql: &str) -> Result<(), String> {
    let mut names = Names::new();
    let script = Script::parse("test.sql", sql, dialect, &mut names).expect(sql);
    let mut variables = Variables::new(Arc::new(names), 0, 1);
    seat.0.enter(2 * RUN);
    script
        .execute(&mut variables, &mut stream(1, "test"), seat)
        .map_err(|error| error.to_string())
}

/// Loads as a trial does: schema, spread, data.
pub fn load(engine: &dyn Engine, workload: &Workload, sessions: u32) {
    let databases = match workload.database {
        Database::PerSession => sessions,
        Database::Shared => 1,
    };
    for session in 0..databases {
        let mut seat = SessionContext(engine.connect(session).expect("a connection"));
        load_in(engine, workload, &mut seat, (session, sessions));
    }
}

/// Loads one session's database on its own connection.
pub fn load_in(
    engine: &dyn Engine,
    workload: &Workload,
    seat: &mut SessionContext<'_>,
    (session, sessions): (u32, u32),
) {
    let mut variables = workload.variables(session, sessions);
    let mut random = stream(1, "load");
    for (number, script) in workload.load.all().enumerate() {
        if number == workload.load.schema.len() {
            engine
                .distribute_tables(session)
                .expect("tables that can be spread");
        }
        seat.0.enter(number);
        script
            .execute(&mut variables, &mut random, seat)
            .unwrap_or_else(|error| panic!("{}: {error}", script.name));
    }
}

/// Runs `operations` of one session; returns the errors.
pub fn run(
    seat: &mut SessionContext<'_>,
    workload: &Workload,
    (session, sessions): (u32, u32),
    operations: u64,
) -> Vec<String> {
    let mut variables = workload.variables(session, sessions);
    let mut random = stream(1, "keys");
    let mut errors = Vec::new();
    for operation in 0..operations {
        variables.set_operation(operation);
        let picked = workload.run.pick(&mut random);
        let script = &workload.run.scripts[picked].script;
        seat.0.enter(RUN + picked);
        if let Err(error) = script.execute(&mut variables, &mut random, seat) {
            errors.push(format!("{}: {error}", script.name));
            seat.0.roll_back();
        }
    }
    errors
}
