//! `dbstow run --profile` and `--today` as a user runs them.

use std::path::Path;

use assert_cmd::assert::Assert;
use raw::Fio;
use serde_json::Value;
use testing::folder::{Folder, json, said, stdout};

/// One volume that a layout has, and what of it a test changes.
const LAYOUT: &str = r#"[machine]
cores = 2
memory = "8 GiB"
[volume.d]
disk = "azure.premium.p30"
[placement.today]
data = { volumes = "d" }
temp = { volumes = "d" }
log = { volumes = "d" }
"#;

/// Data and log, together or separate.
const WAL_APART: &str = r#"name = "wal-apart"
question = "Should WAL have a volume of its own?"
[machine]
cores = 2
memory = "8 GiB"
[volume.one]
disk = "aws.gp3"
size = "100 GiB"
[volume.wal]
disk = "aws.gp3"
size = "100 GiB"
[placement.together]
data = { volumes = "one" }
temp = { volumes = "one" }
log = { volumes = "one" }
[placement.apart]
data = { volumes = "one" }
temp = { volumes = "one" }
log = { volumes = "wal" }
[workload]
name = "trade"
operations = 10
[engine]
memory = "1 GiB"
"#;

/// Ten intervals of 10 s of a server with 8 sessions, which spend most of their time waiting for reads of `read_ms` and
/// for the log; `log` says whether its requests were counted separately.
fn profile(operations_per_s: f64, read_ms: f64, log: bool) -> String {
    let column = |per_operation: f64| {
        let value = 10.0 * operations_per_s * per_operation;
        format!("[{}]", vec![format!("{value:.4}"); 10].join(", "))
    };
    let same = |value: f64| format!("[{}]", vec![format!("{value:.1}"); 10].join(", "));
    let starts: Vec<String> = (0..10).map(|at| format!("{}.0", 10 * at)).collect();
    let log = match log {
        true => format!(
            "[intervals.log]\nwrites = {0}\nwrite_bytes = {1}\nwrite_wait_s = {2}\n",
            column(0.7),
            column(4_000.0),
            column(0.7 * 0.002)
        ),
        false => String::new(),
    };
    let volumes = match log.is_empty() {
        true => "[[volume]]\nroles = [\"data\", \"log\"]\n",
        false => "",
    };
    format!(
        "format = \"dbstow.profile/1\"\nstart = \"2026-11-22T10:00:00Z\"\n[origin]\ntool = \"dbstow record\"\n{volumes}\
         [intervals]\nat_s = [{}]\nlength_s = {}\noperations = {}\nprocessor_s = {}\nsessions = {}\n\
         [intervals.data]\nreads = {}\nread_bytes = {}\nread_wait_s = {}\n{log}",
        starts.join(", "),
        same(10.0),
        column(1.0),
        column(0.0005),
        same(8.0),
        column(2.0),
        column(2.0 * 8192.0),
        column(2.0 * read_ms / 1e3),
    )
}

/// Only requests, as counted by a tool that monitors disks.
fn without_operations(profile: &str) -> String {
    let of_server = ["operations =", "sessions =", "processor_s ="];
    let lines = profile
        .lines()
        .filter(|line| !of_server.iter().any(|column| line.starts_with(column)));
    lines.map(|line| format!("{line}\n")).collect()
}

/// `profile` without the columns that begin so.
fn without(profile: &str, column: &str) -> String {
    let lines = profile.lines().filter(|line| !line.starts_with(column));
    lines.map(|line| format!("{line}\n")).collect()
}

/// A folder with a layout, an experiment and profiles.
fn folder() -> Folder {
    // 8 sessions at two reads of 4 ms, 2 ms of log and half a millisecond of processor, with 4.5 ms of delay.
    let files = [
        ("p30.toml", profile(500.0, 4.0, true)),
        ("merged.toml", profile(500.0, 4.0, false)),
        ("fast.toml", profile(1_500.0, 0.5, true)),
        ("idle.toml", profile(0.0, 4.0, true)),
        (
            "counted.toml",
            without_operations(&profile(500.0, 4.0, true)),
        ),
        ("today.toml", LAYOUT.to_owned()),
        (
            "p10.toml",
            LAYOUT.replace("p30\"", "p10\"\nbursting = false"),
        ),
        ("typo.toml", LAYOUT.replace("premium.p30", "premium.p31")),
        ("wal-apart.toml", WAL_APART.to_owned()),
    ];
    Folder::with(&files)
}

fn run(folder: &Folder, arguments: &[&str]) -> Assert {
    folder.dbstow(&[&["run"], arguments].concat()).assert()
}

/// Standard error of a run that ends with `code`: one message, its lines joined.
fn fails(folder: &Folder, code: i32, arguments: &[&str]) -> String {
    let said = said(&run(folder, arguments).code(code));
    assert!(said.starts_with("dbstow: "), "{said}");
    assert_eq!(said.matches("dbstow: ").count(), 1, "{said}");
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_profile_fits_the_disks_that_it_was_recorded_on() {
    let folder = folder();
    let said = stdout(&run(&folder, &["--profile", "p30.toml", "--today", "today.toml"]).success());
    assert!(said.contains("The profile fits this layout"), "{said}");
    assert!(!said.contains("does not fit"), "{said}");
    assert!(!folder.path("dbstow-results").exists());
}

#[test]
fn a_profile_of_other_disks_than_are_said_is_refused_with_the_reason() {
    let folder = folder();
    for (profile, layout, reason) in [
        ("p30.toml", "p10.toml", "answered sooner than these disks"),
        (
            "fast.toml",
            "today.toml",
            "answered sooner than these disks",
        ),
    ] {
        let said = fails(&folder, 3, &["--profile", profile, "--today", layout]);
        assert!(
            said.contains(reason) && said.contains("--untested"),
            "{said}"
        );
    }
    let slow = profile(190.0, 15.0, true);
    folder.write("p10-recorded.toml", slow);
    let p10_recorded = ["--profile", "p10-recorded.toml", "--today", "today.toml"];
    let said = fails(&folder, 3, &p10_recorded);
    assert!(
        said.contains("waited longer than these disks take"),
        "{said}"
    );
    let untested = [&p10_recorded[..], &["--format", "json", "--untested"]].concat();
    let document = json(&run(&folder, &untested).success());
    assert_eq!(document["schema"], "dbstow.backtest/1");
    assert_eq!(document["fits"], false);
    assert_eq!(document["outcome"], "does-not-fit");
    assert_eq!(document["cause"], "slower-disk");
    assert!(
        document["remedy"]
            .as_str()
            .is_some_and(|remedy| remedy.contains("calibrate"))
    );
}

/// A machine whose throughput holds a SQL Server up: its log has 16 writes in flight, which take 40 ms.
const THROTTLED: &str = r#"[machine]
type = "azure.E8s_v5"
credits = 0
[volume.data]
disk = "azure.premium.p30"
count = 4
[volume.log]
disk = "azure.premium.p30"
[placement.today]
data = { volumes = "data" }
log = { volumes = "log" }
temp = { volumes = "data" }
"#;

#[test]
fn a_sql_server_with_many_log_writes_in_flight_fits_its_disks() {
    let folder = folder();
    let recorded = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../import/tests/files/perfmon/log-writes-in-flight.csv"
    );
    folder.stdout(&[
        "import", recorded, "--device", "data=D:", "--device", "log=L:", "--out", "sql.toml",
    ]);
    folder.write("throttled.toml", THROTTLED);
    let backtest = ["--profile", "sql.toml", "--today", "throttled.toml"];
    let said = stdout(&run(&folder, &backtest).success());
    for part in ["The profile fits this layout", "16.0 were recorded", "112"] {
        assert!(said.contains(part), "no {part:?} in: {said}");
    }
    let as_json = [&backtest[..], &["--format", "json"]].concat();
    let document = json(&run(&folder, &as_json).success());
    for figure in document["figures"].as_array().expect("figures") {
        let off = figure["off"].as_f64().expect("a number");
        // 1,000 batches of 285 KB in 290 MB/s: 2 % more. 380 commits for 400 writes: 5 % fewer of these. All requests queue for the same
        // limit, where the log's were recorded to be quicker.
        let is_latency = figure["figure"]
            .as_str()
            .is_some_and(|name| name.ends_with("ms"));
        let off_max = if is_latency { 0.2 } else { 0.06 };
        assert!(off.abs() < off_max, "{figure:#}");
    }
    assert_eq!(document["assumptions"].as_array().map(Vec::len), Some(1));

    // The same of a server that writes one after the other cannot be: others' requests were counted. The rate fits all the same.
    let profile = folder.read("sql.toml");
    let profile = profile.replace("SQL Server", "PostgreSQL");
    folder.write("postgres.toml", profile);
    let postgres = ["--profile", "postgres.toml", "--today", "throttled.toml"];
    let said = stdout(&run(&folder, &postgres).success());
    for part in [
        "The rate fits",
        "log writes/s is -94 % off",
        "other programs' requests were counted",
    ] {
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(part), "no {part:?} in: {said}");
    }
    assert!(!said.contains("locks"), "{said}");
    let as_json = [&postgres[..], &["--format", "json"]].concat();
    let document = json(&run(&folder, &as_json).success());
    assert_eq!(document["outcome"], "rate-fits");
    assert!(
        document["caveat"]
            .as_str()
            .is_some_and(|caveat| caveat.starts_with("log writes/s"))
    );
}

#[test]
fn nothing_else_runs_with_a_profile_that_does_not_fit() {
    let folder = folder();
    let both = ["wal-apart.toml", "--profile", "p30.toml", "--today"];
    fails(
        &folder,
        3,
        &[&both[..], &["p10.toml", "--format", "json"]].concat(),
    );
    assert!(!folder.path("dbstow-results").exists());
    let findings = json(
        &run(
            &folder,
            &[&both[..], &["today.toml", "--format", "json"]].concat(),
        )
        .success(),
    );
    assert_eq!(findings["experiment"], "wal-apart");
}

#[test]
fn the_same_demand_runs_on_another_placement() {
    let folder = folder();
    let arguments = [
        "wal-apart.toml",
        "--profile",
        "p30.toml",
        "--format",
        "json",
    ];
    let one = stdout(&run(&folder, &arguments).success());
    let two = stdout(&run(&folder, &[&arguments[..], &["--fresh"]].concat()).success());
    assert_eq!(one, two, "same seed, same outcome");
    let findings: Value = serde_json::from_str(&one).expect("a document");
    assert_eq!(
        findings["comparisons"][0]["metric"], "operations_per_s",
        "{findings:#}"
    );
    for arm in findings["arms"].as_array().expect("two arms") {
        let rate = arm["metrics"]["operations_per_s"]["mean"].as_f64();
        // A gp3 reads in a fraction of the time: more than the 500 that were recorded.
        assert!(rate > Some(600.0), "{arm:#}");
    }
}

#[test]
fn bad_input_gets_one_message_with_place_and_remedy() {
    let folder = folder();
    let profile = ["wal-apart.toml", "--profile"];
    for (arguments, parts) in [
        (
            vec!["missing.toml"],
            &["dbstow: missing.toml: ", "dbstow record"][..],
        ),
        (
            vec!["today.toml"],
            &["today.toml", "an experiment, not a profile"],
        ),
        (vec!["idle.toml"], &["idle.toml", "idle"]),
        (
            vec!["merged.toml"],
            &[
                "arm \"apart\"",
                "requests for log are among those for data",
                "--device log=",
            ],
        ),
        (
            vec!["p30.toml", "--set", "engine.memory=2 GiB"],
            &["--set engine.memory=2 GiB", "changes nothing here"],
        ),
        (
            vec!["p30.toml", "--set", "protocol.metric=elapsed_s"],
            &["protocol.metric", "operations_per_s"],
        ),
        (
            vec!["p30.toml", "--set", "workload.operations=5"],
            &["workload.operations", "has no operations"],
        ),
        (
            vec!["p30.toml", "--mode", "emulate", "--engine", "postgres"],
            &["no statements", "--engine raw"],
        ),
        (
            vec![
                "p30.toml",
                "--mode",
                "emulate",
                "--engine",
                "raw",
                "--set",
                "workload.demand=open",
            ],
            &["leave out workload.rate and workload.demand"],
        ),
        (
            vec!["counted.toml"],
            &["counted.toml", "operations were not counted"],
        ),
    ] {
        let said = fails(&folder, 2, &[&profile[..], &arguments].concat());
        for part in parts {
            assert!(said.contains(part), "no {part:?} in: {said}");
        }
    }
    for (arguments, part) in [
        (vec![], "no experiment is named"),
        (vec!["--profile", "p30.toml"], "--today FILE"),
        (
            vec!["--profile", "p30.toml", "--today", "typo.toml"],
            "typo.toml:4: volume \"d\": there is no disk `azure.premium.p31`",
        ),
        (
            vec!["--profile", "p30.toml", "--today", "wal-apart.toml"],
            "--today wal-apart.toml: the layout has 2 arms (together, apart)",
        ),
        (
            vec![
                "--profile",
                "p30.toml",
                "--today",
                "today.toml",
                "--format",
                "csv",
            ],
            "--format json",
        ),
    ] {
        let said = fails(&folder, 2, &arguments);
        assert!(said.contains(part), "no {part:?} in: {said}");
    }
}

#[test]
fn a_profile_that_names_machine_and_disks_needs_no_layout() {
    let folder = folder();
    let named = profile(500.0, 4.0, true).replace(
        "[intervals]\n",
        "[machine]\nname = \"azure.DS14_v2\"\n[[volume]]\nroles = [\"data\", \"log\"]\ndisk = \"azure.premium.p30\"\n\
         [intervals]\n",
    );
    folder.write("named.toml", named);
    let said = stdout(&run(&folder, &["--profile", "named.toml"]).success());
    assert!(said.contains("The profile fits this layout"), "{said}");
}

/// What a layout of on-premises disks needs besides the profile.
const MACHINE: [&str; 4] = ["--set", "machine.cores=2", "--set", "machine.memory=8GiB"];

/// The profile's log has a latency of 2 ms, its data of 4 ms; 1,000 reads and 350 writes a second.
#[test]
fn disks_that_the_catalogue_does_not_have_are_as_the_profile_shows_them() {
    let folder = folder();
    let recorded = ["--profile", "p30.toml", "--today", "recorded"];
    let error = fails(&folder, 2, &recorded);
    assert!(
        error.contains(
            "--today recorded: p30.toml does not say what its server's machine has (processors, memory); give it with --set \
             machine.cores=16 --set machine.memory=128GiB, or in [machine] of p30.toml"
        ),
        "{error}"
    );
    let assert = run(&folder, &[&recorded[..], &MACHINE].concat()).success();
    assert!(stdout(&assert).contains("The profile fits this layout"));
    let noted = said(&assert);
    for taken in [
        "volume data is as recorded: reads take 4 ms on average, ",
        "at most 1000 IOPS and 8.2 MB/s, the highest rates that were seen; whether its disks could do more is not known, nor is",
        "volume log is as recorded: writes take 2 ms on average, at most 350 IOPS",
    ] {
        assert!(noted.contains(taken), "no {taken:?} in {noted}");
    }
    // Read from the profile, nothing is asked for.
    let named = folder.read("p30.toml").replace(
        "[intervals]\n",
        "[machine]\nprocessors = 2\nmemory = \"8 GiB\"\n[intervals]\n",
    );
    folder.write("named.toml", named);
    run(&folder, &["--profile", "named.toml", "--today", "recorded"]).success();
}

#[test]
fn a_recorded_disk_stands_beside_one_of_the_catalogue_in_a_file_of_today() {
    let folder = folder();
    let recorded = LAYOUT.replace("azure.premium.p30", "recorded");
    let apart = recorded
        .replace(
            "[placement.today]",
            "[volume.e]\ndisk = \"azure.premium.p30\"\n[placement.today]",
        )
        .replace("log = { volumes = \"d\" }", "log = { volumes = \"e\" }");
    folder.write("apart.toml", apart);
    let assert = run(&folder, &["--profile", "p30.toml", "--today", "apart.toml"]).success();
    let noted = said(&assert);
    assert!(
        noted.contains("volume d is as recorded: reads take 4 ms"),
        "{noted}"
    );
    assert!(!noted.contains("volume e"), "{noted}");

    folder.write(
        "several.toml",
        recorded
            .replace(
                "[placement.today]",
                "[volume.e]\ndisk = \"recorded\"\n[placement.today]",
            )
            .replace(
                "data = { volumes = \"d\" }",
                "data = { volumes = [\"d\", \"e\"] }",
            ),
    );
    folder.write("recorded.toml", recorded);
    folder.write(
        "untimed.toml",
        without(&folder.read("p30.toml"), "read_wait_s ="),
    );
    for (profile, today, part) in [
        (
            "p30.toml",
            "several.toml",
            "volume \"d\" is to be as recorded, and files for data are on other volumes too, whose requests p30.toml does not tell \
             apart; make one volume of them",
        ),
        (
            "untimed.toml",
            "recorded.toml",
            "volume \"d\" is to be as recorded, and untimed.toml does not have how long its reads took; ",
        ),
    ] {
        let error = fails(&folder, 2, &["--profile", profile, "--today", today]);
        assert!(error.contains(part), "no {part:?} in {error}");
    }
    // Without a profile there is nothing to take.
    let error = folder.fails(&["mount", "recorded.toml", "here"], 2);
    assert!(
        error.contains("is as a recording shows it, and there is none"),
        "{error}"
    );
}

#[test]
fn an_open_demand_arrives_at_its_rate_and_is_compared_by_how_long_it_takes() {
    let folder = folder();
    let open = [
        "wal-apart.toml",
        "--profile",
        "p30.toml",
        "--set",
        "workload.demand=open",
    ];
    let findings = json(&run(&folder, &[&open[..], &["--format", "json"]].concat()).success());
    assert_eq!(
        findings["comparisons"][0]["metric"],
        "operation_latency_mean_ms"
    );
    for arm in findings["arms"].as_array().expect("two arms") {
        let rate = arm["metrics"]["operations_per_s"]["mean"]
            .as_f64()
            .expect("a rate");
        assert!((480.0..520.0).contains(&rate), "{arm:#}");
    }
    let too_much = [&open[..], &["--set", "workload.rate=100000"]].concat();
    let said = stdout(&run(&folder, &too_much).code(1));
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("operations arrive faster than they end"),
        "{said}"
    );
}

/// 1,000 reads and 350 log writes a second, in a profile without operations.
#[test]
fn plain_io_makes_the_recorded_requests_on_mounted_volumes() {
    let (has_fuse, has_fio) = (Path::new("/dev/fuse").exists(), Fio::find().is_ok());
    if !has_fuse || !has_fio {
        testing::skip(format!("/dev/fuse: {has_fuse}, fio: {has_fio}"));
        return;
    }
    let folder = folder();
    let asked = ["--mode", "emulate", "--engine", "raw", "--blocks", "1"];
    let duration = ["--set", "workload.duration=4s", "--format", "json"];
    let named = ["wal-apart.toml", "--profile", "counted.toml"];
    let findings = json(&run(&folder, &[&named[..], &asked, &duration].concat()).success());
    for arm in findings["arms"].as_array().expect("two arms") {
        let rate = arm["metrics"]["iops"]["mean"].as_f64().expect("a rate");
        // No more than was recorded, however fast this machine is; half of it on a busy one.
        assert!((600.0..1_500.0).contains(&rate), "{arm:#}");
        let size = &arm["metrics"]["transfer_size_kb"]["mean"];
        // Of 8 and, rounded from 5.7 to whole blocks, 4 KiB.
        let size = size.as_f64().expect("a size");
        assert!((6.5..8.2).contains(&size), "{arm:#}");
    }
}
