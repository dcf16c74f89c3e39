//! What a file has twice counts once; with different figures it is refused.

use super::*;

fn import(text: &str, devices: &[&str]) -> Profile {
    super::import(text, &options(devices))
}

/// Each line but the first, twice.
fn doubled(text: &str) -> String {
    let mut lines = text.lines();
    let header = lines.next().expect("a header");
    let rows: String = lines.map(|line| format!("{line}\n{line}\n")).collect();
    format!("{header}\n{rows}")
}

#[test]
fn rows_of_file_statistics_that_occur_twice_count_once() {
    for name in [
        "blitz-first/file-stats.csv",
        "blitz-first/file-stats-deltas.csv",
        "sql-server/dm-io-virtual-file-stats.csv",
    ] {
        let once = profile(name, &[]);
        let twice = import(&doubled(&text(name)), &[]);
        assert_eq!(twice.intervals, once.intervals, "{name}");
        let part = "Rows that occur twice count once.";
        assert!(assumes(&twice, part) && !assumes(&once, part), "{name}");
        // Of the last row, the one below has another count.
        let text = doubled(&text(name));
        let last = text.lines().last().expect("a row");
        let changed = last.replace(",18000,", ",180001,");
        assert_ne!(last, changed, "{name}");
        let before = text.trim_end().strip_suffix(last).expect("the last");
        let refused = error("t.csv", &format!("{before}{changed}\n"), &options(&[]));
        let part = "file 2 of database 5 has another row above for the same time";
        assert!(refused.contains(part), "{name}: {refused}");
    }
}

#[test]
fn a_device_that_a_record_has_twice_counts_once() {
    for (name, quoted) in [
        ("sysstat/iostat-iso.json", "\"disk_device\": \"vda\""),
        ("sysstat/sadf.json", "\"disk-device\": \"vda\""),
    ] {
        let text = text(name);
        let once = import(&text, &["data=vda"]);
        let mut document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let records = &mut document["sysstat"]["hosts"][0]["statistics"];
        for record in records.as_array_mut().expect("records") {
            if let Some(disks) = record["disk"].as_array_mut() {
                let again = disks.clone();
                disks.extend(again);
            }
        }
        let twice = document.to_string();
        let profile = import(&twice, &["data=vda"]);
        assert_eq!(profile.intervals, once.intervals, "{name}");
        assert!(assumes(&profile, "has a device twice"), "{name}");
        assert!(text.contains(quoted), "{name}");
        let key = match name.contains("iostat") {
            true => "w/s",
            false => "tps",
        };
        let records = &mut document["sysstat"]["hosts"][0]["statistics"];
        let records = records.as_array_mut().expect("records");
        let last = records.last_mut().expect("a record");
        last["disk"][0][key] = 7777.0.into();
        let refused = error("a.json", &document.to_string(), &options(&["data=vda"]));
        assert!(
            refused.contains("twice, with different figures; leave one of them out"),
            "{refused}"
        );
    }
    let lines = text("sysstat/sadf-d.csv");
    let rows: String = lines
        .lines()
        .map(|line| match line.starts_with('#') {
            true => format!("{line}\n"),
            false => format!("{line}\n{line}\n"),
        })
        .collect();
    let once = import(&lines, &["data=vda"]);
    assert_eq!(import(&rows, &["data=vda"]).intervals, once.intervals);
}

#[test]
fn a_counter_of_windows_that_occurs_twice_is_not_added_up() {
    let devices = ["data=D:", "log=D:", "temp=T:"];
    let once = text("perfmon/relog.csv");
    // Each column but the time, twice.
    let columns = |line: &str| {
        let (time, rest) = line.split_once(',').expect("columns");
        format!("{time},{rest},{rest}\n")
    };
    let twice: String = once.lines().map(columns).collect();
    let (once, twice) = (import(&once, &devices), import(&twice, &devices));
    assert_eq!(twice, once);
}
