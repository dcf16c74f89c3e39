//! A private server: its own data directory, its own socket, no network, one user.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use model::Duration;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, geteuid};
use parking_lot::Mutex;
use volume::clock::Clock;
use volume::leftovers::Registration;

use super::directories::{Directories, Owner};
use super::find::Binaries;
use super::log::Log;
use super::memory::Memory;
use super::run_directory::{RunDirectory, USER};
use super::settings;
use super::target::{Address, Target};
use super::tls::Encryption;
use super::wire::Connection;
use crate::engine::EngineError;
use experiment::spec::Settings;

/// Longest that a server may take to be ready, or to stop with a checkpoint: gigabytes on a slow disk.
const PATIENCE: Duration = Duration::from_secs(600);

/// Longest that a server may take to stop when nobody needs its files any more.
const GRACE: Duration = Duration::from_secs(10);

const LOOK_EVERY: Duration = Duration::from_millis(10);

/// A server of our own.
pub(super) struct Cluster {
    binaries: Binaries,
    owner: Option<Owner>,
    data: PathBuf,
    /// What it is started with.
    settings: Vec<(String, String)>,
    server: Mutex<Option<Server>>,
    /// Whether it is to start no more.
    abandoned: AtomicBool,
    registration: Arc<Registration>,
    run: RunDirectory,
    /// Last, so that it is taken away when all else has ended.
    memory: Mutex<Memory>,
}

/// A server that was started.
struct Server {
    postmaster: Child,
    log: Log,
}

/// One of PostgreSQL's programs that dbstow runs.
#[derive(Clone, Copy)]
enum Program {
    Initdb,
    Postgres,
}

impl Cluster {
    /// Makes the data directory `data` and the log's directory `log`, both inside directories that exist; `initdb` are more
    /// options of the program that fills them.
    pub(super) fn create(
        (binaries, owner): (&Binaries, Option<Owner>),
        registration: &Arc<Registration>,
        directories: &mut Directories,
        (data, log): (&Path, &Path),
        settings: &Settings,
        initdb: &[&str],
    ) -> Result<Cluster, EngineError> {
        let cluster = Cluster::found((binaries, owner), registration, data, settings)?;
        directories.make(data)?;
        directories.make(log)?;
        cluster.initialise(log, initdb)?;
        Ok(cluster)
    }

    /// A server for the data directory `data`, which may be there already. It is not started yet.
    pub(super) fn found(
        (binaries, owner): (&Binaries, Option<Owner>),
        registration: &Arc<Registration>,
        data: &Path,
        settings: &Settings,
    ) -> Result<Cluster, EngineError> {
        let run = RunDirectory::make(registration, owner)
            .map_err(|error| EngineError::failed("make the server's own directory", error))?;
        let user = owner.map_or(geteuid().as_raw(), |(user, _)| user);
        for directory in [run.path(), data] {
            registration
                .serving("postgres", directory, user)
                .map_err(|error| EngineError::failed("write down where a server works", error))?;
        }
        let own = run.settings().into_iter();
        Ok(Cluster {
            binaries: binaries.clone(),
            owner,
            data: data.to_owned(),
            settings: own
                .chain(settings::of_server(settings, binaries.major))
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
            server: Mutex::new(None),
            abandoned: AtomicBool::new(false),
            registration: Arc::clone(registration),
            memory: Mutex::new(Memory::limited(settings, run.name(), registration)),
            run,
        })
    }

    /// The same with `more` settings, which count before the others.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "only drills need it, which are of Linux")
    )]
    pub(super) fn with(mut self, more: impl Iterator<Item = (String, String)>) -> Cluster {
        self.settings.extend(more);
        self
    }

    /// How to reach `database` in it.
    pub(super) fn target(&self, database: &str) -> Target {
        Target {
            address: Address::Unix(self.run.socket()),
            user: USER.to_owned(),
            database: database.to_owned(),
            password: None,
            encryption: Encryption::off(),
        }
    }

    /// Process number of the server while it runs.
    pub(super) fn postmaster(&self) -> Option<u32> {
        self.server
            .lock()
            .as_ref()
            .map(|server| server.postmaster.id())
    }

    /// What is done about its page cache, in words.
    pub(super) fn page_cache(&self) -> String {
        self.memory.lock().to_string()
    }

    /// From now on its processes and their page cache keep to the experiment's memory.
    pub(super) fn tighten(&self) {
        self.memory.lock().tighten();
    }

    /// Starts the server, and waits until it lets clients in.
    pub(super) fn start(&self) -> Result<(), EngineError> {
        let failed = |error| EngineError::failed("start PostgreSQL", error);
        self.check_abandoned("start PostgreSQL")?;
        let settings = self.settings.iter();
        let mut postmaster = self
            .command(Program::Postgres)
            .arg("-D")
            .arg(&self.data)
            // Not appended to a file in its data directory, which is another user's by now.
            .args(settings.flat_map(|(name, value)| ["-c".to_owned(), format!("{name}={value}")]))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        // Before it starts processes of its own.
        self.memory.lock().hold(postmaster.id());
        let log = Log::follow(postmaster.stderr.take().expect("it is piped"));
        match log {
            Ok(log) => *self.server.lock() = Some(Server { postmaster, log }),
            Err(error) => {
                let _ = postmaster.kill();
                let _ = postmaster.wait();
                return Err(failed(error));
            }
        }
        let clock = Clock::start();
        loop {
            self.check_abandoned("start PostgreSQL")?;
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
            true => self.check_abandoned("stop PostgreSQL"),
            false => {
                let why = format!("still there after {PATIENCE}; {}", self.last_words());
                Err(EngineError::failed("stop PostgreSQL", why))
            }
        }
    }

    /// Ends the server whatever its state. What it holds in memory is written only where its files are `kept`: on a slow disk
    /// that takes longer than anybody waits who has pressed Ctrl-C.
    pub(super) fn end(&self, kept: bool) -> Result<(), String> {
        let ended = (kept && self.stop(Signal::SIGINT, GRACE))
            || self.stop(Signal::SIGQUIT, GRACE)
            || self.stop(Signal::SIGKILL, GRACE);
        let gone = wait_until(GRACE, || !self.has_processes());
        match ended && gone {
            true => {
                for directory in [self.run.path(), &self.data] {
                    // What stays written down is looked for once more, and not found.
                    let _ = self.registration.served(directory);
                }
                Ok(())
            }
            false => Err(format!(
                "PostgreSQL in {} does not end",
                self.data.display()
            )),
        }
    }

    /// Ends the server at once if it runs, and lets it start no more.
    pub(super) fn abandon(&self) {
        self.abandoned.store(true, Ordering::SeqCst);
        self.stop(Signal::SIGQUIT, GRACE);
    }

    fn check_abandoned(&self, what: &'static str) -> Result<(), EngineError> {
        match self.abandoned.load(Ordering::SeqCst) {
            true => Err(EngineError::failed(what, "interrupted")),
            false => Ok(()),
        }
    }

    /// How the server ended, if it was not told to, with the end of its log.
    pub(super) fn obituary(&self) -> Option<String> {
        let mut server = self.server.lock();
        let server = server.as_mut()?;
        let status = server.postmaster.try_wait().ok()??;
        Some(format!(
            "PostgreSQL has ended ({status}); the end of its log: {}",
            server.log.last_words()
        ))
    }

    /// Why the server could not go on, in its words, where it has said so.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "only drills need it, which are of Linux")
    )]
    pub(super) fn cause(&self) -> Option<String> {
        self.server.lock().as_ref()?.log.cause()
    }

    /// Asks the server to end, and waits. Others may ask meanwhile, in a way that takes less time.
    fn stop(&self, signal: Signal, patience: Duration) -> bool {
        if let Some(server) = self.server.lock().as_mut()
            && !has_ended(server)
        {
            let id = i32::try_from(server.postmaster.id());
            let id = id.expect("process numbers are positive i32");
            // It may have ended just now: then there is nothing to signal.
            let _ = kill(Pid::from_raw(id), signal);
        }
        wait_until(patience, || {
            let mut server = self.server.lock();
            let ended = server.as_mut().is_none_or(has_ended);
            if ended {
                *server = None;
            }
            ended
        })
    }

    fn last_words(&self) -> String {
        let server = self.server.lock();
        server
            .as_ref()
            .map_or_else(String::new, |server| server.log.last_words())
    }

    fn initialise(&self, log: &Path, options: &[&str]) -> Result<(), EngineError> {
        let output = self
            .command(Program::Initdb)
            // Who may log in is said beside the data directory, which alone lets nobody in.
            .args(["--auth=reject", "--encoding=UTF8", "--no-locale"])
            // What a trial needs on disk is written by the checkpoint behind its load.
            .args(["--no-sync", "--username", USER])
            .args((self.binaries.major >= 14).then_some("--no-instructions"))
            .args(options)
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

    /// One of PostgreSQL's programs, as the server's user. It ends with this thread: trials are run
    /// on the main one, and what is left of a killed one is ended by [`volume::leftovers`].
    fn command(&self, program: Program) -> Command {
        let name = match program {
            Program::Initdb => "initdb",
            Program::Postgres => "postgres",
        };
        let mut command = Command::new(self.binaries.program(name));
        command
            .current_dir(self.run.path())
            .stdin(Stdio::null())
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
        program.end_with_parent(&mut command);
        command
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

impl Program {
    /// Out of reach of the terminal's Ctrl-C, and on Linux ended with this process.
    fn end_with_parent(self, command: &mut Command) {
        #[cfg(target_os = "linux")]
        {
            use volume::child::{ParentDeath, ends_with_parent};
            let signal = match self {
                // Told to quit, it would first remove its data directory, while that may be another run's.
                Program::Initdb => ParentDeath::Kill,
                Program::Postgres => ParentDeath::Quit,
            };
            ends_with_parent(command, signal);
        }
        #[cfg(not(target_os = "linux"))]
        command.process_group(0);
    }
}

fn has_ended(server: &mut Server) -> bool {
    matches!(server.postmaster.try_wait(), Ok(Some(_)))
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
