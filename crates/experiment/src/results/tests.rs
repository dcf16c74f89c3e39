use std::fs;

use super::*;
use crate::spec::{Spec, Variant};

fn plan() -> Plan {
    let spec = Spec::builtin("tempdb-ssd-vs-premium", &[], Variant::default());
    Plan::new(&spec.expect("it is built in"), false)
}

#[test]
fn a_folder_is_for_one_run_at_a_time_and_a_run_that_ended_holds_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = Folder::open(folder.path()).expect("it is there");
    let first = lock(&folder).expect("nobody holds it");
    let error = lock(&folder).expect_err("the first holds it");
    let shown = error.to_string();
    assert!(shown.contains("--out"), "{shown}");
    assert!(shown.contains(&std::process::id().to_string()), "{shown}");
    drop(first);
    lock(&folder).expect("nobody holds it any more");
}

#[test]
fn trials_share_a_folder_and_keep_a_run_away() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("results");
    let join = |plan: Plan| Results::join(&path, Question::of(&plan), plan);
    let run = || Results::create(&path, Question::of(&plan()), plan(), false);

    let first = join(plan()).expect("it is new");
    let second = join(plan()).expect("another trial may write there");
    let error = run().expect_err("trials write there");
    assert!(error.to_string().contains("another run"), "{error}");
    drop((first, second));
    let running = run().expect("no trial writes there any more");
    let error = join(plan()).expect_err("a run writes there");
    assert!(error.to_string().contains("(process "), "{error}");
    drop(running);

    let with = |key: &str, value: &str| {
        let set = [(key.to_owned(), value.to_owned())];
        let spec = Spec::builtin("tempdb-ssd-vs-premium", &set, Variant::default());
        Plan::new(&spec.expect("sound"), false)
    };
    let error = join(with("protocol.blocks", "6")).expect_err("another number of blocks");
    assert!(matches!(error, ResultsError::OtherWords { .. }), "{error}");
    let error = join(with("protocol.seed", "6")).expect_err("another plan");
    assert!(matches!(error, ResultsError::OtherPlan { .. }), "{error}");
}

#[test]
fn the_question_of_each_plan_that_is_built_in_reads_back_as_it_was_written() {
    for name in crate::spec::builtin_names() {
        for twin in [false, true] {
            let spec = Spec::builtin(name, &[], Variant::default()).expect("it is built in");
            let plan = Plan::new(&spec, twin);
            let mut question = Question::of(&plan);
            question.arms[0].usd_per_month = Some(0.1 + 0.2);
            let folder = tempfile::tempdir().expect("a temporary folder");
            let path = folder.path().join("results");
            let results = Results::create(&path, question.clone(), plan.clone(), false);
            drop(results.expect("it is new"));
            let read = Results::open(&path).expect("it was just written");
            assert_eq!((read.question, read.plan), (question, plan), "{name}");
        }
    }
}

#[cfg(unix)]
#[test]
fn records_that_are_in_no_directory_of_the_folder_are_named_with_what_is_there() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("results");
    let results = Results::create(&path, Question::of(&plan()), plan(), false);
    drop(results.expect("it is new"));
    let records = path.join("records");
    fs::remove_dir(&records).expect("it is empty");
    Results::open(&path).expect("there are no records yet");
    let refused = |what: &str| {
        let error = Results::open(&path).expect_err(what).to_string();
        for part in [
            &*records.display().to_string(),
            what,
            "run the experiment again",
        ] {
            assert!(error.contains(part), "no {part}: {error}");
        }
        fs::remove_file(&records).expect("it is ours");
    };
    fs::write(&records, "").expect("the folder is ours");
    refused("a file");
    std::os::unix::fs::symlink(folder.path(), &records).expect("the folder is ours");
    refused("a link");
    let _socket = std::os::unix::net::UnixListener::bind(&records).expect("a short path");
    refused("a FIFO, a socket or a device");
}
