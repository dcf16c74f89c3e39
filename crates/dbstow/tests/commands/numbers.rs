//! Numbers out of range, in every file that is read: refused where they are read, by file, key and value. None of them
//! ends up as a figure, or determines how much memory or time the program takes.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;
use testing::folder::{Folder, Printed, contains};

/// Memory limit of each command: mistyped numbers ask for more.
#[cfg(target_os = "linux")]
const MEMORY_MAX_KIB: u64 = 1 << 20;

/// A file of this test.
fn case(name: &str) -> String {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    cases.join(name).display().to_string()
}

/// The text of a file of another crate's tests.
fn of_crate(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Runs the program with little memory.
fn dbstow(folder: &Folder, arguments: &[&str]) -> Printed {
    #[cfg(target_os = "linux")]
    let mut command = {
        let mut limited = Command::new("sh");
        limited.args(["-c", "ulimit -v \"$0\"; exec \"$@\""]);
        limited
            .arg(MEMORY_MAX_KIB.to_string())
            .arg(testing::program());
        limited
    };
    #[cfg(not(target_os = "linux"))]
    let mut command = Command::new(testing::program());
    let command = command.current_dir(folder.root()).args(arguments);
    Printed::from(command.output().expect("it starts"))
}

/// Asserts a usage error with all of `parts` on one line.
fn refuses(folder: &Folder, arguments: &[&str], parts: &[&str]) {
    let printed = dbstow(folder, arguments);
    let (code, stdout, stderr) = (printed.code, printed.stdout.as_str(), &printed.stderr);
    assert_eq!((code, stdout), (2, ""), "{arguments:?}: {stderr}");
    contains(stderr, parts);
}

#[test]
fn what_no_counter_can_have_counted_is_not_imported() {
    let folder = Folder::new();
    let typeperf = case("counter-of-1e308.csv");
    let arguments = [
        "import", &typeperf, "--device", "data=D:", "--out", "p.toml",
    ];
    refuses(
        &folder,
        &arguments,
        &[
            "counter-of-1e308.csv:4: ",
            "Disk Reads/sec",
            "`1e308` is more than can have been counted",
            "correct it",
        ],
    );
    let microsoft = case("megabytes-of-1e300_PerformanceAggregated_Counters.csv");
    refuses(
        &folder,
        &["import", &microsoft, "--out", "p.toml"],
        &[
            "Counters.csv:5: FWM Mean: `1e300` is more than can have been counted",
            "correct it",
        ],
    );
    assert!(!folder.path("p.toml").exists());
}

#[test]
fn figures_of_json_that_no_counter_can_have_are_not_imported() {
    let folder = Folder::new();
    let report = of_crate("import/tests/files/microsoft/SkuRecommendationReport.json");
    for (key, value, parts) in [
        (
            "AggregationTargetPercentile",
            "-9223372036854775808",
            [
                "`AggregationTargetPercentile`: -9.223372036854776e18 is not a percentage",
                "run the recommendation again",
            ],
        ),
        (
            "IOPSRequirement",
            "1e308",
            ["`IOPSRequirement`: 1e308 is not a count", "a file of `"],
        ),
        (
            "ReadLatencyInMs",
            "-3",
            ["`ReadLatencyInMs`: -3.0 is not a count", "correct it"],
        ),
    ] {
        let start = report
            .find(&format!("\"{key}\":"))
            .expect("it has this key")
            + key.len()
            + 3;
        let length = report[start..]
            .find([',', '\n', '}'])
            .expect("more follows");
        let wrong = format!("{} {value}{}", &report[..start], &report[start + length..]);
        folder.write("report.json", wrong);
        refuses(
            &folder,
            &["import", "report.json", "--out", "p.toml"],
            &parts,
        );
    }
    let iostat = of_crate("import/tests/files/sysstat/iostat-iso.json");
    let rate = iostat.rfind("\"r/s\":").expect("reads") + "\"r/s\":".len();
    let wrong = format!(
        "{} 1e308{}",
        &iostat[..rate],
        &iostat[rate + iostat[rate..].find(',').expect("more")..]
    );
    folder.write("iostat.json", wrong);
    let arguments = [
        "import",
        "iostat.json",
        "--device",
        "data=vda",
        "--out",
        "p.toml",
    ];
    refuses(
        &folder,
        &arguments,
        &["iostat.json:", "`r/s`: 1e308 is not a count"],
    );
}

#[test]
fn one_mistyped_time_of_a_trace_is_a_gap_or_named() {
    let folder = Folder::new();
    let long = case("last-time-a-day-late.iolog");
    let printed = dbstow(&folder, &["import", &long, "--out", "p.toml"]);
    assert_eq!(printed.code, 0, "{}", printed.stderr);
    contains(&printed.stdout, &["no request for more than 3600 s"]);
    let written = folder.read("p.toml");
    assert!(written.len() < 2_000, "{} bytes", written.len());
    assert!(written.contains("cause = \"gap\""), "{written}");
    let slow = case("one-time-days-late.iolog");
    refuses(
        &folder,
        &["import", &slow, "--out", "slow.toml"],
        &[
            "one-time-days-late.iolog:24: its time (1.000166 s) is 950189.999834 s before",
            "that of line 23 (950191 s)",
            "correct it",
        ],
    );
    let years = "fio version 3 iolog\n1 a.dat read 0 8192\n99999999999999 a.dat read 8192 8192\n";
    folder.write("years.iolog", years);
    refuses(
        &folder,
        &["import", "years.iolog", "--out", "slow.toml"],
        &[
            "years.iolog:3: its time (99999999.999999 s)",
            "after that of line 2 (1 us)",
            "leave its line out",
        ],
    );
    // Each too close to the next for a gap.
    let mut many = "fio version 3 iolog\n".to_owned();
    for number in 0..200_u64 {
        many.push_str(&format!("{} a.dat read 0 8192\n", number * 3_000_000_000));
    }
    folder.write("many.iolog", many);
    refuses(
        &folder,
        &["import", "many.iolog", "--out", "slow.toml"],
        &[
            "many.iolog: the trace covers 597000 s",
            "at most 100000 are made; give a longer --interval",
        ],
    );
}

#[test]
fn a_profile_out_of_range_is_not_read() {
    let folder = Folder::new();
    let profile = of_crate("import/tests/files/shop.toml");
    let operations = "[intervals]\n";
    assert!(profile.contains(operations), "{profile}");
    let intervals = 5;
    for (key, value, part) in [
        (
            "sessions",
            "1e308",
            "`sessions` holds 1e308, which is more than it can be (at most 1e9)",
        ),
        (
            "running",
            "inf",
            "`running` holds inf, which is negative or not finite",
        ),
        (
            "commits",
            "1e20",
            "`commits` holds 1e20, which is more than it can be",
        ),
        (
            "processor_s",
            "-1.0",
            "`processor_s` holds -1.0, which is negative",
        ),
    ] {
        let column = format!(
            "{operations}{key} = [{}]\n",
            vec![value; intervals].join(", ")
        );
        let text: String = (profile.lines())
            .filter(|line| !line.starts_with(&format!("{key} = ")))
            .map(|line| format!("{line}\n"))
            .collect();
        folder.write("p.toml", text.replace(operations, &column));
        refuses(&folder, &["profile", "p.toml"], &["p.toml: ", part]);
    }
    let long = profile.replace("at_s = [0.0", "at_s = [nan");
    assert_ne!(long, profile);
    folder.write("p.toml", long);
    refuses(
        &folder,
        &["profile", "p.toml"],
        &["`at_s` holds NaN, which is negative or not finite"],
    );
    let machine = profile.replace("processors = 2", "processors = 4000000000");
    assert_ne!(machine, profile);
    folder.write("p.toml", machine);
    refuses(
        &folder,
        &["profile", "p.toml"],
        &["`processors` of its machine is 4000000000"],
    );
}

#[test]
fn a_load_that_could_never_end_is_refused_before_it_begins() {
    let folder = Folder::new();
    let hang = case("securities-of-7e15.toml");
    let parts = [
        "workload.parameters.securities is 7000000000000000",
        "takes 1 to 1000000000; give a number in that range",
        "securities-of-7e15.toml:35: ",
    ];
    refuses(&folder, &["check", &hang], &parts);
    refuses(&folder, &["run", &hang, "--out", "r"], &parts);
    let sized = [
        "workloads",
        "trade",
        "--size",
        "securities=7000000000000000",
    ];
    refuses(&folder, &sized, &parts[..2]);
}

#[test]
fn a_capture_with_a_negative_amount_is_refused_by_its_key() {
    let folder = Folder::new();
    let captures =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../engines/sqlserver/tests/captures");
    let capture = captures
        .read_dir()
        .expect("captures")
        .flatten()
        .map(|entry| {
            let text = fs::read_to_string(entry.path()).expect("a capture is text");
            serde_json::from_str::<Value>(&text).expect("a capture is JSON")
        });
    let capture = capture
        .into_iter()
        .find(|capture| capture["files"][0].is_object());
    let capture = capture.expect("one with files");
    for (pointer, key) in [
        ("/files/0/max_bytes", "files[0].max_bytes is -1"),
        ("/files/0/size_bytes", "files[0].size_bytes is -1"),
        ("/machine/processors", "machine.processors is -1"),
    ] {
        let mut wrong = capture.clone();
        *wrong.pointer_mut(pointer).expect(pointer) = (-1).into();
        folder.write("c.json", wrong.to_string());
        refuses(
            &folder,
            &["lint", "c.json"],
            &["c.json: ", key, "an amount is 0 or more", "doctor"],
        );
    }
}
