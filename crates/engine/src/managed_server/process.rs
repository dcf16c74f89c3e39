//! The process of a managed server: start, wait, stop.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use host::child;
use host::clock::Clock;
use host::orphans::Registration;
use model::Duration;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, geteuid};
use parking_lot::Mutex;

use super::directories::Owner;
use super::log::Log;
use super::memory::Memory;
use super::product::Product;
use super::run_directory::RunDirectory;
use crate::EngineError;
use experiment::spec::Settings;

/// Longest that a server may take to be ready, or to write everything and stop: gigabytes on a slow disk.
const PATIENCE: Duration = Duration::from_secs(600);

/// Longest that a server may take to stop when its files are not needed any more.
const GRACE: Duration = Duration::from_secs(10);

const LOOK_EVERY: Duration = Duration::from_millis(10);

/// A managed server.
pub struct ManagedServer {
    product: &'static Product,
    owner: Option<Owner>,
    /// Its data directory, the working directory of its processes.
    data: PathBuf,
    running: Mutex<Option<Running>>,
    /// Whether it must not start again.
    abandoned: AtomicBool,
    registration: Arc<Registration>,
    run: RunDirectory,
    /// Last, so that it is removed when everything else has ended.
    memory: Mutex<Memory>,
}

/// A started server.
struct Running {
    process: Child,
    log: Log,
}

/// The purpose of running a product's program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// It initialises a data directory, and ends.
    Initialise,
    /// It serves.
    Serve,
}

impl ManagedServer {
    /// A server for the data directory `data`, which may already exist. It is not started yet; its working directory is
    /// registered, so that it is ended when this process is gone.
    ///
    /// # Errors
    /// When that cannot be registered.
    pub fn new(
        product: &'static Product,
        owner: Option<Owner>,
        registration: &Arc<Registration>,
        (run, data): (RunDirectory, &Path),
        settings: &Settings,
    ) -> Result<ManagedServer, EngineError> {
        let user = owner.map_or(geteuid().as_raw(), |(user, _)| user);
        for directory in [run.path(), data] {
            registration
                .serving(product.process, directory, user)
                .map_err(|error| EngineError::failed("write down where a server works", error))?;
        }
        Ok(ManagedServer {
            product,
            owner,
            data: data.to_owned(),
            running: Mutex::new(None),
            abandoned: AtomicBool::new(false),
            registration: Arc::clone(registration),
            memory: Mutex::new(Memory::limited(product, settings, run.name(), registration)),
            run,
        })
    }

    /// Its data directory.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// Its run directory.
    pub fn run(&self) -> &RunDirectory {
        &self.run
    }

    /// Process id of the server while it runs.
    pub fn process(&self) -> Option<u32> {
        let running = self.running.lock();
        running.as_ref().map(|running| running.process.id())
    }

    /// How its page cache is limited, as text.
    pub fn page_cache(&self) -> String {
        self.memory.lock().to_string()
    }

    /// From now on its processes and their page cache are limited to the experiment's memory.
    pub fn tighten(&self) {
        self.memory.lock().tighten();
    }

    /// A program of the product, run as the server's user. It ends with this thread: trials run on
    /// the main one, and those of a killed one are ended by [`host::orphans`].
    pub fn command(&self, program: &Path, purpose: Purpose) -> Command {
        // It must not see the user's environment, least of all a password.
        let mut command = child::command(program);
        command
            .current_dir(self.run.path())
            .stdin(Stdio::null())
            .env("LC_ALL", "C");
        if let Some((user, group)) = self.owner {
            command.uid(user).gid(group);
        }
        end_with_parent(&mut command, self.product, purpose);
        command
    }

    /// Starts the server with `command`, and waits until `ready` reports that it accepts clients.
    ///
    /// # Errors
    /// When it ends, or is not ready in time, with the end of its log; when it was abandoned.
    pub fn start<E: std::fmt::Display>(
        &self,
        mut command: Command,
        mut ready: impl FnMut() -> Result<(), E>,
    ) -> Result<(), EngineError> {
        let what = format!("start {}", self.product.name);
        let failed = |error| EngineError::failed(&what, error);
        self.check_abandoned(&what)?;
        let mut process = command
            // Not appended to a file in its data directory, which belongs to another user by now.
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        // Before it starts its own processes.
        self.memory.lock().hold(process.id());
        match Log::follow(process.stderr.take().expect("it is piped"), self.product) {
            Ok(log) => *self.running.lock() = Some(Running { process, log }),
            Err(error) => {
                let _ = process.kill();
                let _ = process.wait();
                return Err(failed(error));
            }
        }
        let clock = Clock::start();
        loop {
            self.check_abandoned(&what)?;
            match ready() {
                Ok(()) => return Ok(()),
                Err(_) if self.exit_reason().is_some() => {
                    let why = self.exit_reason().unwrap_or_default();
                    return Err(EngineError::failed(what, why));
                }
                Err(error) if clock.now().as_nanos() > PATIENCE.as_nanos() => {
                    let why = format!("not ready after {PATIENCE}: {error}; {}", self.last_words());
                    return Err(EngineError::failed(what, why));
                }
                Err(_) => Clock::sleep(LOOK_EVERY),
            }
        }
    }

    /// Stops the server after it has written everything in memory, so that it starts without recovery.
    ///
    /// # Errors
    /// When it has already ended, or does not end; when it was abandoned meanwhile.
    pub fn shut_down(&self) -> Result<(), EngineError> {
        let what = format!("stop {}", self.product.name);
        if let Some(exit_reason) = self.exit_reason() {
            return Err(EngineError::failed(what, exit_reason));
        }
        match self.stop(self.product.shut_down, PATIENCE) {
            true => self.check_abandoned(&what),
            false => {
                let why = format!("still there after {PATIENCE}; {}", self.last_words());
                Err(EngineError::failed(what, why))
            }
        }
    }

    /// Ends the server in any state. Its memory is written only if its files are `kept`: on a slow disk that takes
    /// longer than a user who pressed Ctrl-C waits.
    ///
    /// # Errors
    /// When it does not end.
    pub fn end(&self, kept: bool) -> Result<(), String> {
        let ended = (kept && self.stop(self.product.shut_down, GRACE))
            || self.stop(self.product.quit, GRACE)
            || self.stop(Signal::SIGKILL, GRACE);
        let gone = wait_until(GRACE, || !self.has_processes());
        match ended && gone {
            true => {
                for directory in [self.run.path(), &self.data] {
                    // A registration that stays is checked once more later, without finding anything.
                    let _ = self.registration.served(directory);
                }
                Ok(())
            }
            false => Err(format!(
                "{} in {} does not end",
                self.product.name,
                self.data.display()
            )),
        }
    }

    /// Ends the server at once if it runs, and prevents it from starting again.
    pub fn abandon(&self) {
        self.abandoned.store(true, Ordering::SeqCst);
        self.stop(self.product.quit, GRACE);
    }

    /// Exit reason of a server that ended without being stopped, with the end of its log.
    pub fn exit_reason(&self) -> Option<String> {
        let mut running = self.running.lock();
        let running = running.as_mut()?;
        let status = running.process.try_wait().ok()??;
        Some(format!(
            "{} has ended ({status}); the end of its log: {}",
            self.product.name,
            running.log.last_words()
        ))
    }

    /// Why the server could not continue, in its own words, if it reported that.
    pub fn cause(&self) -> Option<String> {
        self.running.lock().as_ref()?.log.cause()
    }

    fn check_abandoned(&self, what: &str) -> Result<(), EngineError> {
        match self.abandoned.load(Ordering::SeqCst) {
            true => Err(EngineError::failed(what, "interrupted")),
            false => Ok(()),
        }
    }

    /// Signals the server to end, and waits. Another call with less patience may intervene.
    fn stop(&self, signal: Signal, patience: Duration) -> bool {
        if let Some(running) = self.running.lock().as_mut()
            && !has_ended(running)
        {
            let id = i32::try_from(running.process.id());
            let id = id.expect("process numbers are positive i32");
            // It may have ended just now, and need no signal.
            let _ = kill(Pid::from_raw(id), signal);
        }
        wait_until(patience, || {
            let mut running = self.running.lock();
            let ended = running.as_mut().is_none_or(has_ended);
            if ended {
                *running = None;
            }
            ended
        })
    }

    fn last_words(&self) -> String {
        let running = self.running.lock();
        let words = running.as_ref().map(|running| running.log.last_words());
        words.unwrap_or_default()
    }

    /// Whether a process of the server is left; its processes outlive a killed server for a moment. If
    /// the system does not report it, none is assumed.
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

/// Reports whether a server of `product` has `ended` and its directories were `removed`.
///
/// # Errors
/// What failed.
pub fn cleared(
    product: &Product,
    ended: Result<(), String>,
    removed: Result<(), String>,
) -> Result<(), EngineError> {
    let left: Vec<String> = [ended, removed]
        .into_iter()
        .filter_map(Result::err)
        .collect();
    match left.is_empty() {
        true => Ok(()),
        false => Err(EngineError::failed(
            format!("clear up after {}", product.name),
            left.join("; "),
        )),
    }
}

/// Detaches from the terminal's Ctrl-C and, on Linux, ends with this process.
#[cfg(target_os = "linux")]
fn end_with_parent(command: &mut Command, product: &Product, purpose: Purpose) {
    use host::child::{ParentDeath, ends_with_parent};
    let signal = match purpose {
        Purpose::Serve if product.quit == Signal::SIGQUIT => ParentDeath::Quit,
        // On a quit signal, it would first remove its data directory, which may belong to another
        // run by then.
        Purpose::Initialise | Purpose::Serve => ParentDeath::Kill,
    };
    ends_with_parent(command, signal);
}

/// Detaches from the terminal's Ctrl-C.
#[cfg(not(target_os = "linux"))]
fn end_with_parent(command: &mut Command, _product: &Product, _purpose: Purpose) {
    command.process_group(0);
}

fn has_ended(running: &mut Running) -> bool {
    matches!(running.process.try_wait(), Ok(Some(_)))
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

#[cfg(test)]
mod tests {
    use super::super::stand_in::{STAND_IN, settings};
    use super::*;

    /// A server replaced by a shell.
    struct Fixture {
        server: ManagedServer,
        registration: Arc<Registration>,
        folder: tempfile::TempDir,
    }

    impl Fixture {
        fn new() -> Fixture {
            let folder = tempfile::tempdir().unwrap();
            let data = folder.path().join("data");
            fs::create_dir(&data).unwrap();
            let registration = Arc::new(Registration::new().unwrap());
            let run = RunDirectory::make(&registration, None, &[]).unwrap();
            let settings = settings("32 MiB");
            let server =
                ManagedServer::new(&STAND_IN, None, &registration, (run, &data), &settings);
            Fixture {
                server: server.unwrap(),
                registration,
                folder,
            }
        }

        /// Runs `script` in the data directory.
        fn command(&self, script: &str) -> Command {
            let mut command = self.server.command(Path::new("sh"), Purpose::Serve);
            command
                .arg("-c")
                .arg(script)
                .current_dir(self.server.data());
            command
        }

        fn has(&self, file: &str) -> bool {
            self.server.data().join(file).exists()
        }

        fn finish(self) {
            self.server.end(false).unwrap();
            drop(self.server);
            self.registration.finish().unwrap();
            self.folder.close().unwrap();
        }
    }

    #[test]
    fn one_that_ends_before_it_is_ready_is_quoted() {
        let fixture = Fixture::new();
        let command = fixture.command("echo 'FATAL: no room' >&2; exit 3");

        let error = fixture
            .server
            .start(command, || Err("not yet"))
            .unwrap_err();

        assert_eq!(
            error.to_string(),
            "start Server: Server has ended (exit status: 3); the end of its log: FATAL: no room"
        );
        fixture.finish();
    }

    #[test]
    fn the_products_signal_shuts_it_down_once_it_is_ready() {
        let fixture = Fixture::new();
        let command = fixture
            .command("sleep 600 & trap 'kill $!; touch written; exit 0' TERM; touch ready; wait");
        let ready = || fixture.has("ready").then_some(()).ok_or("not yet");

        fixture.server.start(command, ready).unwrap();
        assert!(fixture.has("ready") && fixture.server.process().is_some());
        fixture.server.shut_down().unwrap();

        assert!(fixture.has("written"));
        assert_eq!(fixture.server.process(), None);
        fixture.finish();
    }

    #[test]
    fn an_abandoned_one_has_ended_and_starts_no_more() {
        let fixture = Fixture::new();
        let start = || {
            let command = fixture.command("exec sleep 600");
            fixture.server.start(command, || Ok::<(), String>(()))
        };
        start().unwrap();
        assert!(fixture.server.has_processes() || cfg!(not(target_os = "linux")));

        fixture.server.abandon();

        assert_eq!(fixture.server.process(), None);
        assert!(!fixture.server.has_processes());
        assert_eq!(
            start().unwrap_err().to_string(),
            "start Server: interrupted"
        );
        fixture.finish();
    }

    #[test]
    fn all_that_is_left_is_said() {
        let failed = |what: &str| Err(what.to_owned());
        assert!(cleared(&STAND_IN, Ok(()), Ok(())).is_ok());
        let left = cleared(&STAND_IN, failed("runs"), failed("files")).unwrap_err();
        assert_eq!(left.to_string(), "clear up after Server: runs; files");
    }
}
