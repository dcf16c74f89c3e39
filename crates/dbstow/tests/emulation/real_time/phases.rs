//! What a trial's phases measure.

use super::*;

#[test]
fn a_trial_goes_through_its_phases_and_is_recorded() {
    // given
    let prepared = Prepared::new(TrialRequest::default());
    let supply = prepared.supply();
    let told = Mutex::new(Vec::new());
    let tell = |event| told.lock().expect("no panic").push(event);

    // when
    let record = real::run_trial(&prepared.subject(), &supply, &tell, &|| false);

    // then
    let record = record.expect("nobody cancels it");
    assert_eq!(record.outcome, Outcome::Finished);
    assert_eq!((record.errors.count, record.mode.as_str()), (0, "measure"));
    let names: Vec<&str> = record
        .phases
        .iter()
        .map(|phase| phase.name.as_str())
        .collect();
    assert_eq!(names, ["place", "load", "quiesce", "run"]);
    let ends = record
        .phases
        .windows(2)
        .all(|pair| pair[0].end_ns <= pair[1].start_ns);
    assert!(ends, "{:?}", record.phases);
    let phases = ["place", "load", "quiesce", "run", "clean up"].map(Event::Phase);
    let mut told = told.into_inner().expect("no panic");
    // How often that is depends on how long it took.
    told.retain(|event| !matches!(event, Event::Second(_)));
    assert_eq!(told, phases);
    let events = supply.events();
    let order = [
        "connect",
        "spread 0",
        "quiesce",
        "start Cold",
        "go cold, host cache true",
        "connect",
        "connect",
        "stop",
        "close",
    ];
    assert_eq!(events, order);
    assert!(!supply.root.exists(), "the volumes' directories are gone");
    assert_eq!(record.notes, [Note::NotCold("pages stayed".to_owned())]);
    assert_eq!(record.environment["kernel"], "a test's");
}

#[test]
fn metrics_come_from_sessions_disks_and_the_engines_counters() {
    let prepared = Prepared::new(TrialRequest::default());

    let record = prepared.record(&prepared.supply());

    let operations = histogram::decode(record.operations.as_deref().expect("some succeeded"));
    assert_eq!(operations.expect("a histogram").len(), 50);
    let elapsed = record.metrics["elapsed_s"];
    let counted = record.metrics["operations_per_s"] * elapsed;
    assert!((counted - 50.0).abs() < 1e-6, "{counted}");
    // Two reads and four writes a millisecond, of 0.5 and 2 ms.
    assert!((record.metrics["read_latency_ms"] - 0.5).abs() < 1e-9);
    assert!((record.metrics["write_latency_ms"] - 2.0).abs() < 1e-9);
    assert!((record.metrics["transfer_latency_ms"] - 1.5).abs() < 1e-9);
    assert_eq!(record.counters["statements"], 50.0);
    assert_eq!(record.metrics["logical_reads"], 150.0);
    assert!(
        !record.metrics.contains_key("physical_reads"),
        "nobody counted them"
    );
    let files: Vec<_> = record.volumes.iter().map(|volume| &volume.files).collect();
    assert!(files[0].contains_key(&Role::Data) && files[1].contains_key(&Role::Log));
    assert_eq!(record.series.values["operations"].iter().sum::<u64>(), 50);
    let reads: u64 = record.series.values["d.1.reads"].iter().sum();
    assert!(reads >= record.volumes[0].disks[0].reads);
}

#[test]
fn the_time_split_sums_to_the_sessions_time() {
    // given: each of two sessions thinks 20 ms before each of its five operations
    let prepared = Prepared::new(TrialRequest {
        workload: "sessions = 2\noperations = 10\nthink = \"20 ms\"",
        ..TrialRequest::default()
    });

    // when
    let record = prepared.record(&prepared.supply());

    // then
    let split = &record.time_split_ns;
    let read = Cause::Io(Io::Read, Part::Service);
    assert!(split[&Cause::Think] >= 10 * 20_000_000, "{split:?}");
    let whole: u64 = split.values().sum();
    let run = record.phases.last().expect("a run");
    assert!(whole <= 2 * (run.end_ns - run.start_ns), "{split:?}");
    let busy = whole - split[&Cause::Think];
    let halves = [split.get(&Cause::Cpu), split.get(&read)];
    assert!(
        halves.iter().flatten().all(|ns| ns.abs_diff(busy / 2) <= 1),
        "{split:?}"
    );
}

#[test]
fn the_same_seed_changes_the_same_rows_whatever_the_number_of_sessions_that_wait() {
    // given: only drawn values decide which rows are changed
    let changed = |workload| {
        let prepared = Prepared::new(TrialRequest {
            workload,
            write: "INSERT INTO t (x) VALUES (:key);\n",
            ..TrialRequest::default()
        });
        let kept = prepared.folder.path().join("volumes/d/shared");
        let supply = Keeping(prepared.supply());
        let record = real::run_trial(&prepared.subject(), &supply, &|_| {}, &|| false);
        assert_eq!(record.expect("nobody cancels it").errors.count, 0);
        let connection = Connection::open(kept).expect("it was kept");
        let mut rows = connection
            .prepare("SELECT x FROM t ORDER BY id")
            .expect("valid SQL");
        let rows = rows.query_map([], |row| row.get(0)).expect("valid SQL");
        rows.map(|row| row.expect("a number")).collect::<Vec<i64>>()
    };
    let at_once = changed("sessions = 1\noperations = 40");
    let with_pauses = changed("sessions = 1\noperations = 40\nthink = \"1 ms\"");
    assert!(at_once.len() > 100);
    assert_eq!(at_once, with_pauses);
}

/// Keeps the directories for a test to inspect.
struct Keeping(Folder);

impl Supply for Keeping {
    fn place<'a>(&'a self, subject: &'a Subject<'a>) -> Result<Placed<'a>, String> {
        let placed = self.0.place(subject)?;
        Ok(Placed {
            close: Box::new(Vec::new),
            ..placed
        })
    }
}

#[test]
fn warm_up_is_left_out_and_the_run_ends_on_time() {
    let prepared = Prepared::new(TrialRequest {
        workload: "sessions = 2\nwarm_up = \"300 ms\"\nduration = \"700 ms\"",
        database: "per-session",
        start: "warm",
        ..TrialRequest::default()
    });

    let record = prepared.record(&prepared.supply());

    let [.., warm_up, run] = &record.phases[..] else {
        panic!("{:?}", record.phases);
    };
    assert_eq!(
        (warm_up.name.as_str(), warm_up.measured),
        ("warm-up", false)
    );
    assert_eq!(run.end_ns - run.start_ns, 700_000_000);
    assert_eq!(record.metrics["elapsed_s"], 0.7);
    let operations = histogram::decode(record.operations.as_deref().expect("some succeeded"));
    let measured = operations.expect("a histogram").len();
    let all: u64 = record.series.values["operations"].iter().sum();
    assert!(measured < all, "{measured} of {all}");
}

#[test]
fn in_an_open_loop_latency_counts_from_the_intended_start() {
    // given: one session, 1000 operations a second, each of which takes 5 ms
    let prepared = Prepared::new(TrialRequest {
        workload: "sessions = 1\noperations = 40\nrate = 1000",
        write: "\\sleep 5 ms\nUPDATE t SET x = x + 1 WHERE id = :key;\n",
        ..TrialRequest::default()
    });

    let record = prepared.record(&prepared.supply());

    // The queue grows: at the end of some ten slow operations an operation is tens of milliseconds late.
    let latency = histogram::decode(record.operations.as_deref().expect("some succeeded"));
    let max = latency.expect("a histogram").max();
    assert!(max > 15_000_000, "{max} ns");
}

#[test]
fn a_measured_load_belongs_to_the_run() {
    for database in ["shared", "per-session"] {
        let prepared = Prepared::new(TrialRequest {
            measured: true,
            database,
            ..TrialRequest::default()
        });

        let record = prepared.record(&prepared.supply());

        assert_eq!(record.outcome, Outcome::Finished, "{database}");
        assert_eq!(record.errors.count, 0, "{:?}", record.errors.first);
        let measured: Vec<&str> = record
            .phases
            .iter()
            .filter(|phase| phase.measured)
            .map(|phase| phase.name.as_str())
            .collect();
        assert_eq!(measured, ["load", "run"]);
    }
}
