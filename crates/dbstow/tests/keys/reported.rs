//! Keys that matter elsewhere: to another arm, or to requests that this one does not have.

use super::{Place, STATEMENTS, base, set};

/// One arm on a stripe, one on another disk.
const APART: &[(&str, &str)] = &[
    ("volume.d.interleave", "'1 MiB'"),
    ("volume.e", "{ disk = 'azure.premium.p10' }"),
    (
        "placement.q",
        "{ data = { volumes = 'e' }, temp = { volumes = 'e' }, log = { volumes = 'e' } }",
    ),
    ("arm.one", "{ placement = 'p' }"),
    ("arm.two", "{ placement = 'q' }"),
];

#[test]
fn what_an_arm_sets_of_a_volume_or_a_placement_of_others_is_reported() {
    let place = Place::new();
    let base = base(STATEMENTS, APART);
    for (arm, key, value, why) in [
        ("two", "volume.d.count", "3", "this arm has no files there"),
        ("one", "volume.e.iops", "5", "this arm has no files there"),
        (
            "one",
            "volume.e.credits",
            "0.5",
            "this arm has no files there",
        ),
        (
            "one",
            "volume.e.override.iops_limit",
            "10",
            "this arm has no files there",
        ),
        (
            "one",
            "volume.e.disk",
            "'azure.premium.p80'",
            "this arm has no files there",
        ),
        (
            "one",
            "placement.q.temp.files",
            "3",
            "this arm has another placement",
        ),
        // Used by the arm that does not set it.
        ("one", "volume.d.interleave", "'2 MiB'", ""),
    ] {
        let set_by = set(
            base.clone(),
            &format!("arm.{arm}.set"),
            &format!("{{ '{key}' = {value} }}"),
        );
        let (code, _, said) = place.dbstow(&set_by.to_string(), &["check", "keys.toml"]);
        assert_eq!(code, Some(0), "{said}");
        let told = said.lines().find(|line| line.contains("without effect"));
        let expected = format!("dbstow: without effect: arm.{arm}.set.\"{key}\" ({why})");
        let expected = Some(expected.as_str()).filter(|_| !why.is_empty());
        assert_eq!(told, expected, "{said}");
    }
    let one_disk = [
        ("volume.d.count", "2"),
        (
            "arm.three",
            "{ placement = 'p', set = { 'volume.d' = { disk = 'azure.premium.p30', interleave = '2 MiB' } } }",
        ),
    ];
    let with = [APART, &one_disk].concat();
    let text = super::base(STATEMENTS, &with).to_string();
    let (_, _, said) = place.dbstow(&text, &["check", "keys.toml"]);
    let expected =
        "without effect: arm.three.set.\"volume.d\".interleave (one disk is not striped)";
    assert!(said.contains(expected), "{said}");
}
