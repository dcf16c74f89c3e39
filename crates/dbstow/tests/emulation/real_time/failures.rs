//! TrialRequest that fail, or are cancelled.

use super::*;

#[test]
fn a_load_that_fails_is_a_recorded_failure_and_leaves_nothing() {
    let prepared = Prepared::new(TrialRequest {
        database: "per-session",
        ..TrialRequest::default()
    });
    let script = prepared.folder.path().join("workload/load.sql");
    std::fs::write(script, "INSERT INTO nowhere VALUES (1);\n").expect("the folder is ours");
    let work = Inventory::with_engines(EMBEDDED).work(&prepared.arm.settings.workload);
    let changed = Prepared {
        work: work.expect("still a workload"),
        ..prepared
    };
    let supply = changed.supply();

    let record = changed.record(&supply);

    let Outcome::Failed { error } = &record.outcome else {
        panic!("{:?}", record.outcome);
    };
    assert!(
        error.contains("load.sql") && error.contains("nowhere"),
        "{error}"
    );
    assert_eq!(supply.events().last().map(String::as_str), Some("close"));
    assert!(!supply.root.exists());
}

#[test]
fn an_engine_that_goes_away_ends_the_trial_as_a_failure() {
    // given: an hour to go
    let prepared = Prepared::new(TrialRequest {
        workload: "sessions = 4\nduration = \"1 h\"",
        ..TrialRequest::default()
    });
    let supply = Folder {
        dies: true,
        ..prepared.supply()
    };

    let record = prepared.record(&supply);

    let Outcome::Failed { error } = &record.outcome else {
        panic!("{:?}", record.outcome);
    };
    assert!(error.contains("the engine is gone"), "{error}");
    assert!(!supply.root.exists());
}

#[test]
fn a_run_in_which_nothing_succeeds_has_failed() {
    let prepared = Prepared::new(TrialRequest {
        workload: "sessions = 1\noperations = 1",
        write: "UPDATE nowhere SET x = 1;\n",
        ..TrialRequest::default()
    });
    let mut workload = prepared.work.workload().clone();
    let mix = workload.run.scripts[1].clone();
    workload.run.scripts = vec![mix];
    let changed = Prepared {
        work: Work::Statements(Box::new(workload)),
        ..prepared
    };

    let record = changed.record(&changed.supply());

    let Outcome::Failed { error } = &record.outcome else {
        panic!("{:?}", record.outcome);
    };
    assert!(error.contains("no operation succeeded"), "{error}");
}

#[test]
fn a_cancelled_trial_ends_at_once_takes_everything_away_and_records_nothing() {
    // given: one long statement, and an hour to go
    let prepared = Prepared::new(TrialRequest {
        workload: "sessions = 2\nduration = \"1 h\"",
        write: "SELECT count(*) FROM generate_series(1, 1000000000000);\n",
        ..TrialRequest::default()
    });
    let supply = prepared.supply();
    let running = AtomicBool::new(false);
    let tell = |event| {
        if event == Event::Phase("run") {
            running.store(true, Ordering::Relaxed);
        }
    };

    // when
    let cancelled = || running.load(Ordering::Relaxed);
    let result = real::run_trial(&prepared.subject(), &supply, &tell, &cancelled);

    // then
    assert!(result.is_err());
    let events = supply.events();
    assert!(
        events.iter().any(|event| event == "interrupt"),
        "{events:?}"
    );
    assert_eq!(events[events.len() - 2..], ["stop", "close"]);
    assert!(!supply.root.exists());
}

#[test]
fn an_engine_that_settles_down_for_long_is_abandoned_when_the_trial_is_cancelled() {
    let prepared = Prepared::new(TrialRequest::default());
    let supply = Folder {
        stalls: true,
        ..prepared.supply()
    };
    let settling = AtomicBool::new(false);
    let tell = |event| {
        if event == Event::Phase("quiesce") {
            settling.store(true, Ordering::Relaxed);
        }
    };

    let cancelled = || settling.load(Ordering::Relaxed);
    let result = real::run_trial(&prepared.subject(), &supply, &tell, &cancelled);

    assert!(result.is_err());
    let events = supply.events();
    assert!(events.contains(&"abandon".to_owned()), "{events:?}");
    assert_eq!(events[events.len() - 2..], ["stop", "close"]);
}
