//! A run whose emulator is killed: it reports that once, exits 1, leaves nothing, and can be rerun.
//!
//! Needs root, FUSE, loop devices and fio.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use testing::place::{Place, dbstow, said, wait_for};

const EXPERIMENT: &str = r#"name = "small"
question = "What if the emulator is gone?"
[machine]
cores = 2
memory = "4 GiB"
[volume.d]
disk = "azure.premium.p30"
[placement.one]
data = { volumes = "d" }
temp = { volumes = "d" }
log = { volumes = "d" }
[workload]
name = "raw"
duration = "2 s"
[workload.parameters]
span = "64 MiB"
[engine]
name = "raw"
memory = "8 MiB"
[protocol]
blocks = 1
metric = "iops"
"#;

/// A run in a separate folder.
struct Scene {
    place: Place,
    front: &'static str,
}

impl Scene {
    fn new(front: &'static str) -> Scene {
        let place = Place::new();
        fs::write(place.path("small.toml"), EXPERIMENT).expect("the folder is ours");
        fs::create_dir(place.path("bytes")).expect("the folder is ours");
        fs::create_dir(place.path("tmp")).expect("the folder is ours");
        Scene { place, front }
    }

    fn command(&self) -> Command {
        let mut run = dbstow(&[
            "run",
            "small.toml",
            "--mode",
            "emulate",
            "--engine",
            "raw",
            "--out",
            "r",
            "--transport",
            "fuser",
            "--backing",
            "bytes",
            "--front",
            self.front,
        ]);
        run.env("TMPDIR", self.place.path("tmp"))
            .current_dir(self.place.root())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        run
    }

    fn start(&self) -> Child {
        self.command().spawn().expect("it was built")
    }

    /// Remains in the directories that the run was given, and mounts in them.
    fn left(&self) -> Vec<String> {
        let entries = |name: &str| fs::read_dir(self.place.path(name)).expect("it is there");
        let paths = entries("bytes").chain(entries("tmp")).flatten();
        let mut left: Vec<String> = paths
            .map(|entry| entry.path().display().to_string())
            .collect();
        left.extend(self.place.mounts());
        left
    }

    /// Reruns the same plan, which nothing prevents.
    fn again(&self) {
        let output = self.command().output().expect("it was built");
        assert!(output.status.success(), "{}", said(&output));
        assert_eq!(self.left(), [""; 0]);
    }
}

/// Command lines of the processes currently below `parent`, with their numbers.
fn children(parent: u32) -> Vec<(u32, String)> {
    let list = format!("/proc/{parent}/task");
    let tasks = fs::read_dir(list).into_iter().flatten().flatten();
    let lists = tasks.map(|task| fs::read_to_string(task.path().join("children")));
    let numbers = lists.flatten().flat_map(|list| {
        let numbers: Vec<u32> = list.split_whitespace().flat_map(str::parse).collect();
        numbers
    });
    numbers
        .map(|pid| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            (pid, String::from_utf8_lossy(&line).replace('\0', " "))
        })
        .collect()
}

fn emulator(run: u32) -> Option<u32> {
    let mut emulators = children(run).into_iter();
    emulators.find_map(|(pid, line)| line.contains("emulator --attached").then_some(pid))
}

fn fio(run: u32, part: &str) -> bool {
    let fio = |line: &str| line.contains("--filename=") && line.contains(part);
    children(run).iter().any(|(_, line)| fio(line))
}

fn kill(pid: u32) {
    let status = Command::new("kill")
        .args(["-KILL", &pid.to_string()])
        .status();
    // It may have ended already.
    let _ = status.expect("kill is there");
}

fn lost(scene: &Scene, output: &Output) {
    let said = said(output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let message = "the emulator ended before it was stopped";
    assert_eq!(said.matches(message).count(), 1, "{said}");
    assert!(said.contains("rerun the same command"), "{said}");
    assert_eq!(scene.left(), [""; 0], "{said}");
}

/// Kills the emulator once `reached` holds for the run's process.
fn killed_at(front: &'static str, what: &str, reached: impl Fn(u32) -> bool) {
    let scene = Scene::new(front);
    let run = scene.start();
    let pid = run.id();
    wait_for(what, || emulator(pid).is_some() && reached(pid));
    kill(emulator(pid).expect("it has one"));
    let output = run.wait_with_output().expect("it ends");
    lost(&scene, &output);
    scene.again();
}

#[test]
fn an_emulator_killed_while_it_mounts() {
    killed_at("file", "its start", |_| true);
    killed_at("block", "its start", |_| true);
}

#[test]
fn an_emulator_killed_during_the_load() {
    killed_at("file", "the load", |run| fio(run, "--name=layout"));
    killed_at("block", "the load", |run| fio(run, "--name=layout"));
}

#[test]
fn an_emulator_killed_during_the_run() {
    let running = |run| fio(run, "dbstow-raw") && !fio(run, "--name=layout");
    killed_at("file", "the run", running);
    killed_at("block", "the run", running);
}

/// Its end and the kill coincide, so that either may be what ends it.
#[test]
fn an_emulator_killed_while_the_trial_is_cleaned_up() {
    let scene = Scene::new("block");
    let run = scene.start();
    let pid = run.id();
    let running = || fio(pid, "dbstow-raw") && !fio(pid, "--name=layout");
    wait_for("the run", running);
    let emulator = emulator(pid).expect("it has one");
    wait_for("its end", || !fio(pid, "dbstow-raw"));
    kill(emulator);
    let output = run.wait_with_output().expect("it ends");
    let said = said(&output);
    match said.contains("the emulator ended before it was stopped") {
        true => lost(&scene, &output),
        false => assert!(output.status.success(), "{said}"),
    }
    assert_eq!(scene.left(), [""; 0], "{said}");
    scene.again();
}

#[test]
fn a_run_and_its_emulator_that_are_both_killed_block_nothing() {
    for front in ["file", "block"] {
        let scene = Scene::new(front);
        let mut run = scene.start();
        let pid = run.id();
        wait_for("the load", || fio(pid, "dbstow-raw"));
        // The emulator first, so that it cannot clean up when its standard input closes.
        kill(emulator(pid).expect("it has one"));
        kill(pid);
        run.wait().expect("it ends");
        scene.again();
    }
}

/// Without its state files, as after a loss of /run.
#[test]
fn a_dead_mount_in_a_directory_of_ours_is_unmounted_by_the_next_run() {
    let scene = Scene::new("file");
    let mut run = scene.start();
    let pid = run.id();
    wait_for("the load", || fio(pid, "dbstow-raw"));
    let emulator = emulator(pid).expect("it has one");
    // First, so that no other start cleans up after it.
    for pid in [pid, emulator] {
        let state = fs::read_dir("/run/dbstow").expect("it is there").flatten();
        for entry in state {
            let name = entry.file_name();
            if name.to_string_lossy().starts_with(&format!("{pid}-")) {
                fs::remove_dir_all(entry.path()).expect("it is root's");
            }
        }
    }
    kill(emulator);
    kill(pid);
    run.wait().expect("it ends");
    let mounts = scene.place.mounts();
    assert_eq!(mounts.len(), 1, "{mounts:?}");
    let at = mounts[0]
        .split(' ')
        .nth(1)
        .expect("a mount has a directory");
    assert!(fs::read_dir(Path::new(at)).is_err(), "its emulator is dead");
    scene.again();
}
