//! `verify`: advice beside what was recorded afterwards.

use crate::quiet::{advised, files};

/// A P10, whose cheapest answer is a gp3.
const RECORDED: &str = "p10-update-8";

#[test]
fn advice_is_compared_with_what_was_recorded_on_its_disks() {
    let (folder, _) = advised(RECORDED);
    let [after, _] = files("gp3-3000-update-8");
    let command = ["verify", "advice", "--after", &after];
    let document = folder.json(&[&command[..], &["--format", "json"]].concat());
    assert_eq!(document["schema"], "dbstow.verification/1");
    assert_eq!(document["layout"], "cheapest");
    let number = |value: &serde_json::Value| value.as_f64().expect("a number");
    let time = number(&document["time"]);
    let allowed = [0, 1].map(|at| number(&document["allowed"][at]));
    let expected = match time {
        time if time > allowed[1] => "worse",
        time if time < allowed[0] => "better",
        _ => "kept",
    };
    assert_eq!(document["kept"], expected, "{document:#}");
    // The parts of what was recorded and promised are the whole.
    let times = document["times"].as_array().expect("a list");
    for of in ["before_ms", "promised_ms", "after_ms"] {
        let parts: f64 = times[1..].iter().map(|time| number(&time[of])).sum();
        let whole = number(&times[0][of]);
        assert!(
            (parts / whole - 1.0).abs() < 0.05,
            "{of}: {parts} of {whole}"
        );
    }
    let text = folder.stdout(&[&command[..], &["--evidence", "evidence.toml"]].concat());
    assert!(text.contains("of the time before; promised were"), "{text}");
    let evidence = folder.read("evidence.toml");
    assert!(
        evidence.starts_with("format = \"dbstow.evidence/1\"\n"),
        "{evidence}"
    );
    assert!(!evidence.contains(RECORDED), "{evidence}");
}

#[test]
fn what_cannot_be_compared_is_refused_with_what_to_give_instead() {
    let (folder, _) = advised(RECORDED);
    let [before, today] = files(RECORDED);
    let [maria, _] = files("gp3-3000-my-update-8");
    let refuses = |arguments: &[&str], parts: &[&str]| folder.refuses(arguments, parts);
    refuses(
        &["verify", "advice", "--after", &before],
        &[
            "it is the profile that the advice was made from",
            "record the server again",
        ],
    );
    refuses(
        &["verify", "advice", "--after", &maria],
        &["it is a profile of MariaDB, and the advice is for PostgreSQL"],
    );
    refuses(
        &[
            "verify", "advice", "--after", &before, "--layout", "cheapst",
        ],
        &["no layout `cheapst`", "cheapest"],
    );
    let said = folder.fails(&["verify", "nowhere", "--after", &before], 1);
    assert!(said.contains("nowhere: cannot be read as advice"), "{said}");
    refuses(
        &["verify", &today, "--after", &before],
        &["this is not advice", "dbstow advise"],
    );
    folder.write("other.json", r#"{"schema": "dbstow.advice/9"}"#);
    refuses(
        &["verify", "other.json", "--after", &before],
        &["other.json", "this is not advice"],
    );
    refuses(&["verify", "advice", "--after", &today], &["experiment"]);
}
