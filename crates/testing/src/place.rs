//! A folder to mount in, and the program under test.

use std::fs::{self, File};
use std::io::Write as _;
use std::ops::Deref;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use host::clock::Clock;
use model::Duration;
use serde_json::Value;

use crate::folder::Folder;

/// A folder that is unmounted before it is removed.
pub struct Place(Folder);

impl Deref for Place {
    type Target = Folder;

    fn deref(&self) -> &Folder {
        &self.0
    }
}

impl Place {
    pub fn new() -> Place {
        Place(Folder::new())
    }

    /// Lines of the kernel's table of mounts that lie in this place.
    pub fn mounts(&self) -> Vec<String> {
        let table = fs::read_to_string("/proc/self/mounts").expect("the table of mounts");
        let here = self.root().to_str().expect("it is text");
        let lines = table.lines().filter(|line| line.contains(here));
        lines.map(str::to_owned).collect()
    }
}

/// Unmounts, even where a test failed before it did.
impl Drop for Place {
    fn drop(&mut self) {
        for line in self.mounts() {
            let directory = line.split(' ').nth(1).expect("a mount has a directory");
            let _ = dbstow(&["unmount", directory]).output();
        }
    }
}

/// A process that ends with the test, also with one that fails.
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub fn dbstow(arguments: &[&str]) -> Command {
    let mut command = Command::new(crate::program());
    command.args(arguments).stdin(Stdio::null());
    command
}

pub fn succeeds(arguments: &[&str]) -> String {
    let output = dbstow(arguments).output().expect("it was built");
    assert!(output.status.success(), "{arguments:?}: {}", said(&output));
    String::from_utf8(output.stdout).expect("it prints text")
}

/// Exit code and message of a command that fails.
pub fn fails(arguments: &[&str]) -> (i32, String) {
    failed(&mut dbstow(arguments))
}

pub fn failed(command: &mut Command) -> (i32, String) {
    let output = command.output().expect("it can be run");
    assert!(!output.status.success(), "{command:?} succeeded");
    (
        output.status.code().expect("it was not killed"),
        said(&output),
    )
}

pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub fn emulator_of(directory: &str) -> i64 {
    let stat: Value = serde_json::from_str(&succeeds(&["stat", directory, "--format", "json"]))
        .expect("it prints JSON");
    stat["pid"].as_i64().expect("a process")
}

pub fn wait_for(what: &str, condition: impl Fn() -> bool) {
    let clock = Clock::start();
    while !condition() {
        assert!(clock.now().as_secs_f64() < 120.0, "{what} does not happen");
        Clock::sleep(Duration::from_millis(20));
    }
}

pub fn write(path: &Path, bytes: &[u8]) {
    let mut file = File::create(path).expect("the volume takes it");
    file.write_all(bytes).expect("the volume takes it");
    file.sync_all().expect("the volume takes it");
}

/// Whether process `pid` runs; a zombie has ended.
pub fn is_alive(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| {
        let state = rest.trim_start().chars().next();
        state.is_some_and(|state| state != 'Z' && state != 'X')
    })
}
