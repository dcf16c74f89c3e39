//! A private server: its own data directory, its own socket, no network, one user.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use model::Duration;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;
use volume::clock::Clock;

use super::directories::{Directories, Owner};
use super::find::Binaries;
use super::memory::Memory;
use super::settings;
use super::target::{Address, Target};
use super::wire::Connection;
use crate::engine::EngineError;
use crate::spec::Settings;

/// The superuser of a private server.
const USER: &str = "dbstow";

/// Longest that a server may take to be ready, or to stop with a checkpoint: gigabytes on a slow disk.
const PATIENCE: Duration = Duration::from_secs(600);

/// Longest that a server may take to stop when nobody needs its files any more.
const GRACE: Duration = Duration::from_secs(10);

const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Lines of the server's log that an error shows.
const LAST_WORDS: usize = 5;

/// A server of our own.
pub(super) struct Cluster {
    binaries: Binaries,
    owner: Option<Owner>,
    data: PathBuf,
    /// Holds socket and log; its path is short, as sockets need it.
    run: TempDir,
    postmaster: Mutex<Option<Child>>,
    /// Last, so that it is taken away when all else has ended.
    memory: Mutex<Memory>,
}

impl Cluster {
    /// Makes the data directory `data` and the log's directory `log`, both inside directories that exist.
    pub(super) fn create(
        binaries: &Binaries,
        owner: Option<Owner>,
        directories: &mut Directories,
        (data, log): (&Path, &Path),
        settings: &Settings,
    ) -> Result<Cluster, EngineError> {
        let failed =
            |error: io::Error| EngineError::failed("make the server's own directory", error);
        let run = tempfile::Builder::new()
            .prefix("dbstow-")
            .tempdir_in(short_directory())
            .map_err(failed)?;
        directories.give(run.path()).map_err(failed)?;
        directories.make(data)?;
        directories.make(log)?;
        let cluster = Cluster {
            binaries: binaries.clone(),
            owner,
            data: data.to_owned(),
            run,
            postmaster: Mutex::new(None),
            memory: Mutex::new(Memory::limited(settings)),
        };
        cluster.initialise(log)?;
        cluster.configure(&settings::of_server(settings))?;
        Ok(cluster)
    }

    /// How to reach `database` in it.
    pub(super) fn target(&self, database: &str) -> Target {
        Target {
            address: Address::Unix(self.run.path().join(".s.PGSQL.5432")),
            user: USER.to_owned(),
            database: database.to_owned(),
            password: None,
        }
    }

    /// Process number of the server while it runs.
    pub(super) fn postmaster(&self) -> Option<u32> {
        self.child().as_ref().map(Child::id)
    }

    /// What is done about its page cache, in words.
    pub(super) fn page_cache(&self) -> String {
        self.memory().to_string()
    }

    /// From now on its processes and their page cache keep to the experiment's memory.
    pub(super) fn tighten(&self) {
        self.memory().tighten();
    }

    fn memory(&self) -> std::sync::MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the server, and waits until it lets clients in.
    pub(super) fn start(&self) -> Result<(), EngineError> {
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.log())
            .and_then(|log| Ok((log.try_clone()?, log)))
            .map_err(|error| EngineError::failed("open the server's log", error))?;
        let child = self
            .command("postgres")
            .arg("-D")
            .arg(&self.data)
            .stdout(log.0)
            .stderr(log.1)
            .spawn()
            .map_err(|error| EngineError::failed("start PostgreSQL", error))?;
        // Before it starts processes of its own.
        self.memory().hold(child.id());
        *self.child() = Some(child);
        let clock = Clock::start();
        loop {
            match Connection::open(&self.target("postgres"), "dbstow") {
                Ok(_) => return Ok(()),
                Err(_) if self.obituary().is_some() => {
                    let why = self.obituary().unwrap_or_default();
                    return Err(EngineError::failed("start PostgreSQL", why));
                }
                Err(error) if clock.now().as_nanos() > PATIENCE.as_nanos() => {
                    let why = format!("not ready after {PATIENCE}: {error}; {}", self.last_words());
                    return Err(EngineError::failed("start PostgreSQL", why));
                }
                Err(_) => Clock::sleep(LOOK_EVERY),
            }
        }
    }

    /// Stops the server with all it holds in memory written, so that it starts without recovery.
    pub(super) fn shut_down(&self) -> Result<(), EngineError> {
        if let Some(obituary) = self.obituary() {
            return Err(EngineError::failed("stop PostgreSQL", obituary));
        }
        match self.stop(Signal::SIGINT, PATIENCE) {
            true => Ok(()),
            false => {
                let why = format!("still there after {PATIENCE}; {}", self.last_words());
                Err(EngineError::failed("stop PostgreSQL", why))
            }
        }
    }

    /// Ends the server whatever its state; its files are of no use afterwards.
    pub(super) fn end(&self) -> Result<(), String> {
        let ended = self.stop(Signal::SIGINT, GRACE)
            || self.stop(Signal::SIGQUIT, GRACE)
            || self.stop(Signal::SIGKILL, GRACE);
        let gone = wait_until(GRACE, || !self.has_processes());
        match ended && gone {
            true => Ok(()),
            false => Err(format!(
                "PostgreSQL in {} does not end",
                self.data.display()
            )),
        }
    }

    /// How the server ended, if it was not told to, with the end of its log.
    pub(super) fn obituary(&self) -> Option<String> {
        let status = self.child().as_mut()?.try_wait().ok()??;
        Some(format!(
            "PostgreSQL has ended ({status}); the end of its log: {}",
            self.last_words()
        ))
    }

    fn stop(&self, signal: Signal, patience: Duration) -> bool {
        let mut child = self.child();
        let Some(postmaster) = child.as_mut() else {
            return true;
        };
        let ended = |child: &mut Child| matches!(child.try_wait(), Ok(Some(_)));
        if !ended(postmaster) {
            let id = i32::try_from(postmaster.id()).expect("process numbers are positive i32");
            // It may have ended just now: then there is nothing to signal.
            let _ = kill(Pid::from_raw(id), signal);
        }
        let stopped = wait_until(patience, || ended(postmaster));
        if stopped {
            *child = None;
        }
        stopped
    }

    fn child(&self) -> std::sync::MutexGuard<'_, Option<Child>> {
        self.postmaster
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn initialise(&self, log: &Path) -> Result<(), EngineError> {
        let output = self
            .command("initdb")
            .args(["--auth=trust", "--encoding=UTF8", "--no-locale"])
            // What a trial needs on disk is written by the checkpoint behind its load.
            .args(["--no-sync", "--no-instructions", "--username", USER])
            .arg("--pgdata")
            .arg(&self.data)
            .arg("--waldir")
            .arg(log)
            .output()
            .map_err(|error| EngineError::failed("start initdb", error))?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        let remedy = match said.contains("Permission denied") {
            true => "; every directory above has to let PostgreSQL's user through (chmod o+x)",
            false => "",
        };
        Err(EngineError::failed("initdb", format!("{said}{remedy}")))
    }

    fn configure(&self, settings: &[(&str, String)]) -> Result<(), EngineError> {
        let failed = |error| EngineError::failed("write postgresql.conf", error);
        let mut file = File::options()
            .append(true)
            .open(self.data.join("postgresql.conf"))
            .map_err(failed)?;
        let run = self.run.path().display().to_string();
        let own = [
            ("unix_socket_directories", run),
            ("port", "5432".to_owned()),
        ];
        for (name, value) in own.iter().chain(settings) {
            writeln!(file, "{name} = '{}'", value.replace('\'', "''")).map_err(failed)?;
        }
        Ok(())
    }

    /// One of PostgreSQL's programs, as the server's user, out of reach of the terminal's Ctrl-C.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.binaries.program(program));
        command
            .current_dir(self.run.path())
            .stdin(Stdio::null())
            .process_group(0)
            .env("LC_ALL", "C");
        if let Some((user, group)) = self.owner {
            command.uid(user).gid(group);
        }
        // Nothing of the user's own PostgreSQL is meant for this one, least of all a password.
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("PG") {
                command.env_remove(name);
            }
        }
        command
    }

    fn log(&self) -> PathBuf {
        self.run.path().join("log")
    }

    fn last_words(&self) -> String {
        let bytes = fs::read(self.log()).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.lines().collect();
        let (before, last) = lines.split_at(lines.len().saturating_sub(LAST_WORDS));
        // What a server panics over is said before all that follows from it.
        let panic = before.iter().rev().find(|line| line.contains("PANIC"));
        let words: Vec<&str> = panic.into_iter().chain(last).copied().collect();
        words.join(" | ")
    }

    /// Whether a process of the server is left; its processes outlive a killed server for a moment. Where
    /// the system does not tell, none is.
    fn has_processes(&self) -> bool {
        let Ok(data) = fs::canonicalize(&self.data) else {
            return false;
        };
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        entries
            .filter_map(|entry| fs::read_link(entry.path().join("cwd")).ok())
            .any(|directory| directory == data)
    }
}

fn wait_until(patience: Duration, mut done: impl FnMut() -> bool) -> bool {
    let clock = Clock::start();
    while !done() {
        if clock.now().as_nanos() > patience.as_nanos() {
            return false;
        }
        Clock::sleep(LOOK_EVERY);
    }
    true
}

/// Where a socket can be made: its path must stay below 108 bytes (`sun_path`, unix(7)).
fn short_directory() -> PathBuf {
    let usual = std::env::temp_dir();
    match usual.as_os_str().len() < 70 {
        true => usual,
        false => PathBuf::from("/tmp"),
    }
}
