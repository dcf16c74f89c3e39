//! The protocol with an emulator in its own process: one line of JSON per request and per answer, over a
//! socket that only this user can reach.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use procfs::process::{ProcState, Process};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::fault::Fault;
use host::clock::wait_until;
use host::orphans;
use host::orphans::process::Identity;
use reading::Reading;

/// The socket's name in the emulator's folder of the state directory.
pub(super) const SOCKET: &str = "control";

/// Requests to an emulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Request {
    /// Describe what is emulated. Answered by a [`Description`].
    Describe,
    /// Read the counters. Answered by a [`Look`].
    Reading,
    /// Read the counters along with those of the previous sample. Answered by a [`Look`].
    Look,
    /// Drop what the kernel caches of the volumes' files. Answered by a list of what could not be done.
    DropCaches,
    /// Unmount everything and mount it again. The answer is empty.
    MountAgain,
    /// Make the next request of a kind to the volume with this index fail, once. The answer is empty.
    Fail(usize, Fault),
    /// How many requests have failed on demand. Answered by a number.
    Failed,
    /// Drop the content of the modelled host caches. The answer is empty.
    EmptyHostCache,
    /// Unmount everything and end. The answer is empty, once everything is removed; or names the
    /// processes that keep it busy, in which case the emulator continues.
    Stop,
}

/// What an emulator emulates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// Its process.
    pub pid: u32,
    /// Names of its volumes and where they are mounted.
    pub volumes: Vec<(String, PathBuf)>,
    /// Facts about the place by name: kernel, filesystem, device, ..
    pub environment: Vec<(String, String)>,
}

/// Counters at two instants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Look {
    /// Those of the previous sample, if one exists and was requested.
    pub before: Option<Reading>,
    /// The current ones.
    pub now: Reading,
    /// Problems so far, human-readable.
    pub problems: Vec<String>,
}

/// An answer, or the reason for its absence.
pub(super) type Answer<T> = Result<T, String>;

/// An emulator in another process.
#[derive(Clone, Debug)]
pub struct Control {
    socket: PathBuf,
}

impl Request {
    /// How long its answer may take.
    fn patience(self) -> Duration {
        match self {
            // A user is waiting at the terminal.
            Request::Describe | Request::Look => Duration::from_secs(5),
            // A machine busy with a trial may be slow to answer, which is not a failure of the trial.
            Request::Reading | Request::Fail(..) | Request::Failed => Duration::from_secs(30),
            // These write back what the kernel has cached, at the speed of the modelled disk: gigabytes at
            // tens of megabytes per second.
            Request::DropCaches | Request::MountAgain | Request::EmptyHostCache | Request::Stop => {
                Duration::from_secs(30 * 60)
            }
        }
    }
}

/// How long its process may take to end once everything is unmounted.
const END: model::Duration = model::Duration::from_secs(20);

impl Control {
    /// The emulator that listens in its folder `folder` of the state directory.
    pub(super) fn of(folder: &Path) -> Control {
        Control {
            socket: folder.join(SOCKET),
        }
    }

    /// Emulators of this user with mounts at `directory`, or at directories in it.
    ///
    /// # Errors
    /// When the state directory cannot be read.
    pub fn find(directory: &Path) -> io::Result<Vec<Control>> {
        let running = orphans::running()?.into_iter();
        let serving = |mounts: &[PathBuf]| {
            let there = |mount: &PathBuf| mount == directory || mount.parent() == Some(directory);
            mounts.iter().any(there)
        };
        let found = running.filter(|(_, mounts)| serving(mounts));
        let controls = found.map(|(folder, _)| Control::of(&folder));
        Ok(controls.filter(|control| control.socket.exists()).collect())
    }

    /// Requests a stop, and waits until its process has ended. Returns what it emulated.
    ///
    /// # Errors
    /// When its volumes are in use, naming the users; it then continues. Or when it is gone, or
    /// does not end.
    pub fn stop(&self) -> io::Result<Description> {
        let description: Description = self.ask(Request::Describe)?;
        let process = Identity::of(description.pid.cast_signed());
        self.ask::<()>(Request::Stop)?;
        let ended = || process.as_ref().is_ok_and(|process| !process.is_alive());
        if process.is_err() || wait_until(END, ended) {
            return Ok(description);
        }
        Err(io::Error::other(format!(
            "all is unmounted, but the emulator's process {} does not end",
            description.pid
        )))
    }

    /// Sends a request, and waits for the answer.
    ///
    /// # Errors
    /// When the emulator is gone, or reports an error.
    pub fn ask<T: DeserializeOwned>(&self, request: Request) -> io::Result<T> {
        let gone = |error: io::Error| {
            let what = match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => self.hangs(request),
                _ => format!("the emulator does not answer: {error}"),
            };
            io::Error::new(error.kind(), what)
        };
        let answer = self.exchange(request).map_err(gone)?;
        let answer: Answer<T> =
            serde_json::from_str(&answer).map_err(|error| gone(error.into()))?;
        answer.map_err(io::Error::other)
    }

    /// The message about an emulator that has not answered in time, with the remedy.
    fn hangs(&self, request: Request) -> String {
        let patience = request.patience().as_secs();
        let Some(pid) = self.pid() else {
            return format!("the emulator has not answered for {patience} s");
        };
        let stopped = Process::new(pid).and_then(|process| process.stat());
        let stopped = stopped.and_then(|stat| stat.state());
        let remedy = match stopped {
            Ok(ProcState::Stopped | ProcState::Tracing) => {
                format!("it is stopped: let it go on with `kill -CONT {pid}`")
            }
            _ => "it may be writing back what is cached: try again later".to_owned(),
        };
        format!(
            "the emulator (process {pid}) has not answered for {patience} s; {remedy}, or end it with `kill -KILL \
             {pid}`: the next `dbstow unmount` or `dbstow mount` then clears what it leaves"
        )
    }

    /// The process id, taken from the name of its folder.
    fn pid(&self) -> Option<i32> {
        let folder = self.socket.parent()?.file_name()?.to_str()?;
        folder.split('-').next()?.parse().ok()
    }

    fn exchange(&self, request: Request) -> io::Result<String> {
        let mut stream = UnixStream::connect(&self.socket)?;
        stream.set_read_timeout(Some(request.patience()))?;
        stream.set_write_timeout(Some(request.patience()))?;
        send(&mut stream, &request)?;
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line)?;
        if line.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(line)
    }
}

/// Writes `value` as a line.
pub(super) fn send<T: Serialize>(writer: &mut impl Write, value: &T) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    writer.write_all(&line)?;
    writer.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    fn answering(line: &'static str) -> (tempfile::TempDir, Control) {
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(folder.path().join(SOCKET)).unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut asked = String::new();
            BufReader::new(&stream).read_line(&mut asked).unwrap();
            assert_eq!(asked, "\"drop-caches\"\n");
            stream.write_all(line.as_bytes()).unwrap();
        });
        let control = Control::of(folder.path());
        (folder, control)
    }

    #[test]
    fn an_answer_is_given_and_a_refusal_is_an_error() {
        let (_folder, control) = answering("{\"Ok\":[\"note\"]}\n");
        let notes: Vec<String> = control.ask(Request::DropCaches).unwrap();
        assert_eq!(notes, ["note"]);

        let (_folder, control) = answering("{\"Err\":\"in use by sh (1)\"}\n");
        let refused = control.ask::<()>(Request::DropCaches).unwrap_err();
        assert_eq!(refused.to_string(), "in use by sh (1)");
    }

    #[test]
    fn an_emulator_that_hangs_is_named_with_the_remedy() {
        let state = tempfile::tempdir().unwrap();
        let own = std::process::id();
        let folder = state.path().join(format!("{own}-1-001"));
        std::fs::create_dir(&folder).unwrap();
        // No accept, as when the process is stopped.
        let _listener = UnixListener::bind(folder.join(SOCKET)).unwrap();

        let hangs = Control::of(&folder).ask::<Description>(Request::Describe);

        let said = hangs.unwrap_err().to_string();
        assert!(said.contains(&format!("process {own}")), "{said}");
        assert!(
            said.contains("5 s") && said.contains("kill -KILL"),
            "{said}"
        );
    }

    #[test]
    fn an_emulator_that_ends_without_an_answer_is_gone() {
        let (_folder, control) = answering("");
        let gone = control.ask::<()>(Request::DropCaches).unwrap_err();
        assert!(gone.to_string().contains("does not answer"), "{gone}");
    }
}
