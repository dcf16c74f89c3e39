//! A PostgreSQL on a volume with the rules of RDS, recorded as if it were there: its own answers, and a file in the form of CloudWatch's that
//! the counters of the emulator fill. What was promised is measured by `scripts/bench-service`; this is the way there.

#![cfg(all(target_os = "linux", feature = "postgres", feature = "emulator"))]
#![allow(
    clippy::unwrap_used,
    reason = "a panic with its line is what a failing test should give"
)]

use std::fs;
use std::process::Stdio;

use host::clock::{Clock, wait_until};
use model::Duration;
use nix::unistd::geteuid;
use profile::{Profile, Timestamp};
use reading::Role;
use serde_json::{Value, json};
use testing::place::{Place, dbstow, said, succeeds};
use testing::server::binaries;
use testing::theirs::{ENCODED, Theirs};

/// Seconds of a point; CloudWatch's are of a minute.
const PERIOD: i64 = 2;

/// Points that are taken, of which the recording covers all but the ends.
const POINTS: i64 = 5;

const VOLUMES: &str = "[machine]\ntype = \"aws.rds.postgresql.db.r6i.large\"\ncredits = 0\n[volume.all]\ndisk = \"aws.rds.gp3\"\n\
                       size = \"100 GiB\"\n";

const PLACEMENT: &str = "[placement.today]\ndata = { volumes = \"all\" }\ntemp = { volumes = \"all\" }\nlog = { volumes = \"all\" }\n";

/// What the emulator counted of the volume: reads, their bytes, writes, and theirs.
fn counted(mounted: &str) -> [f64; 4] {
    let stat: Value =
        serde_json::from_str(&succeeds(&["stat", mounted, "--format", "json"])).unwrap();
    let disk = &stat["totals"]["disks"][0];
    ["reads", "read_bytes", "writes", "write_bytes"].map(|key| {
        disk[key]
            .as_f64()
            .unwrap_or_else(|| panic!("{key} in {stat}"))
    })
}

fn now() -> i64 {
    Timestamp::now().as_second()
}

/// Points of the volume, each from a time on: what the emulator counted in it.
fn watched(mounted: &str, meanwhile: impl Fn()) -> Vec<(i64, [f64; 4])> {
    let first = (now() / PERIOD + 1) * PERIOD;
    let mut before = None;
    let mut points = Vec::new();
    for at in (0..=POINTS).map(|number| first + number * PERIOD) {
        assert!(wait_until(Duration::from_secs(60), || now() >= at));
        let counts = counted(mounted);
        meanwhile();
        if let Some(before) = before.replace(counts) {
            let own: [f64; 4] = std::array::from_fn(|field| counts[field] - before[field]);
            points.push((at - PERIOD, own));
        }
    }
    points
}

/// The answer of `aws cloudwatch get-metric-data` for these points.
fn cloudwatch(points: &[(i64, [f64; 4])]) -> String {
    let times: Vec<String> = points
        .iter()
        .map(|(at, _)| Timestamp::from_second(*at).unwrap().to_string())
        .collect();
    let names = ["ReadIOPS", "ReadThroughput", "WriteIOPS", "WriteThroughput"];
    let results = names.iter().enumerate().map(|(field, name)| {
        let values = points.iter().map(|(_, counts)| counts[field] / PERIOD as f64);
        json!({ "Id": name.to_lowercase(), "Label": name, "Timestamps": times, "Values": values.collect::<Vec<_>>(), "StatusCode": "Complete" })
    });
    json!({ "MetricDataResults": results.collect::<Vec<_>>(), "Messages": [] }).to_string()
}

#[test]
fn a_server_recorded_as_on_a_service_is_tested_and_advised() {
    let Some(binaries) = binaries() else { return };
    if !geteuid().is_root() {
        return testing::skip("block mode needs root");
    }
    let place = Place::new();
    let mounted = place.text("volumes");
    fs::write(place.path("volumes.toml"), VOLUMES).unwrap();
    succeeds(&[
        "mount",
        &place.text("volumes.toml"),
        &mounted,
        "--size",
        "1GiB",
    ]);
    let server = Theirs::start_on(&binaries, &place.path("volumes/all"));
    server.sql("ALTER SYSTEM SET track_io_timing = on");
    server.sql("SELECT pg_reload_conf()");
    server.pgbench(&["-i", "-q", "-s", "4"]);
    let mut load = server.pgbench_command(&["-c", "4", "-T", "60", "-n"]);
    let mut load = load
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let recorded = place.text("recorded.toml");
    let mut recording = dbstow(&[
        "record",
        "--no-host",
        "--server",
        &server.url(ENCODED),
        "--every",
        "1s",
        "--for",
        "600s",
        "--out",
        &recorded,
    ]);
    let recording = recording
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Pages are written in every point, and not the log alone.
    let points = watched(&mounted, || drop(server.sql("CHECKPOINT")));
    Clock::sleep(Duration::from_secs(1));
    let process = nix::unistd::Pid::from_raw(i32::try_from(recording.id()).unwrap());
    nix::sys::signal::kill(process, nix::sys::signal::Signal::SIGINT).unwrap();
    let output = recording.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    load.kill().unwrap();
    load.wait().unwrap();
    drop(server);

    fs::write(place.path("cloudwatch.json"), cloudwatch(&points)).unwrap();
    let (answer, profile) = (place.text("cloudwatch.json"), place.text("shop.toml"));
    let class = "aws.rds.postgresql.db.r6i.large";
    succeeds(&[
        "import",
        &answer,
        "--with",
        &recorded,
        "--machine",
        class,
        "--out",
        &profile,
    ]);
    let read = profile::read("shop.toml", &fs::read_to_string(&profile).unwrap()).unwrap();
    figures_are_those_of(&read, &points);

    fs::write(place.path("today.toml"), format!("{VOLUMES}{PLACEMENT}")).unwrap();
    let today = place.text("today.toml");
    let tested = [
        "run",
        "--profile",
        &profile,
        "--today",
        &today,
        "--format",
        "json",
        "--untested",
    ];
    let tested: Value = serde_json::from_str(&succeeds(&tested)).unwrap();
    assert!(tested["outcome"].is_string(), "{tested}");
    let advice = succeeds(&[
        "advise",
        &profile,
        "--today",
        &today,
        "--untested",
        "--machine",
        "db.r6i",
        "--capacity",
        "data=60GiB",
        "--capacity",
        "log=20GiB",
        "--format",
        "json",
        "--out",
        &place.text("advice"),
    ]);
    let advice: Value = serde_json::from_str(&advice).unwrap();
    assert_eq!(advice["today"]["machine"], class, "{advice}");
    assert!(
        advice["answer"].as_str().unwrap().contains("aws.rds."),
        "{advice}"
    );
}

/// Requests of the profile's intervals are those of the points at the same times.
fn figures_are_those_of(profile: &Profile, points: &[(i64, [f64; 4])]) {
    // The first and the last may be covered in part.
    assert!(
        profile.intervals.len() >= 3,
        "{} of {}",
        profile.intervals.len(),
        points.len()
    );
    let mut written = 0.0;
    for interval in &profile.intervals {
        let at = profile.start.as_second() + (interval.at.as_secs_f64().round() as i64);
        let own = points.iter().find(|(from, _)| *from == at);
        let (_, counts) = own.unwrap_or_else(|| panic!("no point at {at} in {points:?}"));
        let log = interval.roles[&Role::Log].writes;
        let data = interval.roles[&Role::Data];
        // Requests of data are the volume's without those of the log, which the server counted.
        let of_data = |all: f64, of_log: Option<f64>| Some((all - of_log.unwrap()).max(0.0));
        for (profiled, emulated) in [
            (data.reads.count, Some(counts[0])),
            (data.reads.bytes, Some(counts[1])),
            (data.writes.count, of_data(counts[2], log.count)),
        ] {
            let off = (profiled.unwrap() - emulated.unwrap()).abs();
            assert!(
                off <= 0.01 * emulated.unwrap() + 1.0,
                "{profiled:?}, emulated {emulated:?}: {interval:?}"
            );
        }
        written += data.writes.count.unwrap();
        assert!(interval.operations > Some(0.0), "{interval:?}");
    }
    assert!(written > 0.0, "checkpoints wrote no page");
}
