//! Keys that matter elsewhere: to another arm, or to requests that this one does not have.

use super::{PLAIN, Place, STATEMENTS, base, set};

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
        assert_eq!(code, 0, "{said}");
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

#[test]
fn latencies_and_credits_that_no_request_meets_are_reported() {
    let place = Place::new();
    let read = "volume.d.override.read_latency";
    let write = "volume.d.override.write_latency";
    let flush = "volume.d.override.flush_latency";
    let log_apart = &[
        ("volume.e", "{ disk = 'azure.premium.p30' }"),
        ("placement.p.log", "{ volumes = 'e' }"),
        ("engine.log_flush", "true"),
    ][..];
    let unlimited = &[("volume.d", "{ disk = 'unlimited' }")][..];
    let local = &[("volume.d", "{ disk = 'local' }")][..];
    let no_sync = &[("workload.parameters.sync", "'none'")][..];
    let reads = &[("workload.parameters.read_percent", "100")][..];
    let writes = &[("workload.parameters.read_percent", "0")][..];
    let no_credits = "no limit of the machine for these volumes has burst credits";
    let no_flush = "no file there is flushed";
    for (text, with, key, value, why) in [
        (STATEMENTS, &[][..], flush, "'20 ms'", no_flush),
        (
            STATEMENTS,
            &[("engine.log_flush", "true")][..],
            flush,
            "'20 ms'",
            "",
        ),
        (STATEMENTS, log_apart, flush, "'20 ms'", no_flush),
        (
            STATEMENTS,
            log_apart,
            "volume.e.override.flush_latency",
            "'20 ms'",
            "",
        ),
        (
            STATEMENTS,
            log_apart,
            "volume.e.override.read_latency",
            "'20 ms'",
            "no file there is read",
        ),
        (STATEMENTS, &[][..], "machine.credits", "0", ""),
        (STATEMENTS, unlimited, "machine.credits", "0", no_credits),
        (STATEMENTS, local, "machine.credits", "0", no_credits),
        (PLAIN, &[][..], flush, "'20 ms'", ""),
        (PLAIN, no_sync, flush, "'20 ms'", no_flush),
        (PLAIN, reads, flush, "'20 ms'", no_flush),
        (
            PLAIN,
            reads,
            write,
            "{ p50 = '1 ms', p99 = '20 ms' }",
            "no file there is written",
        ),
        (PLAIN, reads, read, "'20 ms'", ""),
        (PLAIN, writes, read, "'20 ms'", "no file there is read"),
        (
            PLAIN,
            reads,
            "workload.parameters.sync",
            "'flush every 2'",
            "all requests are reads, workload.parameters.read_percent",
        ),
    ] {
        let with = set(base(text, with), key, value);
        let (code, _, said) = place.dbstow(&with.to_string(), &["check", "keys.toml"]);
        assert_eq!(code, 0, "{said}");
        let mut lines = said.lines().filter(|line| line.contains("without effect"));
        let told = lines.find(|line| line.contains(key));
        match why {
            "" => assert_eq!(told, None, "{key} of {with}"),
            why => {
                let told = told.unwrap_or_else(|| panic!("{key}: {said}\n{with}"));
                assert!(told.ends_with(&format!("({why})")), "{told}");
            }
        }
    }
}
