//! What the monitoring of a managed server exports: CloudWatch and Azure Monitor, alone and with a recording of the same time.

use super::*;
use profile::Machine;

fn monitored(name: &str, given: &Options) -> Imported {
    read(name, given).unwrap_or_else(|error| panic!("{error}"))
}

/// A class with eight processors.
fn with_class() -> Options {
    Options {
        machine: Machine {
            name: Some("a.class".into()),
            processors: Some(8),
            ..Machine::default()
        },
        ..Options::default()
    }
}

#[test]
fn means_of_a_minute_are_requests_bytes_and_time() {
    let imported = monitored("cloudwatch/rds.json", &with_class());
    let profile = &imported.profile;
    assert_eq!(imported.format, Format::CloudWatch);
    assert_eq!(profile.start.to_string(), "2026-11-21T10:00:00Z");
    let reads: Vec<f64> = profile
        .intervals
        .iter()
        .map(|interval| interval.roles[&Role::Data].reads.count.expect("reads"))
        .collect();
    // The newest comes first in the file; 60 s of 200, 200, 190, 210, 200 per second.
    assert_eq!(reads, [12_000.0, 12_000.0, 11_400.0, 12_600.0, 12_000.0]);
    let io = profile.intervals[0].roles[&Role::Data];
    assert_eq!(io.reads.bytes, Some(98_304_000.0));
    assert_eq!(io.reads.latency(), Some(Duration::from_millis(1)));
    assert_eq!(io.writes.latency(), Some(Duration::from_millis(2)));
    // 25 % of eight processors for 60 s.
    assert_eq!(
        profile.intervals[0].processor,
        Some(Duration::from_secs(120))
    );
    let said = profile.assumptions.join("\n");
    assert!(said.contains("fell from 99 % to 12 %"), "{said}");
    assert!(said.contains("A data point is of 60 s"), "{said}");
    assert_eq!(
        imported.notes,
        ["FreeStorageSpace, FreeableMemory are not used"]
    );
    let unknown = monitored("cloudwatch/rds.json", &Options::default());
    assert_eq!(unknown.profile.intervals[0].processor, None);
    assert!(
        unknown.notes.join("\n").contains("--machine"),
        "{:?}",
        unknown.notes
    );
}

#[test]
fn a_log_volume_has_the_log_alone() {
    let profile = monitored("cloudwatch/rds-log-volume.json", &Options::default()).profile;
    let interval = &profile.intervals[0];
    assert_eq!(interval.roles[&Role::Log].writes.count, Some(3_600.0));
    assert_eq!(
        interval.roles[&Role::Log].writes.latency(),
        Some(Duration::from_micros(500))
    );
    assert_eq!(interval.roles[&Role::Data].writes.count, Some(6_000.0));
    assert_eq!(profile.volumes.len(), 2);
}

#[test]
fn a_file_of_each_metric_says_the_same() {
    let file = |metric: &str, value: f64, unit: &str| {
        let point = |minute: u32| {
            format!(
                r#"{{"Timestamp": "2026-11-21T10:{minute:02}:00+00:00", "Average": {value}, "Unit": "{unit}"}}"#
            )
        };
        format!(
            r#"{{"Label": "{metric}", "Datapoints": [{}, {}]}}"#,
            point(1),
            point(0)
        )
    };
    let all = [
        ("ReadIOPS", 200.0, "Count/Second"),
        ("WriteIOPS", 100.0, "Count/Second"),
        ("ReadThroughput", 1_638_400.0, "Bytes/Second"),
        ("WriteThroughput", 1_638_400.0, "Bytes/Second"),
        ("ReadLatency", 0.001, "Seconds"),
        ("WriteLatency", 0.002, "Seconds"),
    ];
    let texts = all.map(|(metric, value, unit)| (metric, file(metric, value, unit)));
    let import = |texts: &[(&str, String)]| {
        let sources: Vec<Source> = texts
            .iter()
            .map(|(file, text)| Source { file, text })
            .collect();
        import::read(&sources, &Options::default()).map_err(|error| error.to_string())
    };
    let single = import(&texts).expect("a profile").profile;
    let together = monitored("cloudwatch/rds.json", &Options::default()).profile;
    assert_eq!(single.intervals[0].roles, together.intervals[0].roles);
    let sum = texts
        .clone()
        .map(|(metric, text)| (metric, text.replace("Average", "Sum")));
    let refused = import(&sum).expect_err("no average");
    assert!(
        refused.contains("`ReadIOPS` has no `Average`; ask for it with --statistics Average"),
        "{refused}"
    );
    let unit = texts.map(|(metric, text)| (metric, text.replace("Seconds", "Milliseconds")));
    let refused = import(&unit).expect_err("another unit");
    assert!(refused.contains("is in `Milliseconds`"), "{refused}");
    let refused = import(&[("ReadIOPS", file("ReadIOPS", 1.0, "Count/Second"))]);
    let refused = refused.expect_err("only reads");
    assert!(
        refused.contains("volume has no writes per second and no bytes read per second"),
        "{refused}"
    );
}

#[test]
fn azure_monitor_says_the_length_of_a_point_and_tells_disks_apart() {
    let imported = monitored("azure-monitor/flexible.json", &with_class());
    assert_eq!(imported.format, Format::AzureMonitor);
    let io = imported.profile.intervals[0].roles[&Role::Data];
    assert_eq!(io.reads.count, Some(12_000.0));
    assert_eq!(io.reads.waited, None);
    assert_eq!(imported.notes, ["storage_percent is not used"]);
    let two = error(
        "vm.json",
        &text("azure-monitor/data-disks.json"),
        &options(&[]),
    );
    assert!(
        two.contains("--device data=lun0 --device log=lun1"),
        "{two}"
    );
    let profile = profile("azure-monitor/data-disks.json", &["data=lun0", "log=lun1"]);
    let log = profile.intervals[0].roles[&Role::Log];
    assert_eq!(log.writes.latency(), Some(Duration::from_micros(500)));
}

#[test]
fn requests_of_both_kinds_together_are_told_apart_by_bytes_or_refused() {
    let whole = text("azure-monitor/flexible.json");
    // Half of the bytes were read: half of 300.
    let together = whole
        .replace("\"read_iops\"", "\"iops\"")
        .replace("\"write_iops\"", "\"x\"")
        .replace("200.0", "300.0");
    let import = |text: &str| {
        let file = "monitor.json";
        import::read(&[Source { file, text }], &Options::default())
    };
    let profile = import(&together).expect("a profile").profile;
    let io = profile.intervals[0].roles[&Role::Data];
    assert_eq!(
        (io.reads.count, io.writes.count),
        (Some(9_000.0), Some(9_000.0))
    );
    let without = together.replace("\"read_throughput\"", "\"y\"");
    let refused = import(&without).expect_err("no bytes").to_string();
    assert!(
        refused.contains("requests of both kinds together"),
        "{refused}"
    );
}

#[test]
fn what_cannot_be_is_refused_with_its_place() {
    let whole = text("cloudwatch/rds.json");
    let azure = text("azure-monitor/flexible.json");
    for (text, part) in [
        (
            whole.replacen("0.001", "-0.001", 1),
            "`ReadLatency` at 2026-11-21T10:04:00Z: -0.001 is not a count",
        ),
        (
            whole.replacen("25.0", "250.0", 1),
            "`CPUUtilization` at 2026-11-21T10:04:00Z: 250.0 is not a percentage",
        ),
        (whole.replacen("0.001", "1e999", 1), "number out of range"),
        (whole.replacen("0.001", "NaN", 1), "expected value"),
        (
            whole.replacen("0.001,", "", 1),
            "`ReadLatency` has 5 times and 4 values",
        ),
        (
            whole.replacen("10:03", "10:04", 1),
            "`ReadIOPS` has two values at 2026-11-21T10:04:00Z, 200 and 210",
        ),
        (
            whole.replace("10:03:00", "10:03:07"),
            "so that their period is not known",
        ),
        (
            whole.replace("IOPS", "Ops").replace("iops", "ops"),
            "volume has no reads per second",
        ),
        (
            r#"{"MetricDataResults": []}"#.to_owned(),
            "it has no metric",
        ),
        (
            azure.replace("\"average\"", "\"total\""),
            "has no average; ask for it with --aggregation Average",
        ),
        (
            azure.replacen("2026-11-21T10:00:00Z\"", "yesterday\"", 2),
            "is not a readable date and time",
        ),
        (
            r#"{"timespan": "a/b", "value": [{"name": {"value": "x"}, "timeseries": []}]}"#
                .to_owned(),
            "it has no metric",
        ),
    ] {
        let refused = error("x.json", &text, &Options::default());
        assert!(refused.contains(part), "{part}: {refused}");
    }
}

/// 30 intervals of 10 s from 10:00 on: 50 operations, 30 log writes of 240 KiB.
fn recorded() -> Profile {
    let column = |value: f64| format!("{:?}", vec![value; 30]);
    let at: Vec<f64> = (0..30).map(|number| f64::from(number) * 10.0).collect();
    let text = format!(
        "format = \"dbstow.profile/1\"\nstart = \"2026-11-21T10:00:00Z\"\n[origin]\ntool = \"dbstow record\"\n[intervals]\n\
         at_s = {at:?}\nlength_s = {}\noperations = {}\nsessions = {}\nlogical_read_bytes = {}\n[intervals.data]\nreads = {}\nread_bytes = {}\n\
         [intervals.log]\nwrites = {}\nwrite_bytes = {}\n",
        column(10.0),
        column(50.0),
        column(4.0),
        column(81_920_000.0),
        column(9_000.0),
        column(73_728_000.0),
        column(300.0),
        column(2_457_600.0)
    );
    profile::read("recorded.toml", &text).expect("it is whole")
}

#[test]
fn a_recording_is_filled_with_the_requests_of_its_volume() {
    let service = monitored("cloudwatch/rds.json", &with_class());
    let profile = import::fill(&recorded(), service)
        .expect("they are of one time")
        .profile;
    assert_eq!(profile.intervals.len(), 5);
    let interval = &profile.intervals[0];
    // Six intervals of 50.
    assert_eq!(interval.operations, Some(300.0));
    assert_eq!(interval.sessions, Some(4.0));
    assert_eq!(interval.logical_read_bytes, Some(491_520_000.0));
    assert_eq!(interval.processor, Some(Duration::from_secs(120)));
    let (data, log) = (interval.roles[&Role::Data], interval.roles[&Role::Log]);
    // The server's reads were served by a cache in part: the volume's count. 30 of its 100 writes/s are the log's.
    assert_eq!(data.reads.count, Some(12_000.0));
    assert_eq!(
        (data.writes.count, log.writes.count),
        (Some(4_200.0), Some(1_800.0))
    );
    assert_eq!(data.writes.latency(), Some(Duration::from_millis(2)));
    assert_eq!(profile.machine.processors, Some(8));
    assert_eq!(profile.origin.tool, "dbstow record and cloudwatch");
    let own = monitored("cloudwatch/rds-log-volume.json", &Options::default());
    let profile = import::fill(&recorded(), own)
        .expect("they are of one time")
        .profile;
    let (data, log) = (
        profile.intervals[0].roles[&Role::Data],
        profile.intervals[0].roles[&Role::Log],
    );
    assert_eq!(
        (data.writes.count, log.writes.count),
        (Some(6_000.0), Some(3_600.0))
    );
}

#[test]
fn points_that_were_not_recorded_are_left_out_and_other_times_refused() {
    let service = || monitored("cloudwatch/rds.json", &Options::default());
    let mut short = recorded();
    // 10:00 to 10:02:50: the third minute is covered by 83 %.
    short.intervals.truncate(17);
    let profile = import::fill(&short, service())
        .expect("two minutes")
        .profile;
    assert_eq!(profile.intervals.len(), 2);
    short.start = "2026-11-22T10:00:00Z".parse().expect("a time");
    let refused = import::fill(&short, service()).expect_err("another day");
    assert!(
        refused.contains(
            "0 of its 5 points of time were recorded too: it is from 2026-11-21T10:00:00Z to"
        ),
        "{refused}"
    );
}
