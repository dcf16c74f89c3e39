//! What is not known of disks, in the times of an answer.

use serde_json::Value;

use super::advise::Place;

fn ends(range: &Value) -> [f64; 2] {
    [0, 1].map(|end| range[end].as_f64().expect("an end"))
}

#[test]
fn a_latency_that_was_not_recorded_is_drawn_unless_it_is_taken_as_published() {
    let place = Place::new();
    let asked = ["--disk", "azure.premium_v2"];
    let drawn = &place.advice(&asked)["cheapest"];
    let nominal = &place.advice(&[&asked[..], &["--nominal"]].concat())["cheapest"];

    assert_eq!(drawn["time"], nominal["time"]);
    assert!(nominal["time_range"].is_null() && nominal["time_mostly"].is_null());
    let [time, half] = ["time", "time_half"].map(|key| drawn[key].as_f64().expect("a number"));
    let [least, most] = ends(&drawn["time_range"]);
    assert!(least < time - half && time + half < most, "{drawn}");
    let what = drawn["time_mostly"]["what"].as_str().expect("a name");
    assert!(what.ends_with(" of azure-premium-v2"), "{what}");
}

#[test]
fn what_was_recorded_on_todays_disks_is_not_drawn_of_others_like_them() {
    let place = Place::new();
    let advice = place.advice(&["--disk", "azure.premium.p30"]);
    assert!(
        advice["today"]["time_range"].is_null(),
        "{}",
        advice["today"]
    );
    for layout in advice["frontier"].as_array().expect("a list") {
        // Reads and log writes of the P30 were timed; what another machine delivers of its limits was not seen.
        let what = layout["time_mostly"]["what"].as_str().unwrap_or_default();
        assert!(!what.contains("latency"), "{layout}");
    }
    let refused = place.refused(&["--nominal", "--quick"], 2);
    assert!(refused.contains("--nominal"), "{refused}");
}
