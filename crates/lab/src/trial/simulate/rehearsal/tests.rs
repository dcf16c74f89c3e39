use std::fs;

use experiment::build;
use experiment::plan::Plan;
use experiment::spec::Variant;
use tempfile::TempDir;

use super::*;
use crate::Prepared;
use crate::inventory::{EMBEDDED, Inventory};
use engine::Options;

const WORKLOAD: &str = r#"name = "mine"
database = "shared"
tables = "data"
[load]
schema = ["schema.sql"]
scripts = ["load.sql"]
[run]
operations = 1
scripts = [{ file = "look.sql" }]
"#;

/// A workload without a parameter for its rows, whose data is loaded by this statement.
fn prepared(load: &str) -> (TempDir, Prepared) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in [
        ("workload.toml", WORKLOAD),
        ("schema.sql", "CREATE TABLE t (x, y);"),
        ("load.sql", load),
        ("look.sql", "SELECT count(*) FROM t WHERE x = 1;"),
    ] {
        fs::write(folder.path().join(name), text).expect("the folder is ours");
    }
    let path = folder.path().display().to_string();
    let experiment = build::Experiment::new("mine", "How large?")
        .machine_of(1, "8 GiB")
        .volume("d", build::Volume::of("unlimited"))
        .placement("one", build::Placement::on("d"))
        .workload(build::Workload::folder(&path).operations(1))
        .memory("1 GiB");
    let inventory = Inventory::with_engines(EMBEDDED);
    let spec = experiment.build(Variant::default()).expect("an experiment");
    let plan = Plan::new(&spec.check(&inventory).expect("it is right"), false);
    let prepared = Prepared::new(&plan, &inventory, &Options::default());
    (folder, prepared.expect("it can run"))
}

/// The limit that a load exceeds in a rehearsal with these limits.
fn over(load: &str, asked_max: u64, held_max: Bytes) -> Option<Over> {
    let (_folder, prepared) = prepared(load);
    let id = prepared.id(&prepared.plan().trials()[0]);
    let budget = Rc::new(Budget {
        asked_max,
        held_max: Held {
            memory: held_max,
            disk: held_max,
        },
        ..Budget::of_this_machine()
    });
    let taken = with_rows(&prepared.subject(&id), FEW, &budget);
    assert_eq!(taken.is_err(), budget.over.get().is_some());
    budget.over.get()
}

const ENDLESS: &str = "INSERT INTO t WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) \
                       SELECT x, x FROM c;";
const LARGE: &str = "INSERT INTO t SELECT value, randomblob(1000) FROM generate_series(1, 20000);";

#[test]
fn a_load_without_an_end_is_ended() {
    assert_eq!(over(ENDLESS, 20_000, Bytes::gib(1)), Some(Over::Steps));
}

#[test]
fn a_load_that_does_not_fit_is_ended_before_it_has_taken_all() {
    // 20 MB of random bytes, which do not compress.
    let over = over(LARGE, ASKED_MAX, Bytes::mib(1));
    let Some(Over::Space(held)) = over else {
        panic!("{over:?}");
    };
    assert!(held.memory.max(held.disk) < Bytes::mib(10), "{held:?}");
}

#[test]
fn a_load_that_fits_is_loaded_to_its_end() {
    assert_eq!(over(LARGE, ASKED_MAX, Bytes::gib(1)), None);
}
