//! Too much, too little, or missing: refused in a sentence, ended cleanly, never a panic.

use std::fs;

use testing::experiments::small_of_one_arm;
use testing::folder::{Folder, said};

/// A folder to work in, with `small.toml` in it.
fn folder() -> Folder {
    Folder::with(&[("small.toml", small_of_one_arm())])
}

fn with_sets<'a>(first: &[&'a str], sets: &[&'a str]) -> Vec<&'a str> {
    let sets = sets.iter().flat_map(|set| ["--set", *set]);
    first.iter().copied().chain(sets).collect()
}

/// The one-line error of `check` for these settings.
fn refused(sets: &[&str]) -> String {
    folder().refused(&with_sets(&["check", "small.toml"], sets))
}

/// The record of a run of one trial.
fn record(folder: &Folder, sets: &[&str]) -> serde_json::Value {
    let arguments = with_sets(&["run", "small.toml", "--out", "out", "--fresh"], sets);
    folder.dbstow(&arguments).assert().success();
    serde_json::from_str(&folder.read("out/records/000-one.json")).expect("a record is JSON")
}

#[test]
fn what_cannot_be_modelled_is_refused_with_its_key_its_value_and_its_bound() {
    for (set, parts) in [
        (
            "volume.d.count=1025",
            ["volume.d.count is 1025", "at most 1024"],
        ),
        (
            "machine.cores=4097",
            ["machine.cores is 4097", "at most 4096"],
        ),
        (
            "workload.sessions=10001",
            ["workload.sessions is 10001", "at most 10000"],
        ),
        (
            "volume.d.interleave=2 GiB",
            ["volume.d.interleave is 2 GiB", "at most 1 GiB"],
        ),
        (
            "volume.d.override.iops_limit=9223372036854775807",
            ["iops_limit is 9223372036854775807", "at most"],
        ),
        (
            "engine.read_ahead=1 TiB",
            ["engine.read_ahead is 1 TiB", "at most 1 GiB"],
        ),
        (
            "placement.one.data.file_size=257 TiB",
            ["file_size of 257 TiB", "at most 256 TiB"],
        ),
        ("protocol.blocks=100001", ["100001 blocks", "1 to 10000"]),
        (
            "workload.rate=nan",
            ["a rate of NaN", "0 for a closed loop"],
        ),
        (
            "workload.rate=-1.0",
            ["a rate of -1", "0 for a closed loop"],
        ),
        ("workload.rate=1e-300", ["a rate of 1e-300", "1e-9 to 1e9"]),
        ("workload.rate=1e300", ["a rate of 1e300", "1e-9 to 1e9"]),
        ("workload.rate=2e-9", ["10 operations", "years"]),
    ] {
        let text = refused(&[set]);
        for part in parts {
            assert!(text.contains(part), "{set}: no {part:?} in: {text}");
        }
    }
}

#[test]
fn more_disks_in_all_than_can_be_told_apart_are_refused() {
    let folder = folder();
    let names: Vec<String> = (0..64).map(|n| format!("v{n}")).collect();
    let volumes = names
        .iter()
        .map(|name| format!("[volume.{name}]\ndisk = \"azure.premium.p30\"\ncount = 1024\n"));
    let list = format!("volumes = {names:?}");
    let text = small_of_one_arm().replace(
        "data = { volumes = \"d\" }",
        &format!("data = {{ {list} }}"),
    );
    let text = text + &volumes.collect::<String>();
    folder.write("small.toml", text);

    let text = folder.fails(&["check", "small.toml"], 2);
    // 64 x 1,024 and the log's.
    assert!(text.contains("65537 disks together"), "{text}");
    assert!(text.contains("at most 65535"), "{text}");
}

#[test]
fn sessions_that_may_not_fit_into_memory_are_refused_unless_that_is_asked_for() {
    let folder = folder();
    let sets = ["workload.sessions=10000", "engine.sort_memory=1 TiB"];
    let check = with_sets(&["check", "small.toml"], &sets);
    let text = folder.fails(&check, 2);
    assert!(
        text.contains("10000 sessions with 1 TiB of sort memory"),
        "{text}"
    );
    assert!(text.contains("--allow-large"), "{text}");

    folder
        .dbstow(&check)
        .arg("--allow-large")
        .assert()
        .success();
}

#[test]
fn the_largest_buffer_pool_takes_no_more_memory_than_its_pages() {
    let folder = folder();
    let record = record(
        &folder,
        &["engine.memory=31 TiB", "machine.memory=40000 GiB"],
    );
    assert_eq!(record["outcome"]["status"], "finished");
}

#[test]
fn a_rate_of_an_operation_a_year_takes_no_more_room_than_an_hour_of_seconds() {
    let folder = folder();
    let record = record(
        &folder,
        &[
            "workload.rate=1e-7",
            "workload.operations=4",
            "engine.checkpoint=none",
        ],
    );

    let series = record["series"]["values"].as_object().expect("series");
    let longest = series
        .values()
        .map(|values| values.as_array().expect("a list").len());
    assert!(longest.max() <= Some(3600));
    assert!(record["series"]["interval_ns"].as_u64() > Some(1_000_000_000));
    let total = |name: &str| -> u64 {
        let values = series[name].as_array().expect("a list");
        values
            .iter()
            .map(|value| value.as_u64().expect("a count"))
            .sum()
    };
    assert_eq!(total("operations"), 4);
    let reads = record["volumes"][0]["disks"][0]["reads"].as_u64();
    assert_eq!(Some(total("d.1.reads")), reads);
}

#[test]
fn a_seed_keeps_all_its_64_bits() {
    let folder = folder();
    let seed = u64::MAX.to_string();
    let arguments = ["run", "small.toml", "--seed", &seed, "--out", "out"];
    folder.dbstow(&arguments).assert().success();

    let text = folder.stdout(&["report", "out", "--format", "json"]);
    assert!(text.contains(&format!("\"seed\": {seed}")), "{text}");
    let again = [
        "run",
        "small.toml",
        "--set",
        &format!("protocol.seed={seed}"),
        "--out",
        "out",
    ];
    let output = folder.dbstow(&again).assert().success();
    let text = said(&output);
    assert!(text.contains("1 of 1 trials are recorded"), "{text}");
}

#[test]
fn a_run_without_an_operation_has_no_figures() {
    for sets in [
        // The first one comes in the thousandth second on average.
        &["workload.duration=1 ms", "workload.rate=0.001"][..],
        &["workload.duration=1 ns"][..],
    ] {
        let folder = folder();
        let text = small_of_one_arm().replace("operations = 10\n", "duration = \"1 s\"\n");
        folder.write("small.toml", text);
        let run = with_sets(&["run", "small.toml", "--out", "out"], sets);

        let output = folder.dbstow(&run).assert().code(1);

        let output = output.get_output();
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        let shown = shown + &String::from_utf8_lossy(&output.stderr);
        let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            words.contains("no operation ended within the measured time"),
            "{shown}"
        );
        assert!(!shown.contains("NaN") && !shown.contains("±"), "{shown}");
    }
}

#[cfg(unix)]
mod signals {
    use std::fs::File;
    use std::io::Read;
    use std::path::{Path, PathBuf};
    use std::process::{Child, Command, ExitStatus, Stdio};

    use host::clock::Clock;
    use model::{Duration, Instant};
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;

    use super::*;

    /// A timeout for a test that would otherwise never end.
    const HANG: Duration = Duration::from_secs(180);

    fn spawn(folder: &Folder, arguments: &[&str]) -> Child {
        let mut command = folder.process(arguments);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().expect("it starts")
    }

    fn send(child: &Child, signal: Signal) {
        let pid = i32::try_from(child.id()).expect("a process id");
        kill(Pid::from_raw(pid), signal).expect("it is ours");
    }

    fn until(otherwise: &str, mut so: impl FnMut() -> bool) {
        let clock = Clock::start();
        while !so() {
            assert!(clock.now() < Instant::ZERO + HANG, "{otherwise}");
            Clock::sleep(Duration::from_millis(5));
        }
    }

    /// Waits for a file that the program creates at a known point.
    fn wait_for(path: &Path) {
        until(&format!("no {}", path.display()), || path.exists());
    }

    fn ended(mut child: Child) -> (ExitStatus, String) {
        let mut status = None;
        until("it does not end", || {
            status = child.try_wait().expect("it is ours");
            status.is_some()
        });
        let status = status.expect("it ended");
        let mut text = String::new();
        let mut stderr = child.stderr.take().expect("it is piped");
        stderr.read_to_string(&mut text).expect("text");
        (status, text)
    }

    fn head(folder: &Folder) -> PathBuf {
        folder.path("out/dbstow.json")
    }

    #[test]
    fn a_load_of_many_rows_ends_at_ctrl_c() {
        let folder = folder();
        let rows = "workload.parameters.rows=2000000000";
        let child = spawn(
            &folder,
            &[
                "run",
                "small.toml",
                "--out",
                "out",
                "--allow-large",
                "--set",
                rows,
            ],
        );
        // Written once all is known, when signals are already handled: the load of the first trial takes hours.
        wait_for(&head(&folder));

        send(&child, Signal::SIGINT);

        let (status, text) = ended(child);
        assert!(!status.success());
        assert!(
            text.contains("interrupted; finished trials are kept"),
            "{text}"
        );
        assert!(!text.contains("panicked"), "{text}");
        let records = fs::read_dir(folder.path("out/records"));
        assert_eq!(records.map_or(0, Iterator::count), 0);
    }

    #[test]
    fn thousands_of_disks_end_at_ctrl_c() {
        let folder = folder();
        let sets = ["volume.d.count=1024", "workload.operations=100000000"];
        let run = with_sets(&["run", "small.toml", "--out", "out"], &sets);
        let child = spawn(&folder, &run);
        wait_for(&head(&folder));

        send(&child, Signal::SIGINT);

        let (status, text) = ended(child);
        assert!(!status.success());
        assert!(text.contains("interrupted"), "{text}");
    }

    /// Bytes that a process has read, from wherever.
    #[cfg(target_os = "linux")]
    fn bytes_read(child: &Child) -> u64 {
        let text = fs::read_to_string(format!("/proc/{}/io", child.id())).unwrap_or_default();
        let read = text.lines().find_map(|line| line.strip_prefix("rchar: "));
        read.map_or(0, |bytes| bytes.parse().expect("a number"))
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_real_run_that_was_stopped_for_seconds_says_so() {
        let folder = folder();
        let text =
            small_of_one_arm().replace("operations = 10\n", "duration = \"8 s\"\nsessions = 16\n");
        folder.write("small.toml", text);
        folder.make_folder("vd");
        let run = "run small.toml --mode measure --engine sqlite --volume d=vd --out out";
        let child = spawn(&folder, &run.split(' ').collect::<Vec<_>>());
        // A load of 27 MB reads next to nothing; the run reads all the time.
        until("no reads", || bytes_read(&child) > 200_000_000);

        send(&child, Signal::SIGSTOP);
        // More than what counts as late, plus the second that a sample may be off.
        Clock::sleep(Duration::from_millis(3500));
        send(&child, Signal::SIGCONT);

        let (status, text) = ended(child);
        assert!(status.success(), "{text}");
        let record = folder.read("out/records/000-one.json");
        assert!(
            record.contains("paused: the process was stopped for"),
            "{record}"
        );
        let json = folder.stdout(&["report", "out", "--format", "json"]);
        assert!(json.contains("\"id\": \"paused\""), "{json}");
        assert!(json.contains("delete their records"), "{json}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn nohup_survives_a_closed_terminal() {
        let folder = folder();
        let program = testing::program();
        let mut command = Command::new("nohup");
        command
            .arg(program)
            .args(["run", "small.toml", "--out", "out"]);
        command.args(["--set", "workload.parameters.rows=2000000"]);
        command.current_dir(folder.root()).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let child = command.spawn().expect("nohup is everywhere");
        wait_for(&head(&folder));

        send(&child, Signal::SIGHUP);

        let (status, text) = ended(child);
        assert!(status.success(), "{text}");
        assert!(!text.contains("interrupted"), "{text}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_closed_terminal_ends_a_run_as_ctrl_c_does() {
        let folder = folder();
        let rows = "workload.parameters.rows=2000000000";
        let mut command = Command::new("env");
        // The tests may have been started by `nohup`.
        command.arg("--default-signal=HUP").arg(testing::program());
        command.args([
            "run",
            "small.toml",
            "--out",
            "out",
            "--allow-large",
            "--set",
            rows,
        ]);
        command.current_dir(folder.root());
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let child = command.spawn().expect("it starts");
        wait_for(&head(&folder));
        send(&child, Signal::SIGHUP);
        let (_, text) = ended(child);
        assert!(text.contains("interrupted"), "{text}");
    }

    /// Runs with at most this many KiB of address space: the exit code, and stderr.
    fn run_within(kib: u32, sets: &[&str]) -> (Option<i32>, String) {
        let folder = folder();
        let program = testing::program();
        let mut command = Command::new("sh");
        command.args(["-c", &format!("ulimit -v {kib}; exec \"$0\" \"$@\"")]);
        command.arg(program).args(with_sets(
            &["run", "small.toml", "--out", "out", "--jobs", "1"],
            sets,
        ));
        let output = command.current_dir(folder.root()).output();
        let output = output.expect("it starts");
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text).into_owned();
        (output.status.code(), text)
    }

    #[test]
    fn what_is_within_the_bounds_runs_in_two_gigabytes_or_refused() {
        for sets in [
            &[
                "volume.d.count=1024",
                "workload.sessions=64",
                "workload.operations=640",
            ][..],
            &["engine.memory=31 TiB", "machine.memory=40000 GiB"],
            &[
                "engine.read_ahead=1 GiB",
                "engine.write_gather=1 GiB",
                "engine.log_gather=1 GiB",
            ],
            &[
                "placement.one.temp.files=32767",
                "placement.one.data.files=32767",
            ],
            &["placement.one.data.file_size=1 B"],
            &[
                "placement.one.temp.files=32767",
                "placement.one.temp.file_size=256 TiB",
            ],
            &["machine.cores=4096", "engine.writes_in_flight=4294967295"],
            &["volume.d.override.read_latency={ p50 = \"1 ns\", p99 = \"277777 h\" }"],
            &[
                "volume.d.override.iops_limit=1",
                "volume.d.override.transfer=1 B/s",
            ],
            &["engine.cpu.vm_step=277777 h", "workload.think=277777 h"],
            &["workload.rate=1e-8", "workload.warm_up=277777 h"],
            &["volume.d.disk=unlimited", "engine.sort_memory=1 TiB"],
        ] {
            let (code, text) = run_within(2 << 20, sets);
            assert!(matches!(code, Some(0..=2)), "{sets:?}: {code:?} {text}");
            assert!(!text.contains("panicked"), "{sets:?}: {text}");
            assert!(!text.contains("NaN"), "{sets:?}: {text}");
        }
    }

    #[test]
    fn sessions_without_memory_are_an_error_of_the_trial() {
        let sets = ["workload.sessions=2000", "workload.operations=2000"];
        let (code, text) = run_within(1_500_000, &sets);
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(code, Some(1), "{text}");
        // Of SQLite, or of the sessions' stacks.
        let said = ["out of memory", "no memory for the stacks of 2000 sessions"];
        assert!(said.iter().any(|said| words.contains(said)), "{text}");
    }

    #[test]
    fn a_full_disk_is_a_message_and_a_failure() {
        let Ok(full) = File::options().write(true).open("/dev/full") else {
            return;
        };
        let program = testing::program();
        let output = Command::new(program)
            .arg("disks")
            .stdout(full)
            .stderr(Stdio::piped())
            .output()
            .expect("it starts");
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(text.contains("No space left"), "{text}");
    }

    #[test]
    fn a_reader_that_went_away_is_no_failure() {
        let mut child = Command::new(testing::program())
            .args(["disks", "--format", "json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        drop(child.stdout.take());
        let (status, text) = ended(child);
        assert_eq!((status.code(), &*text), (Some(0), ""));
    }
}
