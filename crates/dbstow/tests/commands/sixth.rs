//! A sixth product, registered from outside: `sixth/engine.rs` (an engine that is recorded) and `sixth/checked.rs` (a rule and a
//! script) are all of it, and no crate knows it.
#![cfg(target_os = "linux")]

#[path = "sixth/checked.rs"]
mod checked;
#[path = "sixth/engine.rs"]
mod product;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use analysis::report::{Extent, Width, terminal};
use checked::{Capture, Layout};
use engine::hooks::HostHooks;
use engine::recorder::{Recording, Watcher};
use engine::{Engines, FrontKind, Options, Patience, ProductOptions};
use experiment::build::{Experiment, Placement, Volume, Workload};
use experiment::plan::Plan;
use experiment::record::Outcome;
use experiment::spec::{EngineName, File, Mode, Role, Variant};
use lab::inventory::Inventory;
use lab::{Event, RunInputs};
use layout::LayoutRequest;
use model::Duration;
use product::{KeyValue, Store};
use profile::Profile;
use rules::{Selection, Server};

const ENGINES: Engines = Engines {
    built: &[&KeyValue],
    left_out: &[],
};

const WORKLOAD: &str = "name = \"puts\"\nabout = \"Puts and gets\"\ndatabase = \"shared\"\ntables = \"data\"\n\
    [load]\nmeasured = false\nschema = []\nscripts = [\"load.sql\"]\n\
    [run]\noperations = 100\nscripts = [{ file = \"run.sql\" }]\nlog_bytes_per_row = 512\n";

/// An experiment whose workload lies in `folder`: its data and its log on volumes of their own.
fn experiment(folder: &Path) -> Experiment {
    fs::create_dir(folder).expect("a folder");
    for (name, text) in [
        ("workload.toml", WORKLOAD),
        ("load.sql", "\\set key random(1, 100)\nPUT :key;\n"),
        (
            "run.sql",
            "\\set key random(1, 100)\nPUT :key;\nGET :key;\n",
        ),
    ] {
        fs::write(folder.join(name), text).expect("a file");
    }
    let workload = Workload::folder(&folder.display().to_string());
    Experiment::new("sixth", "Does a product from outside run?")
        .machine_of(2, "4 GiB")
        .memory("64 MiB")
        .volume("data", Volume::of("azure.premium.p30"))
        .volume("log", Volume::of("azure.premium.p10"))
        .placement("apart", Placement::on("data").log("log"))
        .workload(workload.sessions(2).operations(40))
        .blocks(1)
}

/// Runs it in this mode.
fn run(mode: Mode, options: Options, folder: &Path) {
    let variant = Variant {
        mode,
        engine: EngineName::new("kv"),
        ..Variant::default()
    };
    let inputs = RunInputs {
        inventory: Inventory::with_engines(ENGINES).of_engine(&variant.engine),
        options,
        hooks: HostHooks {
            emulator: || {
                let mut command = Command::new(env!("CARGO_BIN_EXE_dbstow"));
                command.args(["emulator", "--attached"]);
                Ok(command)
            },
            ..HostHooks::default()
        },
        ..RunInputs::default()
    };
    let spec = experiment(folder).build(variant).expect("it makes sense");
    let spec = spec.check(&inputs.inventory).expect("it is known");
    let plan = Plan::new(&spec, false);
    let finished = lab::run(&plan, &inputs, &|_: Event<'_>| {}).expect("it runs");
    let record = finished.records.first().expect("one trial");
    assert_eq!(record.outcome, Outcome::Finished, "{:?}", record.errors);
    assert_eq!(
        record.engine.as_ref().map(|it| it.name.as_str()),
        Some("kv")
    );
    // 40 in the run, of which each flushes the log once.
    assert!(record.metrics["operations_per_s"] > 0.0);
}

#[test]
fn it_is_measured_on_real_directories() {
    let place = tempfile::tempdir().expect("a folder");
    let directory = |name: &str| {
        let directory = place.path().join(name);
        fs::create_dir(&directory).expect("a folder");
        (name.to_owned(), directory)
    };
    let options = Options {
        volumes: ["data", "log"].map(directory).into(),
        ..Options::default()
    };
    run(Mode::Measure, options, &place.path().join("workload"));
}

#[test]
fn it_is_emulated_on_modelled_disks() {
    let place = tempfile::tempdir().expect("a folder");
    let options = Options {
        front: Some(FrontKind::File),
        ..Options::default()
    };
    run(Mode::Emulate, options, &place.path().join("workload"));
}

/// Notes of a recording.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Watcher for Notes {
    fn is_stopped(&self) -> bool {
        false
    }

    fn elapsed(&self, _: Duration) {}

    fn so_far(&self, _: &Profile) {}

    fn note(&self, text: &str) {
        self.0
            .lock()
            .expect("one thread records")
            .push(text.to_owned());
    }
}

#[test]
fn it_is_recorded_by_its_url() {
    let place = tempfile::tempdir().expect("a folder");
    let store = Store::make(place.path(), place.path()).expect("a store");
    store.put(0).expect("room");
    let url = format!("kv://{}", place.path().display());
    let engine = ENGINES.of_url(&url).expect("its scheme is known");
    let open = engine.recorded().expect("its servers are recorded").open;
    let recorder = open(&url, &ProductOptions::default(), Patience::default());
    let recorder = recorder.expect("its URL is understood");
    let (notes, ended) = (Notes::default(), AtomicBool::new(false));
    let profile = thread::scope(|scope| {
        scope.spawn(|| {
            let mut key = 0;
            while !ended.load(Ordering::Relaxed) {
                key = (key + 1) % 100;
                store.put(key).expect("room");
            }
        });
        let recording = Recording {
            length: Duration::from_secs(2),
            every: Duration::from_secs(1),
            without_host: false,
        };
        let recorded = recorder.record(recording, &notes);
        ended.store(true, Ordering::Relaxed);
        recorded
    });
    let profile = profile.expect("it was busy");
    let notes = notes.0.into_inner().expect("nothing panicked");
    assert!(notes.is_empty(), "{notes:?}");
    assert_eq!(profile.origin.product.as_deref(), Some("KeyValue"));
    assert!(!profile.intervals.is_empty());
    for interval in &profile.intervals {
        assert!(interval.operations > Some(0.0), "{interval:?}");
    }
}

#[test]
fn its_engine_is_at_most_150_lines() {
    let lines = include_str!("sixth/engine.rs").lines().count();
    assert!(
        lines <= 150,
        "{lines}: what do the traits ask for that they could do themselves?"
    );
}

#[test]
fn it_is_linted_by_its_rule() {
    let found = |log: &str| {
        let server = Capture {
            data: "/kv".to_owned(),
            log: log.to_owned(),
        };
        let (selection, profiles) = (Selection::default(), BTreeSet::new());
        let checked = server.check(&selection, &profiles);
        let about = ("kv.json", server.identity());
        let document = analysis::lint::document(about, (&selection, &profiles), &checked, &[]);
        let report = analysis::report::lint::report(&document);
        terminal::render(&report, Width::default(), Extent::Full).to_string()
    };
    let text = found("/kv");
    assert!(
        text.contains("KeyValue") && text.contains("log and data share a folder"),
        "{text}"
    );
    let text = found("/log");
    assert!(text.contains("Fine: kv-log-beside-data"), "{text}");
}

#[test]
fn it_is_laid_out_by_its_script() {
    let on = |volume: &str| {
        vec![File {
            volume: volume.to_owned(),
            size: None,
        }]
    };
    let request = LayoutRequest {
        files: [(Role::Data, on("d")), (Role::Log, on("l"))].into(),
        folders: [("d", "/mnt/d"), ("l", "/mnt/l 1")]
            .map(|(volume, folder)| (volume.to_owned(), folder.to_owned()))
            .into(),
        ..LayoutRequest::new("sixth")
    };
    let scripts = layout::scripts(&Layout, &request, None).expect("both have a folder");
    let texts: Vec<&str> = scripts.iter().map(|script| script.text.as_str()).collect();
    assert_eq!(
        texts,
        ["#!/bin/sh\nset -eu\nmv -- kv.data /mnt/d\nmv -- kv.log '/mnt/l 1'\n"]
    );
}
