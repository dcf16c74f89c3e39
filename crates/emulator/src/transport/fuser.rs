//! Requests through reads and writes of `/dev/fuse`, using the `fuser` crate.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use ::fuser::{Filesystem, SessionUnmounter};
use model::Duration;
use rustix::io::Errno;
use rustix::mount::{UnmountFlags, unmount};
use rustix::process::geteuid;

use super::super::front::DataPath;
use super::super::pace::{Answers, Pace};
use super::mount::{MountPoint, MountedFilesystem, Transport};
use host::child;
use host::clock::Clock;

/// Threads that read requests: one is enough while the backing files are in memory; more keep going while
/// one of them waits for a real disk.
const THREADS: usize = 4;

/// How often, and at what interval, unmounting a busy mount is retried before it is detached from its
/// users: a process that was just killed holds its files a moment longer.
const UNMOUNT_TRIES: u32 = 20;
const UNMOUNT_INTERVAL: Duration = Duration::from_millis(50);

/// The `fuser` crate's own session.
pub(super) struct Fuser;

impl Transport for Fuser {
    fn name(&self) -> &'static str {
        "fuser"
    }

    fn answers(&self) -> Answers {
        Answers::Anywhere
    }

    fn mount<F: Filesystem + Clone>(
        &self,
        at: &MountPoint<'_>,
        filesystem: F,
        // The filesystem calls its own data path, and `Replies` keeps its replies.
        _: Arc<dyn DataPath>,
        _: &Arc<Pace>,
    ) -> io::Result<Box<dyn MountedFilesystem>> {
        let mut config = at.config();
        config.n_threads = Some(THREADS);
        config.clone_fd = true;
        let session = ::fuser::Session::new(filesystem, at.directory, &config)?;
        Ok(Box::new(Device::start(at.directory, session)?))
    }
}

/// A session at `/dev/fuse`, and its mount; dropping it unmounts.
pub(super) struct Device {
    directory: PathBuf,
    unmounter: SessionUnmounter,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Device {
    /// Runs a session that is mounted at `directory`.
    ///
    /// # Errors
    /// When the operating system cannot start a thread.
    pub(super) fn start<F: Filesystem>(
        directory: &Path,
        mut session: ::fuser::Session<F>,
    ) -> io::Result<Device> {
        let unmounter = session.unmount_callable();
        let run = move || session.run();
        Ok(Device {
            directory: directory.to_owned(),
            unmounter,
            thread: Some(
                thread::Builder::new()
                    .name("dbstow-fuse".into())
                    .spawn(run)?,
            ),
        })
    }

    /// Unmounts, even while it is in use.
    ///
    /// # Errors
    /// When it stayed in use, although it is then unmounted; or when it cannot be unmounted.
    pub(super) fn unmount(&mut self) -> io::Result<()> {
        // What the session unmounts itself, it does not unmount again when it ends: that would remove
        // the mount below. Its unmount for non-root users does not report what went wrong.
        if geteuid().is_root() && self.unmounter.unmount().is_ok() {
            return Ok(());
        }
        take_down(&self.directory)
    }

    /// Waits for the session's threads, which end once it is unmounted.
    ///
    /// # Errors
    /// When it ended with an error.
    pub(super) fn join(&mut self) -> io::Result<()> {
        let Some(thread) = self.thread.take() else {
            return Ok(());
        };
        let ended = thread.join();
        ended.unwrap_or_else(|_| Err(io::Error::other("the session of /dev/fuse panicked")))
    }
}

impl MountedFilesystem for Device {
    fn unmount(mut self: Box<Self>) -> io::Result<()> {
        let result = Device::unmount(&mut self);
        if result.is_err() {
            // Its threads stay with its users, and end with them.
            self.thread = None;
        }
        result.and_then(|()| self.join())
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        if self.thread.is_some() && self.unmounter.unmount().is_err() {
            // No caller to report to; the next start finds what is still mounted.
            let _ = detach(&self.directory);
        }
    }
}

/// Unmounts `directory`, even while it is in use.
///
/// # Errors
/// When it stayed in use, although it is then unmounted; or when it cannot be unmounted.
fn take_down(directory: &Path) -> io::Result<()> {
    for _ in 0..UNMOUNT_TRIES {
        match unmount(directory, UnmountFlags::empty()) {
            Ok(()) => return Ok(()),
            Err(Errno::BUSY) => Clock::sleep(UNMOUNT_INTERVAL),
            Err(Errno::PERM) => return helper(directory, &[]),
            Err(error) => return Err(error.into()),
        }
    }
    detach(directory)?;
    let message = format!(
        "{} was still in use and was unmounted from under its users",
        directory.display()
    );
    Err(io::Error::new(io::ErrorKind::ResourceBusy, message))
}

/// Lazily unmounts `directory`, even while it is in use.
fn detach(directory: &Path) -> io::Result<()> {
    match unmount(directory, UnmountFlags::DETACH) {
        Err(Errno::PERM) => helper(directory, &["-z"]),
        other => Ok(other?),
    }
}

/// Unmounts for users other than root.
fn helper(directory: &Path, options: &[&str]) -> io::Result<()> {
    let output = child::command("fusermount3")
        .arg("-u")
        .args(options)
        .arg("--")
        .arg(directory)
        .output()?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(text.trim().to_owned()))
}
