//! `dbstow drill` as a user runs it: a real PostgreSQL on real file systems over modelled disks. Needs root, loop devices and
//! PostgreSQL.
#![cfg(all(target_os = "linux", feature = "postgres"))]

use std::path::Path;

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use serde_json::Value;
use tempfile::TempDir;

fn dbstow(folder: &TempDir, arguments: &[&str]) -> Assert {
    let mut command = Command::cargo_bin("dbstow").expect("it was built");
    command.current_dir(folder).args(arguments).assert()
}

fn said(assert: &Assert) -> String {
    String::from_utf8_lossy(&assert.get_output().stderr).into_owned()
}

fn json(assert: &Assert) -> Value {
    serde_json::from_slice(&assert.get_output().stdout).expect("it is JSON")
}

/// The event of a placement.
fn event<'a>(drill: &'a Value, name: &str) -> &'a Value {
    let events = drill["placements"][0]["events"].as_array().expect("a list");
    let found = events.iter().find(|event| event["event"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {drill}"))
}

#[test]
fn a_server_survives_power_cuts_and_not_snapshots_taken_apart_and_a_finding_is_found_again() {
    let folder = tempfile::tempdir().expect("there is room");
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
    // What each control had to do, and not only that something happened.
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

    // In the volumes that are left of the drill, and of another name than before.
    let moved = folder.path().join("elsewhere");
    std::fs::rename(folder.path().join("snapshots-apart-drill"), &moved).expect("both are here");
    let name = finding["name"].as_str().expect("a text");
    let replay = [
        "drill",
        "snapshots-apart",
        "--out",
        "elsewhere",
        "--format",
        "json",
        "--replay",
        name,
    ];
    let again = json(&dbstow(&folder, &replay).success());
    assert_eq!(again["as_found"], true, "{again} {finding}");
    assert_eq!(again["what"], finding["what"]);

    let unknown = [&replay[..7], &["cut-9999"]].concat();
    let error = said(&dbstow(&folder, &unknown).code(2));
    assert!(
        error.contains("there is no such finding") && error.contains(name),
        "{error}"
    );
    let again = dbstow(&folder, &[&drill[..], &["--out", "elsewhere"]].concat()).code(2);
    assert!(said(&again).contains("exists already"), "{}", said(&again));
}

/// Found by what SQLite's documentation says of each mode.
#[test]
fn sqlite_keeps_its_commits_in_the_modes_that_are_durable_and_loses_them_in_others() {
    let folder = tempfile::tempdir().expect("there is room");
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
    assert!(states("sqlite, wal, normal", "lost") > 0, "{drilled}");
    assert_eq!(states("sqlite, wal, normal", "corrupt"), 0, "{drilled}");
}

#[test]
fn the_drills_are_listed_and_an_unknown_one_is_answered_with_the_known() {
    let folder = tempfile::tempdir().expect("there is room");
    let list = dbstow(&folder, &["drill"]).success();
    let list = String::from_utf8_lossy(&list.get_output().stdout).into_owned();
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
            error.contains("--arm none: there is no such arm; there are "),
            "{error}"
        );
    }
    assert!(!Path::new(&folder.path().join("wal-apart-drill")).exists());
}
