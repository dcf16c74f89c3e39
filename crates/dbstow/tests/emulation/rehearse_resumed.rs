//! `dbstow rehearse` that was interrupted, and goes on where it stopped. Needs root, loop devices and PostgreSQL.
#![cfg(all(target_os = "linux", feature = "postgres"))]
#![allow(
    clippy::unwrap_used,
    reason = "a panic with its line is what a failing test should give"
)]

use std::fs;
use std::process::Stdio;

use host::clock::Clock;
use model::Duration;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use testing::folder::{Folder, contains};

use super::rehearse::{arguments, document, rehearsed};

/// Records of finished trials, by name.
fn records(folder: &Folder) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder.path("rehearsal/records"));
    let paths = entries
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path());
    let whole = paths.filter(|path| path.extension().is_some_and(|end| end == "json"));
    let mut all: Vec<_> = whole
        .map(|path| (path.display().to_string(), fs::read(path).unwrap()))
        .collect();
    all.sort();
    all
}

#[test]
fn a_rehearsal_that_was_interrupted_goes_on_where_it_stopped() {
    let Some((folder, theirs)) = rehearsed() else {
        return;
    };
    let backup = theirs.path("base").display().to_string();
    let log = theirs.path("logs/server.csv").display().to_string();
    let more = ["--layout", "candidate.toml", "--pace", "x50"];
    let command = arguments(&backup, &log, &more);
    let mut child = folder
        .process(&command)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while records(&folder).is_empty() {
        assert!(
            child.try_wait().unwrap().is_none(),
            "it ended without a record"
        );
        Clock::sleep(Duration::from_millis(5));
    }

    kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();

    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{said}");
    contains(
        &said,
        &["the trials that were finished are kept: rerun the command"],
    );
    let first = records(&folder);
    assert_eq!(first.len(), 1);
    assert!(!folder.path("rehearsal/volumes").exists());

    // What would be compared with other statements, or other data, is refused.
    let other = [&command[..], &["--reads-only"]].concat();
    let said = folder.fails(&other, 2);
    contains(
        &said,
        &["rehearsal holds results of another plan", "--fresh"],
    );
    let label = theirs.path("base/backup_label");
    let label = fs::File::options().append(true).open(label).unwrap();
    let made = label.metadata().unwrap().modified().unwrap();
    label.set_modified(std::time::UNIX_EPOCH).unwrap();
    contains(&folder.fails(&command, 2), &["another plan"]);
    label.set_modified(made).unwrap();

    let printed = folder.printed(&command);
    assert_eq!(printed.code, 0, "{}", printed.stderr);
    contains(
        &printed.stderr,
        &["finished trials are kept, 1 trial outstanding"],
    );
    let all = records(&folder);
    assert_eq!(all.len(), 2);
    assert!(all.contains(&first[0]));
    let whole = document(&folder, "rehearsal");
    let played = |layout: &Value| (layout["played"].clone(), layout["fidelity"].clone());
    let layouts = whole["layouts"].as_array().unwrap();
    assert_eq!(played(&layouts[0]), played(&layouts[1]), "{whole}");
    assert!(!whole["statements"].as_array().unwrap().is_empty());
    let outcomes = folder.read("rehearsal/outcomes/000-1.json");
    assert!(
        !outcomes.contains("SELECT") && !outcomes.contains("abalance"),
        "{outcomes}"
    );

    // Of one that is finished, only the document and the page are made again; another one begins in an empty folder.
    let again = folder.printed(&command);
    assert_eq!(again.code, 0, "{}", again.stderr);
    contains(&again.stderr, &["all trials are finished"]);
    assert_eq!(
        (document(&folder, "rehearsal"), records(&folder)),
        (whole, all)
    );
    let fresh = [&other[..], &["--fresh"]].concat();
    assert_eq!(folder.printed(&fresh).code, 0);
    assert_ne!(records(&folder)[0], first[0]);

    // A finished trial whose outcome is damaged is run again.
    fs::write(folder.path("rehearsal/outcomes/000-1.json"), "{").unwrap();
    let printed = folder.printed(&other);
    assert_eq!(printed.code, 0, "{}", printed.stderr);
    contains(&printed.stderr, &["1 trial outstanding"]);

    finalists_of_advice_are_rehearsed_by_the_command_that_it_names(&folder, &backup, &log);
    advice_reads_the_profile_of_a_rehearsal(&folder, &backup);
}

fn advice_reads_the_profile_of_a_rehearsal(folder: &Folder, backup: &str) {
    // For some intervals of a second, whatever the machine: 20 updates a second, for four seconds.
    let entries = (0..80).map(|number| {
        let (second, ms) = (number / 20, number % 20 * 50);
        format!(
            "2026-11-28 09:00:0{second}.{ms:03} UTC [812] LOG:  duration: 0.5 ms  statement: \
             UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = {}\n",
            1 + 1_000 * number
        )
    });
    folder.write("steady.log", entries.collect::<String>());
    let more = [
        "--record",
        "--pace",
        "original",
        "--out",
        "recorded",
        "--database",
        "postgres",
        "--user",
        "boss",
    ];
    let printed = folder.printed(&arguments(backup, "steady.log", &more));
    assert_eq!(printed.code, 0, "{}", printed.stderr);
    contains(&printed.stdout, &["Profile: recorded/profile.toml"]);
    // The recorded trial is compared with none.
    assert_eq!(
        fs::read_dir(folder.path("recorded/records"))
            .unwrap()
            .count(),
        1
    );
    let profile = folder.read("recorded/profile.toml");
    contains(&profile, &["product = \"PostgreSQL\"", "[intervals.log]"]);
    let advise = [
        "advise",
        "recorded/profile.toml",
        "--today",
        "today.toml",
        "--quick",
    ];
    let few = ["--keep-machine", "--untested", "--not-slower", "800%"];
    let advice = folder.json(&[&advise[..], &few, &["--format", "json"]].concat());
    assert!(advice["answer"].is_string(), "{advice}");
}

fn finalists_of_advice_are_rehearsed_by_the_command_that_it_names(
    folder: &Folder,
    backup: &str,
    log: &str,
) {
    for (example, name) in [("shop.toml", "shop.toml"), ("today.toml", "p30.toml")] {
        folder.write(name, fs::read(testing::folder::example(example)).unwrap());
    }
    let few = [
        "--machine",
        "E2bds_v5",
        "--disk",
        "azure.premium_v2",
        "--disks-max",
        "2",
        "--not-slower",
        "800%",
        "--simulations",
        "20",
        "--untested",
        "--format",
        "json",
    ];
    let capacity = ["--capacity", "data=60GiB", "--capacity", "log=20GiB"];
    let advise = [
        "advise",
        "shop.toml",
        "--today",
        "p30.toml",
        "--rehearse",
        backup,
        log,
    ];
    let advice = folder.json(&[&advise[..], &few, &capacity].concat());
    let command = advice["next"][0]["command"].as_str().unwrap();
    let words = shell_words::split(command).unwrap();
    assert_eq!(words[..2], ["dbstow", "rehearse"], "{command}");
    let once = ["--blocks", "1", "--pace", "x50"].map(str::to_owned);
    let printed = folder.printed(&[&words[1..], &once].concat());
    assert_eq!(printed.code, 0, "{}", printed.stderr);
    let whole = document(folder, "shop-rehearsal");
    let layouts = whole["layouts"].as_array().unwrap();
    let names: Vec<&str> = layouts
        .iter()
        .map(|layout| layout["name"].as_str().unwrap())
        .collect();
    assert_eq!(names[..2], ["today", "cheapest"]);
}
