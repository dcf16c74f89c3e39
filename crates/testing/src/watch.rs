//! A run of dbstow, observed from outside: what another user can open of its files, and the environments of its
//! processes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};

use host::clock::Clock;
use model::Duration;

/// Reports for each path on a line whether it can be opened for reading: a file, or a directory to be listed.
const TRIES: &str = r#"while IFS= read -r path; do if { :; } 2>/dev/null <"$path"; then echo yes; else echo no; fi; done"#;

/// Another user, who tries to open the paths that it reads.
pub struct Nobody {
    shell: Child,
    asked: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Nobody {
    pub fn new() -> Nobody {
        let mut shell = Command::new("setpriv")
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .args(["sh", "-c", TRIES])
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("setpriv is there");
        Nobody {
            asked: shell.stdin.take().expect("it is piped"),
            answers: BufReader::new(shell.stdout.take().expect("it is piped")),
            shell,
        }
    }

    pub fn opens(&mut self, path: &Path) -> bool {
        writeln!(self.asked, "{}", path.display()).expect("it waits for paths");
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("it answers");
        match answer.trim_end() {
            "yes" => true,
            "no" => false,
            other => panic!("{other:?} of {}", path.display()),
        }
    }
}

impl Drop for Nobody {
    fn drop(&mut self) {
        let _ = self.shell.kill();
        let _ = self.shell.wait();
    }
}

/// Observations during the run.
#[derive(Default)]
pub struct Seen {
    /// Files and directories that existed.
    pub paths: BTreeSet<PathBuf>,
    /// Those that the other user could open.
    pub opened: BTreeSet<PathBuf>,
    /// Environments of processes started by dbstow, by program name.
    pub environments: BTreeMap<String, BTreeSet<String>>,
}

impl Seen {
    /// Runs `command` to its end, while repeatedly checking the files beneath `folders` and its processes.
    pub fn of(command: &mut Command, folders: &[PathBuf]) -> (Seen, Output) {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it was built");
        let (out, err) = (child.stdout.take(), child.stderr.take());
        let read = |stream: Option<_>| {
            std::thread::spawn(move || {
                let mut bytes = Vec::new();
                let mut stream: Box<dyn std::io::Read + Send> = stream.expect("it is piped");
                stream.read_to_end(&mut bytes).expect("it can be read");
                bytes
            })
        };
        let out = read(out.map(|out| Box::new(out) as Box<dyn std::io::Read + Send>));
        let err = read(err.map(|err| Box::new(err) as Box<dyn std::io::Read + Send>));
        let mut seen = Seen::default();
        let mut nobody = Nobody::new();
        let status = loop {
            let looks = Clock::start();
            seen.look(folders, &mut nobody);
            seen.look_at_processes(child.id());
            if let Some(status) = child.try_wait().expect("it is ours") {
                break status;
            }
            // A look at a cluster takes longer than that; what is looked at gets as much of the processor.
            Clock::sleep(
                Duration::from_nanos(looks.now().as_nanos()).max(Duration::from_millis(10)),
            );
        };
        let output = Output {
            status,
            stdout: out.join().expect("it ends"),
            stderr: err.join().expect("it ends"),
        };
        (seen, output)
    }

    /// Checks everything beneath `folders` once.
    pub fn look(&mut self, folders: &[PathBuf], nobody: &mut Nobody) {
        for folder in folders {
            self.look_beneath(folder, nobody);
        }
    }

    fn look_beneath(&mut self, folder: &Path, nobody: &mut Nobody) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            if !kind.is_file() && !kind.is_dir() {
                continue;
            }
            let path = entry.path();
            if nobody.opens(&path) {
                self.opened.insert(path.clone());
            }
            if kind.is_dir() {
                self.look_beneath(&path, nobody);
            }
            self.paths.insert(path);
        }
    }

    /// Whether there was a path with this suffix.
    pub fn has(&self, end: &str) -> bool {
        self.paths.iter().any(|path| path.ends_with(end))
    }

    /// Reads the environments of all processes that `process` has started.
    fn look_at_processes(&mut self, process: u32) {
        let read = |pid: u32, what: &str| {
            let bytes = fs::read(format!("/proc/{pid}/{what}")).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let own = read(process, "cmdline");
        for pid in descendants(process) {
            // A process that has not called exec yet is still dbstow, which only root can inspect.
            if read(pid, "cmdline") == own {
                continue;
            }
            let (environment, name) = (read(pid, "environ"), read(pid, "comm"));
            let variables = environment.split('\0').filter(|text| !text.is_empty());
            let name = name.trim_end().to_owned();
            let known = self.environments.entry(name).or_default();
            known.extend(variables.map(str::to_owned));
        }
    }

    /// Asserts that the processes `name` existed, and had `wanted` in their environment.
    pub fn saw(&self, name: &str, wanted: &[String]) {
        let environment = self.environments.get(name);
        let environment =
            environment.unwrap_or_else(|| panic!("no {name} among {:?}", self.environments.keys()));
        for wanted in wanted {
            assert!(
                environment.contains(wanted),
                "{name} without {wanted}: {environment:?}"
            );
        }
    }
}

/// All direct and indirect children of `process`.
fn descendants(process: u32) -> Vec<u32> {
    let entries = fs::read_dir("/proc").expect("there is a /proc").flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let parent = |pid: u32| -> Option<u32> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit(')')
            .next()?
            .split_whitespace()
            .nth(1)?
            .parse()
            .ok()
    };
    let parents: Vec<(u32, u32)> = pids.filter_map(|pid| Some((pid, parent(pid)?))).collect();
    let mut found = vec![process];
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        found.extend(
            parents
                .iter()
                .filter(|(_, of)| *of == parent)
                .map(|(pid, _)| *pid),
        );
        next += 1;
    }
    found.split_off(1)
}
