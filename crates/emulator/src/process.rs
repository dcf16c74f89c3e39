//! An emulation in its own process: started, queried and ended from outside.
//!
//! A separate process, so that the emulator's processor time is not counted as the client's, and volumes are unmounted even
//! if the driver is killed: the emulator then sees its standard input close. It is marked as an I/O flusher, so that a kernel
//! that is short of memory does not make it wait for its own disk.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use parking_lot::Mutex;
use rustix::process::{configure_io_flusher_behavior, setsid};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};
use serde::{Deserialize, Serialize};

use super::control::{self, Answer, Description, Look, Request, SOCKET};
use super::error::not_written_down;
use super::{Emulation, EmulationError, EmulationSpec};
use host::orphans::Registration;
use reading::Reading;

/// Reported for volumes that are in use and cannot be unmounted.
pub const IN_USE: &str = "in use by";

/// The order to an emulator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// What is emulated.
    pub emulation: EmulationSpec,
    /// Directories to create if missing, outer ones first; those that were created are removed at the
    /// end if they are empty.
    pub directories: Vec<PathBuf>,
    /// Directories to create, and to remove at the end with all their content.
    pub temporary: Vec<PathBuf>,
}

/// An emulation that answers on a socket.
pub struct Host {
    shared: Arc<Shared>,
    own: Registration,
    folder: PathBuf,
    left: Receiver<()>,
}

/// Counters of a [`Host`]'s volumes, for observers in this process.
#[derive(Clone)]
pub struct Counters(Arc<Shared>);

impl Counters {
    /// Counters so far, or the last ones once the emulation has ended; `None` while it is being changed.
    pub fn reading(&self) -> Option<Reading> {
        match &*self.0.emulation.try_lock()? {
            Some(emulation) => Some(emulation.reading()),
            None => self.0.last.lock().clone(),
        }
    }
}

/// Ends a [`Host`]; may be kept in a signal handler.
#[derive(Clone, Debug)]
pub struct Leave(Sender<()>);

struct Shared {
    emulation: Mutex<Option<Emulation>>,
    /// Counters of an emulation that has ended.
    last: Mutex<Option<Reading>>,
    looked: Mutex<Option<Reading>>,
    leave: Leave,
}

impl Leave {
    /// Ends the host, even if its volumes are in use.
    pub fn leave(&self) {
        // No receiver once it has ended.
        let _ = self.0.send(());
    }
}

/// The channel that ends a host, created before the host starts so that no signal is missed.
pub struct Leaving {
    leave: Leave,
    left: Receiver<()>,
}

impl Leaving {
    /// A way to end a host.
    pub fn new() -> Leaving {
        let (send, left) = channel();
        Leaving {
            leave: Leave(send),
            left,
        }
    }

    /// The sending side.
    pub fn leave(&self) -> Leave {
        self.leave.clone()
    }
}

impl Default for Leaving {
    fn default() -> Leaving {
        Leaving::new()
    }
}

impl Host {
    /// Creates the directories, starts the emulation, and listens.
    ///
    /// # Errors
    /// When any of it fails; what was created until then is removed again.
    pub fn start(order: &Order, leaving: Leaving) -> Result<Host, EmulationError> {
        let own = Registration::new().map_err(not_written_down)?;
        // If the parent is gone, a cleanup may have run meanwhile, and others may be using the place by now.
        let wanted = match leaving.left.try_recv() {
            Ok(()) => Err(EmulationError::system(
                "the program that asked for the volumes is gone",
                io::ErrorKind::Interrupted.into(),
            )),
            Err(_) => Ok(()),
        };
        let started = wanted
            .and_then(|()| make_directories(&own, order))
            .and_then(|()| Emulation::start(&order.emulation));
        let emulation = started.inspect_err(|_| {
            // The failure itself is reported; whatever is left stays registered.
            let _ = own.finish();
        })?;
        let folder = emulation.folder().to_owned();
        let listener = UnixListener::bind(folder.join(SOCKET)).map_err(cannot_listen)?;
        let shared = Arc::new(Shared {
            emulation: Mutex::new(Some(emulation)),
            last: Mutex::default(),
            looked: Mutex::default(),
            leave: leaving.leave,
        });
        let listening = Arc::clone(&shared);
        thread::Builder::new()
            .name("dbstow-control".to_owned())
            .spawn(move || listening.listen(&listener))
            .map_err(cannot_listen)?;
        Ok(Host {
            shared,
            own,
            folder,
            left: leaving.left,
        })
    }

    /// Detaches from the terminal and the pipes it was started with: from now on its output goes to its log.
    ///
    /// # Errors
    /// When the log cannot be written.
    pub fn let_go(&self) -> io::Result<()> {
        let log = File::create(self.folder.join("log"))?;
        dup2_stdout(&log)?;
        dup2_stderr(&log)?;
        dup2_stdin(File::open("/dev/null")?)?;
        Ok(())
    }

    /// Counters of its volumes.
    pub fn counters(&self) -> Counters {
        Counters(Arc::clone(&self.shared))
    }

    /// Its folder in the state directory.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Waits until a [`Leave`] or a request on its socket ends it, and removes everything.
    ///
    /// # Errors
    /// What is left, and why.
    pub fn wait(self) -> Result<(), Vec<String>> {
        // An error means that no sender is left, which also ends the host.
        let _ = self.left.recv();
        let mut left = Vec::new();
        if let Err(failure) = self.shared.end(&mut self.shared.emulation.lock()) {
            left.push(failure.to_string());
        }
        left.extend(self.own.finish().err().into_iter().flatten());
        if left.is_empty() { Ok(()) } else { Err(left) }
    }
}

fn cannot_listen(error: io::Error) -> EmulationError {
    EmulationError::system("the emulator cannot listen for requests", error)
}

fn make_directories(own: &Registration, order: &Order) -> Result<(), EmulationError> {
    let in_words = |directory: &PathBuf, error: io::Error| {
        let remedy = match error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                " (choose a place where this user may write, or make it as a user who may)"
            }
            _ => "",
        };
        let what = format!("cannot make {}{remedy}", directory.display());
        EmulationError::system(what, error)
    };
    for directory in &order.directories {
        own.make_directory(directory, false)
            .map_err(|error| in_words(directory, error))?;
    }
    for directory in &order.temporary {
        let made = own
            .make_directory(directory, true)
            .map_err(|error| in_words(directory, error))?;
        if !made {
            return Err(in_words(directory, io::ErrorKind::AlreadyExists.into()));
        }
    }
    Ok(())
}

impl Shared {
    fn listen(self: Arc<Self>, listener: &UnixListener) {
        for stream in listener.incoming().flatten() {
            let shared = Arc::clone(&self);
            // One thread each, since a stop may take long and a query in the meantime should not.
            thread::spawn(move || {
                // The client may be gone, which does no harm.
                let _ = shared.converse(stream);
            });
        }
    }

    fn converse(&self, mut stream: UnixStream) -> io::Result<()> {
        let mut line = String::new();
        BufReader::new(&stream).read_line(&mut line)?;
        let stream = &mut stream;
        match serde_json::from_str(&line) {
            Ok(Request::Describe) => control::send(stream, &self.with(describe)),
            Ok(Request::Reading) => control::send(stream, &self.with(reading)),
            Ok(Request::Look) => {
                control::send(stream, &self.with(|emulation| self.look(emulation)))
            }
            Ok(Request::DropCaches) => {
                control::send(stream, &self.with_own(Emulation::drop_caches))
            }
            Ok(Request::MountAgain) => {
                let mounted = self.with_own(Emulation::mount_again);
                control::send(stream, &mounted)
            }
            Ok(Request::Fail(place, fault)) => {
                let armed = self.with_own(|emulation| emulation.arm(place, fault));
                control::send(stream, &armed)
            }
            Ok(Request::Failed) => control::send(stream, &self.with(Emulation::failed)),
            Ok(Request::EmptyHostCache) => {
                control::send(stream, &self.with(Emulation::empty_host_cache))
            }
            Ok(Request::Stop) => self.stop(stream),
            Err(error) => control::send(stream, &Answer::<()>::Err(error.to_string())),
        }
    }

    fn with<T>(&self, what: impl FnOnce(&Emulation) -> T) -> Answer<T> {
        match &*self.emulation.lock() {
            Some(emulation) => Ok(what(emulation)),
            None => Err("the emulator is ending".to_owned()),
        }
    }

    fn look(&self, emulation: &Emulation) -> Look {
        let look = reading(emulation);
        let mut looked = self.looked.lock();
        Look {
            before: looked.replace(look.now.clone()),
            ..look
        }
    }

    /// Like [`Shared::with`], for operations that may change the emulation, or fail.
    fn with_own<T>(&self, what: impl FnOnce(&mut Emulation) -> io::Result<T>) -> Answer<T> {
        match &mut *self.emulation.lock() {
            Some(emulation) => what(emulation).map_err(|error| error.to_string()),
            None => Err("the emulator is ending".to_owned()),
        }
    }

    /// Stops, answers, and ends the process's wait; if the volumes are in use, only answers.
    fn stop(&self, stream: &mut UnixStream) -> io::Result<()> {
        let stopped = self.take_down();
        let sent = control::send(stream, &stopped);
        if self.emulation.lock().is_none() {
            self.leave.leave();
        }
        sent
    }

    fn take_down(&self) -> Answer<()> {
        let mut emulation = self.emulation.lock();
        let users = emulation.as_ref().map(Emulation::users).unwrap_or_default();
        if let Some((directory, users)) = users.first() {
            let (directory, users) = (directory.display(), users.join(", "));
            return Err(format!("{directory} is {IN_USE} {users}"));
        }
        self.end(&mut emulation)
            .map_err(|failure| failure.to_string())
    }

    /// Stops the emulation if it has not ended, and keeps its last counters.
    fn end(&self, emulation: &mut Option<Emulation>) -> Result<(), EmulationError> {
        let Some(emulation) = emulation.take() else {
            return Ok(());
        };
        let (stopped, reading) = emulation.stop_and_count();
        *self.last.lock() = Some(reading);
        stopped
    }
}

fn reading(emulation: &Emulation) -> Look {
    Look {
        before: None,
        now: emulation.reading(),
        problems: emulation.problems(),
    }
}

fn describe(emulation: &Emulation) -> Description {
    Description {
        pid: std::process::id(),
        volumes: emulation.volumes().to_vec(),
        environment: emulation.environment().to_vec(),
    }
}

/// Moves this process out of the session of its parent, so that a Ctrl-C or a closed terminal there
/// does not reach it.
pub fn leave_session() {
    // A process that already leads a session needs nothing more.
    let _ = setsid();
}

/// Keeps this process responsive when memory is short: the kernel then neither makes it wait, while it
/// answers a disk, for that disk to accept write-back, nor throttles it for the dirty pages of other files.
/// Call it before any thread starts.
pub fn answers_disks() {
    // Without the privilege, and on older kernels, it is as safe as any FUSE program.
    let _ = configure_io_flusher_behavior(true);
}
