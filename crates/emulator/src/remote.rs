//! An emulation in another process, as the site of a trial.
//!
//! The process that drives a database is separate from the one that answers its disks: neither counts the
//! other's processor time as its own, and if a driver is killed, its volumes end with it, because the
//! emulator sees its standard input close.

use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};

use model::Duration;
use parking_lot::Mutex;

use super::EmulationSpec;
use super::control::{self, Answer, Control, Description, Look, Request};
use super::fault::Fault;
use super::process::Order;
use host::clock::wait_until;
use host::site::Site;
use reading::Reading;

/// An emulator in another process, and its volumes.
///
/// Dropping it ends the emulator, even if its volumes are in use.
pub struct RemoteSite {
    emulator: Mutex<Option<Emulator>>,
    control: Control,
    description: Description,
}

struct Emulator {
    child: Child,
    /// Held open: the emulator ends when it closes.
    input: Option<ChildStdin>,
}

/// What an emulator writes to its standard output: its folder once it is ready, or why it failed.
pub(super) type Ready = Answer<PathBuf>;

/// How long an emulator may take to end after its volumes are gone.
const PATIENCE: Duration = Duration::from_secs(20);

impl RemoteSite {
    /// Starts `command`, a process that reads an [`Order`] from its standard input and hosts it
    /// (`dbstow emulator`), and waits until the volumes are mounted.
    ///
    /// # Errors
    /// When it cannot be started, or reports why it cannot mount them; [`io::ErrorKind::UnexpectedEof`] if
    /// it ended without output.
    pub fn start(command: Command, emulation: &EmulationSpec) -> io::Result<RemoteSite> {
        RemoteSite::order(
            command,
            &Order {
                emulation: emulation.clone(),
                directories: Vec::new(),
                temporary: Vec::new(),
            },
        )
    }

    /// Like [`RemoteSite::start`], with directories to create.
    ///
    /// # Errors
    /// As [`RemoteSite::start`].
    pub fn order(mut command: Command, order: &Order) -> io::Result<RemoteSite> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| in_words("the emulator cannot be started", &error))?;
        let mut emulator = Emulator {
            input: child.stdin.take(),
            child,
        };
        let control = Control::of(&emulator.hand_over(order)?);
        let described = control.ask(Request::Describe);
        let description = described.map_err(|error| emulator.why(error))?;
        Ok(RemoteSite {
            emulator: Mutex::new(Some(emulator)),
            control,
            description,
        })
    }

    /// What is emulated, by which process.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Leaves the emulator running: it ends on request or by a signal. It must have been started so
    /// that it ignores its standard input.
    pub fn leave_running(self) -> Description {
        drop(self.emulator.lock().take());
        self.description.clone()
    }

    /// How the emulator ended, if it ended without being stopped.
    pub fn lost(&self) -> Option<String> {
        let mut emulator = self.emulator.lock();
        let status = emulator.as_mut()?.child.try_wait().ok().flatten()?;
        Some(format!("process {}, {status}", self.description.pid))
    }

    /// Makes a future request to the volume with index `place` fail, once.
    ///
    /// # Errors
    /// When the volume is not in block mode, or the emulator is gone or hangs.
    pub fn fail_next(&self, place: usize, fault: Fault) -> io::Result<()> {
        self.control.ask(Request::Fail(place, fault))
    }

    /// How many requests have failed on demand.
    ///
    /// # Errors
    /// When the emulator is gone or hangs.
    pub fn failed(&self) -> io::Result<u64> {
        self.control.ask(Request::Failed)
    }

    /// Unmounts all volumes and mounts them again, as after a restart of their machine. Clears pending faults.
    ///
    /// # Errors
    /// When one is in use or not in block mode, cannot be mounted any more ([`UNMOUNTABLE`](super::UNMOUNTABLE)), or the emulator
    /// is gone or hangs.
    pub fn mount_again(&self) -> io::Result<()> {
        self.control.ask(Request::MountAgain)
    }

    /// Unmounts everything, and waits until the emulator has ended.
    ///
    /// # Errors
    /// When the volumes are in use, naming the users. The emulator then continues until it is
    /// stopped again or dropped. Or when the emulator is gone, hangs, or does not end.
    pub fn stop(&self) -> io::Result<()> {
        // One that hangs would block for as long as unmounting may take.
        let read = self.control.ask::<Look>(Request::Reading);
        let stopped = read.and_then(|_| self.control.ask::<()>(Request::Stop));
        stopped.inspect_err(|error| {
            if is_gone(error.kind()) {
                // Its socket closes a moment before it ends; report that it does not answer.
                wait_until(PATIENCE, || self.lost().is_some());
            }
        })?;
        match self.emulator.lock().take() {
            Some(emulator) => emulator.end(),
            None => Ok(()),
        }
    }
}

impl Emulator {
    /// Sends the order; returns its folder when it is ready.
    fn hand_over(&mut self, order: &Order) -> io::Result<PathBuf> {
        let input = self.input.as_mut().expect("standard input is piped");
        // If it has already ended, its standard output may contain the reason.
        let sent = control::send(input, order);
        let output = self.child.stdout.take().expect("standard output is piped");
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        if line.is_empty() {
            let error = sent.err().unwrap_or(io::ErrorKind::UnexpectedEof.into());
            return Err(self.why(error));
        }
        let ready: Ready = serde_json::from_str(&line)?;
        ready.map_err(|why| {
            // It ends on its own; waiting leaves no zombie.
            let _ = self.child.wait();
            io::Error::other(why)
        })
    }

    /// How it ended, if `error` means that the connection is gone; else `error`.
    fn why(&mut self, error: io::Error) -> io::Error {
        if !is_gone(error.kind()) {
            return error;
        }
        match self.wait() {
            Some(Ok(status)) => {
                let what = format!("the emulator ended before it was ready ({status})");
                io::Error::new(io::ErrorKind::UnexpectedEof, what)
            }
            Some(Err(error)) => error,
            None => error,
        }
    }

    /// How it ended; `None` if it does not end.
    fn wait(&mut self) -> Option<io::Result<ExitStatus>> {
        let mut status = None;
        wait_until(PATIENCE, || {
            status = self.child.try_wait().transpose();
            status.is_some()
        });
        status
    }

    /// Closes its standard input and waits for it to end; kills it otherwise.
    fn end(mut self) -> io::Result<()> {
        drop(self.input.take());
        let Some(status) = self.wait().transpose()? else {
            self.child.kill()?;
            self.child.wait()?;
            return Err(io::Error::other(
                "the emulator did not end and was killed; what it left is cleared by the next start",
            ));
        };
        if !status.success() {
            return Err(io::Error::other(format!(
                "the emulator failed at its end ({status})"
            )));
        }
        Ok(())
    }
}

impl Site for RemoteSite {
    fn directory(&self, volume: usize) -> &Path {
        &self.description.volumes[volume].1
    }

    fn reading(&self) -> io::Result<Reading> {
        let look: Look = self.control.ask(Request::Reading)?;
        match look.problems.first() {
            None => Ok(look.now),
            Some(problem) => Err(io::Error::other(problem.clone())),
        }
    }

    fn go_cold(&self, host_cache: bool) -> io::Result<Vec<String>> {
        let notes = self.control.ask(Request::DropCaches)?;
        if host_cache {
            self.control.ask::<()>(Request::EmptyHostCache)?;
        }
        Ok(notes)
    }

    fn environment(&self) -> Vec<(String, String)> {
        self.description.environment.clone()
    }
}

impl Drop for RemoteSite {
    fn drop(&mut self) {
        if let Some(emulator) = self.emulator.lock().take() {
            // No caller to report to; the next start clears whatever is left.
            let _ = emulator.end();
        }
    }
}

/// Whether an answer failed because the other end is gone.
fn is_gone(kind: io::ErrorKind) -> bool {
    matches!(
        kind,
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::UnexpectedEof
    )
}

fn in_words(what: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use model::MachineSpec;

    use super::*;
    use crate::control::SOCKET;
    use crate::{Contents, TransportChoice};

    /// The error of an emulator, played by `script`, that never became ready.
    fn error_of(script: &str, directories: Vec<PathBuf>) -> io::Error {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let emulation = EmulationSpec {
            machine: MachineSpec::unlimited(),
            volumes: Vec::new(),
            seed: 1,
            transport: TransportChoice::Fuser,
            trace: None,
            contents: Contents::InPlace,
        };
        let order = Order {
            emulation,
            directories,
            temporary: Vec::new(),
        };
        RemoteSite::order(command, &order).err().expect("it ended")
    }

    #[test]
    fn an_emulator_that_ends_before_it_is_ready_is_lost_however_early() {
        // More than a pipe holds.
        let many = vec![PathBuf::from("/directory"); 100_000];
        let unread = error_of("exit 3", many);
        let silent = error_of("read order; exit 3", Vec::new());
        let folder = tempfile::tempdir().unwrap();
        drop(UnixListener::bind(folder.path().join(SOCKET)).unwrap());
        let ready = serde_json::to_string(&Ready::Ok(folder.path().to_owned())).unwrap();
        let deaf = error_of(&format!("read order; echo '{ready}'; exit 3"), Vec::new());
        for error in [unread, silent, deaf] {
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{error}");
            let what = "the emulator ended before it was ready (exit status: 3)";
            assert_eq!(error.to_string(), what);
        }
    }

    #[test]
    fn an_emulator_that_says_why_it_is_not_ready_is_not_lost() {
        let why = serde_json::to_string(&Ready::Err("no disk".to_owned())).unwrap();
        let error = error_of(&format!("echo '{why}'; exit 3"), Vec::new());
        assert_eq!(error.kind(), io::ErrorKind::Other);
        assert_eq!(error.to_string(), "no disk");
    }
}
