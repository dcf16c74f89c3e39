use std::fs;
use std::iter;
use std::rc::Rc;

use experiment::build;
use experiment::plan::Plan;
use experiment::record::{Cause, Record};
use experiment::spec::Variant;
use tempfile::TempDir;
use toml_edit::Value;

use super::super::{Images, Moment};
use crate::Prepared;
use crate::inventory::{EMBEDDED, Inventory};
use crate::trial::{Cancel, Subject, simulate};
use engine::Options;

const SCHEMA: &str = "CREATE TABLE t (id INTEGER PRIMARY KEY, x INTEGER, y TEXT);";
const LOAD: &str =
    "INSERT INTO t SELECT value, value % 97, printf('%-900s', 'x') FROM generate_series(1, 2000);
                    CREATE INDEX by_x ON t(x);";

/// What makes its own requests: a lock of all sessions, a log written in an open transaction, a temporary table that is
/// made anew and one that is left, a sort that spills, an operation that fails, sleeps.
const ALL: &str = "\\set x random(1, 96)
    \\set id random(1, 2000)
    \\if :operation = 0
        CREATE TEMP TABLE kept (x INTEGER, y TEXT);
    \\endif
    CREATE TEMP TABLE dropped AS SELECT * FROM t WHERE x = :x;
    BEGIN;
    SELECT app_lock(1);
    SELECT sum(length(y)) FROM t WHERE x = :x;
    UPDATE t SET y = printf('%-800s', 'other'), x = x + 1 WHERE id BETWEEN :id AND :id + 30;
    \\sleep 2 ms
    SELECT app_unlock(1);
    INSERT INTO kept SELECT x, y FROM t WHERE id BETWEEN :id AND :id + 50;
    COMMIT;
    SELECT y || id FROM t ORDER BY y || x, id DESC;
    DROP TABLE dropped;
    \\if :x < 20
        BEGIN;
        UPDATE t SET x = 0 WHERE id = :id;
        INSERT INTO t (id) VALUES (:id);
    \\endif
    \\sleep :x us";

/// Two arms on a fast and on a slow disk.
fn prepared(run: &str, workload: &[(&str, Value)]) -> (TempDir, Prepared) {
    prepared_with("", run, workload)
}

/// The same, with these keys of its load.
fn prepared_with(load: &str, run: &str, workload: &[(&str, Value)]) -> (TempDir, Prepared) {
    prepared_on("per-session", 3, load, run, workload)
}

/// The same, of so many sessions with this database.
fn prepared_on(
    database: &str,
    sessions: u32,
    load: &str,
    run: &str,
    workload: &[(&str, Value)],
) -> (TempDir, Prepared) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let definition = format!(
        "name = \"mine\"\ndatabase = \"{database}\"\ntables = \"data\"\n[load]\n{load}\nschema = [\"schema.sql\"]\n\
         scripts = [\"load.sql\"]\n[run]\noperations = 60\nlog_bytes_per_row = 300\n\
         scripts = [{{ file = \"run.sql\" }}]\n"
    );
    for (name, text) in [
        ("workload.toml", definition.as_str()),
        ("schema.sql", SCHEMA),
        ("load.sql", LOAD),
        ("run.sql", run),
    ] {
        fs::write(folder.path().join(name), text).expect("the folder is ours");
    }
    let path = folder.path().display().to_string();
    let asked = build::Workload::folder(&path).sessions(sessions);
    let set = |asked: build::Workload, (key, value): &(&str, Value)| asked.set(key, value.clone());
    let experiment = build::Experiment::new("mine", "How fast?")
        .machine_of(2, "8 GiB")
        .volume("fast", build::Volume::of("azure.premium.p60"))
        .volume("slow", build::Volume::of("azure.premium.p10"))
        .placement("on-slow", build::Placement::on("slow"))
        .placement("on-fast", build::Placement::on("fast"))
        .workload(workload.iter().fold(asked, set))
        .set("placement.on-slow.temp.volumes", "slow")
        .set("placement.on-slow.temp.file_size", "30 MiB")
        .memory("1 MiB");
    let inventory = Inventory::with_engines(EMBEDDED);
    let spec = experiment.build(Variant::default()).expect("an experiment");
    let plan = Plan::new(&spec.check(&inventory).expect("it is right"), false);
    let prepared = Prepared::new(&plan, &inventory, &Options::default());
    (folder, prepared.expect("it can run"))
}

/// For so many trials of the first block's seed.
fn images(prepared: &Prepared, trials: usize) -> Images {
    Images::for_seeds(iter::repeat_n(prepared.plan().trials()[0].seed, trials))
}

/// The records of the trials of its first block.
fn records(prepared: &Prepared, images: &Images) -> Vec<Record> {
    let never: Cancel = Rc::new(|| false);
    let trials = prepared.plan().trials();
    let first = trials.iter().filter(|trial| trial.block == 0);
    let record = |trial| {
        let id = prepared.id(trial);
        let record = simulate(&prepared.subject(&id), images, &never, &|_: Moment| {});
        record.expect("nothing cancels it")
    };
    first.map(record).collect()
}

/// How many operations were executed for all trials of its first block; their records are those of trials that execute
/// their own.
fn executed(run: &str, workload: &[(&str, Value)]) -> (usize, Vec<Record>) {
    executed_with("", run, workload)
}

/// The same, with these keys of its load.
fn executed_with(load: &str, run: &str, workload: &[(&str, Value)]) -> (usize, Vec<Record>) {
    let (_folder, prepared) = prepared_with(load, run, workload);
    executed_for(&prepared)
}

fn executed_for(prepared: &Prepared) -> (usize, Vec<Record>) {
    let own = records(prepared, &Images::default());
    // As if there were a trial more, so that what was executed stays.
    let images = images(prepared, 5);
    assert_eq!(records(prepared, &images), own);
    // Again, when all operations are there.
    assert_eq!(records(prepared, &images), own);
    let kept = images.tapes.kept.into_inner();
    let executed = kept.iter().map(|known| {
        let done = known.executed.shared.done.lock();
        match done.ended {
            true => 0,
            false => done.operations.iter().map(Vec::len).sum(),
        }
    });
    (executed.sum(), own)
}

/// Operations of the faster arm in a minute, failed ones too.
fn most(records: &[Record]) -> f64 {
    let count = |record: &Record| {
        (record.metrics["operations_per_s"] * 60.0).round() + record.errors.count as f64
    };
    records.iter().map(count).fold(0.0, f64::max)
}

#[test]
fn figures_do_not_depend_on_who_executed() {
    let (count, records) = executed(ALL, &[("duration", "60 s".into())]);
    assert_eq!(records.len(), 2);
    assert!(records[0].metrics["physical_reads"] > 0.0);
    assert!(records[0].errors.count > 0, "some operations fail");
    assert_ne!(records[0].metrics, records[1].metrics);
    // Of the faster arm, one in 16 ahead, and of each of three sessions one ahead and one that did not end in time.
    let most = most(&records);
    assert!(
        (most..=most * 17.0 / 16.0 + 6.0).contains(&(count as f64)),
        "{count} were executed for {most}"
    );
}

#[test]
fn figures_do_not_depend_on_who_executed_when_operations_arrive_at_a_rate() {
    let (count, records) = executed(ALL, &[("duration", "60 s".into()), ("rate", 1.into())]);
    assert!(count > 0);
    assert!(records[0].metrics["physical_reads"] > 0.0);
    assert_ne!(records[0].metrics, records[1].metrics);
}

#[test]
fn figures_do_not_depend_on_who_executed_when_the_number_of_operations_is_given() {
    let (count, records) = executed(ALL, &[("operations", 60.into())]);
    assert_eq!(count, 60);
    assert!(records[0].metrics["elapsed_s"] > 0.0);
}

#[test]
fn figures_do_not_depend_on_who_executed_when_the_load_is_measured() {
    let (count, records) = executed_with("measured = true", ALL, &[("operations", 60.into())]);
    // Each of three sessions loads its own database first, and executes one operation ahead.
    assert_eq!(count, 3 * (1 + 20 + 1));
    assert!(records[0].metrics["physical_reads"] > 0.0);
    assert_ne!(records[0].metrics, records[1].metrics);
}

#[test]
fn blocks_whose_sessions_draw_nothing_execute_once_whatever_a_row_logs() {
    let run = "UPDATE t SET x = x + 1 WHERE id = :operation * 7 % 2000;\n\\sleep 1 ms";
    for (load, drawing, kept) in [
        ("", "", 1),
        ("measured = true", "", 1),
        ("", "\\set x random(1, 2)\n", 2),
    ] {
        let run = format!("{drawing}{run}");
        let (_folder, prepared) = prepared_with(load, &run, &[("operations", 60.into())]);
        let never: Cancel = Rc::new(|| false);
        let trials = || {
            prepared
                .plan()
                .trials()
                .iter()
                .filter(|trial| trial.block < 2)
        };
        // As if there were twice as many, so that what was executed is kept.
        let images = Images::for_seeds(trials().chain(trials()).map(|trial| trial.seed));
        let mut transferred = Vec::new();
        for (number, trial) in trials().enumerate() {
            let id = prepared.id(trial);
            let subject = prepared.subject(&id);
            let mut stage = subject.stage.clone();
            stage.log_bytes_factor = 1.0 + number as f64;
            let subject = Subject {
                stage: &stage,
                ..subject
            };
            let record = |images: &Images| {
                simulate(&subject, images, &never, &|_: Moment| {}).expect("nothing cancels it")
            };
            let replayed = record(&images);
            assert_eq!(replayed, record(&Images::default()));
            transferred.push(replayed.metrics["mb_per_s"] * replayed.metrics["elapsed_s"]);
        }
        assert!(transferred[3] > transferred[0], "{transferred:?}");
        assert_eq!(
            images.tapes.kept.into_inner().len(),
            kept,
            "{load} {drawing}"
        );
    }
}

#[test]
fn a_statement_that_asks_for_the_time_is_executed_by_every_trial() {
    let run = "INSERT INTO t (y) SELECT strftime('%f', 'now');\n\\sleep 1 ms";
    let (count, _) = executed(run, &[("duration", "1 s".into())]);
    assert_eq!(count, 0);
}

#[test]
fn a_statement_with_numbers_of_the_whole_process_is_executed_by_every_trial() {
    let run = "INSERT INTO t (y) VALUES (randomblob(3));\n\\sleep 1 ms";
    let (_folder, prepared) = prepared(run, &[("duration", "1 s".into())]);
    let images = images(&prepared, 3);
    records(&prepared, &images);
    assert_eq!(images.tapes.kept.into_inner().len(), 0);
}

#[test]
fn what_was_executed_is_dropped_with_the_last_trial_of_its_seed() {
    let (_folder, prepared) = prepared("SELECT count(*) FROM t;", &[("operations", 3.into())]);
    let kept = |trials| {
        let images = images(&prepared, trials);
        records(&prepared, &images);
        images.tapes.kept.into_inner().len()
    };
    assert_eq!([kept(1), kept(2), kept(3)], [0, 0, 1]);
}

#[test]
fn a_trial_whose_files_are_full_executes_its_own_statements() {
    let run = "\\if :operation = 0
                   CREATE TEMP TABLE kept (y TEXT);
               \\endif
               INSERT INTO kept SELECT y FROM t;";
    // 2,000 rows of 900 bytes are 2 MB an operation, and 20 of them more than the files of one arm.
    let (count, records) = executed(run, &[("operations", 60.into())]);
    assert!(count > 0);
    let full = |record: &Record| record.errors.first.iter().any(|text| text.contains("full"));
    let full: Vec<bool> = records.iter().map(full).collect();
    assert!(full.contains(&true) && full.contains(&false), "{full:?}");
}

/// Transactions on a shared database that lock rows in any order, grow it, log while they are open, spill and fail.
const SHARED: &str = "\\set a random(1, 6)
    \\set b random(1, 6)
    BEGIN;
    UPDATE t SET x = x + 1 WHERE id = :a;
    \\sleep 1 ms
    UPDATE t SET x = x + 1 WHERE id = :b;
    UPDATE t SET y = printf('%-700s', 'other.') WHERE id BETWEEN :a * 60 AND :a * 60 + 40;
    INSERT INTO t (x, y) VALUES (:a, printf('%-400s', 'new'));
    COMMIT;
    SELECT sum(length(y)) FROM t WHERE x = :a;
    SELECT y || id FROM t ORDER BY y || x, id DESC;
    \\if :a < 3
        BEGIN;
        DELETE FROM t WHERE id = 1000 + :b;
        INSERT INTO t (id) VALUES (:b);
    \\endif";

#[test]
fn one_session_on_a_shared_database_replays_what_it_would_execute() {
    let measured = |run: &str| {
        let (_folder, prepared) = prepared_on("shared", 1, "", run, &[("operations", 60.into())]);
        let images = images(&prepared, 5);
        let records = records(&prepared, &images);
        (images.tapes.kept.into_inner().len(), records)
    };
    let (kept, replayed) = measured(SHARED);
    assert_eq!(kept, 1);
    // A word for which every trial executes its own statements.
    let (kept, executed) = measured(&SHARED.replace("'other.'", "'random'"));
    assert_eq!(kept, 0);
    for (replayed, executed) in replayed.iter().zip(&executed) {
        assert!(replayed.errors.count > 0 && replayed.metrics["physical_reads"] > 0.0);
        assert_eq!(replayed.metrics, executed.metrics);
        assert_eq!(replayed.time_split_ns, executed.time_split_ns);
        assert_eq!(replayed.volumes, executed.volumes);
        assert_eq!(replayed.operations, executed.operations);
        assert_eq!(replayed.errors.count, executed.errors.count);
    }
}

#[test]
fn transactions_on_a_shared_database_take_effect_in_one_order_whoever_asks_first() {
    let workload = [("duration", "30 s".into())];
    let (_folder, prepared) = prepared_on("shared", 4, "", SHARED, &workload);
    let (count, records) = executed_for(&prepared);
    assert!(count > 0);
    assert_ne!(records[0].metrics, records[1].metrics);
    let waits = |record: &Record| record.time_split_ns.get(&Cause::Lock).copied().unwrap_or(0);
    assert!(records.iter().all(|record| waits(record) > 0));
    let images = images(&prepared, 5);
    let never: Cancel = Rc::new(|| false);
    let trials = prepared.plan().trials();
    let first = trials.iter().filter(|trial| trial.block == 0);
    for (trial, record) in first.zip(&records).collect::<Vec<_>>().into_iter().rev() {
        let id = prepared.id(trial);
        let again = simulate(&prepared.subject(&id), &images, &never, &|_: Moment| {});
        assert_eq!(again.expect("nothing cancels it"), *record);
    }
}
