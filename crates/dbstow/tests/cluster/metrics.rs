//! `--metrics` and `--listen`: what they publish, that a real Prometheus reads it, and that page and dashboard agree.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    reason = "a panic with its line is what a failing test should give"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{ErrorKind, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use dbstow::metrics::{FAMILIES, Kind, Scope};
use host::clock::Clock;
use model::Duration;
use serde_json::Value;
use testing::folder::Folder;
use testing::place;
use testing::place::Running;
use testing::prometheus::{self, free_address, get, promtool, request, samples};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Without its input and output.
fn quiet(folder: &Folder, arguments: &[&str]) -> Command {
    let mut command = folder.process(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command
}

fn wait_for(what: &str, mut condition: impl FnMut() -> bool) {
    let clock = Clock::start();
    while !condition() {
        assert!(clock.now().as_secs_f64() < 60.0, "{what} does not happen");
        Clock::sleep(Duration::from_millis(50));
    }
}

#[test]
fn the_page_lists_all_metrics_and_no_other() {
    let page = fs::read_to_string(root().join("docs/metrics.md")).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| `dbstow_"));
    let rows: Vec<&str> = rows.collect();
    let scopes = [
        Scope::All,
        Scope::Volumes,
        Scope::Emulated,
        Scope::Mount,
        Scope::Run,
        Scope::Record,
    ];
    let families = scopes
        .iter()
        .flat_map(|scope| FAMILIES.iter().filter(|family| family.scope == *scope));
    let expected = families.map(|family| {
        let labels = match family.labels {
            [] => "-".to_owned(),
            labels => labels.join(", "),
        };
        let (name, kind) = (family.sample_name(), family.kind.name());
        format!("| `{name}` | {kind} | {labels} | {} |", family.help)
    });
    let expected: Vec<String> = expected.collect();
    assert_eq!(rows, expected);
}

/// Queries of the dashboard's panels.
fn dashboard() -> Vec<String> {
    let text = fs::read_to_string(root().join("examples/grafana-dashboard.json")).unwrap();
    let dashboard: Value = serde_json::from_str(&text).unwrap();
    let panels = dashboard["panels"].as_array().unwrap().iter();
    let targets = panels.filter_map(|panel| panel["targets"].as_array());
    let queries = targets
        .flatten()
        .map(|target| target["expr"].as_str().unwrap().to_owned());
    queries.collect()
}

/// Names of metrics in a query.
fn names(query: &str) -> BTreeSet<&str> {
    let words =
        query.split(|character: char| !character.is_ascii_alphanumeric() && character != '_');
    words.filter(|word| word.starts_with("dbstow_")).collect()
}

#[test]
fn the_dashboard_shows_all_metrics_and_no_other() {
    let queries = dashboard();
    let shown: BTreeSet<&str> = queries.iter().flat_map(|query| names(query)).collect();
    let sampled = FAMILIES.iter().map(|family| match family.kind {
        Kind::Histogram => format!("{}_bucket", family.name),
        Kind::Counter | Kind::Gauge | Kind::Info => family.sample_name(),
    });
    let sampled: BTreeSet<String> = sampled.collect();
    let sampled: BTreeSet<&str> = sampled.iter().map(String::as_str).collect();
    assert_eq!(shown, sampled);
}

/// A run in real time of about a second a trial, on disks with credits.
const RUN: &str = r#"name = "metrics"
question = "Is it counted?"

[machine]
cores = 2
memory = "1 GiB"

[volume.d]
disk = "aws.gp2"
size = "100 GiB"

[volume.l]
disk = "aws.gp2"
size = "100 GiB"

[placement.one]
data = { volumes = "d" }
temp = { volumes = "d" }
log = { volumes = "d" }

[placement.two]
data = { volumes = "d" }
temp = { volumes = "d" }
log = { volumes = "l" }

[workload]
name = "write-only"
sessions = 2
duration = "1 s"
parameters = { rows = 2000 }

[engine]
memory = "1 MiB"

[protocol]
baseline = "one"
metric = "operations_per_s"
blocks = 100
"#;

#[test]
fn a_file_of_metrics_is_whole_at_any_time_and_its_counters_only_grow() {
    let folder = Folder::new();
    folder.write("run.toml", RUN.replace("blocks = 100", "blocks = 2"));
    let file = folder.path("metrics.txt");
    let options = [
        "run",
        "run.toml",
        "--mode=emulate",
        "--backing=.",
        "--out=out",
        "--metrics=metrics.txt",
    ];
    let mut run = Running(quiet(&folder, &options).spawn().unwrap());
    let mut seen: BTreeMap<String, f64> = BTreeMap::new();
    let mut looks = BTreeSet::new();
    loop {
        let ended = run.0.try_wait().unwrap();
        if let Ok(text) = fs::read_to_string(&file) {
            assert!(text.ends_with("# EOF\n"), "{text}");
            for (name, value) in samples(&text) {
                let family = name.split('{').next().unwrap_or_default();
                let of_counters = ["_total", "_bucket", "_count", "_sum"];
                if of_counters.iter().any(|end| family.ends_with(end)) {
                    let before = seen.insert(name.to_owned(), value).unwrap_or(0.0);
                    assert!(before <= value, "{name} was {before} and is {value}");
                }
            }
            looks.insert(text);
        }
        if let Some(status) = ended {
            assert!(status.success(), "{status}");
            break;
        }
        Clock::sleep(Duration::from_millis(50));
    }
    assert!(looks.len() > 2, "it was written {} times", looks.len());
    // Two arms, two blocks.
    assert_eq!(seen["dbstow_run_trials_total{outcome=\"finished\"}"], 4.0);
    // One without labels.
    assert!(seen["dbstow_emulator_requests_total"] > 0.0, "{seen:?}");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("dbstow_run_trials_planned 4"), "{text}");
    assert!(!text.contains("dbstow_run_trials_running"), "{text}");
    let left: Vec<_> = fs::read_dir(folder.root())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left.len(), 3, "{left:?}");
}

#[test]
fn figures_of_a_simulation_are_of_virtual_time() {
    let folder = Folder::new();
    let options = [
        "run",
        "tempdb-ssd-vs-premium",
        "--quick",
        "--out=out",
        "--metrics=metrics.prom",
    ];
    let status = quiet(&folder, &options)
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    let text = folder.read("metrics.prom");
    assert!(
        !text.contains("# EOF") && !text.contains("clock=\"real\""),
        "{text}"
    );
    let values: BTreeMap<&str, f64> = samples(&text).into_iter().collect();
    // Five trials of some 5.6 s of virtual time each, which take a fraction of that.
    let span = values["dbstow_clock_seconds_total{clock=\"virtual\"}"];
    assert!((20.0..40.0).contains(&span), "{span}");
    let arms = values
        .iter()
        .filter(|(name, _)| name.starts_with("dbstow_arm_measured_seconds_total"));
    let sum: f64 = arms.map(|(_, value)| value).sum();
    assert!((sum - span).abs() < 1e-6, "{sum} and {span}");
    if let Some(said) = promtool(&text) {
        assert_eq!(said, "");
    }
}

#[test]
fn a_server_of_metrics_answers_while_others_take_their_time() {
    let folder = Folder::new();
    folder.write("run.toml", RUN);
    let address = free_address();
    let listen = format!("--listen={address}");
    let options = [
        "run",
        "run.toml",
        "--mode=emulate",
        "--backing=.",
        "--out=out",
        &listen,
    ];
    let _run = Running(
        quiet(&folder, &options)
            .stderr(Stdio::null())
            .spawn()
            .unwrap(),
    );
    wait_for("an answer", || get(address, "/", "").is_ok());
    // They send half a request, and wait.
    let slow = (0..3).map(|_| {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\n").unwrap();
        stream
    });
    let slow: Vec<TcpStream> = slow.collect();

    let plain = get(address, "/metrics", "").unwrap();
    assert_eq!(plain.status, 200);
    for stream in &slow {
        // Neither answered nor closed: they are still waited for.
        stream.set_nonblocking(true).unwrap();
        let peeked = stream.peek(&mut [0]).map_err(|error| error.kind());
        assert_eq!(peeked, Err(ErrorKind::WouldBlock));
    }
    assert!(
        plain.headers.contains("text/plain; version=0.0.4"),
        "{plain:?}"
    );
    let accept = "Accept: application/openmetrics-text; version=1.0.0, text/plain; q=0.5\r\n";
    let new = get(address, "/metrics", accept).unwrap();
    assert!(
        new.headers
            .contains("application/openmetrics-text; version=1.0.0"),
        "{new:?}"
    );
    assert!(new.body.ends_with("# EOF\n"), "{new:?}");
    assert_eq!(get(address, "/other", "").unwrap().status, 404);
    let post = format!("POST /metrics HTTP/1.1\r\nHost: {address}\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(request(address, &post).unwrap().status, 405);
    let head = format!("HEAD /metrics HTTP/1.1\r\nHost: {address}\r\n\r\n");
    let head = request(address, &head).unwrap();
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    drop(slow);

    let taken = quiet(&folder, &["run", "run.toml", "--out=other", &listen])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&taken.stderr).into_owned();
    assert!(said.contains("choose another port"), "{said}");
    assert!(!folder.path("other").exists());
}

#[test]
fn metrics_go_nowhere_that_was_not_meant() {
    let folder = Folder::new();
    #[cfg(unix)]
    make_fifo(&folder.path("fifo"));
    for (option, remedy) in [
        ("--listen=0.0.0.0:9187", "--allow-remote"),
        ("--listen=[::]:9187", "--allow-remote"),
        ("--listen=localhost", "127.0.0.1:9187"),
        ("--metrics=/dev/null", "regular file"),
        ("--metrics=.", "regular file"),
        #[cfg(unix)]
        ("--metrics=fifo", "regular file"),
        ("--allow-remote", "--listen"),
    ] {
        let command = [
            "run",
            "tempdb-ssd-vs-premium",
            "--quick",
            "--out=out",
            option,
        ];
        let output = quiet(&folder, &command).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(remedy), "{option}: {said}");
        assert!(!folder.path("out").exists());
    }
}

#[cfg(unix)]
fn make_fifo(path: &Path) {
    let mode = nix::sys::stat::Mode::from_bits_truncate(0o600);
    nix::unistd::mkfifo(path, mode).unwrap();
}

#[cfg(unix)]
#[test]
fn a_link_under_the_name_of_metrics_is_replaced() {
    let folder = Folder::new();
    let (link, other) = (folder.path("metrics"), folder.path("other"));
    fs::write(&other, "somebody's").unwrap();
    std::os::unix::fs::symlink(&other, &link).unwrap();
    let options = [
        "run",
        "tempdb-ssd-vs-premium",
        "--quick",
        "--out=out",
        "--metrics=metrics",
    ];
    let status = quiet(&folder, &options)
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    assert_eq!(fs::read_to_string(&other).unwrap(), "somebody's");
    assert!(fs::symlink_metadata(&link).unwrap().is_file());
    assert!(fs::read_to_string(&link).unwrap().ends_with("# EOF\n"));
}

#[test]
fn metrics_of_a_mount_end_with_what_unmounting_wrote_back() {
    use place::{Place, succeeds};

    let place = Place::new();
    let directory = place.text("disk");
    let file = format!("--metrics={}", place.text("mount.txt"));
    succeeds(&["mount", "unlimited", &directory, "--size=1GiB", &file]);
    // Not synced: where there is a page cache, it is in there.
    fs::write(place.path("disk/file"), vec![7; 8 << 20]).unwrap();
    succeeds(&["unmount", &directory]);

    let text = place.read("mount.txt");
    let of_writes = |name: &str| {
        name.starts_with("dbstow_disk_bytes_total") && name.contains("operation=\"write\"")
    };
    let written = samples(&text).into_iter().find(|(name, _)| of_writes(name));
    let (_, written) = written.unwrap();
    assert!(written >= f64::from(8 << 20), "{written}");
}

/// Without metrics that only a recording has: tests/postgres/record.rs checks those.
fn is_of_a_recording(name: &str) -> bool {
    name.starts_with("dbstow_record_") || name.starts_with("dbstow_server_")
}

#[test]
fn prometheus_scrapes_a_run_and_a_mount_and_answers_the_dashboard() {
    use place::{Place, succeeds, write};
    use prometheus::Prometheus;

    let place = Place::new();
    place.write("run.toml", RUN);
    let (of_run, of_mount) = (free_address(), free_address());
    let directory = place.text("disk");
    let listen = format!("--listen={of_mount}");
    let file = format!("--metrics={}", place.text("mount.txt"));
    let mount = [
        "mount",
        "aws.gp2",
        &directory,
        "--size=100GiB",
        "--front=file",
        &listen,
        &file,
    ];
    let Some(prometheus) = Prometheus::start(&[("run", of_run), ("mount", of_mount)]) else {
        return;
    };
    let said = succeeds(&mount);
    assert!(
        said.contains(&format!("http://{of_mount}/metrics")),
        "{said}"
    );
    let listen = format!("--listen={of_run}");
    let options = [
        "run",
        "run.toml",
        "--mode=emulate",
        "--backing=.",
        "--out=out",
        &listen,
    ];
    let _run = Running(
        quiet(&place, &options)
            .stderr(Stdio::null())
            .spawn()
            .unwrap(),
    );

    let is_at_least = |query: &str, least: f64| prometheus.value(query) >= Some(least);
    wait_for("three trials and some requests", || {
        write(&place.path("disk/file"), &vec![7; 16 << 20]);
        fs::read(place.path("disk/file")).unwrap();
        is_at_least(
            "sum(dbstow_run_trials_total{job=\"run\", outcome=\"finished\"})",
            3.0,
        ) && is_at_least(
            "sum(rate(dbstow_disk_requests_total{job=\"run\"}[10s]))",
            1.0,
        ) && is_at_least(
            "sum(rate(dbstow_disk_requests_total{job=\"mount\"}[10s]))",
            1.0,
        ) && is_at_least("min(count_over_time(up[1m]))", 8.0)
    });

    // Trials have separate volumes, but counters do not restart with them.
    let resets = prometheus.value("max(resets(dbstow_disk_requests_total[2m]))");
    assert_eq!(resets, Some(0.0));
    let empty: Vec<String> = dashboard()
        .into_iter()
        .filter(|query| !names(query).into_iter().any(is_of_a_recording))
        .filter(|query| {
            let query = query
                .replace("$job", "run|mount")
                .replace("$instance", ".*");
            prometheus
                .query(&query.replace("$__rate_interval", "20s"))
                .is_empty()
        })
        .collect();
    assert_eq!(empty, [""; 0], "queries of the dashboard that find nothing");
    // The stored types match the page.
    let written = prometheus.value("dbstow_disk_bytes_total{job=\"mount\", operation=\"write\"}");
    assert!(written >= Some(f64::from(16 << 20)), "{written:?}");
    for address in [of_run, of_mount] {
        let text = get(address, "/metrics", "").unwrap().body;
        assert_eq!(promtool(&text), Some(String::new()), "{text}");
    }

    succeeds(&["unmount", &directory]);
    let text = place.read("mount.txt");
    assert!(
        text.ends_with("# EOF\n") && text.contains("dbstow_mount_info{volume=\"volume\""),
        "{text}"
    );
}
