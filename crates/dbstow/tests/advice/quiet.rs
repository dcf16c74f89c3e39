//! Back-tests of twelve recordings of a real PostgreSQL 15 on a quiet machine, made by `scripts/bench-profile` on 2026-11-26, and two of
//! a MariaDB 10.11, made on 2026-11-27.

use serde_json::Value;
use testing::folder::{Folder, json};

const RECORDINGS: [&str; 12] = [
    "burst-update-8",
    "gp3-3000-insert-8",
    "gp3-3000-update-16",
    "gp3-3000-update-4",
    "gp3-3000-update-8",
    "gp3-6000-update-8",
    "p10-update-8",
    "p30-insert-8",
    "p30-update-8",
    "temp-local-sort-4",
    "temp-remote-sort-4",
    "wal-apart-update-8",
];

/// The files of a recording: the profile, and the layout that it was made on.
pub(crate) fn files(name: &str) -> [String; 2] {
    [".toml", ".today.toml"].map(|file| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/advice/quiet");
        format!("{folder}/{name}{file}")
    })
}

/// The document of a back-test.
fn backtest(name: &str) -> Value {
    let [profile, today] = files(name);
    let folder = Folder::new();
    let arguments = [
        "run",
        "--profile",
        &profile,
        "--today",
        &today,
        "--format",
        "json",
        "--untested",
    ];
    json(&folder.dbstow(&arguments).assert().success())
}

fn off(document: &Value, figure: &str) -> f64 {
    let mut figures = document["figures"].as_array().expect("figures").iter();
    let found = figures.find(|known| known["figure"] == figure);
    found.expect("it is there")["off"]
        .as_f64()
        .expect("a number")
}

#[test]
fn recordings_of_the_disks_that_are_said_allow_advice_with_a_caveat_where_one_is_due() {
    let all = RECORDINGS.map(backtest);
    for (name, document) in RECORDINGS.iter().zip(&all) {
        let outcome = document["outcome"].as_str().expect("a name");
        let is_advice = matches!(outcome, "fits" | "rate-fits");
        assert_eq!(document["fits"], is_advice, "{name}");
        assert_eq!(
            document["caveat"].is_string(),
            outcome == "rate-fits",
            "{name}"
        );
        assert_eq!(
            document["cause"].is_string(),
            outcome == "does-not-fit",
            "{name}"
        );
        // Parts are the whole: as recorded, 8 sessions by the rate, or fewer that are not running.
        let parts = document["parts"].as_array().expect("parts");
        let shares: f64 = parts
            .iter()
            .filter_map(|part| part["recorded_share"].as_f64())
            .sum();
        assert!((shares - 1.0).abs() < 1e-9, "{name}: {shares}");
        if is_advice {
            assert!(
                off(document, "operations/s").abs() <= 0.2,
                "{name}: {document:#}"
            );
        }
    }
    let advice = all
        .iter()
        .filter(|document| document["fits"] == true)
        .count();
    assert!(advice >= 10, "{advice} of 12");
}

/// A folder with the advice on a recording in `advice`, and its document.
pub(crate) fn advised(name: &str) -> (Folder, Value) {
    let [profile, today] = files(name);
    let folder = Folder::new();
    let arguments = [
        "advise",
        &profile,
        "--today",
        &today,
        "--cloud",
        "aws",
        "--machine",
        "m6i.large",
        "--disk",
        "aws.gp3",
        "--capacity",
        "data=20GiB",
        "--capacity",
        "log=10GiB",
        "--out",
        "advice",
        "--format",
        "json",
    ];
    let document = json(&folder.dbstow(&arguments).assert().success());
    (folder, document)
}

/// The document of advice, and the experiment of its finalists.
fn advice(name: &str) -> (Value, String) {
    let (folder, document) = advised(name);
    (document, folder.read("advice/finalists.toml"))
}

#[test]
fn a_detail_that_is_off_is_a_caveat_and_an_interval_beside_the_number() {
    let (document, _) = advice("p10-update-8");
    let caveat = document["backtest"]["caveat"]
        .as_str()
        .expect("a detail is off");
    let trust = &document["trust"];
    assert_eq!(trust["level"], "low");
    let because = trust["because"].as_array().expect("a list").iter();
    let mut because = because.filter_map(|doubt| doubt.as_str());
    assert!(because.any(|doubt| doubt.contains(caveat)), "{trust}");
    let layouts = document["frontier"].as_array().expect("layouts");
    for layout in layouts {
        let time = layout["time"].as_f64().expect("a share");
        let range = &layout["time_range"];
        let [low, high] = [0, 1].map(|end| range[end].as_f64().expect("an end"));
        assert!(low <= time && time <= high, "{layout:#}");
    }
}

#[test]
fn what_was_recorded_on_a_disk_is_used_for_others_like_it_and_replayed_with_the_finalists() {
    let (document, finalists) = advice("gp3-3000-insert-8");
    assert_eq!(document["backtest"]["outcome"], "fits");
    assert!(document["today"]["time_range"].is_null());
    let assumed = document["assumptions"].to_string();
    assert!(
        assumed.contains("as recorded on today's volume gp3-3000"),
        "{assumed}"
    );
    // Of today's volume, and of at least one that is new.
    let replaced = finalists.matches("write_latency").count();
    assert!(replaced >= 2, "{finalists}");
}

/// One disk for everything, of these lines.
fn layout(disk: &str) -> String {
    format!(
        r#"name = "elsewhere"
question = "How fast is it there?"
[machine]
cores = 2
memory = "4 GiB"
[volume.all]
{disk}
[placement.elsewhere]
data = {{ volumes = "all" }}
temp = {{ volumes = "all" }}
log = {{ volumes = "all" }}
"#
    )
}

#[test]
fn what_commits_wait_beyond_the_disk_goes_with_the_server_to_other_disks() {
    let gp3 = "disk = \"aws.gp3\"\nsize = \"100 GiB\"";
    let p30 = "disk = \"azure.premium.p30\"\nbursting = false";
    for (from, to, disk) in [
        ("p30-my-update-8", "gp3-3000-my-update-8", gp3),
        ("gp3-3000-my-update-8", "p30-my-update-8", p30),
    ] {
        let folder = Folder::with(&[("elsewhere.toml", layout(disk))]);
        let [profile, today] = files(from);
        let run = |more: &[&str]| {
            let fixed = ["run", "elsewhere.toml", "--profile", &profile, "--fresh"];
            let all = [&fixed, more, &["--format", "json"]].concat();
            let command = folder.dbstow(&all).assert().success();
            let said = String::from_utf8_lossy(&command.get_output().stderr).into_owned();
            let per_s = &json(&command)["arms"][0]["metrics"]["operations_per_s"]["mean"];
            (per_s.as_f64().expect("a number"), said)
        };
        let (declared, _) = run(&[]);
        let (recorded, said) = run(&["--today", &today]);
        assert!(
            said.contains("as recorded: volume.all.override.flush_latency ="),
            "{said}"
        );
        // What the server then did there.
        let document = backtest(to);
        let figures = document["figures"].as_array().expect("figures");
        let ran = figures[0]["recorded"].as_f64().expect("a number");
        let off = |per_s: f64| (per_s / ran - 1.0).abs();
        assert!(
            off(recorded) < 0.15,
            "{from}: {recorded} predicted, {ran} run"
        );
        assert!(
            off(recorded) < off(declared),
            "{from}: {declared}, {recorded}"
        );
    }
}
