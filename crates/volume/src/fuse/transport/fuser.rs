//! Requests through reads and writes of `/dev/fuse`, by the `fuser` crate.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use fuser::{BackgroundSession, Config, Filesystem};
use model::Duration;
use rustix::io::Errno;
use rustix::mount::{UnmountFlags, unmount};

use super::super::front::DataPath;
use super::super::pace::Pace;
use super::{MountPoint, Session, Transport};
use crate::clock::Clock;

/// Threads that read requests: one is enough while the backing files are in memory, more keep going while
/// one of them waits for a real disk.
const THREADS: usize = 4;

/// How often, and at what interval, a busy mount is tried again before it is taken away from its users:
/// what has just been killed holds its files a moment longer.
const UNMOUNT_TRIES: u32 = 20;
const UNMOUNT_INTERVAL: Duration = Duration::from_millis(50);

/// The `fuser` crate's own session.
pub(super) struct Fuser;

impl Transport for Fuser {
    fn name(&self) -> &'static str {
        "fuser"
    }

    fn mount<F: Filesystem + Clone>(
        &self,
        at: &MountPoint<'_>,
        filesystem: F,
        // The filesystem calls its own data path, and `Replies` keeps its replies.
        _: Arc<dyn DataPath>,
        _: &Arc<Pace>,
    ) -> io::Result<Box<dyn Session>> {
        let mut config = Config::default();
        config.mount_options = at.options();
        config.acl = at.acl();
        config.n_threads = Some(THREADS);
        config.clone_fd = true;
        let session = fuser::spawn_mount(filesystem, at.directory, &config)?;
        Ok(Box::new(Mounted {
            directory: at.directory.to_owned(),
            session: Some(session),
        }))
    }
}

struct Mounted {
    directory: PathBuf,
    session: Option<BackgroundSession>,
}

impl Session for Mounted {
    fn unmount(mut self: Box<Self>) -> io::Result<()> {
        let Some(session) = self.session.take() else {
            return Ok(());
        };
        take_down(&self.directory)?;
        // Not its own way of unmounting: that would find nothing mounted.
        session.join()
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        if self.session.is_some() {
            // Nobody is left to hear of a failure; the next start finds what is still mounted.
            let _ = detach(&self.directory);
        }
    }
}

/// Unmounts `directory`, from under its users if they stay.
///
/// # Errors
/// When it was in use to the end, although it is unmounted then; or when it cannot be unmounted.
pub(super) fn take_down(directory: &Path) -> io::Result<()> {
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

/// Takes the mount out of the tree of directories, whoever uses it.
pub(super) fn detach(directory: &Path) -> io::Result<()> {
    match unmount(directory, UnmountFlags::DETACH) {
        Err(Errno::PERM) => helper(directory, &["-z"]),
        other => Ok(other?),
    }
}

/// What unmounts for users who are not root.
fn helper(directory: &Path, options: &[&str]) -> io::Result<()> {
    let output = Command::new("fusermount3")
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
