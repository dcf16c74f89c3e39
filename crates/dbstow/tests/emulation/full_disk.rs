//! The underlying disk fills up during a run: finished trials are kept, and nothing stays mounted.
//!
//! Under servers, whose files grow; those of SQLite are reserved before a trial begins.

#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use host::clock::Clock;
use model::{Duration, Instant};
use serde_json::Value;
use testing::place::{self, Place, said};

const EXPERIMENT: &str = r#"name = "full"
question = "What happens when the disk below is full?"
[machine]
cores = 2
memory = "4 GiB"
[volume.d]
disk = "unlimited"
[placement.one]
data = { volumes = "d" }
temp = { volumes = "d" }
log = { volumes = "d" }
[workload]
name = "write-only"
duration = "6 s"
[workload.parameters]
rows = 5_000
[engine]
memory = "2 MiB"
[protocol]
blocks = 2
metric = "operations_per_s"
"#;

/// A filesystem in memory, as large as the volumes of a trial may get; root alone can have one.
struct Small<'a>(&'a Path);

impl Small<'_> {
    fn mount(directory: &Path) -> Option<Small<'_>> {
        fs::create_dir(directory).expect("the folder is ours");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=1400m,mode=755", "dbstow-test"])
            .arg(directory)
            .stderr(Stdio::null())
            .status();
        if mounted.is_ok_and(|status| status.success()) {
            return Some(Small(directory));
        }
        testing::skip("only root can mount a small filesystem");
        None
    }

    /// Leaves no page, and takes no time over it: a trial goes on meanwhile.
    fn fill(&self) {
        let (mut end, mut size) = (0_u64, 1_u64 << 30);
        while size >= 4096 {
            let took = Command::new("fallocate")
                .args(["--offset", &end.to_string(), "--length", &size.to_string()])
                .arg(self.0.join("filler"))
                .stderr(Stdio::null())
                .status();
            match took.expect("fallocate is there").success() {
                true => end += size,
                false => size /= 2,
            }
        }
    }
}

impl Drop for Small<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(self.0).status();
    }
}

fn records(place: &Place) -> Vec<Value> {
    let entries = fs::read_dir(place.path("r/records"));
    let entries = entries.into_iter().flatten().flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "json"));
    files.sort();
    let read = |file| fs::read_to_string(file).expect("a record can be read");
    let record = |file| serde_json::from_str(&read(file)).expect("a record is JSON");
    files.iter().map(record).collect()
}

/// Runs with the data in a small filesystem, fills that after the first trial, and checks the result.
fn a_full_disk_fails_the_trial_alone(engine: &str, front: &str) {
    let place = Place::new();
    let bytes = place.path("bytes");
    let Some(small) = Small::mount(&bytes) else {
        return;
    };
    fs::write(place.path("full.toml"), EXPERIMENT).expect("the folder is ours");
    let mut run = place::dbstow(&["run", "full.toml", "--out", "r", "--mode", "emulate"]);
    run.args(["--engine", engine, "--front", front, "--backing", "bytes"])
        .current_dir(place.root());
    let child = run
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it was built");

    let clock = Clock::start();
    while records(&place).is_empty() {
        let waited = clock.now().since(Instant::ZERO);
        assert!(waited < Duration::from_secs(120), "no trial ended");
        Clock::sleep(Duration::from_millis(20));
    }
    small.fill();
    let output = child.wait_with_output().expect("it ends");

    let records = records(&place);
    assert_eq!(records.len(), 2, "{}", said(&output));
    assert_eq!(records[0]["outcome"]["status"], "finished");
    let outcome = &records[1]["outcome"];
    assert_eq!(outcome["status"], "failed", "{}", said(&output));
    let error = outcome["error"].as_str().expect("it says why");
    // The server's message depends on where it was hit: a commit, a checkpoint, its start.
    let hit = [
        "space",
        "is full",
        "operating system error",
        "Input/output error",
        "read-only",
        "Read-only",
        "PANIC",
        "has ended",
        "is lost",
    ];
    assert!(hit.iter().any(|word| error.contains(word)), "{error}");
    fs::remove_file(bytes.join("filler")).expect("it was made");
    let left: Vec<_> = fs::read_dir(&bytes)
        .expect("it is there")
        .flatten()
        .map(|entry| entry.path())
        .collect();
    assert_eq!(left, [] as [&Path; 0]);
    let mounts = place.mounts();
    let others = mounts.iter().filter(|line| !line.contains("/bytes tmpfs"));
    assert_eq!(others.count(), 0, "{mounts:?}");
}

#[test]
fn under_postgres_in_file_mode() {
    a_full_disk_fails_the_trial_alone("postgres", "file");
}

#[test]
fn under_postgres_in_block_mode() {
    a_full_disk_fails_the_trial_alone("postgres", "block");
}

#[test]
fn under_mariadb_in_block_mode() {
    a_full_disk_fails_the_trial_alone("mariadb", "block");
}
