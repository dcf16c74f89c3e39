//! What a file says twice is compared: corrected where the fault is known, refused or noted where it is not.

use super::*;

fn import(text: &str, devices: &[&str]) -> Profile {
    super::import(text, &options(devices))
}

#[test]
fn blocks_that_iostat_calls_kilobytes_or_megabytes_are_corrected() {
    for (name, divisor) in [
        ("sysstat/iostat-blocks-called-kB.json", "divided by 2."),
        ("sysstat/iostat-blocks-called-MB.json", "divided by 2048."),
    ] {
        let profile = profile(name, &[]);
        let reads = rate(&profile, Role::Data, |io| io.reads.count);
        let bytes = rate(&profile, Role::Data, |io| io.reads.bytes);
        // 283 reads/s of 16 KiB are 4.6 MB/s, not 9.3.
        near(bytes, reads * 16384.0, 0.001);
        near(bytes, 4.63e6, 0.01);
        let writes = rate(&profile, Role::Data, |io| io.writes.count);
        near(
            rate(&profile, Role::Data, |io| io.writes.bytes),
            writes * 8192.0,
            0.001,
        );
        assert!(assumes(&profile, divisor), "{:?}", profile.assumptions);
        assert!(
            assumes(&profile, "sysstat 12.1.2 to 12.2.0"),
            "{:?}",
            profile.assumptions
        );
    }
    // Recorded with -d: there is no processor time to speak of.
    let blocks = profile("sysstat/iostat-blocks-called-kB.json", &[]);
    assert!(
        !assumes(&blocks, "Processor time"),
        "{:?}",
        blocks.assumptions
    );
    // What is right stays as it is, to the digit, and is not mentioned.
    let right = profile("sysstat/iostat-megabytes.json", &[]);
    near(
        rate(&right, Role::Data, |io| io.reads.bytes),
        3.12 * 1_048_576.0,
        0.01,
    );
    assert!(!assumes(&right, "blocks"), "{:?}", right.assumptions);
}

#[test]
fn bytes_that_are_not_requests_times_their_size_are_refused() {
    let wrong = text("sysstat/iostat-blocks-called-kB.json").replace("\"rkB/s\": ", "\"rkB/s\": 1");
    let refused = error("io.json", &wrong, &options(&[]));
    assert!(
        refused.starts_with("io.json: it contradicts itself: its bytes are 4.")
            && refused.contains("record again"),
        "{refused}"
    );
    // One record of many.
    let one =
        text("sysstat/iostat-iso.json").replacen("\"rkB/s\": 3200.00", "\"rkB/s\": 3900.00", 1);
    let refused = error("io.json", &one, &options(&[]));
    assert_eq!(
        refused,
        "io.json: record 3 contradicts itself: bytes of vda are not `r/s` x `rareq-sz`; correct it, or leave the record out"
    );
    let sar = text("sysstat/sadf.json").replacen("\"rkB\": 3200.00", "\"rkB\": 6400.00", 1);
    let refused = error("sar.json", &sar, &options(&[]));
    assert!(
        refused.contains("record 2 contradicts itself: kilobytes of vda"),
        "{refused}"
    );
}

#[test]
fn a_latency_that_does_not_give_the_queue_is_noted() {
    let queue = text("sysstat/iostat-iso.json").replace("\"aqu-sz\": 0.", "\"aqu-sz\": 5.");
    let profile = import(&queue, &[]);
    assert!(
        assumes(
            &profile,
            "vda contradicts itself: rates times latencies give 0.0"
        ),
        "{:?}",
        profile.assumptions
    );
    // Requests of 20 us that keep a disk busy all the time would be 50,000 a second.
    let busy = text("sysstat/sadf.json").replace("\"util-percent\": 0.", "\"util-percent\": 90.");
    let profile = import(&busy, &[]);
    assert!(
        assumes(&profile, "`util-percent` says 0."),
        "{:?}",
        profile.assumptions
    );
}

/// A file of relog with one volume; `more` are counters, of it where they name no object, with their value, which is the same in
/// each of four rows.
fn relog(more: &[(&str, &str)]) -> String {
    let counters = [
        ("Disk Reads/sec", "100"),
        ("Disk Writes/sec", "50"),
        ("Disk Read Bytes/sec", "819200"),
        ("Disk Write Bytes/sec", "409600"),
        ("Avg. Disk sec/Read", "0.004"),
        ("Avg. Disk sec/Write", "0.002"),
    ];
    let all: Vec<&(&str, &str)> = counters.iter().chain(more).collect();
    let header: String = all
        .iter()
        .map(|(name, _)| match name.contains('\\') {
            true => format!(",\"\\\\S\\{name}\""),
            false => format!(",\"\\\\S\\LogicalDisk(D:)\\{name}\""),
        })
        .collect();
    let values: String = all
        .iter()
        .map(|(_, value)| format!(",\"{value}\""))
        .collect();
    let rows: String = (0..4)
        .map(|row| format!("\"09/22/2026 21:42:{row}0.000\"{values}\n"))
        .collect();
    format!("\"(PDH-CSV 4.0) (UTC)(0)\"{header}\n{rows}")
}

#[test]
fn counters_of_windows_that_contradict_one_another_are_noted() {
    let right = [
        ("Avg. Disk Bytes/Read", "8192"),
        ("Disk Transfers/sec", "150"),
        ("Avg. Disk Read Queue Length", "0.4"),
        // 100 reads/s of 4 ms and 50 writes/s of 2 ms are 0.5 in flight.
        ("Avg. Disk Queue Length", "0.5"),
        ("% Idle Time", "60"),
        ("Disk Bytes/sec", "1228800"),
        ("Avg. Disk Bytes/Transfer", "8192"),
        ("Avg. Disk sec/Transfer", "0.003333"),
        (r"LogicalDisk(_Total)\Disk Reads/sec", "100"),
    ];
    assert_eq!(import(&relog(&right), &["data=D:"]).assumptions, [""; 0]);
    for (counter, value, part) in [
        (
            "Avg. Disk Bytes/Read",
            "65536",
            "`Disk reads/sec` x `Avg. Disk Bytes/read`",
        ),
        (
            "Disk Transfers/sec",
            "300",
            "`Disk Transfers/sec` are 300 a second, and 150 by",
        ),
        (
            "Avg. Disk Read Queue Length",
            "7",
            "rates times latencies give 0.40 requests in flight",
        ),
        (
            "Avg. Disk Queue Length",
            "50",
            "give 0.50 requests in flight, and `Avg. Disk Queue Length` says 50.00",
        ),
        (
            "% Idle Time",
            "99.99",
            "and `% Idle Time` says that it was busy for 0.01 % of the time",
        ),
        (
            "Avg. Disk sec/Transfer",
            "0.4",
            "and `Avg. Disk sec/Transfer` says 60.00",
        ),
        (
            "Disk Bytes/sec",
            "1",
            "`Disk Bytes/sec` are 1 a second, and 1,228,800 by",
        ),
        (
            "Avg. Disk Bytes/Transfer",
            "65536",
            "`Avg. Disk Bytes/Transfer` are 9,830,400 a second, and 1,228,800 by",
        ),
        (
            r"LogicalDisk(_Total)\Disk Reads/sec",
            "900",
            "`logicaldisk(_Total)` has 900 reads a second, and its disks in the file 100 together",
        ),
    ] {
        let profile = import(&relog(&[(counter, value)]), &["data=D:"]);
        assert!(
            assumes(&profile, part),
            "{counter}: {:?}",
            profile.assumptions
        );
    }
}

#[test]
fn disks_that_do_not_count_what_volumes_count_are_noted() {
    let physical = |rate| {
        let text = relog(&[
            (r"PhysicalDisk(0 D:)\Disk Reads/sec", rate),
            (r"PhysicalDisk(0 D:)\Disk Writes/sec", "50"),
        ]);
        let file = "a file";
        import::read(&[Source { file, text: &text }], &options(&["data=D:"])).expect("a profile")
    };
    let same = physical("100");
    assert_eq!(same.profile.assumptions, [""; 0]);
    assert_eq!(
        same.notes,
        ["counters of PhysicalDisk are not used: those of LogicalDisk count the same requests"]
    );
    let other = physical("200");
    assert!(
        assumes(
            &other.profile,
            "PhysicalDisk has 200 reads a second, and LogicalDisk 100"
        ),
        "{:?}",
        other.profile.assumptions
    );
    assert_eq!(other.notes, ["counters of PhysicalDisk are not used"]);
}

#[test]
fn a_log_that_was_flushed_more_often_than_its_volume_was_written_is_noted() {
    const FLUSHES: &str = r"SQLServer:Databases(_Total)\Log Flushes/sec";
    const FLUSHED: &str = r"SQLServer:Databases(_Total)\Log Bytes Flushed/sec";
    let shared = ["data=D:", "log=D:"];
    let right = [(FLUSHES, "40"), (FLUSHED, "200000")];
    let profile = import(&relog(&right), &shared);
    assert!(!assumes(&profile, "is wrong"), "{:?}", profile.assumptions);
    for (more, devices, part) in [
        (
            [(FLUSHES, "900"), (FLUSHED, "200000")],
            shared.as_slice(),
            "`Log Flushes/sec` is 900, and `Disk Writes/sec` of the volumes with the log 50: all of these count as the log's, \
             and none as data's",
        ),
        (
            [(FLUSHES, "40"), (FLUSHED, "9e9")],
            shared.as_slice(),
            "`Log Bytes Flushed/sec` is 9,000,000,000, and `Disk Write Bytes/sec` of the volumes with the log 409,600",
        ),
        (
            [(FLUSHES, "100"), (FLUSHED, "200000")],
            &["log=D:"],
            "`Log Flushes/sec` is 100, and `Disk Writes/sec` of the volumes with the log 50: these count",
        ),
        (
            [
                (FLUSHES, "20"),
                (r"SQLServer:Databases(shop)\Log Flushes/sec", "45"),
            ],
            shared.as_slice(),
            "`Databases(_Total)` has 20 of `Log Flushes/sec`, and its databases 45 together",
        ),
    ] {
        let profile = import(&relog(&more), devices);
        assert!(assumes(&profile, part), "{part}: {:?}", profile.assumptions);
    }
}

#[test]
fn a_mean_of_the_view_that_is_not_time_over_requests_is_noted() {
    let view = text("blitz-first/file-stats-deltas.csv");
    assert!(!assumes(&import(&view, &[]), "io_stall_read_ms_average"));
    // 90,000 ms of 30,000 reads are 3 ms.
    let wrong = view.replace(",90000,3.0,30000,", ",90000,30.0,30000,");
    assert!(assumes(
        &import(&wrong, &[]),
        "`io_stall_read_ms_average` is not time waited over requests"
    ));
}

#[test]
fn totals_of_a_trace_that_its_lines_do_not_give_are_noted() {
    let whole = text("blktrace/blkparse.txt");
    assert!(!assumes(&import(&whole, &[]), "contradicts itself"));
    // 60 reads completed; the first of them is cut out.
    let first = whole
        .lines()
        .find(|line| line.contains("  C   R "))
        .expect("a read that completed");
    let cut = whole.replacen(&format!("{first}\n"), "", 1);
    let part = "its totals are 60 reads and 45 writes that completed, and its lines have 59 and 45";
    assert!(
        assumes(&import(&cut, &[]), part),
        "{:?}",
        import(&cut, &[]).assumptions
    );
}

#[test]
fn a_negative_count_is_refused() {
    let iostat = text("sysstat/iostat-iso.json").replacen("\"r/s\": ", "\"r/s\": -", 3);
    let refused = error("io.json", &iostat, &options(&[]));
    assert!(
        refused.contains("`r/s`: -") && refused.contains("is not a count"),
        "{refused}"
    );
    let relog = relog(&[]).replace("\"100\"", "\"-1\"");
    let refused = error("p.csv", &relog, &options(&["data=D:"]));
    assert!(
        refused.contains("`-1` is negative, and no count or time is"),
        "{refused}"
    );
}

#[test]
fn a_type_of_file_that_sql_server_does_not_have_is_refused() {
    for name in [
        "blitz-first/file-stats.csv",
        "blitz-first/file-stats-deltas.csv",
    ] {
        let wrong = text(name).replace(",LOG,", ",BANANA,");
        let refused = error("f.csv", &wrong, &options(&[]));
        assert!(
            refused
                .starts_with("f.csv:3: the type of the file is `BANANA`, and there are ROWS, LOG"),
            "{refused}"
        );
    }
}

#[test]
fn the_zone_of_a_file_counts() {
    let offset = |offset: &str, devices: &[&str]| Options {
        utc_offset: Some(offset.parse().expect("an offset")),
        ..options(devices)
    };
    let lines = text("sysstat/sadf-d.csv");
    let cet = lines.replace(" UTC;", " CET;");
    let refused = error("s.csv", &cet, &options(&[]));
    assert!(
        refused.contains(
            "its times are in the zone `CET`, whose offset is not in the file; give --utc-offset"
        ),
        "{refused}"
    );
    let both = cet.replacen(" CET;", " CEST;", 4);
    let refused = error("s.csv", &both, &offset("+01:00", &[]));
    assert!(refused.contains("in the zones `CE"), "{refused}");
    let read = |text: &str, given: &Options| {
        let file = "a file";
        import::read(&[Source { file, text }], given).expect("a profile")
    };
    let hour = read(&lines, &options(&[])).profile.start.as_second()
        - read(&cet, &offset("+01:00", &[])).profile.start.as_second();
    assert_eq!(hour, 3600);
    // perfmon's header says -60 minutes.
    let relog = text("perfmon/relog.csv");
    let devices = ["data=D:", "log=D:", "temp=T:"];
    let other = read(&relog, &offset("+05:00", &devices));
    assert_eq!(other.profile, read(&relog, &options(&devices)).profile);
    let expected = "--utc-offset has no effect: the header of the file has its offset";
    assert!(
        other.notes.iter().any(|note| note == expected),
        "{:?}",
        other.notes
    );
}

#[test]
fn what_is_missing_or_in_another_order_is_reported() {
    let name = "microsoft/server_PerformanceAggregated_Counters.csv";
    let renamed = text(name).replace(",FNR,", ",XYZ,");
    let refused = error(name, &renamed, &options(&[]));
    assert!(
        refused.contains("no row has a Mean of FNR; give the file as"),
        "{refused}"
    );
    let none = text(name).replace("Occurence,19", "Occurence,0");
    let refused = error(name, &none, &options(&[]));
    assert!(
        refused.contains("and `Occurence` is 0; correct it"),
        "{refused}"
    );
    let whole = relog(&[]);
    let (header, rows) = whole.split_once('\n').expect("a header");
    let newest_first: Vec<&str> = rows.lines().rev().collect();
    let text = format!("{header}\n{}\n", newest_first.join("\n"));
    let refused = error("p.csv", &text, &options(&["data=D:"]));
    assert!(
        refused.contains("no complete interval")
            && refused.contains("times go back 3 times: sort the rows by time"),
        "{refused}"
    );
    let german = whole.replace("09/22/2026", "22/09/2026");
    let refused = error("p.csv", &german, &options(&["data=D:"]));
    assert!(
        refused.contains("give --dates dmy if days come first"),
        "{refused}"
    );
}
