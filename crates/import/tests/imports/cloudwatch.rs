//! Answers of CloudWatch about a volume of EBS: a file a metric, read together where they name their statistic.

use super::*;

/// An answer with three data points of 5 min, the last one first, as CloudWatch sorts nothing.
fn answer(metric: &str, statistic: &str, value: f64) -> String {
    answer_at([10, 0, 5], metric, statistic, value)
}

fn answer_at(minutes: [u32; 3], metric: &str, statistic: &str, value: f64) -> String {
    let unit = match metric {
        _ if metric.ends_with("Bytes") => "Bytes",
        _ if metric.ends_with("Time") => "Seconds",
        "BurstBalance" => "Percent",
        _ => "Count",
    };
    let points = minutes.map(|minute| {
        format!(r#"{{"Timestamp": "2026-11-21T10:{minute:02}:00+00:00", "{statistic}": {value}, "Unit": "{unit}"}}"#)
    });
    format!(
        r#"{{"Label": "{metric}", "Datapoints": [{}]}}"#,
        points.join(", ")
    )
}

/// 200 reads/s of 8 KiB and 1 ms, 100 writes/s of 16 KiB and 2 ms.
fn answers() -> Vec<(&'static str, String)> {
    [
        ("VolumeReadOps", 60_000.0),
        ("VolumeReadBytes", 491_520_000.0),
        ("VolumeTotalReadTime", 60.0),
        ("VolumeWriteOps", 30_000.0),
        ("VolumeWriteBytes", 491_520_000.0),
        ("VolumeTotalWriteTime", 60.0),
    ]
    .map(|(metric, sum)| (metric, answer(metric, "Sum", sum)))
    .to_vec()
}

fn import(answers: &[(&'static str, String)], devices: &[&str]) -> Result<Imported, String> {
    let sources: Vec<Source> = answers
        .iter()
        .map(|(file, text)| Source { file, text })
        .collect();
    import::read(&sources, &options(devices)).map_err(|error| error.to_string())
}

#[test]
fn sums_over_periods_are_requests_bytes_and_time() {
    let imported = import(&answers(), &[]).expect("a profile");
    let profile = &imported.profile;
    assert_eq!(
        (imported.format, profile.intervals.len()),
        (Format::CloudWatch, 3)
    );
    assert_eq!(profile.start.to_string(), "2026-11-21T10:00:00Z");
    for interval in &profile.intervals {
        assert_eq!(interval.length, Duration::from_secs(300));
        let io = interval.roles[&Role::Data];
        assert_eq!(
            (io.reads.count, io.reads.bytes),
            (Some(60_000.0), Some(491_520_000.0))
        );
        assert_eq!(io.reads.latency(), Some(Duration::from_millis(1)));
        assert_eq!(io.writes.latency(), Some(Duration::from_millis(2)));
    }
    assert_eq!(profile.assumptions.len(), 3, "{:?}", profile.assumptions);
    let log = import(&answers(), &["log=volume"])
        .expect("a profile")
        .profile;
    assert!(log.intervals[0].roles.contains_key(&Role::Log));
}

#[test]
fn units_are_converted_or_refused() {
    let with = |metric: &'static str, from: &str, to: &str| {
        let mut answers = answers();
        let (_, text) = answers
            .iter_mut()
            .find(|(file, _)| *file == metric)
            .expect("a metric");
        *text = text.replace(from, to);
        import(&answers, &[])
    };
    let sums = import(&answers(), &[]).expect("a profile").profile;
    for (metric, from, to) in [
        (
            "VolumeTotalReadTime",
            r#": 60, "Unit": "Seconds""#,
            r#": 60000, "Unit": "Milliseconds""#,
        ),
        (
            "VolumeTotalWriteTime",
            r#": 60, "Unit": "Seconds""#,
            r#": 60000000, "Unit": "Microseconds""#,
        ),
        (
            "VolumeReadBytes",
            r#": 491520000, "Unit": "Bytes""#,
            r#": 491520, "Unit": "Kilobytes""#,
        ),
    ] {
        let converted = with(metric, from, to).expect("a profile").profile;
        assert_eq!(converted.intervals, sums.intervals, "{metric}");
        let note = converted.assumptions.join("\n");
        let is_noted =
            note.contains("Kilobytes of `VolumeReadBytes` are 1000 bytes each: no page of AWS");
        assert_eq!(is_noted, metric == "VolumeReadBytes", "{note}");
    }
    let without = with("VolumeReadBytes", r#", "Unit": "Bytes""#, "").expect("a profile");
    assert_eq!(without.profile.intervals, sums.intervals);
    let note = without.profile.assumptions.join("\n");
    assert!(
        note.contains("`VolumeReadBytes` has no `Unit`: it is taken to be Bytes"),
        "{note}"
    );
    // 491,520,000,000 B of 60,000 requests.
    let large = with("VolumeReadBytes", r#""Bytes""#, r#""Kilobytes""#).expect("a profile");
    let note = large.profile.assumptions.join("\n");
    assert!(
        note.contains("`VolumeReadBytes` over `VolumeReadOps` is 7.8 MiB a request"),
        "{note}"
    );
    for (metric, from, to) in [
        ("VolumeReadBytes", "Bytes", "Bytes/Second"),
        ("VolumeReadOps", "Count", "Count/Second"),
        ("VolumeTotalReadTime", "Seconds", "Count"),
        ("VolumeWriteOps", "Count", "None"),
    ] {
        let refused = with(
            metric,
            &format!(r#""Unit": "{from}""#),
            &format!(r#""Unit": "{to}""#),
        )
        .expect_err("another unit");
        let part = format!("is in `{to}`, which is none of its units ({from}");
        assert!(refused.contains(&part), "{refused}");
    }
}

#[test]
fn a_period_is_what_the_nearest_points_are_apart() {
    let at = |minutes: [u32; 3]| {
        let answers = answers();
        let moved = answers.into_iter().map(|(metric, _)| {
            let sum = if metric.ends_with("Ops") {
                30_000.0
            } else {
                60.0
            };
            (metric, answer_at(minutes, metric, "Sum", sum))
        });
        import(&moved.collect::<Vec<_>>(), &[])
    };
    // Without requests from 10:10 on, there is no point.
    let profile = at([0, 5, 20]).expect("a profile").profile;
    let lengths = profile.intervals.iter().map(|interval| interval.length);
    assert!(
        lengths
            .clone()
            .all(|length| length == Duration::from_secs(300))
    );
    assert_eq!(lengths.count(), 3);
    let mixed = at([0, 5, 12]).expect_err("two periods");
    assert!(mixed.contains("ask for one --period"), "{mixed}");
    let same_time = answer("VolumeReadOps", "Sum", 1.0).replace("10:10", "10:00");
    let twice = same_time.replacen(": 1,", ": 2,", 1);
    let mut answers = answers();
    answers[0].1 = twice;
    let twice = import(&answers, &[]).expect_err("which?");
    assert!(twice.contains("has two values at"), "{twice}");
}

#[test]
fn answers_that_contradict_one_another_or_name_too_little_are_noted_or_refused() {
    let with = |metric: &'static str, text: String| {
        let mut answers = answers();
        answers.retain(|(file, _)| *file != metric);
        answers.push((metric, text));
        import(&answers, &[])
    };
    // 120 s of requests in 300 s are 0.4 in flight.
    let queue = with(
        "VolumeQueueLength",
        answer("VolumeQueueLength", "Average", 8.0),
    )
    .expect("a profile");
    let note =
        "rates times latencies give 0.40 requests in flight, and `VolumeQueueLength` says 8.00";
    assert!(
        queue
            .profile
            .assumptions
            .iter()
            .any(|line| line.contains(note)),
        "{:?}",
        queue.profile.assumptions
    );
    let right = with(
        "VolumeQueueLength",
        answer("VolumeQueueLength", "Average", 0.4),
    )
    .expect("a profile");
    assert_eq!(right.profile.assumptions.len(), 3);
    let burst = with("BurstBalance", answer("BurstBalance", "Average", 99.0)).expect("a profile");
    assert_eq!(burst.notes, ["BurstBalance is not used"]);
    for (metric, text, part) in [
        (
            "VolumeReadOps",
            answer("VolumeReadOps", "Average", 200.0),
            "`VolumeReadOps` has no `Sum`; ask for it with --statistics Sum",
        ),
        (
            "VolumeReadOps",
            answer("VolumeReadBytes", "Sum", 1.0),
            "it has `VolumeReadBytes`, as VolumeReadBytes has; which volume",
        ),
        (
            "VolumeReadOps",
            answer("VolumeIdleTime", "Sum", 1.0),
            "`VolumeReadOps` is in none of the files; give one for each of",
        ),
        (
            "VolumeReadOps",
            answer("VolumeReadOps", "Sum", -1.0),
            "`VolumeReadOps` at 2026-11-21T10:10:00+00:00: -1.0 is not a count",
        ),
    ] {
        let refused = with(metric, text).expect_err("it is wrong");
        assert!(refused.contains(part), "{refused}");
    }
    let data = r#"{"MetricDataResults": [{"Id": "m1", "Label": "VolumeReadOps", "Timestamps": [], "Values": []}]}"#;
    let refused = error("a.json", data, &options(&[]));
    assert!(
        refused.contains("get-metric-statistics --statistics Sum"),
        "{refused}"
    );
}

#[test]
fn metrics_of_other_times_are_reported() {
    let mut answers = answers();
    let (_, writes) = &mut answers[3];
    *writes = writes.replace("T10:", "T11:");
    let refused = import(&answers, &[]).expect_err("an hour apart");
    let part = "its metrics have no time in common (their first times: `VolumeReadOps` 2026-11-21T10:00:00Z";
    assert!(
        refused.contains(part) && refused.contains("`VolumeWriteOps` 2026-11-21T11:00:00Z"),
        "{refused}"
    );
}
