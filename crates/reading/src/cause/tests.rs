use super::*;

const CAUSES: [&str; 12] = [
    "client",
    "cpu",
    "cpu.queued",
    "lock",
    "log.queued",
    "log.throttled.disk.credits",
    "other",
    "read.service",
    "read.throttled.machine.cached",
    "read.throttled.machine.cached.iops",
    "think",
    "write.throttled.disk.iops",
];

#[test]
fn a_cause_reads_back_as_it_was_written_and_sorts_as_its_text() {
    let causes = CAUSES.map(|text| text.parse::<Cause>().expect(text));
    assert_eq!(causes.each_ref().map(ToString::to_string), CAUSES);
    assert!(causes.is_sorted());
}

#[test]
fn a_limit_says_whose_it_is_though_names_have_dots() {
    for (text, owner, measure) in [
        ("disk.iops", Owner::Disks, Some(Measure::Iops)),
        (
            "disk.a.b.1.iops",
            Owner::Disk("a.b.1".into()),
            Some(Measure::Iops),
        ),
        (
            "machine.pd.x.throughput",
            Owner::Machine("pd.x".into()),
            Some(Measure::Throughput),
        ),
        ("machine.cached", Owner::Machine("cached".into()), None),
    ] {
        let limit: Limit = text.parse().expect(text);
        assert_eq!(limit, Limit { owner, measure });
        assert_eq!(limit.to_string(), text);
    }
}

#[test]
fn what_is_not_known_is_refused_with_its_text() {
    for text in [
        "",
        "reed.service",
        "read",
        "read.served",
        "read.throttled.disc.iops",
        "read.throttled.machine..iops",
        "cpu.x",
    ] {
        let error = text.parse::<Cause>().expect_err(text);
        assert_eq!(error.to_string(), format!("\"{text}\" is not a cause"));
    }
    assert!("disk.temp.1".parse::<Limit>().is_err());
}

#[test]
fn a_map_of_causes_is_a_map_of_texts() {
    let split: std::collections::BTreeMap<Cause, u64> =
        CAUSES.map(|text| (text.parse().expect(text), 1)).into();
    let json = serde_json::to_string(&split).expect("keys are texts");
    assert!(
        json.starts_with(r#"{"client":1,"cpu":1,"cpu.queued":1"#),
        "{json}"
    );
    assert_eq!(
        serde_json::from_str::<std::collections::BTreeMap<Cause, u64>>(&json)
            .expect("it was written"),
        split
    );
}
