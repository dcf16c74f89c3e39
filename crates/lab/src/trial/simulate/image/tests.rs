use std::fs;
use std::rc::Rc;

use experiment::build;
use experiment::plan::Plan;
use experiment::record::Record;
use experiment::spec::Variant;
use tempfile::TempDir;

use super::super::Moment;
use super::*;
use crate::Prepared;
use crate::inventory::{EMBEDDED, Inventory};
use crate::trial::{Cancel, Subject, simulate};
use engine::Options;

/// The same number of rows of the same size in both, which differ in a word.
const IN_FILE: &str = "INSERT INTO t SELECT value, value % 97, printf('%-900s', 'tamp') FROM generate_series(1, 2000); \
                       CREATE INDEX by_x ON t(x);";
const SUSPECT: &str = "INSERT INTO t SELECT value, value % 97, printf('%-900s', 'temp') FROM generate_series(1, 2000); \
                       CREATE INDEX by_x ON t(x);";

/// A plan of two blocks for three sessions, whose data is loaded by this script.
fn prepared(database: &str, load: &str) -> (TempDir, Prepared) {
    prepared_for(3, database, load)
}

fn prepared_for(sessions: u32, database: &str, load: &str) -> (TempDir, Prepared) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let workload = format!(
        "name = \"mine\"\ndatabase = \"{database}\"\ntables = \"data\"\n[load]\nschema = [\"schema.sql\"]\n\
         scripts = [\"load.sql\"]\n[run]\noperations = 60\nlog_bytes_per_row = 300\nscripts = [{{ file = \"run.sql\" }}]\n"
    );
    let schema = "CREATE TABLE t (id INTEGER PRIMARY KEY, x INTEGER, y TEXT);
                  CREATE TABLE k (a INTEGER, b INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID;";
    let run = "\\set x random(1, 96)
               \\set id random(1, 2000)
               BEGIN;
               SELECT sum(length(y)) FROM t WHERE x = :x;
               UPDATE t SET y = printf('%-800s', 'other'), x = x + 1 WHERE id = :id;
               INSERT INTO k VALUES (:id, :x) ON CONFLICT DO NOTHING;
               INSERT INTO t (x, y) VALUES (last_insert_rowid(), :session);
               COMMIT;";
    for (name, text) in [
        ("workload.toml", workload.as_str()),
        ("schema.sql", schema),
        ("load.sql", load),
        ("run.sql", run),
    ] {
        fs::write(folder.path().join(name), text).expect("the folder is ours");
    }
    let path = folder.path().display().to_string();
    let experiment = build::Experiment::new("mine", "How fast?")
        .machine_of(2, "8 GiB")
        .volume("d", build::Volume::of("azure.premium.p10"))
        .placement("one", build::Placement::on("d"))
        .workload(
            build::Workload::folder(&path)
                .sessions(sessions)
                .operations(60),
        )
        .memory("1 MiB");
    let inventory = Inventory::with_engines(EMBEDDED);
    let spec = experiment.build(Variant::default()).expect("an experiment");
    let plan = Plan::new(&spec.check(&inventory).expect("it is right"), false);
    let prepared = Prepared::new(&plan, &inventory, &Options::default());
    (folder, prepared.expect("it can run"))
}

fn record(subject: &Subject<'_>, images: &Images) -> Record {
    let never: Cancel = Rc::new(|| false);
    let record = simulate(subject, images, &never, &|_: Moment| {});
    record.expect("nothing cancels it")
}

/// How many databases `images` has, and what is measured of the first trial; again with images that are there.
fn measured(sessions: u32, database: &str, load: &str) -> (usize, Record) {
    let (_folder, prepared) = prepared_for(sessions, database, load);
    let id = prepared.id(&prepared.plan().trials()[0]);
    let subject = prepared.subject(&id);
    let images = Images::default();
    let first = record(&subject, &images);
    let again = record(&subject, &images);
    assert_eq!(first, again);
    let loaded = images
        .loaded
        .lock()
        .iter()
        .filter(|(_, image)| image.is_some())
        .count();
    (loaded, first)
}

#[test]
fn figures_do_not_depend_on_images() {
    // Several sessions of a shared database take turns on a tape only if they begin with an image.
    for (sessions, database) in [(3, "per-session"), (1, "shared")] {
        let (loaded, with) = measured(sessions, database, IN_FILE);
        let (none, without) = measured(sessions, database, SUSPECT);
        // Sessions load the same, so that one image does for all.
        assert_eq!((loaded, none), (1, 0), "{database}");
        assert!(with.metrics["physical_reads"] > 0.0, "{:?}", with.metrics);
        assert_eq!(with.outcome, without.outcome);
        assert_eq!(with.metrics, without.metrics, "{database}");
        assert_eq!(with.time_split_ns, without.time_split_ns, "{database}");
        assert_eq!(with.operations, without.operations, "{database}");
    }
}

#[test]
fn databases_are_counted_once_if_they_are_loaded_alike() {
    let own = "INSERT INTO t VALUES (1, :session, 'a');";
    let drawn = "\\set x random(1, 1000000000)\nINSERT INTO t VALUES (1, :x, 'a');";
    for (load, first, next) in [(IN_FILE, 1, 0), (own, 3, 0), (drawn, 3, 3), (SUSPECT, 3, 3)] {
        let (_folder, prepared) = prepared("per-session", load);
        let mut loads = Loads::default();
        let mut count = |trial: usize| {
            let id = prepared.id(&prepared.plan().trials()[trial]);
            let subject = prepared.subject(&id);
            loads.count(&id, subject.settings, subject.workload())
        };
        assert_eq!((count(0), count(1)), (first, next), "{load}");
    }
}

#[test]
fn images_that_no_trial_uses_make_room_for_others() {
    let drawn = "\\set x random(1, 1000000000)
                 INSERT INTO t SELECT value, :x, hex(zeroblob(10000)) FROM generate_series(1, 3);";
    let (_folder, prepared) = prepared("shared", drawn);
    let images = Images::default();
    for trial in &prepared.plan().trials()[..2] {
        let id = prepared.id(trial);
        let of_trial = record(&prepared.subject(&id), &images);
        assert_eq!(of_trial.outcome, experiment::record::Outcome::Finished);
    }
    // Both fit into what idle ones may take.
    let mut kept = images.loaded.lock();
    assert_eq!(kept.len(), 2);
    forget_idle(&mut kept, &[], 0);
    assert_eq!(kept.len(), 0);
}
