//! Files of other tools become profiles. `tests/files/README.md` lists which were written by the tools themselves.

use std::fs;
use std::path::Path;

use import::{Format, ImportError, Imported, Options, Source};
use model::Duration;
use profile::{Interval, Lost, Profile, Wait};
use reading::Role;
use replay::Question;

#[path = "imports/cloudwatch.rs"]
mod cloudwatch;
#[path = "imports/contradictions.rs"]
mod contradictions;
#[path = "imports/dates.rs"]
mod dates;
#[path = "imports/formats.rs"]
mod formats;
#[path = "imports/instances.rs"]
mod instances;
#[path = "imports/microsoft.rs"]
mod microsoft;
#[path = "imports/monitored.rs"]
mod monitored;
#[path = "imports/repeated.rs"]
mod repeated;
#[path = "imports/trace_end.rs"]
mod trace_end;

fn bytes(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    fs::read(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn text(name: &str) -> String {
    import::decode(name, bytes(name)).expect("text")
}

fn import(text: &str, given: &Options) -> Profile {
    let file = "a file";
    import::read(&[Source { file, text }], given)
        .unwrap_or_else(|error| panic!("{error}"))
        .profile
}

fn assumes(profile: &Profile, part: &str) -> bool {
    profile.assumptions.iter().any(|note| note.contains(part))
}

fn options(devices: &[&str]) -> Options {
    let devices = devices
        .iter()
        .map(|device| device.parse().expect("a role and a device"));
    Options {
        devices: devices.collect(),
        ..Options::default()
    }
}

fn read(name: &str, options: &Options) -> Result<Imported, ImportError> {
    let text = text(name);
    import::read(
        &[Source {
            file: name,
            text: &text,
        }],
        options,
    )
}

fn profile(name: &str, devices: &[&str]) -> Profile {
    let imported = read(name, &options(devices)).unwrap_or_else(|error| panic!("{error}"));
    // Whatever was imported can be written and read.
    let text = profile::write(name, &imported.profile).expect("consistent");
    profile::read(name, &text).expect("a profile");
    fits_schema(name, &text);
    imported.profile
}

fn fits_schema(name: &str, text: &str) {
    let schema = include_str!("../../../schema/profile.schema.json");
    let schema = serde_json::from_str(schema).expect("a schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("a valid schema");
    let document: serde_json::Value = toml::from_str(text).expect("it is TOML");
    let errors = validator.iter_errors(&document);
    let errors: Vec<String> = errors
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert_eq!(errors, [""; 0], "{name}");
}

fn error(name: &str, text: &str, options: &Options) -> String {
    let imported = import::read(&[Source { file: name, text }], options);
    imported.expect_err("it is wrong").to_string()
}

/// Mean of a figure of a role per second.
fn rate(profile: &Profile, role: Role, figure: impl Fn(&profile::Io) -> Option<f64>) -> f64 {
    let total = profile.total(|interval| figure(interval.roles.get(&role)?));
    total.expect("it was recorded") / profile.covered().as_secs_f64()
}

fn near(value: f64, expected: f64, tolerance: f64) {
    let off = (value - expected).abs() / expected;
    assert!(
        off <= tolerance,
        "{value} is not within {tolerance} of {expected}"
    );
}

fn can(profile: &Profile, question: Question) -> bool {
    let answers = replay::answers(profile);
    let answer = answers.iter().find(|answer| answer.question == question);
    answer.expect("every question has an answer").is_known
}

#[test]
fn every_file_is_known_by_its_content() {
    for (name, format) in [
        ("sysstat/iostat-iso.json", Format::Iostat),
        ("sysstat/iostat-cut-off.json", Format::Iostat),
        ("sysstat/sadf.json", Format::Sadf),
        ("sysstat/sadf-d.csv", Format::Sadf),
        ("sql-server/dm-io-virtual-file-stats.csv", Format::FileStats),
        ("perfmon/relog.csv", Format::Perfmon),
        ("perfmon/relog-decimal-comma-utf16.csv", Format::Perfmon),
        ("perfmon/typeperf.csv", Format::Perfmon),
        ("perfmon/export-csv.csv", Format::Perfmon),
        ("blitz-first/file-stats.csv", Format::BlitzFirst),
        (
            "blitz-first/file-stats-deltas.csv",
            Format::BlitzFirstDeltas,
        ),
        (
            "microsoft/server_PerformanceAggregated_Counters.csv",
            Format::MicrosoftCounters,
        ),
        (
            "microsoft/SkuRecommendationReport.json",
            Format::MicrosoftRecommendation,
        ),
        ("fio/data.iolog", Format::FioIolog),
        ("fio/version-2.iolog", Format::FioIolog),
        ("blktrace/blkparse.txt", Format::Blkparse),
        ("blktrace/blkparse-short.txt", Format::Blkparse),
        ("cloudwatch/rds.json", Format::CloudWatch),
        ("azure-monitor/flexible.json", Format::AzureMonitor),
        ("azure-monitor/data-disks.json", Format::AzureMonitor),
    ] {
        // Not by its name.
        let name_of_another = name.replace("PerformanceAggregated_Counters", "some");
        assert_eq!(
            import::sniff(&name_of_another, &text(name)),
            Some(format),
            "{name}"
        );
    }
    for text in ["", "\n", "name,value\n1,2\n", "{}", "hello\nworld\n"] {
        assert_eq!(import::sniff("a.csv", text), None, "{text}");
    }
}

#[test]
fn the_profile_of_the_documents_fits_the_schema() {
    fits_schema("shop.toml", &text("shop.toml"));
}

#[test]
fn iostat_leaves_out_the_mean_since_boot() {
    let profile = profile("sysstat/iostat-iso.json", &["data=vda", "log=/dev/vda"]);
    // 8 records, the first since boot; 2 s each.
    assert_eq!(profile.intervals.len(), 7);
    near(profile.covered().as_secs_f64(), 14.0, 0.08);
    // Two readers of 200 IOPS, 8 KiB each; the log's 50 writes, each with a flush.
    near(rate(&profile, Role::Data, |io| io.reads.count), 400.0, 0.15);
    near(
        rate(&profile, Role::Data, |io| io.reads.bytes),
        400.0 * 8192.0,
        0.15,
    );
    near(rate(&profile, Role::Data, |io| io.flushes.count), 50.0, 0.3);
    // 150 writes/s, of which 50 are the flushes.
    near(rate(&profile, Role::Data, |io| io.writes.count), 100.0, 0.3);
    assert_eq!(profile.machine.processors, Some(2));
    assert!(profile.assumptions[0].starts_with("Files for data and log share a device"));
    // One latency for data and log.
    assert!(!can(&profile, Question::Latency) && !can(&profile, Question::Log));
    assert!(!can(&profile, Question::ClosedLoop));
}

#[test]
fn iostat_says_the_same_in_every_locale_and_unit() {
    let iso = profile("sysstat/iostat-iso.json", &[]);
    let us = profile("sysstat/iostat-us.json", &[]);
    assert_eq!(iso.start, us.start);
    let reads = |profile: &Profile| rate(profile, Role::Data, |io| io.reads.count);
    near(reads(&us), reads(&iso), 0.05);
    let megabytes = profile("sysstat/iostat-megabytes.json", &[]);
    near(
        rate(&megabytes, Role::Data, |io| io.reads.bytes),
        400.0 * 8192.0,
        0.15,
    );
    assert!(
        us.assumptions
            .iter()
            .any(|sentence| sentence.contains("taken as UTC"))
    );
}

#[test]
fn iostat_without_times_needs_them_from_the_user() {
    let name = "sysstat/iostat-without-times.json";
    let refused = read(name, &options(&[])).expect_err("no times").to_string();
    assert!(
        refused.contains("record with -t, or give --start"),
        "{refused}"
    );
    let given = Options {
        start: Some("2026-11-22T10:00:00Z".parse().expect("a time")),
        interval: Some(Duration::from_secs(2)),
        ..Options::default()
    };
    let profile = read(name, &given).expect("three intervals").profile;
    assert_eq!(profile.intervals.len(), 3);
    assert_eq!(profile.start.to_string(), "2026-11-22T10:00:00Z");
}

#[test]
fn a_file_that_a_kill_cut_off_is_read_up_to_its_last_whole_record() {
    let profile = profile("sysstat/iostat-cut-off.json", &[]);
    assert_eq!(profile.intervals.len(), 5);
    assert!(
        profile.assumptions[0].contains("ends within a record"),
        "{:?}",
        profile.assumptions
    );
}

#[test]
fn two_busy_devices_have_to_be_named() {
    let two = text("sysstat/iostat-iso.json").replace(
        r#"{"disk_device": "vda","#,
        r#"{"disk_device": "vdb", "r/s": 1.0, "w/s": 2.0}, {"disk_device": "vda","#,
    );
    let refused = error("io.json", &two, &options(&[]));
    assert_eq!(
        refused,
        "io.json: it has 2 devices with requests: vdb, vda; name those with the server's files, such as \
         --device data=vdb --device log=vda"
    );
    let wrong = error("io.json", &two, &options(&["data=sda"]));
    assert_eq!(
        wrong,
        "io.json: it has no device `sda`; it has vdb, vda; give --device data= with one of these, or record sda too; \
         without it data is left out"
    );
}

#[test]
fn a_device_with_a_blank_in_its_name_is_suggested_in_quotes() {
    let counters = ["0 C:", "1 D:"].map(|disk| {
        format!(r#""\\DB1\PhysicalDisk({disk})\Disk Reads/sec","\\DB1\PhysicalDisk({disk})\Disk Writes/sec""#)
    });
    let csv = format!(
        "\"(PDH-CSV 4.0) (UTC)(0)\",{},{}\n\"09/22/2026 21:42:32.000\",\"1\",\"1\",\"1\",\"1\"\n\
         \"09/22/2026 21:42:47.000\",\"1\",\"1\",\"1\",\"1\"\n",
        counters[0], counters[1]
    );
    let refused = error("disks.csv", &csv, &options(&[])).to_lowercase();
    assert!(
        refused.ends_with(r#"such as --device "data=0 c:" --device "log=1 d:""#),
        "{refused}"
    );
}

#[test]
fn sar_knows_requests_and_one_latency() {
    let profile = profile("sysstat/sadf.json", &[]);
    assert_eq!(profile.intervals.len(), 9);
    near(rate(&profile, Role::Data, |io| io.reads.count), 400.0, 0.15);
    near(
        rate(&profile, Role::Data, |io| io.reads.bytes),
        400.0 * 8192.0,
        0.15,
    );
    let latencies: Vec<_> = profile
        .intervals
        .iter()
        .map(|interval| interval.roles[&Role::Data])
        .collect();
    assert_eq!(latencies[1].reads.latency(), latencies[1].writes.latency());
    // Not recorded, which is not 0.
    assert_eq!(latencies[0].flushes.count, None);
}

#[test]
fn volumes_of_perfmon_are_roles_and_log_flushes_tell_the_log_apart() {
    let profile = profile("perfmon/relog.csv", &["data=D:", "log=D:", "temp=t:"]);
    assert_eq!(profile.start.to_string(), "2026-09-22T20:42:00.824Z");
    assert_eq!(profile.intervals.len(), 5);
    let first = &profile.intervals[0];
    // 210 reads/s over 15 s, 4 ms each.
    let reads = first.roles[&Role::Data].reads;
    assert_eq!(reads.count, Some(3150.0));
    assert_eq!(reads.latency(), Some(Duration::from_millis(4)));
    // 151 writes/s, of which 100 - 10 are flushes of the log but for tempdb's.
    assert_eq!(first.roles[&Role::Log].writes.count, Some(1350.0));
    assert_eq!(
        first.roles[&Role::Data].writes.count,
        Some((151.0 - 90.0) * 15.0)
    );
    assert_eq!(first.roles[&Role::Temp].writes.count, Some(450.0));
    assert_eq!(first.operations, Some(821.0 * 15.0));
    assert_eq!(first.waiting[&Wait::DataRead], 2.0);
    // 130.5 % of a processor for 15 s.
    assert_eq!(first.processor, Some(Duration::from_millis(19_575)));
    assert_eq!(profile.machine.processors, Some(2));
    for question in [
        Question::Latency,
        Question::Log,
        Question::Temp,
        Question::ClosedLoop,
    ] {
        assert!(can(&profile, question), "{question}");
    }
}

#[test]
fn messages_in_a_trace_are_no_end_of_it_and_a_cut_line_is() {
    let whole = text("blktrace/blkparse.txt");
    let message = "  8,16   0        0     0.000002000     0  m   N bfq dispatch\n";
    let (first, rest) = whole.split_once('\n').expect("it has lines");
    let with_message = format!("{message}{first}\n{message}{rest}");
    let import = |text: &str| {
        let file = "blkparse.txt";
        import::read(&[Source { file, text }], &Options::default())
            .expect("a trace")
            .profile
    };
    assert_eq!(import(&with_message), import(&whole));
    let cut = import(&format!(
        "{}  8,16   0",
        &whole[..whole.find("CPU").unwrap_or(whole.len())]
    ));
    let is_noted = cut
        .assumptions
        .iter()
        .any(|note| note.contains("is not an event"));
    assert!(is_noted, "{:?}", cut.assumptions);
}

#[test]
fn a_log_whose_volume_is_not_named_takes_nothing_from_data() {
    let shared = profile("perfmon/relog.csv", &["data=D:", "log=D:"]);
    let elsewhere = profile("perfmon/relog.csv", &["data=D:"]);
    let writes = |profile: &Profile, role| rate(profile, role, |io| io.writes.count);
    assert_eq!(writes(&shared, Role::Log), writes(&elsewhere, Role::Log));
    near(
        writes(&elsewhere, Role::Data),
        writes(&shared, Role::Data) + 90.0,
        1e-9,
    );
    assert_eq!(elsewhere.intervals[0].roles[&Role::Log].writes.waited, None);
    let apart = profile("perfmon/relog.csv", &["data=D:", "log=T:"]);
    // What the volume counted, of reads too.
    near(rate(&apart, Role::Log, |io| io.reads.count), 20.0, 1e-9);
    // SQL Server writes its log through: what it calls a flush is a write.
    assert_eq!(apart.intervals[0].roles[&Role::Log].flushes.count, None);
}

#[test]
fn a_decimal_comma_in_utf_16_says_the_same() {
    let devices = ["data=D:", "log=D:", "temp=T:"];
    let point = profile("perfmon/relog.csv", &devices);
    let comma = profile("perfmon/relog-decimal-comma-utf16.csv", &devices);
    assert_eq!(point, comma);
}

#[test]
fn processors_that_two_objects_count_are_counted_once() {
    let both =
        text("perfmon/relog.csv").replace("\\Process(sqlservr)", "\\Processor Information(0,0)");
    let source = Source {
        file: "a.csv",
        text: &both,
    };
    let imported = import::read(&[source], &options(&["data=D:"])).expect("a profile");
    let machine = imported.profile.machine;
    assert_eq!(machine.processors, Some(2));
    // 65 % of both for 15 s.
    let processor = imported.profile.intervals[0].processor;
    assert_eq!(processor, Some(Duration::from_millis(19_500)));
}

#[test]
fn what_typeperf_prints_at_its_end_is_no_row() {
    let profile = profile("perfmon/typeperf.csv", &["data=D:"]);
    assert_eq!(profile.intervals.len(), 3);
    assert!(
        profile
            .assumptions
            .iter()
            .any(|sentence| sentence.contains("taken as UTC"))
    );
}

#[test]
fn counters_of_export_csv_are_found_in_lower_case() {
    let profile = profile("perfmon/export-csv.csv", &["data=D:"]);
    assert_eq!(profile.start.to_string(), "2018-12-20T22:16:22Z");
    assert_eq!(profile.intervals.len(), 4);
    assert_eq!(profile.intervals[0].operations, Some(51.0 * 5.0));
    assert_eq!(profile.intervals[0].roles[&Role::Data].reads.waited, None);
    let open = text("perfmon/export-csv.csv").replace("20/12/2018", "10/12/2018");
    let refused = error("a.csv", &open, &options(&["data=D:"]));
    assert_eq!(
        refused,
        "a.csv:2: `10/12/2018 22:16:22` may begin with the day or with the month; give --dates dmy or --dates mdy"
    );
}

#[test]
fn counters_in_another_language_are_refused_with_a_hint() {
    let refused = error("german.csv", &text("perfmon/german.csv"), &options(&[]));
    assert!(
        refused.contains("logischer datenträger\\lesevorgänge/s"),
        "{refused}"
    );
    assert!(
        refused.contains("whose Windows language is English"),
        "{refused}"
    );
}

#[test]
fn a_restart_breaks_a_series_of_file_statistics_off() {
    let profile = profile("blitz-first/file-stats.csv", &[]);
    // Six snapshots; counters start over between the fourth and the fifth.
    assert_eq!(profile.intervals.len(), 4);
    assert_eq!(profile.interruptions.len(), 1);
    assert_eq!(profile.interruptions[0].cause, Lost::Restart);
    assert_eq!(profile.interruptions[0].at, Duration::from_secs(45 * 60));
    for interval in &profile.intervals {
        let count = |role| interval.roles[&role].writes.count;
        // tempdb's log is temporary, too: 2,000 + 100.
        assert_eq!(count(Role::Temp), Some(2100.0));
        assert_eq!(count(Role::Data), Some(4000.0));
        assert_eq!(count(Role::Log), Some(9000.0));
    }
}

#[test]
fn the_view_of_differences_has_a_gap_where_the_table_has_a_restart() {
    let profile = profile("blitz-first/file-stats-deltas.csv", &[]);
    assert_eq!(profile.intervals.len(), 4);
    assert_eq!(profile.interruptions[0].cause, Lost::Gap);
    assert_eq!(
        profile.intervals[0].roles[&Role::Data].reads.count,
        Some(30_000.0)
    );
}

#[test]
fn a_recommendation_is_one_interval_of_a_percentile() {
    let profile = profile("microsoft/SkuRecommendationReport.json", &[]);
    assert_eq!(profile.intervals.len(), 1);
    // 400 IOPS, three quarters of them reads.
    near(rate(&profile, Role::Data, |io| io.reads.count), 300.0, 1e-9);
    near(
        rate(&profile, Role::Log, |io| io.writes.bytes),
        1_048_576.0,
        1e-9,
    );
    assert!(profile.assumptions[0].contains("95th percentile"));
    assert!(!can(&profile, Question::Burst));
}

#[test]
fn logs_of_fio_jobs_are_summed_second_by_second() {
    let (data, log) = (text("fio/data.iolog"), text("fio/log.iolog"));
    let sources = [("data.iolog", &data), ("log.iolog", &log)];
    let sources = sources.map(|(file, text)| Source { file, text });
    let given = options(&["data=shop.dat", "log=shop.log"]);
    let profile = import::read(&sources, &given)
        .expect("four seconds")
        .profile;
    assert_eq!(profile.intervals.len(), 4);
    for Interval { roles, .. } in &profile.intervals {
        // 20 reads and 10 writes a second, and a sync after each write.
        near(roles[&Role::Data].reads.count.expect("counted"), 20.0, 0.1);
        near(roles[&Role::Log].flushes.count.expect("counted"), 10.0, 0.2);
        // Only when a request was issued is known.
        assert_eq!(roles[&Role::Log].flushes.waited, None);
    }
    assert!(!can(&profile, Question::Latency));
}

#[test]
fn waits_of_version_2_are_milliseconds_since_the_start() {
    let profile = profile("fio/version-2.iolog", &["data=shop.dat", "log=shop.log"]);
    let reads: Vec<_> = profile
        .intervals
        .iter()
        .map(|i| i.roles[&Role::Data].reads.count)
        .collect();
    assert_eq!(reads, [Some(2.0), Some(0.0), Some(1.0)]);
    let without: String = text("fio/version-2.iolog")
        .lines()
        .filter(|l| !l.contains("wait"))
        .map(|l| format!("{l}\n"))
        .collect();
    let refused = error("v2.iolog", &without, &options(&["data=shop.dat"]));
    assert!(refused.contains("it has no times"), "{refused}");
}

#[test]
fn a_block_trace_has_the_time_that_requests_took() {
    let profile = profile("blktrace/blkparse.txt", &[]);
    let total = |figure: fn(&profile::Io) -> Option<f64>| {
        profile
            .total(|interval| figure(&interval.roles[&Role::Data]))
            .expect("counted")
    };
    assert_eq!(profile.intervals.len(), 3);
    assert_eq!(total(|io| io.reads.count), 60.0);
    // 20 writes into which 20 others were merged, and 5 forced ones.
    assert_eq!(total(|io| io.writes.count), 25.0);
    assert_eq!(total(|io| io.flushes.count), 20.0);
    // 20 us in the queue and 900 us on the disk.
    let waited = |io: &profile::Io| io.flushes.waited.map(Duration::as_secs_f64);
    near(total(waited), 20.0 * 920e-6, 1e-3);
    let short = self::profile("blktrace/blkparse-short.txt", &["data=8,16"]);
    assert_eq!(short.intervals, profile.intervals);
}

#[test]
fn other_files_are_refused_with_what_is_known() {
    let refused = error("a.csv", "name,value\n1,2\n", &options(&[]));
    assert!(
        refused
            .starts_with("a.csv: this is not a file of a known tool: it begins with `name,value`"),
        "{refused}"
    );
    assert!(refused.contains("iostat, sadf, perfmon"), "{refused}");
    let (iostat, sar) = (text("sysstat/iostat-iso.json"), text("sysstat/sadf.json"));
    let both = [("a.json", &iostat), ("b.json", &sar)].map(|(file, text)| Source { file, text });
    let mixed = import::read(&both, &options(&[]))
        .expect_err("two formats")
        .to_string();
    assert_eq!(
        mixed,
        "b.json: it is sadf, and a.json is iostat; import them one by one"
    );
    let same = [("a.json", &iostat), ("b.json", &iostat)].map(|(file, text)| Source { file, text });
    let twice = import::read(&same, &options(&[]))
        .expect_err("the same time")
        .to_string();
    assert_eq!(
        twice,
        "b.json: it covers the same time as a.json; import one of them"
    );
}
