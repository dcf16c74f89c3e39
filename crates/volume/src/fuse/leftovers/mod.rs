//! What an emulation has set up outside of its process, written down so that the next one can take it away.
//!
//! Mounts, loop devices, directories and servers outlive a process that is killed. Each emulation
//! therefore has a folder in the state directory, and says there what it is about to make *before* it makes
//! it:
//!
//! ```text
//!   /run/dbstow/<pid>-<start>-<n>/ root; else $XDG_RUNTIME_DIR/dbstow, else a folder in the temporary one
//!       made.json                  whose it is, and what was made
//!       control                    socket of the emulator, where it has a process of its own
//!       log                        what that process said
//!       images/<volume>/           where block mode sees its image
//! ```
//!
//! [`clear`] finds the folders of processes that are no more. It touches nothing whose identity does not
//! match what was written down: a process by its start, a loop device by its backing file, a mount by its
//! source, a directory by its inode.

mod clear;
mod made;
pub(crate) mod mounts;
pub(crate) mod process;

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use model::Duration;
use rustix::fs::{FlockOperation, flock};
use rustix::process::geteuid;

pub use clear::{Cleared, clear};
use made::{Directory, Made, Mount, Server};
use process::Identity;

use crate::clock::Clock;

/// A process's folder in the state directory: what it made, for whoever comes after it.
///
/// Dropping it, without [`Registration::finish`], leaves the folder for [`clear`].
#[derive(Debug)]
pub struct Registration {
    folder: PathBuf,
    made: Mutex<Made>,
}

impl Registration {
    /// Opens a folder for this process.
    ///
    /// # Errors
    /// When the state directory cannot be made or is not this user's own.
    pub fn new() -> io::Result<Registration> {
        let state = state_directory()?;
        let _lock = lock(&state)?;
        let owner = Identity::own()?;
        let name = format!("{}-{}", owner.pid, owner.start_ticks);
        // A process may hold several, one after the other or at once.
        let folder = (1..)
            .map(|number| state.join(format!("{name}-{number:03}")))
            .find(|folder| !folder.exists())
            .expect("numbers do not end");
        private().create(&folder)?;
        let made = Made::of(owner);
        made.write(&folder)?;
        Ok(Registration {
            folder,
            made: Mutex::new(made),
        })
    }

    /// Its folder, for files of its own.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// `source` is about to be mounted at `directory`.
    ///
    /// # Errors
    /// When it cannot be written down.
    pub fn mounting(&self, directory: &Path, source: &str) -> io::Result<()> {
        self.change(|made| {
            made.mounts.push(Mount {
                directory: directory.to_owned(),
                source: source.to_owned(),
            });
        })
    }

    /// Nothing is mounted at `directory` any more.
    ///
    /// # Errors
    /// When it cannot be written down.
    pub fn unmounted(&self, directory: &Path) -> io::Result<()> {
        self.change(|made| made.mounts.retain(|mount| mount.directory != directory))
    }

    /// A loop device is about to get `backing` as its file.
    ///
    /// # Errors
    /// When it cannot be written down.
    pub fn attaching(&self, backing: &Path) -> io::Result<()> {
        self.change(|made| made.loops.push(backing.to_owned()))
    }

    /// No loop device has `backing` as its file any more.
    ///
    /// # Errors
    /// When it cannot be written down.
    pub fn detached(&self, backing: &Path) -> io::Result<()> {
        self.change(|made| made.loops.retain(|other| other != backing))
    }

    /// Makes `directory`, to be taken away at the end: with everything in it, or only if it is empty.
    /// Gives whether it was made; one that exists is not registered.
    ///
    /// # Errors
    /// When it cannot be made or written down.
    pub fn make_directory(&self, directory: &Path, with_contents: bool) -> io::Result<bool> {
        // What goes with its contents holds what others have no business to read.
        let mode = if with_contents { 0o700 } else { 0o755 };
        match fs::DirBuilder::new().mode(mode).create(directory) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
            made => made?,
        }
        let metadata = fs::metadata(directory)?;
        self.change(|made| {
            made.directories.push(Directory {
                path: directory.to_owned(),
                device: metadata.dev(),
                inode: metadata.ino(),
                with_contents,
            });
        })?;
        Ok(true)
    }

    /// Server `name` runs as process `pid`, and is to be ended when this process is gone.
    ///
    /// # Errors
    /// When there is no such process, or it cannot be written down.
    pub fn server(&self, name: &str, pid: u32) -> io::Result<()> {
        let process = Identity::of(pid.cast_signed())?;
        self.change(|made| {
            made.servers.push(Server {
                name: name.to_owned(),
                process,
            });
        })
    }

    /// The server of process `pid` has ended.
    ///
    /// # Errors
    /// When it cannot be written down.
    pub fn server_ended(&self, pid: u32) -> io::Result<()> {
        self.change(|made| {
            let other = |server: &Server| server.process.pid != pid.cast_signed();
            made.servers.retain(other);
        })
    }

    /// Takes away whatever is still there of what was written down, and the folder. Once that is done,
    /// doing it again does nothing.
    ///
    /// # Errors
    /// What is left, and why. It stays written down, for [`clear`].
    pub fn finish(&self) -> Result<(), Vec<String>> {
        let made = self.made();
        if !self.folder.exists() {
            return Ok(());
        }
        let cleared = clear::undo(&made, &self.folder);
        if cleared.failed.is_empty() {
            Ok(())
        } else {
            Err(cleared.failed)
        }
    }

    fn made(&self) -> MutexGuard<'_, Made> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Made)) -> io::Result<()> {
        let mut made = self.made();
        change(&mut made);
        made.write(&self.folder)
    }
}

/// The folders of running processes of this user, with what each has mounted.
///
/// # Errors
/// When the state directory cannot be read.
pub(crate) fn running() -> io::Result<Vec<(PathBuf, Vec<PathBuf>)>> {
    let state = state_directory()?;
    let _lock = lock(&state)?;
    let mut running = Vec::new();
    for folder in folders(&state)? {
        match Made::read(&folder) {
            Ok(made) if made.owner.is_alive() => {
                let mounts = made.mounts.into_iter().map(|mount| mount.directory);
                running.push((folder, mounts.collect()));
            }
            Ok(_) | Err(_) => {}
        }
    }
    Ok(running)
}

/// Where this user's emulations are written down; made if missing.
fn state_directory() -> io::Result<PathBuf> {
    let user = geteuid();
    let directory = match std::env::var_os("XDG_RUNTIME_DIR").filter(|path| !path.is_empty()) {
        _ if user.is_root() => PathBuf::from("/run/dbstow"),
        Some(runtime) => PathBuf::from(runtime).join("dbstow"),
        None => std::env::temp_dir().join(format!("dbstow-{}", user.as_raw())),
    };
    match private().create(&directory) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            let why = format!("{}: {error}", directory.display());
            return Err(io::Error::new(error.kind(), why));
        }
        _ => {}
    }
    // A folder in a temporary directory may have been put there by anyone.
    let metadata = fs::symlink_metadata(&directory)?;
    if metadata.is_dir() && metadata.uid() == user.as_raw() {
        return Ok(directory);
    }
    Err(io::Error::other(format!(
        "{} is not a directory of this user; remove it, or set XDG_RUNTIME_DIR",
        directory.display()
    )))
}

fn private() -> fs::DirBuilder {
    let mut builder = fs::DirBuilder::new();
    builder.mode(0o700);
    builder
}

/// Folders of the state directory, a process's later ones first: they may lie on what earlier ones made.
fn folders(state: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(state)?.map(|entry| entry.map(|entry| entry.path()));
    let paths: Vec<PathBuf> = entries.collect::<io::Result<_>>()?;
    let mut folders: Vec<PathBuf> = paths.into_iter().filter(|path| path.is_dir()).collect();
    folders.sort_by(|one, other| other.cmp(one));
    Ok(folders)
}

/// Keeps others from clearing or registering at the same time, until it is dropped.
fn lock(state: &Path) -> io::Result<File> {
    let file = File::create(state.join("lock"))?;
    flock(&file, FlockOperation::LockExclusive)?;
    Ok(file)
}

/// Looks every few milliseconds whether `condition` holds, for as long as `patience`; gives whether it did.
pub(crate) fn wait_until(patience: Duration, mut condition: impl FnMut() -> bool) -> bool {
    const PAUSE: Duration = Duration::from_millis(10);
    let clock = Clock::start();
    loop {
        if condition() {
            return true;
        }
        if clock.now().as_nanos() > patience.as_nanos() {
            return false;
        }
        Clock::sleep(PAUSE);
    }
}
