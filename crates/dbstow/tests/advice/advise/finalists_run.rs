//! The experiment of the finalists: it runs anywhere, and agrees with the answer.

use super::*;

#[test]
fn the_finalists_run_from_another_folder_and_after_both_files_were_moved() {
    let place = Place::new();
    place.advice(&[]);
    let finalists = place.read("shop-advice/finalists.toml");
    assert!(
        finalists.contains("profile = \"../shop.toml\""),
        "{finalists}"
    );

    let moved = Folder::new();
    for name in ["shop.toml", "shop-advice"] {
        fs::rename(place.path(name), moved.path(name)).expect("both are on one disk");
    }
    let finalists = moved.text("shop-advice/finalists.toml");
    Folder::new().stdout(&["plan", &finalists, "--json"]);
}

#[test]
#[ignore = "long: runs what it advised"]
fn the_finalists_run_and_agree_with_what_was_predicted() {
    let place = Place::new();
    let advice = place.advice(&["--windows"]);
    let run = ["run", "shop-advice/finalists.toml", "--format", "json"];
    let findings = place.json(&run);
    let arms = findings["arms"].as_array().expect("a list");
    // Machines are priced as they were.
    for (arm, layout) in [("cheapest", "cheapest"), ("fastest", "fastest")] {
        let Some(arm) = arms.iter().find(|found| found["name"] == arm) else {
            continue;
        };
        let usd = number(&advice[layout]["usd_per_month"]);
        assert!((number(&arm["usd_per_month"]) - usd).abs() < 0.01, "{arm}");
        assert_eq!(arm["with_windows"], true);
    }
    let latency = |name: &str| {
        let arm = arms.iter().find(|arm| arm["name"] == name);
        let arm = arm.unwrap_or_else(|| panic!("no arm {name}"));
        number(&arm["metrics"]["operation_latency_mean_ms"]["mean"])
    };
    let ratio = latency("cheapest") / latency("today");
    let predicted = number(&advice["cheapest"]["time"]);
    assert!(
        (ratio / predicted - 1.0).abs() < 0.1,
        "{ratio} and {predicted}"
    );
}

#[test]
#[ignore = "long: runs what it advised"]
fn finalists_on_every_local_disk_of_a_machine_are_checked_and_run() {
    let place = Place::new();
    with_temp_apart(&place);
    // Machines with one local disk, and with four.
    for (machine, count) in [("azure.D8ads_v7", None), ("azure.D32ads_v7", Some(4))] {
        place.dbstow(&local_on(machine, &[])).assert().success();
        let finalists = place.path("shop-advice/finalists.toml");
        let text = fs::read_to_string(&finalists).expect("it was written");
        let document: toml_edit::DocumentMut = text.parse().expect("it is TOML");
        let temp = &document["volume"]["cheapest-temp"];
        let found = temp.get("count").and_then(toml_edit::Item::as_integer);
        let expected = (Some("local"), count);
        assert_eq!((temp["disk"].as_str(), found), expected, "{text}");
        // Nothing in it is without effect.
        place
            .dbstow(&["check", "shop-advice/finalists.toml"])
            .assert()
            .success()
            .stderr("");
    }
    let run = ["run", "shop-advice/finalists.toml", "--blocks", "1"];
    place.dbstow(&run).assert().success();
    // A disk more than the machine has.
    let more = [
        "check",
        "shop-advice/finalists.toml",
        "--set",
        "volume.cheapest-temp.count=5",
    ];
    let refused = place.fails(&more, 2);
    for part in ["cheapest-temp", "5 local disks", "azure.D32ads_v7 has 4"] {
        assert!(refused.contains(part), "no {part} in {refused}");
    }
}
