//! The same in real time, of every engine: a key is refused, reported, changes the modelled disks, or is one of [`USED`],
//! which names the code that uses it.

use std::fs;
use std::path::Path;

use dbstow::engines::ENGINES;
use engine::Options;
use experiment::plan::Plan;
use experiment::spec::{EngineName, Mode, Settings, Spec, Variant};
use lab::inventory::Inventory;
use lab::trial::Stage;

use super::{CASES, Fate, PLAIN, STATEMENTS, base, set, touches};

/// A key that only a run uses: of which engines, the file below `crates/` that uses it, and what stands there.
struct Used {
    key: &'static str,
    engines: &'static [&'static str],
    file: &'static str,
    text: &'static str,
}

const fn used(
    key: &'static str,
    engines: &'static [&'static str],
    file: &'static str,
    text: &'static str,
) -> Used {
    Used {
        key,
        engines,
        file,
        text,
    }
}

const SQLITE: &[&str] = &["sqlite"];
const POSTGRES: &[&str] = &["postgres"];
const MARIADB: &[&str] = &["mariadb"];
const SQLSERVER: &[&str] = &["sqlserver"];
const MOUNTED: &[&str] = &["postgres", "mariadb"];
const RAW: &[&str] = &["raw"];
const STATEMENT: &[&str] = &["sqlite", "postgres", "mariadb", "sqlserver"];
const ALL: &[&str] = &["sqlite", "postgres", "mariadb", "sqlserver", "raw"];

const OWN_SQLITE: &str = "engines/sqlite/src/real.rs";
const OWN_POSTGRES: &str = "engines/postgres/src/trial/settings.rs";
const READS: &str = "engines/postgres/src/trial/reading.rs";
const OWN_MARIADB: &str = "engines/mariadb/src/trial/settings.rs";
const OWN_SQLSERVER: &str = "engines/sqlserver/src/trial/mod.rs";
const HABITS: &str = "experiment/src/spec/resolve.rs";
const START: &str = "lab/src/trial/real/mod.rs";
const EMULATED: &str = "lab/src/trial/real/emulated.rs";
const PLAIN_FILES: &str = "lab/src/trial/real/raw.rs";
const SESSIONS: &str = "lab/src/trial/sessions.rs";
const TABLESPACES: &str = "engines/postgres/src/trial/tablespaces.rs";
const PLACES: &str = "engines/mariadb/src/trial/places.rs";
const FILES: &str = "engines/sqlserver/src/trial/database_files.rs";

const USED: &[Used] = &[
    used(
        "machine.system",
        ALL,
        "resolve/src/resolved.rs",
        "machine.system.is_some()",
    ),
    used(
        "placement.p.data.files",
        SQLITE,
        OWN_SQLITE,
        "placement.data.iter()",
    ),
    used(
        "placement.p.data.files",
        POSTGRES,
        TABLESPACES,
        "placement.files(role)",
    ),
    used(
        "placement.p.data.files",
        MARIADB,
        PLACES,
        "placement.files(role)",
    ),
    used(
        "placement.p.data.files",
        SQLSERVER,
        FILES,
        "&placement.data",
    ),
    used(
        "placement.p.data.files",
        RAW,
        PLAIN_FILES,
        "placement.files(role)",
    ),
    used(
        "placement.p.data.file_size",
        SQLITE,
        OWN_SQLITE,
        "size: file.size",
    ),
    // Room on a modelled disk; on a real one it is reported.
    used(
        "placement.p.data.file_size",
        MOUNTED,
        EMULATED,
        "placement.size_on",
    ),
    used(
        "placement.p.data.file_size",
        SQLSERVER,
        FILES,
        "file.size.map_or",
    ),
    used("placement.p.binlog", MARIADB, PLACES, "&placement.binlog"),
    used("placement.p.undo", MARIADB, PLACES, "&placement.undo"),
    used(
        "workload.name",
        ALL,
        "resolve/src/inventory.rs",
        "Workload::builtin(name",
    ),
    used(
        "workload.sessions",
        STATEMENT,
        SESSIONS,
        "sessions: asked.sessions",
    ),
    used("workload.operations", STATEMENT, SESSIONS, "asked.amount"),
    used(
        "workload.duration",
        RAW,
        "engines/raw/src/job.rs",
        "workload.amount",
    ),
    used(
        "workload.warm_up",
        STATEMENT,
        "lab/src/trial/real/run.rs",
        "workload.warm_up",
    ),
    used(
        "workload.warm_up",
        RAW,
        "engines/raw/src/job.rs",
        "workload.warm_up",
    ),
    used(
        "workload.think",
        STATEMENT,
        SESSIONS,
        "Arrival::Closed { think }",
    ),
    used(
        "workload.rate",
        STATEMENT,
        SESSIONS,
        "Arrival::Open { rate_per_s }",
    ),
    used(
        "workload.parameters",
        ALL,
        "resolve/src/inventory.rs",
        ".set_parameter(name",
    ),
    used("engine.like", ALL, HABITS, "asked.like.map_or"),
    used("engine.memory", SQLITE, OWN_SQLITE, "memory: engine.memory"),
    used("engine.memory", POSTGRES, OWN_POSTGRES, "kib(engine.memory"),
    used("engine.memory", MARIADB, OWN_MARIADB, "engine.memory.max"),
    used(
        "engine.memory",
        SQLSERVER,
        OWN_SQLSERVER,
        "settings.engine.memory",
    ),
    used(
        "engine.sort_memory",
        SQLITE,
        OWN_SQLITE,
        "sort_memory: engine.sort_memory",
    ),
    used(
        "engine.sort_memory",
        POSTGRES,
        OWN_POSTGRES,
        "kib(engine.sort_memory",
    ),
    used(
        "engine.sort_memory",
        MARIADB,
        OWN_MARIADB,
        "engine.sort_memory.max",
    ),
    used(
        "engine.read_unit",
        SQLITE,
        OWN_SQLITE,
        "match engine.read_unit",
    ),
    used(
        "engine.write_gather",
        SQLITE,
        OWN_SQLITE,
        "engine.write_gather",
    ),
    used("engine.log_gather", SQLITE, OWN_SQLITE, "engine.log_gather"),
    used(
        "engine.writes_in_flight",
        SQLITE,
        OWN_SQLITE,
        "engine.writes_in_flight",
    ),
    used(
        "engine.checkpoint",
        POSTGRES,
        OWN_POSTGRES,
        "engine.checkpoint.map_or",
    ),
    used(
        "engine.log_capacity",
        MARIADB,
        OWN_MARIADB,
        "match engine.log_capacity",
    ),
    used("engine.commit", SQLITE, OWN_SQLITE, "match engine.commit"),
    used(
        "engine.commit",
        POSTGRES,
        OWN_POSTGRES,
        "engine.commit == Commit::Relaxed",
    ),
    used("engine.commit", MARIADB, OWN_MARIADB, "match engine.commit"),
    used(
        "engine.commit",
        SQLSERVER,
        "engines/sqlserver/src/trial/made.rs",
        "engine.commit == Commit::Relaxed",
    ),
    used(
        "engine.read_ahead",
        POSTGRES,
        OWN_POSTGRES,
        "engine.read_ahead == Bytes::ZERO",
    ),
    used(
        "engine.read_ahead",
        MARIADB,
        OWN_MARIADB,
        "engine.read_ahead == Bytes::ZERO",
    ),
    used(
        "engine.read_ahead",
        SQLSERVER,
        EMULATED,
        "settings.engine.read_ahead",
    ),
    used("engine.start", STATEMENT, START, "engine.start(asked.start"),
    used(
        "engine.host_cache_start",
        STATEMENT,
        START,
        "asked.host_cache_start",
    ),
    used(
        "engine.host_cache_start",
        RAW,
        PLAIN_FILES,
        "engine.host_cache_start",
    ),
    used(
        "engine.postgres.io_method",
        POSTGRES,
        READS,
        "\"io_method\"",
    ),
    used(
        "engine.postgres.io_workers",
        POSTGRES,
        READS,
        "\"io_workers\"",
    ),
    used(
        "engine.postgres.effective_io_concurrency",
        POSTGRES,
        READS,
        "\"effective_io_concurrency\"",
    ),
    used(
        "engine.postgres.maintenance_io_concurrency",
        POSTGRES,
        READS,
        "\"maintenance_io_concurrency\"",
    ),
    used(
        "engine.postgres.io_combine_limit",
        POSTGRES,
        READS,
        "\"io_combine_limit\"",
    ),
    used(
        "engine.mariadb.io_capacity",
        MARIADB,
        OWN_MARIADB,
        "own.io_capacity",
    ),
    used(
        "engine.mariadb.flush_log_at_trx_commit",
        MARIADB,
        OWN_MARIADB,
        "own.flush_log",
    ),
    used(
        "engine.mariadb.binlog",
        MARIADB,
        "experiment/src/spec/arms.rs",
        "own::place_binlog",
    ),
    used(
        "engine.mariadb.sync_binlog",
        MARIADB,
        OWN_MARIADB,
        "own.sync_binlog",
    ),
    used(
        "engine.mariadb.doublewrite",
        MARIADB,
        OWN_MARIADB,
        "own.doublewrite",
    ),
    used(
        "engine.mariadb.flush_method",
        MARIADB,
        OWN_MARIADB,
        "own.flush_method",
    ),
    used(
        "engine.mariadb.log_file_size",
        MARIADB,
        OWN_MARIADB,
        "match engine.log_capacity",
    ),
];

/// How `engine` runs the experiment in `mode`, or why it does not: its arm, and the keys that change nothing.
fn understood(text: &str, variant: &Variant) -> Result<(Spec, Inventory), String> {
    let inventory = Inventory::with_engines(ENGINES).of_engine(&variant.engine);
    let spec = Spec::parse("keys.toml", text, &[], variant.clone());
    let spec = spec.and_then(|spec| spec.check(&inventory));
    let spec = spec.map_err(|error| error.to_string())?;
    let mut options = Options::default();
    if variant.mode == Mode::Measure {
        let volumes = spec.arms[0].settings.volumes.iter();
        options.volumes = volumes
            .map(|volume| (volume.name.clone(), ".".into()))
            .collect();
    }
    if variant.engine.as_str() == "sqlserver" {
        options.server = Some("localhost".to_owned());
    }
    let engine = ENGINES
        .find(&variant.engine)
        .expect("it is one of the build's");
    engine::check(&ENGINES, &options, engine, variant.mode, &spec.arms)
        .map_err(|error| error.to_string())?;
    Ok((spec, inventory))
}

/// What an emulator is given.
fn modelled(settings: &Settings, inventory: &Inventory) -> Result<String, String> {
    let stage = Stage::new(settings, &inventory.catalogue).map_err(|error| error.to_string())?;
    let limits = (&stage.machine.limits, &stage.machine.host_cache);
    Ok(format!("{limits:?} {:?}", stage.volumes))
}

fn fate(text: &str, with: &str, key: &str, variant: &Variant) -> Fate {
    let Ok((spec, inventory)) = understood(with, variant) else {
        return Fate::Refused;
    };
    let (base, _) = understood(text, variant).expect("what runs with the key runs without");
    let settings = |spec: &Spec| spec.arms[0].settings.clone();
    let Ok(disks) = modelled(&settings(&spec), &inventory) else {
        return Fate::Refused;
    };
    let idle = spec.idle(&inventory);
    if idle.iter().any(|idle| touches(&idle.key, key)) {
        return Fate::Reported;
    }
    let before = modelled(&settings(&base), &inventory).expect("the base runs");
    if variant.mode == Mode::Emulate && before != disks {
        return Fate::Used;
    }
    let digest = |spec: &Spec| Plan::new(spec, false).digest().to_owned();
    match digest(&base) == digest(&spec) {
        true => Fate::Ignored,
        false => Fate::Planned,
    }
}

#[test]
fn no_key_is_ignored_in_real_time() {
    let mut unknown = Vec::new();
    for engine in ENGINES.built {
        for mode in [Mode::Emulate, Mode::Measure] {
            let variant = Variant {
                mode,
                engine: EngineName::new(engine.name()),
                quick: false,
            };
            // Which engine runs is decided here.
            for case in CASES.iter().filter(|case| case.key != "engine.name") {
                let (text, with) = match engine.name() {
                    "raw" => (PLAIN, &[][..]),
                    _ => (STATEMENTS, case.with),
                };
                let base = base(text, with);
                let changed = set(base.clone(), case.key, case.value);
                let found = fate(&base.to_string(), &changed.to_string(), case.key, &variant);
                let is_listed = USED
                    .iter()
                    .any(|used| used.key == case.key && used.engines.contains(&engine.name()));
                let is_known = match found {
                    Fate::Used | Fate::Refused | Fate::Reported => true,
                    Fate::Planned => is_listed,
                    Fate::Ignored => false,
                };
                if !is_known {
                    unknown.push(format!("{} {mode} {}: {found:?}", engine.name(), case.key));
                }
            }
        }
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
}

#[test]
fn the_code_that_uses_a_key_is_there() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for Used {
        key, file, text, ..
    } in USED
    {
        let code = fs::read_to_string(crates.join(file)).expect("it is in the repository");
        let code = code.split("#[cfg(test)]").next().unwrap_or_default();
        assert!(code.contains(text), "{key}: {file} has no {text}");
    }
}
