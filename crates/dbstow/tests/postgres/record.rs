//! `dbstow record` on a real PostgreSQL under load.

#![cfg(all(unix, feature = "postgres"))]
#![allow(
    clippy::unwrap_used,
    reason = "a panic with its line is what a failing test should give"
)]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use dbstow::metrics::{FAMILIES, Scope};
use host::clock::Clock;
use model::Duration;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use profile::Profile;
use reading::Role;
use tempfile::TempDir;
use testing::folder::text;
use testing::prometheus::{promtool, samples};
use testing::server::binaries;
use testing::theirs::{ENCODED, Theirs};

struct Recorder {
    folder: TempDir,
    url: String,
}

impl Recorder {
    fn of(server: &Theirs) -> Recorder {
        Recorder {
            folder: tempfile::tempdir().unwrap(),
            url: server.url(ENCODED),
        }
    }

    fn out(&self) -> PathBuf {
        self.folder.path().join("shop.toml")
    }

    fn metrics(&self) -> PathBuf {
        self.folder.path().join("metrics.prom")
    }

    fn start(&self, length: &str) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dbstow"));
        command
            .args([
                "record", "--server", &self.url, "--every", "1s", "--for", length, "--out",
            ])
            .arg(self.out())
            .arg("--metrics")
            .arg(self.metrics())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Returns once the server has its connection, or it has ended.
    fn started(&self, server: &Theirs, length: &str) -> Child {
        let mut recording = self.start(length);
        let connections = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'dbstow' AND query LIKE 'EXECUTE look%'";
        while server.sql(connections) == "0" {
            assert!(recording.try_wait().unwrap().is_none(), "it ended");
        }
        recording
    }

    fn profile(&self) -> Profile {
        let text = std::fs::read_to_string(self.out()).unwrap();
        profile::read("shop.toml", &text).unwrap()
    }
}

/// Transactions of four clients until it is ended; a line of progress each second.
fn work(server: &Theirs) -> Child {
    server.pgbench(&["-i", "-q", "-s", "1"]);
    let mut command = server.pgbench_command(&["-c", "4", "-T", "600", "-P", "1", "-n"]);
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It works from its first line on.
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    lines.by_ref().next().unwrap().unwrap();
    // Nobody reads on, and it must not be held up by that.
    std::thread::spawn(move || lines.for_each(drop));
    child
}

fn interrupt(child: &Child) {
    let process = Pid::from_raw(i32::try_from(child.id()).unwrap());
    kill(process, Signal::SIGINT).unwrap();
}

fn end(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_recording_holds_what_a_server_did_while_clients_worked() {
    let Some(binaries) = binaries() else { return };
    let server = Theirs::start(&binaries);
    server.pgbench(&["-i", "-q", "-s", "1"]);
    let recorder = Recorder::of(&server);
    let mut recording = recorder.started(&server, "600s");
    // At a pace, so that several looks find them at work.
    let done = server.pgbench(&["-c", "2", "-t", "100", "-R", "50", "-n"]);
    // Servers report a session's counts late, at the latest when it ends.
    let intervals = |recorder: &Recorder| match recorder.out().exists() {
        true => recorder.profile().intervals.len(),
        false => 0,
    };
    let then = intervals(&recorder) + 2;
    while intervals(&recorder) < then {
        assert!(recording.try_wait().unwrap().is_none(), "it ended");
        Clock::sleep(Duration::from_millis(100));
    }
    interrupt(&recording);
    let output = recording.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    assert!(
        text(&output).contains("from dbstow record"),
        "{}",
        text(&output)
    );
    assert!(done.contains("200/200"), "{done}");

    let profile = recorder.profile();
    let operations = profile.total(|interval| interval.operations).unwrap();
    // Our own queries for connections, pgbench's questions before it begins, and autovacuum come on top.
    assert!((190.0..=400.0).contains(&operations), "{operations}");
    let log = |interval: &profile::Interval| interval.roles[&Role::Log].writes.bytes;
    assert!(profile.total(log).unwrap() > 0.0);
    assert!(profile.total(|interval| interval.sessions).unwrap() > 0.0);
    // All six; `profile::read` refuses negative values.
    assert!(
        profile
            .intervals
            .iter()
            .all(|interval| interval.waiting.len() == 6)
    );
    assert!(profile.intervals.len() >= 2);
    assert_eq!(profile.origin.product.as_deref(), Some("PostgreSQL"));
    assert!(!text(&output).contains(ENCODED));
    counts_are_those_of(
        &profile,
        &std::fs::read_to_string(recorder.metrics()).unwrap(),
    );
}

/// Whether metrics have all families of a recording, and the sums of its profile.
fn counts_are_those_of(profile: &Profile, metrics: &str) {
    let families = FAMILIES.iter();
    let missing: Vec<_> = families
        .filter(|family| family.scope == Scope::Record)
        .map(|family| family.sample_name())
        // What of them changed something is not known of every server.
        .filter(|name| name != "dbstow_server_commits_total")
        .filter(|name| !metrics.contains(&format!("# TYPE {name} ")))
        .collect();
    assert_eq!(missing, [""; 0], "{metrics}");
    let samples: BTreeMap<&str, f64> = samples(metrics).into_iter().collect();
    let operations = profile.total(|interval| interval.operations).unwrap();
    // A profile is rounded.
    let is_near = |one: f64, other: f64| (one - other).abs() <= other / 100.0 + 1.0;
    assert!(
        is_near(samples["dbstow_server_operations_total"], operations),
        "{metrics}"
    );
    let intervals = profile.intervals.len() as f64;
    assert_eq!(samples["dbstow_record_intervals_total"], intervals);
    if let Some(said) = promtool(metrics) {
        assert_eq!(said, "");
    }
}

/// A response of CloudWatch with 500 reads and 300 writes a second, in points of 2 s from the profile's start on.
fn cloudwatch(profile: &Profile) -> String {
    let covered = profile.covered().as_secs_f64();
    let points = (covered / 2.0) as i64;
    let times = (0..points).map(|point| {
        let at = profile.start.as_second() + 1 + 2 * point;
        let at = profile::Timestamp::from_second(at).unwrap();
        format!("\"{at}\"")
    });
    let times: Vec<String> = times.collect();
    let series = [
        ("ReadIOPS", 500.0),
        ("WriteIOPS", 300.0),
        ("ReadThroughput", 4_096_000.0),
        ("WriteThroughput", 9_830_400.0),
        ("ReadLatency", 0.002),
        ("WriteLatency", 0.001),
    ]
    .map(|(label, value)| {
        let values = vec![format!("{value:?}"); times.len()].join(", ");
        let times = times.join(", ");
        format!(
            r#"{{"Id": "m", "Label": "{label}", "Timestamps": [{times}], "Values": [{values}]}}"#
        )
    });
    format!(r#"{{"MetricDataResults": [{}]}}"#, series.join(", "))
}

#[test]
fn a_server_is_recorded_from_its_own_answers_alone_and_filled_with_what_its_service_counted() {
    let Some(binaries) = binaries() else { return };
    let server = Theirs::start(&binaries);
    let working = work(&server);
    let recorder = Recorder::of(&server);
    let place = recorder.folder.path();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dbstow"));
        let output = command.args(arguments).current_dir(place).output().unwrap();
        assert!(output.status.success(), "{}", text(&output));
        text(&output)
    };
    let out = [
        "--for",
        "9s",
        "--every",
        "1s",
        "--no-host",
        "--out",
        "shop.toml",
    ];
    run(&[&["record", "--server", &recorder.url], &out[..]].concat());
    end(working);
    let alone = recorder.profile();
    let interval = &alone.intervals[0];
    assert_eq!(interval.processor, None);
    assert_eq!(interval.roles[&Role::Data].reads.waited, None);
    assert!(alone.assumptions.join("\n").contains("as --no-host asks"));

    std::fs::write(place.join("cloudwatch.json"), cloudwatch(&alone)).unwrap();
    let filled = [
        "import",
        "cloudwatch.json",
        "--with",
        "shop.toml",
        "--out",
        "filled.toml",
    ];
    let said = run(&filled);
    assert!(said.contains("from shop.toml and cloudwatch"), "{said}");
    let filled = std::fs::read_to_string(place.join("filled.toml")).unwrap();
    let filled = profile::read("filled.toml", &filled).unwrap();
    let interval = &filled.intervals[0];
    let (data, log) = (interval.roles[&Role::Data], interval.roles[&Role::Log]);
    // 2 s of 500 reads; of 300 writes, the log's are the log's.
    assert_eq!(data.reads.count, Some(1_000.0));
    assert_eq!(data.reads.latency(), Some(Duration::from_millis(2)));
    let writes = data.writes.count.unwrap() + log.writes.count.unwrap();
    assert!(
        log.writes.count.unwrap() > 0.0 && writes >= 599.0,
        "{writes}"
    );
    assert!(interval.operations.unwrap() > 0.0);
}

#[test]
fn ctrl_c_writes_what_there_is() {
    let Some(binaries) = binaries() else { return };
    let server = Theirs::start(&binaries);
    let working = work(&server);
    let recorder = Recorder::of(&server);
    let recording = recorder.started(&server, "600s");
    // Eight transactions at two a second.
    server.pgbench(&["-c", "1", "-t", "8", "-R", "2", "-n"]);
    interrupt(&recording);
    let output = recording.wait_with_output().unwrap();
    end(working);
    match output.status.code() {
        Some(0) => assert!(recorder.profile().intervals.len() >= 2),
        // A machine that did not get to two intervals within that time.
        Some(2) => assert!(
            text(&output).contains("record for longer"),
            "{}",
            text(&output)
        ),
        other => panic!("{other:?}: {}", text(&output)),
    }
}

#[test]
fn a_recording_that_is_killed_leaves_what_it_had() {
    let Some(binaries) = binaries() else { return };
    let server = Theirs::start(&binaries);
    let working = work(&server);
    let recorder = Recorder::of(&server);
    let mut recording = recorder.started(&server, "600s");
    while !recorder.out().exists() {
        assert!(recording.try_wait().unwrap().is_none(), "it ended");
    }
    end(recording);
    end(working);

    let profile = recorder.profile();
    assert!(profile.intervals.len() >= 2);
    assert!(profile.total(|interval| interval.operations).unwrap() > 0.0);
    // Nor is it lost to the next one.
    let output = recorder.start("5s").wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(
        text(&output).contains("already exists"),
        "{}",
        text(&output)
    );
}

#[test]
fn no_function_of_the_recorded_database_is_called() {
    let Some(binaries) = binaries() else { return };
    let server = Theirs::start(&binaries);
    // It suits the arguments of a question better than the built-in function, and would be found first.
    server.sql("CREATE TABLE called (by text)");
    server.sql(
        "CREATE FUNCTION public.pg_has_role(name, text, text) RETURNS boolean LANGUAGE sql AS \
         $$ INSERT INTO public.called VALUES (current_user); SELECT true $$",
    );
    server.sql("ALTER DATABASE postgres SET search_path = public, pg_catalog");
    assert_eq!(
        server.sql("SELECT pg_has_role(current_user, 'boss', 'USAGE')"),
        "t"
    );
    assert_eq!(server.sql("SELECT count(*) FROM called"), "1");
    let clients = work(&server);
    let output = Recorder::of(&server)
        .start("3s")
        .wait_with_output()
        .unwrap();
    end(clients);
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(server.sql("SELECT count(*) FROM called"), "1");
}

#[test]
fn an_idle_server_is_refused_and_nothing_is_written() {
    let Some(binaries) = binaries() else { return };
    let server = Theirs::start(&binaries);
    let recorder = Recorder::of(&server);
    let output = recorder.start("3s").wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(
        text(&output).contains("the server was idle"),
        "{}",
        text(&output)
    );
    assert!(!recorder.out().exists());
}

#[test]
fn a_server_that_is_not_there_is_an_error_with_its_address() {
    let recorder = Recorder {
        folder: tempfile::tempdir().unwrap(),
        url: "postgresql://boss@/x?host=/nowhere".to_owned(),
    };
    let output = recorder.start("3s").wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output).contains("/nowhere/.s.PGSQL.5432"),
        "{}",
        text(&output)
    );
    let recorder = Recorder {
        url: "oracle://db1".to_owned(),
        ..recorder
    };
    let output = recorder.start("3s").wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output).contains("postgresql://USER@HOST"),
        "{}",
        text(&output)
    );
}

#[test]
fn times_and_files_that_cannot_be_are_usage_errors() {
    let recorder = Recorder {
        folder: tempfile::tempdir().unwrap(),
        url: "postgresql://boss@/x?host=/nowhere".to_owned(),
    };
    let output = recorder.start("1s").wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output).contains("record for longer"),
        "{}",
        text(&output)
    );
    std::fs::write(recorder.out(), "").unwrap();
    let output = recorder.start("3s").wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output).contains("already exists"),
        "{}",
        text(&output)
    );
}

/// Before it was tried at the recording's end, when it was lost.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_cannot_be_written_is_refused_before_anything_is_recorded() {
    let url = "postgresql://boss@/x?host=/nowhere";
    // Not even root makes a file in `/proc`.
    for out in ["/proc/shop.toml", "/nowhere/shop.toml"] {
        let record = ["record", "--server", url, "--for", "30s", "--out", out];
        let output = Command::new(env!("CARGO_BIN_EXE_dbstow"))
            .args(record)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", text(&output));
        assert!(
            text(&output).contains(&format!("--out: {out}: ")),
            "{}",
            text(&output)
        );
    }
}

#[test]
fn a_recording_whose_folder_vanishes_is_kept_in_another_file_which_is_named() {
    let Some(binaries) = binaries() else { return };
    let server = Theirs::start(&binaries);
    let working = work(&server);
    let recorder = Recorder::of(&server);
    let rescue = tempfile::tempdir().unwrap();
    let folder = recorder.folder.path().join("asked");
    std::fs::create_dir(&folder).unwrap();
    let out = folder.join("shop.toml");
    let mut recording = Command::new(env!("CARGO_BIN_EXE_dbstow"))
        .args(["record", "--server", &recorder.url, "--every", "1s"])
        .args(["--for", "600s", "--out"])
        .arg(&out)
        .current_dir(rescue.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while !out.exists() {
        assert!(recording.try_wait().unwrap().is_none(), "it ended");
    }
    std::fs::remove_dir_all(&folder).unwrap();
    interrupt(&recording);
    let output = recording.wait_with_output().unwrap();
    end(working);

    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert!(
        text(&output).contains("does not hold the whole recording ("),
        "{}",
        text(&output)
    );
    let mut kept = std::fs::read_dir(rescue.path()).unwrap();
    let kept = kept.next().unwrap().unwrap().path();
    let profile = profile::read("shop.toml", &std::fs::read_to_string(kept).unwrap()).unwrap();
    assert!(profile.intervals.len() >= 2);
}

/// Debian's own configuration: on the socket, the system authenticates users.
#[test]
fn a_login_as_another_user_of_the_machine_is_answered_with_sudo() {
    let Some(binaries) = binaries() else { return };
    let server = Theirs::start(&binaries);
    let rules = server.sql("SHOW hba_file");
    let peer = "local all debian peer\nlocal all all scram-sha-256\n";
    std::fs::write(rules, peer).unwrap();
    server.sql("CREATE ROLE debian LOGIN");
    server.sql("SELECT pg_reload_conf()");
    let recorder = Recorder {
        folder: tempfile::tempdir().unwrap(),
        url: server.url(ENCODED).replace("boss", "debian"),
    };
    let output = recorder.start("3s").wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert!(
        text(&output).contains("sudo -u debian dbstow"),
        "{}",
        text(&output)
    );
}

#[test]
fn the_help_begins_with_every_product_that_can_be_recorded() {
    let output = Command::new(env!("CARGO_BIN_EXE_dbstow"))
        .args(["record", "--help"])
        .output()
        .unwrap();
    let first = text(&output);
    let first = first.split("Usage:").next().unwrap();
    for product in ["PostgreSQL", "MariaDB", "MySQL", "SQL Server"] {
        assert!(first.contains(product), "no {product} in {first}");
    }
}
