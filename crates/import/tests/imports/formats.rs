//! Each form of a file is recognised: read where it says enough, refused with its name and what to give instead where not.

use super::*;

/// The lines of a text but the first.
fn without_header(text: &str) -> String {
    text.lines()
        .skip(1)
        .map(|line| format!("{line}\n"))
        .collect()
}

#[test]
fn text_for_people_is_refused_with_the_command_that_records_json() {
    const IOSTAT: &str =
        "record JSON with `S_TIME_FORMAT=ISO iostat -x -t -o JSON 10 > iostat.json`";
    const SAR: &str =
        "export its file as JSON with `sadf -j /var/log/sysstat/saDD -- -d -u -b > sar.json`";
    let iostat = text("sysstat/iostat-x-text.txt");
    let (banner, without_banner) = iostat.split_once("\n\n").expect("a banner");
    let old = "Device:         rrqm/s   wrqm/s     r/s     w/s    rkB/s    wkB/s avgrq-sz avgqu-sz   await  svctm  %util\n\
               sda               0.00     3.00  120.00   80.00   960.00  1280.00    22.40     0.33    1.60   0.50  10.00\n";
    let last = "     tps      kB_read/s    kB_wrtn/s    kB_read    kB_wrtn Device\n   120.00       960.0k        1.3M       9.4M      12.5M sda\n";
    let sar = "Linux 4.18.0-240.1.1.el8_3.x86_64 (db1) \t09/24/2021 \t_x86_64_\t(4 CPU)\n\n";
    let devices = "12:00:01 AM       DEV       tps     rkB/s     wkB/s   areq-sz    aqu-sz     await     svctm     %util\n\
                   12:10:01 AM       sda    200.00    960.00   1280.00     11.20      0.33      1.60      0.50     10.00\n";
    let processors = "12:00:01        CPU     %user     %nice   %system   %iowait    %steal     %idle\n\
                      12:10:01        all      4.10      0.00      1.20      9.50      0.00     85.20\n";
    for (text, part) in [
        (iostat.clone(), IOSTAT),
        (without_banner.to_owned(), IOSTAT),
        (format!("{banner}\n\n{old}"), IOSTAT),
        (format!("{banner}\n\n{last}"), IOSTAT),
        (format!("{sar}{devices}"), SAR),
        (devices.to_owned(), SAR),
        (format!("{sar}{processors}"), SAR),
    ] {
        let refused = error("io.txt", &text, &options(&[]));
        assert!(
            refused.starts_with("io.txt: this is the text of ") && refused.contains(part),
            "{text}: {refused}"
        );
    }
}

#[test]
fn results_and_statistics_that_say_too_little_are_named() {
    let fio = "fio: this platform does not support process shared mutexes\n{\n  \"fio version\" : \"fio-3.33\",\n  \"jobs\" : []\n}\n";
    let diskspd = "\u{feff}<Results>\n<System><ComputerName>S</ComputerName></System>\n<Profile></Profile>\n<TimeSpan></TimeSpan>\n</Results>\n";
    let cloudwatch = r#"{"MetricDataResults": [{"Id": "m1", "Label": "VolumeReadOps", "Timestamps": [], "Values": []}]}"#;
    let azure =
        "Time,Disk Read Operations/Sec,Disk Write Operations/Sec\n2026-11-21T10:00:00Z,1,2\n";
    let screen = "Pattern,Sample Time,Sample (seconds),File Name,Drive,# Reads/Writes,MB Read/Written,Avg Stall (ms),file physical name,DatabaseName,StallRank\n\
                  PHYSICAL READS,2026-11-21 10:00:00,5,shop [ROWS],D:,10,1,3,D:\\shop.mdf,shop,1\n";
    let rows = without_header(screen);
    let means = "ReadLatency,WriteLatency,Latency,AvgBPerRead,AvgBPerWrite,AvgBPerTransfer,Drive,DB,physical_name\n1,2,3,8192,8192,8192,D:,shop,D:\\shop.mdf\n";
    for (text, name, remedy) in [
        (fio, "a result of fio", "`dbstow calibrate`"),
        (diskspd, "a result of diskspd", "`dbstow calibrate`"),
        (
            cloudwatch,
            "an answer of CloudWatch to get-metric-data",
            "`aws cloudwatch get-metric-statistics --statistics Sum`",
        ),
        (azure, "a CSV of Azure Monitor", "record the server"),
        (
            screen,
            "what sp_BlitzFirst shows",
            "@OutputTableNameFileStats",
        ),
        (
            &rows,
            "what sp_BlitzFirst shows",
            "@OutputTableNameFileStats",
        ),
        (
            means,
            "means of sys.dm_io_virtual_file_stats",
            "select * from",
        ),
    ] {
        let refused = error("x", text, &options(&[]));
        assert!(
            refused.starts_with(&format!("x: this is {name}")) && refused.contains(remedy),
            "{refused}"
        );
    }
    let refused = error("S_CommonDbLevel_Counters.csv", "a,b\n1,2\n", &options(&[]));
    assert!(
        refused.contains("give the file `.._PerformanceAggregated_Counters.csv` beside it"),
        "{refused}"
    );
}

#[test]
fn the_lines_of_sadf_say_what_its_json_says() {
    let json = profile("sysstat/sadf.json", &[]);
    let lines = profile("sysstat/sadf-d.csv", &[]);
    assert_eq!(lines.intervals, json.intervals);
    assert_eq!(
        (lines.start, lines.machine.processors),
        (json.start, Some(2))
    );
    // Columns have other names before 11.5.7: sectors of 512 B.
    let sectors = text("sysstat/sadf-d.csv").replace(
        "rkB/s;wkB/s;dkB/s;areq-sz;aqu-sz",
        "rd_sec/s;wr_sec/s;x;avgrq-sz;avgqu-sz",
    );
    let old = import(&sectors, &options(&[]));
    near(
        rate(&old, Role::Data, |io| io.reads.bytes) * 2.0,
        rate(&json, Role::Data, |io| io.reads.bytes),
        1e-9,
    );
    let wide = "# hostname;interval;timestamp;DEV;tps;rkB/s;wkB/s;areq-sz;aqu-sz;await;%util[...]\nserver;1;2026-11-22 10:00:00 UTC;sda;1\n";
    let refused = error("s.csv", wide, &options(&[]));
    assert!(
        refused.starts_with("s.csv:1: its lines have several devices (-h)"),
        "{refused}"
    );
    // A language with decimal commas.
    let commas = import(&text("sysstat/sadf-d.csv").replace('.', ","), &options(&[]));
    assert_eq!(commas.intervals, json.intervals);
    let wrong = "# hostname;interval;timestamp;DEV;tps;rkB/s;wkB/s\nserver;2;2026-11-22 10:00:00 UTC;sda;1.00;x;3.00\n";
    let refused = error("s.csv", wrong, &options(&[]));
    assert!(refused.contains("rkB/s: `x` is not a number"), "{refused}");
    let two = text("sysstat/sadf-d.csv").replacen("\nserver;2;", "\nother;2;", 1);
    let refused = error("s.csv", &two, &options(&[]));
    assert!(refused.contains("lines of several hosts"), "{refused}");
}

#[test]
fn the_view_of_sql_server_says_what_the_table_says() {
    let table = profile("blitz-first/file-stats.csv", &[]);
    let name = "sql-server/dm-io-virtual-file-stats.csv";
    let view = profile(name, &[]);
    assert_eq!(view.intervals, table.intervals);
    assert_eq!(view.interruptions, table.interruptions);
    for part in ["its log, and no other", "starts in 1970"] {
        let is_assumed = view.assumptions.iter().any(|note| note.contains(part));
        assert!(is_assumed, "{part}: {:?}", view.assumptions);
    }
    let given = Options {
        start: Some("2026-11-21T09:00:00Z".parse().expect("a time")),
        ..options(&[])
    };
    assert_eq!(import(&text(name), &given).start, table.start);
    // The rows of the first look only.
    let once: String = text(name)
        .lines()
        .take(5)
        .map(|line| format!("{line}\n"))
        .collect();
    let refused = error("v.csv", &once, &options(&[]));
    assert!(
        refused.contains("one snapshot of counters since the server started; select at least three times, some minutes apart"),
        "{refused}"
    );
    let back = text(name).replace(",87300000,", ",100,");
    let refused = error("v.csv", &back, &options(&[]));
    assert!(refused.contains("`sample_ms` goes back"), "{refused}");
    let stall = import(
        &text(name)
            .replace(",340000,", ",9990000,")
            .replace(",70000,", ",9990000,"),
        &options(&[]),
    );
    assert!(
        stall
            .assumptions
            .iter()
            .any(|note| note.contains("`io_stall` is not")),
        "{:?}",
        stall.assumptions
    );
}

#[test]
fn a_sample_ms_that_wraps_goes_on() {
    let name = "sql-server/dm-io-virtual-file-stats.csv";
    let (whole, right) = (text(name), profile(name, &[]));
    // Samples are 86,400,000 + n * 900,000; the third one comes 100,000 ms after 2^31, as an int.
    let third = (1_i64 << 31) + 100_000;
    let lines = whole.lines().map(|line| {
        let mut cells: Vec<String> = line.split(',').map(str::to_owned).collect();
        if let Ok(sample) = cells[2].parse::<i64>() {
            let moved = sample - 88_200_000 + third;
            let wrapped = if moved >= 1 << 31 {
                moved - (1 << 32)
            } else {
                moved
            };
            cells[2] = wrapped.to_string();
        }
        format!("{}\n", cells.join(","))
    });
    let wrapped: String = lines.collect();
    assert!(
        wrapped.contains(",2146683648,") && wrapped.contains(",-2147383648,"),
        "{wrapped}"
    );
    let profile = import(&wrapped, &options(&[]));
    assert_eq!(profile.intervals, right.intervals);
    let expected = "`sample_ms` goes on below 0 after 24.8 days";
    assert!(
        profile
            .assumptions
            .iter()
            .any(|line| line.starts_with(expected)),
        "{:?}",
        profile.assumptions
    );
    // File by file rather than time by time.
    let mut rows: Vec<&str> = wrapped.lines().collect();
    rows[1..].sort_by_key(|row| {
        row.split(',')
            .take(2)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    });
    assert_eq!(
        import(&rows.join("\n"), &options(&[])).intervals,
        right.intervals
    );
    let beyond = wrapped.replacen(",2146683648,", ",4294967295,", 1);
    let refused = error("v.csv", &beyond, &options(&[]));
    assert!(
        refused.contains("other rows are negative, as only an `int` (up to 2147483647) is"),
        "{refused}"
    );
}

#[test]
fn tables_of_blitz_first_are_read_without_names() {
    for name in [
        "blitz-first/file-stats.csv",
        "blitz-first/file-stats-deltas.csv",
    ] {
        let with = profile(name, &[]);
        let without = import(&without_header(&text(name)), &options(&[]));
        assert_eq!(
            (&without.intervals, without.start),
            (&with.intervals, with.start),
            "{name}"
        );
        let is_assumed = without
            .assumptions
            .iter()
            .any(|note| note.contains("has no column names"));
        assert!(is_assumed, "{:?}", without.assumptions);
    }
    // Sixteen columns of something else.
    let other = "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16\n1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16\n";
    assert_eq!(import::sniff("a.csv", other), None);
}

#[test]
fn performance_counters_are_read_whatever_separates_them() {
    let devices = ["data=D:", "log=D:", "temp=T:"];
    let comma = profile("perfmon/relog.csv", &devices);
    for (separator, quoted) in [("|", true), ("|", false), ("\t", true), (";", false)] {
        let other = text("perfmon/relog.csv").replace("\",\"", &format!("\"{separator}\""));
        let other = if quoted {
            other
        } else {
            other.replace('"', "")
        };
        assert_eq!(import(&other, &options(&devices)), comma, "{separator}");
        // A script that writes a header of its own.
        let own = other.replace("(PDH-CSV 4.0) (W. Europe Standard Time)(-60)", "Time");
        let given = Options {
            utc_offset: Some("+01:00".parse().expect("an offset")),
            ..options(&devices)
        };
        assert_eq!(import(&own, &given), comma, "{separator}");
    }
}

#[test]
fn other_results_of_known_tools_are_named() {
    let view = without_header(&text("sql-server/dm-io-virtual-file-stats.csv"));
    let normal = "job: (g=0): rw=randread, bs=(R) 4096B-4096B, ioengine=libaio, iodepth=1\nfio-3.33\nStarting 1 process\n";
    let terse = "3;fio-3.33;job;0;0;16384;4096;1024;4000\n";
    let log = "1000, 12345, 0, 4096, 0, 0x0000\n2000, 12345, 0, 4096, 0, 0x0000\n";
    let diskspd =
        "\nCommand Line: diskspd.exe -b8K -d10 t.dat\n\nInput parameters:\n\n\ttimespan:   1\n";
    let vmstat = "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n";
    let cloudwatch = "Label,vol-1 VolumeReadOps,vol-1 VolumeWriteOps\n2026/11/21 10:00:00,1,2\n";
    let azure = "Timestamp,Data Disk Read Operations/Sec (Avg)\n2026-11-21T10:00:00Z,3\n";
    for (text, name, remedy) in [
        (
            view.as_str(),
            "rows of sys.dm_io_virtual_file_stats without column names",
            "Include column headers",
        ),
        (normal, "a result of fio as text", "`dbstow calibrate`"),
        (terse, "a result of fio as text", "`dbstow calibrate`"),
        (log, "a log of fio", "`dbstow calibrate`"),
        (diskspd, "a result of diskspd as text", "`dbstow calibrate`"),
        (vmstat, "the text of vmstat", "iostat -x -t -o JSON"),
        (
            cloudwatch,
            "a CSV of CloudWatch",
            "get-metric-statistics --statistics Sum",
        ),
        (azure, "a CSV of Azure Monitor", "`dbstow record`"),
    ] {
        let forced = Options {
            format: Some(Format::FileStats),
            ..options(&[])
        };
        for given in [options(&[]), forced] {
            let refused = error("x", text, &given);
            assert!(
                refused.starts_with(&format!("x: this is {name}")) && refused.contains(remedy),
                "{refused}"
            );
        }
    }
}
