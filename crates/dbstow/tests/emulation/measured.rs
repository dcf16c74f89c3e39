//! Runs in real time as a user starts them: SQLite on real directories and on modelled disks.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use host::clock::Clock;
use serde_json::Value;
use testing::folder::{Folder, contains};

/// Two arms of a moment each.
const SMALL: &str = r#"name = "small"
question = "Do two volumes do better than one?"

[machine]
cores = 4
memory = "8 GiB"

[volume.d]
disk = "azure.premium.p30"

[volume.e]
disk = "azure.premium.p30"

[volume.e.override]
read_latency = "1 ms"

[placement.one]
data = { volumes = "d" }
temp = { volumes = "d" }
log = { volumes = "d" }

[placement.two]
data = { volumes = ["d", "e"] }
temp = { volumes = "e" }
log = { volumes = "e" }

[workload]
name = "write-only"
operations = 50

[workload.parameters]
rows = 500

[engine]
memory = "1 MiB"

[protocol]
blocks = 2
metric = "elapsed_s"

[published.one]
elapsed_s = 3

[published.two]
elapsed_s = 2

[[fitted]]
parameter = "volume.e.override.read_latency"
to = ["two"]
why = "it fits"

[real-time]
"workload.operations" = 40
"#;

/// Arms of that many seconds, in the place of a number of operations.
fn lasting(seconds: u32) -> String {
    let small = SMALL.replace("operations = 50", &format!("duration = \"{seconds} s\""));
    small.replace("[real-time]\n\"workload.operations\" = 40\n", "")
}

/// A folder with the experiment and two directories for its volumes.
fn folder(experiment: &str) -> Folder {
    let folder = Folder::with(&[("small.toml", experiment)]);
    folder.make_folder("vd");
    folder.make_folder("ve");
    folder
}

const MEASURE: [&str; 8] = [
    "run",
    "small.toml",
    "--mode",
    "measure",
    "--volume",
    "d=vd",
    "--volume",
    "e=ve",
];

fn spawn(folder: &Folder, arguments: &[&str]) -> Child {
    let mut command = folder.process(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("it was built")
}

/// Exit code, stdout, stderr.
fn output(folder: &Folder, arguments: &[&str]) -> (i32, String, String) {
    let printed = folder.printed(arguments);
    (printed.code, printed.stdout, printed.stderr)
}

fn refuses(folder: &Folder, arguments: &[&str], parts: &[&str]) {
    let (code, out, err) = output(folder, arguments);
    assert_eq!((code, out.as_str()), (2, ""), "{err}");
    contains(&err, parts);
}

fn records(folder: &Folder, results: &str) -> Vec<Value> {
    let records = folder.path(results).join("records");
    let mut files: Vec<PathBuf> = fs::read_dir(records)
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    files.retain(|file| file.extension().is_some_and(|end| end == "json"));
    files.sort();
    let read = |file: &PathBuf| fs::read_to_string(file).expect("a record can be read");
    files
        .iter()
        .map(|file| serde_json::from_str(&read(file)).expect("a record is JSON"))
        .collect()
}

/// What is left in the volumes' directories.
fn left(folder: &Folder) -> Vec<PathBuf> {
    let entries = |volume: &str| fs::read_dir(folder.path(volume)).expect("it is there");
    let both = entries("vd").chain(entries("ve"));
    both.flatten().map(|entry| entry.path()).collect()
}

fn valid(record: &Value) {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema/record.schema.json");
    let schema = fs::read_to_string(schema).expect("the schema is in the repository");
    let schema = serde_json::from_str(&schema).expect("a schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("a valid schema");
    let wrong: Vec<String> = validator
        .iter_errors(record)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert_eq!(wrong, [""; 0]);
}

/// Waits until `holds`, a minute at most.
fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let clock = Clock::start();
    while !holds() {
        let waited = clock.now().since(model::Instant::ZERO);
        assert!(waited < model::Duration::from_secs(60), "{what}");
        Clock::sleep(model::Duration::from_millis(20));
    }
}

/// A run that is under way: its volumes are there.
fn under_way(folder: &Folder, arguments: &[&str]) -> Child {
    let child = spawn(folder, arguments);
    eventually("its volumes never came", || {
        let trial = |path: &PathBuf| path.join("000-one").exists() || path.join("000-two").exists();
        left(folder).iter().any(trial)
    });
    child
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill")
        .args([&format!("-{name}"), &child.id().to_string()])
        .status();
    assert!(sent.expect("kill is there").success());
}

#[test]
fn sqlite_is_measured_on_real_directories() {
    // given
    let folder = folder(SMALL);
    // when
    let (code, out, err) = output(&folder, &[&MEASURE[..], &["--out", "r"]].concat());
    // then
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("small: measure"), "{out}");
    assert_eq!(left(&folder), [] as [&Path; 0]);
    let records = records(&folder, "r");
    assert_eq!(records.len(), 4);
    for record in &records {
        valid(record);
        assert_eq!(record["outcome"]["status"], "finished", "{record}");
        assert_eq!(record["errors"]["count"], 0);
        assert_eq!(record["engine"]["name"], "sqlite");
        assert_eq!(record["limits"].as_array().map(Vec::len), Some(0));
        assert!(
            record["environment"]
                .as_object()
                .is_some_and(|facts| !facts.is_empty())
        );
        let split = record["time_split_ns"].as_object().expect("a split");
        let whole: u64 = split.values().filter_map(Value::as_u64).sum();
        assert!(whole > 0);
    }
    // 40 operations, as set in [real-time], not 50.
    let rate = records[0]["metrics"]["operations_per_s"].as_f64();
    let elapsed = records[0]["metrics"]["elapsed_s"].as_f64();
    let operations = rate.expect("a rate") * elapsed.expect("a time");
    assert!((operations - 40.0).abs() < 1e-6, "{operations}");
}

#[test]
fn what_was_fitted_is_of_no_account_on_real_disks() {
    let folder = folder(SMALL);
    let json = [&MEASURE[..], &["--out", "r", "--format", "json"]].concat();
    let (_, out, err) = output(&folder, &json);
    let findings: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{err}"));
    assert_eq!(findings["fitted"].as_array().map(Vec::len), Some(0));
    assert_eq!(findings["arms"][1]["fitted"], false);
    // Its time would be that of other work than was published.
    assert_eq!(findings["arms"][1]["published"], serde_json::json!({}));
    assert_eq!(findings["arms"][0]["usd_per_month"], Value::Null);
}

#[test]
fn sqlite_is_emulated_on_modelled_disks() {
    let folder = folder(SMALL);
    let run = "run small.toml --mode emulate --backing vd --out r --blocks 1";
    let run: Vec<&str> = run.split(' ').collect();
    let (code, out, err) = output(&folder, &run);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("small: emulate"), "{out}");
    assert_eq!(left(&folder), [] as [&Path; 0]);
    for record in records(&folder, "r") {
        valid(&record);
        assert_eq!(record["outcome"]["status"], "finished", "{record}");
        assert!(
            record["pacing"]["requests"]
                .as_u64()
                .is_some_and(|requests| requests > 0)
        );
        assert!(
            record["limits"]
                .as_array()
                .is_some_and(|limits| !limits.is_empty())
        );
        assert_eq!(record["volumes"][0]["disk"], "azure.premium.p30");
    }
}

#[test]
fn a_run_that_was_killed_goes_on_where_it_stopped() {
    // given: killed during its second trial
    let folder = folder(&lasting(1));
    let run = [&MEASURE[..], &["--out", "r"]].concat();
    let mut child = spawn(&folder, &run);
    eventually("the first record never came", || {
        !records(&folder, "r").is_empty()
    });
    signal(&child, "KILL");
    child.wait().expect("it was killed");
    let before = records(&folder, "r");
    assert!((1..4).contains(&before.len()));

    // when
    let (code, _, err) = output(&folder, &run);

    // then
    assert_eq!(code, 0, "{err}");
    let recorded = format!("{} of 4 trials are recorded in r already", before.len());
    assert!(err.contains(&recorded), "{err}");
    let after = records(&folder, "r");
    assert_eq!(after.len(), 4);
    assert!(before.iter().all(|record| after.contains(record)));
    assert_eq!(left(&folder), [] as [&Path; 0]);
}

#[test]
fn a_run_that_is_interrupted_cleans_up_and_keeps_what_is_finished() {
    for name in ["INT", "TERM"] {
        let folder = folder(&lasting(600));
        let child = under_way(&folder, &[&MEASURE[..], &["--out", "r"]].concat());
        signal(&child, name);
        let output = child.wait_with_output().expect("it ends");
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{err}");
        assert!(
            err.contains("interrupted; finished trials are kept in r"),
            "{err}"
        );
        assert_eq!(left(&folder), [] as [&Path; 0]);
        assert_eq!(records(&folder, "r").len(), 0);
    }
}

#[test]
fn two_runs_at_once_in_one_folder_or_on_one_volume_are_refused() {
    // given
    let folder = folder(&lasting(600));
    let run = [&MEASURE[..], &["--out", "r"]].concat();
    let child = under_way(&folder, &run);
    // when, then
    let who = child.id().to_string();
    refuses(&folder, &run, &["another run", &who, "--out"]);
    let elsewhere = [&MEASURE[..], &["--out", "s"]].concat();
    refuses(&folder, &elsewhere, &["another run of this plan", "vd"]);
    signal(&child, "INT");
    child.wait_with_output().expect("it ends");
}

#[test]
fn a_directory_that_is_not_ours_is_refused_and_left() {
    // given: another user's file where ours would be
    let folder = folder(SMALL);
    let kept = [&MEASURE[..], &["--out", "r", "--keep"]].concat();
    let (code, _, err) = output(&folder, &kept);
    assert_eq!(code, 0, "{err}");
    let ours = left(&folder);
    assert_eq!(ours.len(), 2, "{ours:?}");
    assert!(
        ours[0]
            .join("000-one/bytes/d")
            .read_dir()
            .is_ok_and(|mut files| files.next().is_some())
    );
    fs::remove_dir_all(&ours[0]).expect("it is ours");
    fs::create_dir(&ours[0]).expect("the folder is ours");
    fs::write(ours[0].join("notes.txt"), "mine").expect("the folder is ours");
    // when
    let fresh = [&MEASURE[..], &["--out", "r", "--fresh"]].concat();
    refuses(&folder, &fresh, &["not empty and was not made by dbstow"]);
    // then
    assert_eq!(
        fs::read_to_string(ours[0].join("notes.txt")).expect("it is left"),
        "mine"
    );
}

#[test]
fn trials_that_fail_are_recorded_and_a_third_failure_of_an_arm_ends_the_run() {
    // given: a table that is not there
    let folder = folder(SMALL);
    let own = folder.path("own.sql");
    fs::write(&own, "SELECT * FROM nowhere;\n").expect("the folder is ours");
    let run = [&MEASURE[..], &["--out", "r", "--workload", "own.sql"]].concat();
    // when
    let (_, _, err) = output(&folder, &run);
    // then
    assert!(
        err.contains("block 1, one failed: no operation succeeded"),
        "{err}"
    );
    let statuses = |records: &[Value]| {
        let failed = records
            .iter()
            .filter(|record| record["outcome"]["status"] == "failed");
        (records.len(), failed.count())
    };
    assert_eq!(statuses(&records(&folder, "r")), (4, 4));
    records(&folder, "r").iter().for_each(valid);
    // They are tried again; three blocks give three failures of an arm.
    let more = [&run[..], &["--blocks", "4"]].concat();
    let (code, _, err) = output(&folder, &more);
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("failed 3 times in a row"), "{err}");
    let (all, _) = statuses(&records(&folder, "r"));
    assert!((4..8).contains(&all), "{all}");
    assert_eq!(left(&folder), [] as [&Path; 0]);
}

#[test]
fn missing_and_unknown_volumes_and_directories_are_refused_with_the_remedy() {
    let folder = folder(SMALL);
    let run = |more: &'static str| -> Vec<&str> {
        "run small.toml --mode measure --out r"
            .split(' ')
            .chain(more.split(' '))
            .collect()
    };
    refuses(
        &folder,
        &run("--volume d=vd"),
        &["none for e", "--volume e=/mnt/e"],
    );
    refuses(
        &folder,
        &run("--volume d=vd --volume e=ve --volume g=vd"),
        &["\"g\"", "d, e"],
    );
    refuses(
        &folder,
        &run("--volume d=vd --volume e=nowhere"),
        &["nowhere", "is not a directory"],
    );
    refuses(&folder, &run("--volume d"), &["d=/mnt/fast"]);
    refuses(
        &folder,
        &run("--volume d=vd --volume e=ve --jobs 2"),
        &["--jobs", "one at a time"],
    );
    assert_eq!(left(&folder), [] as [&Path; 0]);
}

#[test]
fn modes_and_engines_that_do_not_go_together_are_refused_at_once() {
    let folder = folder(SMALL);
    for (arguments, parts) in [
        ("--engine postgres", ["simulate", "--mode emulate"]),
        (
            "--mode measure --server postgresql://h/",
            ["--server", "--engine postgres"],
        ),
        (
            "--mode emulate --volume d=vd",
            ["--volume", "--mode measure"],
        ),
        (
            "--mode emulate --front file",
            ["--front", "sqlite does without"],
        ),
        (
            "--mode measure --engine postgres --server postgresql://me:pw@h/",
            ["--server holds a password", "PGPASSWORD"],
        ),
        ("--keep", ["--keep", "simulate"]),
        (
            "--mode measure --disk d=x.toml",
            ["--disk", "--mode emulate"],
        ),
    ] {
        let run: Vec<&str> = ["run", "small.toml"]
            .into_iter()
            .chain(arguments.split(' '))
            .collect();
        refuses(&folder, &run, &parts);
    }
    assert!(!folder.path("dbstow-results").exists());
}

#[test]
fn a_disk_of_ones_own_takes_the_place_of_a_volumes() {
    // given: a disk of 100 requests a second, whose 2 ms are in no catalogue
    let folder = folder(SMALL);
    let disk = r#"
[source.own]
title = "measured by hand"
date = "2026-01-01"

[class.own]
title = "a disk of one's own"
read = { value = "2 ms", sources = ["own"] }
write = { value = "2 ms", sources = ["own"] }
flush = { value = "2 ms", sources = ["own"] }

[disk."own.slow"]
class = "own"
title = "a slow disk"
size = "100 GiB"
iops = IOPS
throughput = "10 MB/s"
confidence = "measured"
sources = ["own"]
"#;
    let write = |iops: &str| {
        let path = folder.path("own.toml");
        fs::write(path, disk.replace("IOPS", iops)).expect("the folder is ours");
    };
    write("100");
    let run = [
        "run",
        "small.toml",
        "--disk",
        "e=own.toml",
        "--out",
        "r",
        "--format",
        "json",
    ];
    // when
    let (code, out, err) = output(&folder, &run);
    // then
    assert_eq!(code, 0, "{err}");
    let findings: Value = serde_json::from_str(&out).expect("one document");
    let volumes = findings["arms"][1]["volumes"].as_array().expect("volumes");
    let of_e = volumes.iter().find(|volume| volume["name"] == "e");
    assert_eq!(of_e.expect("it is used")["disk"], "own.slow");
    assert_eq!(findings["fitted"].as_array().map(Vec::len), Some(0));
    // Another content of the file is another plan.
    write("200");
    refuses(&folder, &run, &["another plan"]);
    refuses(
        &folder,
        &["run", "small.toml", "--disk", "x=own.toml"],
        &["volume \"x\""],
    );
    refuses(
        &folder,
        &["run", "small.toml", "--disk", "e=none.toml"],
        &["e=none.toml"],
    );
}

#[test]
fn a_plan_says_where_it_runs_and_how_long_it_takes() {
    let folder = folder(&lasting(30));
    let plan = [&["plan"], &MEASURE[1..]].concat();
    let (code, out, err) = output(&folder, &plan);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("measure with sqlite, in real time"), "{out}");
    let whole = folder.path("vd").canonicalize().expect("it is there");
    assert!(
        out.contains(&format!("volume d = {}", whole.display())),
        "{out}"
    );
    // 2 arms x 2 blocks of 30 s.
    assert!(out.contains("takes at least 2 min, plus loading"), "{out}");
}
