//! A PostgreSQL is recorded on a modelled disk, predicted on another, and then run on that: needs root and loop devices.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    reason = "a panic with its line is what a failing test should give"
)]

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Stdio};

use serde_json::Value;
use testing::place::{Place, dbstow, fails, succeeds};
use testing::server::binaries;
use testing::theirs::{ENCODED, Theirs};

/// A disk that takes this long for a write, with all files of a server on it.
fn layout(write_latency: &str) -> String {
    format!(
        "[machine]\ncores = 2\nmemory = \"4 GiB\"\n[volume.d]\ndisk = \"unlimited\"\n\
         override = {{ read_latency = \"1 ms\", write_latency = \"{write_latency}\" }}\n"
    )
}

fn with_placement(layout: &str) -> String {
    format!(
        "{layout}[placement.all]\ndata = {{ volumes = \"d\" }}\ntemp = {{ volumes = \"d\" }}\nlog = {{ volumes = \"d\" }}\n"
    )
}

/// A server on a modelled disk, on which four clients change rows until it is dropped.
struct Working {
    server: Theirs,
    clients: Child,
    /// The loop device's mode of caching, a file.
    write_cache: PathBuf,
}

impl Working {
    fn on(place: &Place, write_latency: &str) -> Option<Working> {
        let binaries = binaries()?;
        fs::write(place.path("disks.toml"), layout(write_latency)).unwrap();
        let volumes = place.text("volumes");
        succeeds(&[
            "mount",
            &place.text("disks.toml"),
            &volumes,
            "--size",
            "1GiB",
        ]);
        // A flush of a mounted volume waits for all writes in flight (METHODOLOGY.md); a disk without a write cache has none.
        let write_cache = write_cache(place);
        fs::write(&write_cache, "write through").unwrap();
        let server = Theirs::start_on(&binaries, &place.path("volumes/d"));
        server.pgbench(&["-i", "-q", "-s", "1"]);
        server.sql("ALTER SYSTEM SET track_wal_io_timing = on");
        server.sql("SELECT pg_reload_conf()");
        let mut clients = server.pgbench_command(&["-N", "-c", "4", "-T", "600", "-n"]);
        let clients = clients.stdout(Stdio::null()).stderr(Stdio::null());
        let clients = clients.spawn().unwrap();
        Some(Working {
            server,
            clients,
            write_cache,
        })
    }

    /// Records it for some seconds.
    fn record(&self, place: &Place, name: &str) -> String {
        let out = place.text(name);
        let url = self.server.url(ENCODED);
        succeeds(&[
            "record", "--server", &url, "--for", "8s", "--every", "2s", "--out", &out,
        ]);
        out
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        let _ = self.clients.kill();
        let _ = self.clients.wait();
        // The device keeps it for its next user.
        let _ = fs::write(&self.write_cache, "write back");
    }
}

fn write_cache(place: &Place) -> PathBuf {
    let mounts = place.mounts();
    let device = mounts.iter().find_map(|line| {
        let device = line.split(' ').next()?;
        device.strip_prefix("/dev/")
    });
    let device = device.expect("a loop device");
    PathBuf::from(format!("/sys/block/{device}/queue/write_cache"))
}

fn operations_per_s(profile: &str) -> f64 {
    let profile: Value = serde_json::from_str(&succeeds(&["profile", profile, "--format", "json"]))
        .expect("it prints JSON");
    profile["operations_per_s"]["mean"].as_f64().unwrap()
}

#[test]
fn what_a_server_does_on_a_faster_disk_is_predicted_from_a_recording_on_a_slower_one() {
    let place = Place::new();
    let Some(working) = Working::on(&place, "40 ms") else {
        return;
    };
    let slow = working.record(&place, "slow.toml");
    drop(working);
    succeeds(&["unmount", &place.text("volumes")]);

    // The recording fits the disk that it was made on, and no other.
    for (name, latency) in [("today.toml", "40 ms"), ("other.toml", "10 ms")] {
        fs::write(place.path(name), with_placement(&layout(latency))).unwrap();
    }
    let (today, other) = (place.text("today.toml"), place.text("other.toml"));
    let backtest = [
        "run",
        "--profile",
        &slow,
        "--today",
        &today,
        "--untested",
        "--format",
        "json",
    ];
    let backtest: Value = serde_json::from_str(&succeeds(&backtest)).expect("it prints JSON");
    // Seconds on a small machine are not a measurement: wider than the 20 % that a user's recording must keep.
    let off = backtest["figures"][0]["off"].as_f64().unwrap();
    assert!(off.abs() < 0.4, "{backtest:#}");
    let (code, said) = fails(&["run", "--profile", &slow, "--today", &other]);
    assert_eq!(code, 3, "{said}");
    assert!(
        said.contains("waited longer than these disks take"),
        "{said}"
    );

    let named = "name = \"other\"\nquestion = \"How fast?\"\n";
    let experiment = format!("{named}{}", with_placement(&layout("10 ms")));
    fs::write(place.path("experiment.toml"), experiment).unwrap();
    let predicted = dbstow(&[
        "run",
        &place.text("experiment.toml"),
        "--profile",
        &slow,
        "--out",
        &place.text("results"),
        "--format",
        "json",
    ]);
    let mut predicted = predicted;
    let output = predicted.output().unwrap();
    let findings: Value = serde_json::from_slice(&output.stdout).expect("a document");
    let metrics = &findings["arms"][0]["metrics"];
    let predicted = metrics["operations_per_s"]["mean"].as_f64().unwrap();

    let working = Working::on(&place, "10 ms").unwrap();
    let fast = working.record(&place, "fast.toml");
    drop(working);
    let (before, run) = (operations_per_s(&slow), operations_per_s(&fast));
    // A disk four times as fast: nearly four times the rate, less what does not depend on the disk.
    assert!(run > 2.0 * before, "{before}, then {run}");
    let ratio = predicted / run;
    assert!(
        (0.7..1.4).contains(&ratio),
        "{predicted} predicted, {run} run, {before} before"
    );
    // Conversely, a recording of the fast disk does not fit the slow one.
    let (code, said) = fails(&["run", "--profile", &fast, "--today", &today]);
    assert_eq!(code, 3, "{said}");
    assert!(
        said.contains("answered sooner than these disks answer"),
        "{said}"
    );
}
