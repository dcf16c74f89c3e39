//! `dbstow drill` as a user runs it: a real PostgreSQL on real file systems over modelled disks. Needs root, loop devices and
//! PostgreSQL.
#![cfg(all(target_os = "linux", feature = "postgres"))]

use std::path::Path;

use assert_cmd::assert::Assert;
use serde_json::Value;
use testing::folder::{Folder, json, said};

fn dbstow(folder: &Folder, arguments: &[&str]) -> Assert {
    folder.dbstow(arguments).assert()
}

/// The event of a placement.
fn event<'a>(drill: &'a Value, name: &str) -> &'a Value {
    let events = drill["placements"][0]["events"].as_array().expect("a list");
    let found = events.iter().find(|event| event["event"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {drill}"))
}

#[test]
#[ignore = "long: drills a real server on several layouts; the report of one drill is tested always"]
fn a_server_survives_power_cuts_and_not_snapshots_taken_apart_and_a_finding_is_found_again() {
    let folder = Folder::new();
    let drill = [
        "drill",
        "snapshots-apart",
        "--arm",
        "two-volumes",
        "--cuts",
        "6",
        "--record",
        "5s",
        "--format",
        "json",
    ];
    let drilled = json(&dbstow(&folder, &drill).success());
    assert_eq!(drilled["proves"], true, "{drilled}");
    for name in ["power", "torn"] {
        assert_eq!(
            event(&drilled, name)["intact"],
            event(&drilled, name)["states"],
            "{drilled}"
        );
        assert!(
            event(&drilled, name)["states"].as_u64() > Some(0),
            "{drilled}"
        );
    }
    // What each control was meant to detect, and not just that something happened.
    let noticed = |control: usize| {
        drilled["controls"][control]["noticed"]
            .as_str()
            .expect("a text")
    };
    assert!(noticed(0).contains("acknowledged commit"), "{drilled}");
    assert!(
        noticed(1).contains("invalid page") || noticed(1).contains("corrupt"),
        "{drilled}"
    );
    let volumes = drilled["placements"][0]["volumes"]
        .as_array()
        .expect("a list");
    let volume = |event: &str, name: &str| {
        let found = volumes
            .iter()
            .find(|volume| volume["event"] == event && volume["volume"] == name);
        found.unwrap_or_else(|| panic!("no {event} {name} in {drilled}"))
    };
    assert_eq!(volume("full", "wal")["noticed"], "ended");
    assert_eq!(volume("full", "wal")["verdict"], "intact");
    assert_eq!(volume("lost", "first")["noticed"], "no-start");

    let findings = drilled["placements"][0]["findings"]
        .as_array()
        .expect("a list");
    let finding = findings
        .first()
        .expect("snapshots taken apart spoil a server");
    assert_eq!(finding["event"], "snapshots");

    // In the remaining volumes of the drill, and under another name than before.
    let moved = folder.path("elsewhere");
    std::fs::rename(folder.path("snapshots-apart-drill"), &moved).expect("both are here");
    let name = finding["name"].as_str().expect("a text");
    let replay = [
        "drill",
        "snapshots-apart",
        "--out",
        "elsewhere",
        "--format",
        "json",
        "--trust-images",
        "--replay",
        name,
    ];
    let [again, once_more] = [(); 2].map(|()| dbstow(&folder, &replay).success());
    assert_eq!(again.get_output().stdout, once_more.get_output().stdout);
    let again = json(&again);
    assert_eq!(again["as_found"], true, "{again} {finding}");
    assert_eq!(again["what"], finding["what"]);

    let unknown = [&replay[..8], &["cut-9999"]].concat();
    let error = said(&dbstow(&folder, &unknown).code(2));
    assert!(
        error.contains("there is no such finding") && error.contains(name),
        "{error}"
    );
    let again = dbstow(&folder, &[&drill[..], &["--out", "elsewhere"]].concat()).code(2);
    assert!(said(&again).contains("exists already"), "{}", said(&again));
}

/// Consistent with SQLite's documentation of each mode.
#[test]
#[ignore = "long: drills each journal mode"]
fn sqlite_keeps_its_commits_in_the_modes_that_are_durable_and_loses_them_in_others() {
    let folder = Folder::new();
    let drill = [
        "drill",
        "sqlite-journal-modes",
        "--cuts",
        "20",
        "--record",
        "4s",
        "--format",
        "json",
    ];
    let drilled = json(&dbstow(&folder, &drill).success());
    assert_eq!(drilled["proves"], true, "{drilled}");
    let placements = drilled["placements"].as_array().expect("a list");
    let states = |name: &str, verdict: &str| -> u64 {
        let found = placements
            .iter()
            .find(|placement| placement["name"] == name);
        let found = found.unwrap_or_else(|| panic!("no {name} in {drilled}"));
        let events = found["events"].as_array().expect("a list");
        let of = |event: &Value| event[verdict].as_u64().expect("a number");
        events.iter().map(of).sum()
    };
    for durable in ["sqlite, delete, extra", "sqlite, wal, full"] {
        assert_eq!(
            states(durable, "intact"),
            states(durable, "states"),
            "{durable}: {drilled}"
        );
    }
    // The journal is deleted at a commit, and comes back while its directory is not synced: Pillai and others, "All File Systems
    // Are Not Created Equal", OSDI 2014, found that of SQLite; `extra` was added for it.
    assert!(states("sqlite, delete, full", "lost") > 0, "{drilled}");
    assert!(states("sqlite, wal, normal", "lost") > 0, "{drilled}");
    assert_eq!(states("sqlite, wal, normal", "corrupt"), 0, "{drilled}");
}

#[test]
fn the_drills_are_listed_and_an_unknown_one_is_answered_with_the_known() {
    let folder = Folder::new();
    let list = folder.stdout(&["drill"]);
    assert!(
        list.contains("wal-apart") && list.contains("everything-local"),
        "{list}"
    );
    let error = said(&dbstow(&folder, &["drill", "wal-apat"]).code(2));
    assert!(error.contains("wal-apart"), "{error}");
    // A question may go on in the next line.
    for line in list.lines().filter(|line| !line.starts_with("  ")) {
        let name = line.split_whitespace().next().expect("a drill has a name");
        let error = said(&dbstow(&folder, &["drill", name, "--arm", "none"]).code(2));
        assert!(
            error.contains("--arm none: there is no such arm"),
            "{error}"
        );
    }
    assert!(!folder.path("wal-apart-drill").exists());
}

/// PostgreSQL before 12 retried a checkpoint whose fsync had failed; the retry succeeded, because the kernel reports an
/// error once and marks the pages clean. `data_sync_retry = on` restores that. Source:
/// <https://wiki.postgresql.org/wiki/Fsync_Errors>.
#[test]
#[ignore = "long: drills a real server twice, with a disk that fails"]
fn a_server_that_repeats_a_failed_fsync_is_corrupt_and_one_that_stops_is_intact() {
    let verdicts = |settings: &[&str]| -> Vec<String> {
        let folder = Folder::new();
        let drill = [
            "drill",
            "wal-apart",
            "--arm",
            "wal-apart",
            "--cuts",
            "2",
            "--record",
            "4s",
            "--faults",
            "--format",
            "json",
        ];
        let drilled = json(&dbstow(&folder, &[&drill[..], settings].concat()).success());
        let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema/drill.schema.json");
        let schema = std::fs::read_to_string(schema).expect("the schema is committed");
        let schema: Value = serde_json::from_str(&schema).expect("it is JSON");
        let validator = jsonschema::validator_for(&schema).expect("it is a schema");
        let errors = validator.iter_errors(&drilled);
        let errors: Vec<String> = errors.map(|error| error.to_string()).collect();
        assert_eq!(errors, [""; 0]);
        let volumes = drilled["placements"][0]["volumes"].as_array().cloned();
        let failed = volumes
            .unwrap_or_default()
            .into_iter()
            .filter(|volume| volume["event"] == "write-fails" || volume["event"] == "flush-fails");
        let verdicts: Vec<String> = failed
            .map(|volume| {
                let text = |key: &str| volume[key].as_str().unwrap_or_default().to_owned();
                format!("{} {}: {}", text("volume"), text("event"), text("verdict"))
            })
            .collect();
        assert!(!verdicts.is_empty(), "{drilled}");
        verdicts
    };
    std::thread::scope(|scope| {
        let stops = scope.spawn(|| verdicts(&[]));
        let repeats = verdicts(&["--setting", "data_sync_retry=on"]);
        assert!(
            repeats.contains(&"data write-fails: corrupt".to_owned())
                || repeats.contains(&"data write-fails: lost".to_owned()),
            "{repeats:?}"
        );
        let stops = stops.join().expect("it does not panic");
        assert!(
            stops.iter().all(|verdict| verdict.ends_with("intact")),
            "{stops:?}"
        );
    });
}

/// "If the disk drive controller reports that content is safely on disk when it is not": section 3.1 of
/// <https://www.sqlite.org/howtocorrupt.html>. Of a stripe, say, one disk alone loses power.
#[test]
#[ignore = "long: drills a disk that lies, and one that is full"]
fn sqlite_loses_commits_on_a_disk_that_ignores_flushes() {
    let folder = Folder::new();
    let drill = |more: &[&str]| {
        let drill = [
            "drill",
            "sqlite-journal-modes",
            "--arm",
            "sqlite, wal, full",
            "--record",
            "3s",
            "--cuts",
            "20",
            "--set",
            "engine.memory=8 MiB",
            "--format",
            "json",
        ];
        dbstow(&folder, &[&drill[..], more].concat())
    };
    let lies = [
        "--write-cache",
        "ignores-flushes",
        "--power",
        "disk",
        "--fail-on",
        "loss",
    ];
    let drilled = drill(&lies).code(3);
    let idle = "without effect: engine.memory (a drill has clients and settings of its own";
    assert!(said(&drilled).contains(idle), "{}", said(&drilled));
    let drilled = json(&drilled);
    let power = event(&drilled, "power");
    assert!(power["lost"].as_u64() > Some(0), "{drilled}");
    assert_eq!(drilled["asked"]["power"], "disk");
    let names = drilled["placements"].as_array().map(Vec::len);
    assert_eq!(names, Some(1), "{drilled}");

    // Where space runs out, everything before that is covered.
    let small = ["--space", "1 MiB", "--out", "small", "--fail-on", "loss"];
    let drilled = json(&drill(&small).success());
    let recorded = &drilled["placements"][0]["recorded"];
    assert_eq!(recorded["ended_early"], true, "{drilled}");
    assert!(recorded["commits"].as_u64() > Some(0), "{drilled}");
    assert_eq!(event(&drilled, "power")["intact"], 20, "{drilled}");

    let none = drill(&["--space", "1 KiB", "--out", "none"]).code(2);
    assert!(
        said(&none).contains("a recording takes at least 1 MiB"),
        "{}",
        said(&none)
    );
    assert!(!folder.path("none").exists());
}

/// Where reports show a price, they also show a drill's findings for the same placement.
#[test]
fn a_report_shows_what_a_drill_found_of_its_arms() {
    let folder = Folder::new();
    let experiment = r#"
name = "mine"
question = "Is a log of its own faster?"

[machine]
type = "azure.E4bds_v5"

[volume.one]
disk = "azure.premium.p30"

[volume.wal]
disk = "azure.premium.p10"

[placement.together]
data = { volumes = "one" }
temp = { volumes = "one" }
log = { volumes = "one" }

[placement.apart]
data = { volumes = "one" }
temp = { volumes = "one" }
log = { volumes = "wal" }

[engine]
memory = "64 MiB"

[workload]
name = "trade"
duration = "2s"

[protocol]
baseline = "together"
blocks = 1
"#;
    folder.write("mine.toml", experiment);
    let drill = [
        "drill",
        "mine.toml",
        "--arm",
        "together",
        "--cuts",
        "3",
        "--record",
        "3s",
    ];
    dbstow(&folder, &drill).success();
    let run = [
        "run",
        "mine.toml",
        "--drill",
        "mine-drill",
        "--out",
        "results",
    ];
    let text = folder.stdout(&run);
    assert!(
        text.contains("6 of 6") && text.contains("together, drilled (mine, PostgreSQL"),
        "{text}"
    );
    let report = [
        "report",
        "results",
        "--format",
        "json",
        "--drill",
        "mine-drill",
    ];
    let found = json(&dbstow(&folder, &report).success());
    assert_eq!(found["arms"][0]["survived"]["intact"], 6, "{found}");
    assert!(found["arms"][1].get("survived").is_none(), "{found}");

    let other = [
        "run",
        "tempdb-ssd-vs-premium",
        "--drill",
        "mine-drill",
        "--out",
        "other",
    ];
    let error = said(&dbstow(&folder, &other).code(2));
    assert!(
        error.contains("it is a drill of the experiment mine"),
        "{error}"
    );
    // Of the same name, on other disks.
    let text = experiment.replace("azure.premium.p30", "azure.premium.p20");
    folder.write("mine.toml", text);
    let moved = [
        "run",
        "mine.toml",
        "--drill",
        "mine-drill",
        "--out",
        "moved",
    ];
    let output = dbstow(&folder, &moved).success();
    assert!(
        said(&output).contains("none of its placements is an arm here, on the same disks"),
        "{}",
        said(&output)
    );

    let none = ["report", "results", "--drill", "results"];
    let error = said(&dbstow(&folder, &none).code(2));
    assert!(error.contains("give the folder of a drill"), "{error}");
}
