//! What an emulation has set up outside of its process, recorded so that the next one can clean it up.
//!
//! Mounts, loop devices, directories and servers outlive a process that is killed. Each emulation therefore
//! has a folder in the state directory, and records there what it is about to create *before* it does so:
//!
//! ```text
//!   /run/dbstow/<pid>-<start>-<n>/ root; else $XDG_RUNTIME_DIR/dbstow, else a folder in the temporary one
//!       made.json                  the owner, and what it created
//!       control                    socket of the emulator, if it has its own process
//!       log                        output of that process
//!       images/<volume>/           where block mode sees its image
//! ```
//!
//! [`clear`] finds the folders of processes that no longer run. It touches nothing whose identity does not
//! match the record: a loop device by its backing file, a mount by its source, a directory by its inode, a
//! process by its working directory and user. (A server's process id is known only once it runs, and by then
//! it may already have to be ended.)

mod clear;
mod made;
pub mod process;
mod state;
mod work;

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use parking_lot::Mutex;
use rustix::fs::OFlags;

pub use clear::{Cleared, clear};
use made::{Directory, Inode, Made, Mount, Work};
use process::Identity;
use state::{folders, lock, state_directory};

/// A process's folder in the state directory: what it created, for a later cleanup.
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
    /// When the state directory cannot be created or is not this user's own.
    pub fn new() -> io::Result<Registration> {
        let state = state_directory()?;
        let _lock = lock(&state)?;
        let owner = Identity::own()?;
        // A process may hold several, one after the other or at once. No name is used twice: one that is finished again would
        // remove the other's.
        static NUMBER: AtomicU32 = AtomicU32::new(1);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}-{}-{number:06}", owner.pid, owner.start_ticks);
        let folder = state.join(name);
        private().create(&folder)?;
        let made = Made::of(owner);
        made.write(&folder)?;
        Ok(Registration {
            folder,
            made: Mutex::new(made),
        })
    }

    /// Its folder, for its own files.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// `source` is about to be mounted at `directory`.
    ///
    /// # Errors
    /// When it cannot be recorded.
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
    /// When it cannot be recorded.
    pub fn unmounted(&self, directory: &Path) -> io::Result<()> {
        self.change(|made| made.mounts.retain(|mount| mount.directory != directory))
    }

    /// A loop device is about to be attached to `backing`.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub fn attaching(&self, backing: &Path) -> io::Result<()> {
        self.change(|made| made.loops.push(backing.to_owned()))
    }

    /// `backing` has been detached from its loop device.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub fn detached(&self, backing: &Path) -> io::Result<()> {
        self.change(|made| made.loops.retain(|other| other != backing))
    }

    /// Creates `directory`, to be removed at the end: with everything in it, or only if it is empty.
    /// Returns whether it was created; an existing one is not registered.
    ///
    /// # Errors
    /// When it cannot be created or recorded.
    pub fn make_directory(&self, directory: &Path, with_contents: bool) -> io::Result<bool> {
        self.plan(directory, None, with_contents)?;
        // A directory removed with its contents holds private data.
        let mode = if with_contents { 0o700 } else { 0o755 };
        let inode = match fs::DirBuilder::new().mode(mode).create(directory) {
            Ok(()) => Some(Inode::of(&open_directory(directory)?.metadata()?)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => None,
            Err(error) => {
                self.settle(directory, None)?;
                return Err(error);
            }
        };
        self.settle(directory, inode)?;
        Ok(inode.is_some())
    }

    /// `directory` is about to be created, or taken over from a killed process: its user has locked the
    /// file `mark` in it. It is to be removed with everything in it, once it is [claimed]; before that,
    /// only if it is not in use and contains nothing else.
    ///
    /// [claimed]: Registration::claimed
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub fn claiming(&self, directory: &Path, mark: &str) -> io::Result<()> {
        self.plan(directory, Some(mark), true)
    }

    /// `directory` now belongs to this process.
    ///
    /// # Errors
    /// When it does not exist, or it cannot be recorded.
    pub fn claimed(&self, directory: &Path) -> io::Result<()> {
        let inode = Inode::of(&open_directory(directory)?.metadata()?);
        self.settle(directory, Some(inode))
    }

    fn plan(&self, directory: &Path, mark: Option<&str>, with_contents: bool) -> io::Result<()> {
        self.change(|made| {
            made.directories.push(Directory {
                path: directory.to_owned(),
                inode: None,
                mark: mark.map(str::to_owned),
                with_contents,
            });
        })
    }

    /// Records the outcome for a directory that was about to be created.
    fn settle(&self, directory: &Path, inode: Option<Inode>) -> io::Result<()> {
        let planned = |one: &Directory| one.path == directory && one.inode.is_none();
        self.change(|made| match inode {
            None => made.directories.retain(|one| !planned(one)),
            Some(_) => {
                let one = made.directories.iter_mut().rfind(|one| planned(one));
                one.into_iter().for_each(|one| one.inode = inode);
            }
        })
    }

    /// `directory` no longer exists, or is to stay.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub fn removed(&self, directory: &Path) -> io::Result<()> {
        self.change(|made| made.directories.retain(|one| one.path != directory))
    }

    /// Processes of server `name` are about to run in `directory` or beneath it, as `user`. The directory
    /// need not exist yet, but its parent must. The processes are to be ended when this process is gone.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub fn serving(&self, name: &str, directory: &Path, user: u32) -> io::Result<()> {
        let directory = without_links(directory)?;
        self.change(|made| {
            made.work.push(Work {
                name: name.to_owned(),
                directory,
                user,
            });
        })
    }

    /// No process runs in `directory` any more.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub fn served(&self, directory: &Path) -> io::Result<()> {
        let directory = without_links(directory)?;
        self.change(|made| made.work.retain(|work| work.directory != directory))
    }

    /// Control group `group` is about to be created; its processes are to be ended when this process is gone.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub fn grouping(&self, group: &Path) -> io::Result<()> {
        self.change(|made| made.groups.push(group.to_owned()))
    }

    /// Control group `group` no longer exists, or never did.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub fn ungrouped(&self, group: &Path) -> io::Result<()> {
        self.change(|made| made.groups.retain(|other| other != group))
    }

    /// Removes whatever is left of what was recorded, and the folder. Repeating it after success does nothing.
    ///
    /// # Errors
    /// What is left, and why. It stays recorded, for [`clear`].
    pub fn finish(&self) -> Result<(), Vec<String>> {
        let made = self.made.lock();
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

    fn change(&self, change: impl FnOnce(&mut Made)) -> io::Result<()> {
        let mut made = self.made.lock();
        change(&mut made);
        made.write(&self.folder)
    }
}

/// The folders of running processes of this user, with what each has mounted.
///
/// # Errors
/// When the state directory cannot be read.
pub fn running() -> io::Result<Vec<(PathBuf, Vec<PathBuf>)>> {
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

/// A directory itself; a link in its place is not followed.
fn open_directory(path: &Path) -> io::Result<File> {
    let flags = (OFlags::DIRECTORY | OFlags::NOFOLLOW).bits().cast_signed();
    File::options().read(true).custom_flags(flags).open(path)
}

/// `path` with links resolved; its last part need not exist.
fn without_links(path: &Path) -> io::Result<PathBuf> {
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => Ok(parent.canonicalize()?.join(name)),
        _ => path.canonicalize(),
    }
}

fn private() -> fs::DirBuilder {
    let mut builder = fs::DirBuilder::new();
    builder.mode(0o700);
    builder
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};

    use rustix::process::geteuid;

    use super::state::private_folder;
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().mode() & 0o7777
    }

    #[test]
    fn a_state_directory_that_others_may_enter_is_refused_and_left() {
        let place = tempfile::tempdir().unwrap();
        let state = place.path().join("dbstow");
        fs::create_dir(&state).unwrap();
        fs::set_permissions(&state, fs::Permissions::from_mode(0o755)).unwrap();

        let error = private_folder(place.path(), "dbstow".as_ref()).unwrap_err();

        assert!(error.to_string().contains("run `chmod 700`"), "{error}");
        assert_eq!(mode(&state), 0o755);
        // A missing one is created for this user only.
        private_folder(place.path(), "made".as_ref()).unwrap();
        assert_eq!(mode(&place.path().join("made")), 0o700);
    }

    #[test]
    fn a_state_directory_that_others_may_have_written_to_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let state = place.path().join("dbstow");
        fs::create_dir(&state).unwrap();
        fs::set_permissions(&state, fs::Permissions::from_mode(0o777)).unwrap();

        let error = private_folder(place.path(), "dbstow".as_ref()).unwrap_err();

        assert!(
            error.to_string().contains("can be written by others"),
            "{error}"
        );
    }

    #[test]
    fn a_state_directory_of_somebody_else_or_a_link_to_one_is_refused_and_left() {
        let place = tempfile::tempdir().unwrap();
        let (theirs, link) = (place.path().join("theirs"), place.path().join("link"));
        fs::create_dir(&theirs).unwrap();
        fs::set_permissions(&theirs, fs::Permissions::from_mode(0o755)).unwrap();
        symlink(&theirs, &link).unwrap();

        let error = private_folder(place.path(), "link".as_ref()).unwrap_err();
        assert!(error.to_string().contains("is a symbolic link"), "{error}");
        // Only root can give a directory away.
        if geteuid().is_root() {
            chown(&theirs, Some(65_534), None).unwrap();
            let error = private_folder(place.path(), "theirs".as_ref()).unwrap_err();
            assert!(
                error.to_string().contains("belongs to user 65534"),
                "{error}"
            );
        }

        assert_eq!(mode(&theirs), 0o755);
    }

    #[test]
    fn a_lock_that_is_a_link_is_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let precious = place.path().join("precious");
        fs::write(&precious, "data").unwrap();
        symlink(&precious, place.path().join("lock")).unwrap();

        lock(place.path()).unwrap_err();

        assert_eq!(fs::read_to_string(precious).unwrap(), "data");
    }

    #[test]
    fn what_is_registered_is_written_down_before_it_is_there() {
        let registration = Registration::new().unwrap();
        let place = tempfile::tempdir().unwrap();
        let place = place.path().canonicalize().unwrap();
        let written = || Made::read(registration.folder()).unwrap();

        registration
            .serving("a server", &place.join("data"), 1)
            .unwrap();
        registration.grouping(&place.join("group")).unwrap();
        assert_eq!(written().work[0].directory, place.join("data"));
        assert_eq!(written().groups, [place.join("group")]);
        assert!(
            registration
                .make_directory(&place.join("run"), true)
                .unwrap()
        );
        assert!(
            !registration
                .make_directory(&place.join("run"), true)
                .unwrap()
        );
        assert!(
            registration
                .make_directory(&place.join("no/run"), true)
                .is_err()
        );
        let metadata = fs::metadata(place.join("run")).unwrap();
        assert_eq!(written().directories.len(), 1);
        assert_eq!(written().directories[0].inode, Some(Inode::of(&metadata)));

        registration.served(&place.join("data")).unwrap();
        registration.ungrouped(&place.join("group")).unwrap();
        registration.removed(&place.join("run")).unwrap();
        let written = written();
        assert!(written.work.is_empty() && written.groups.is_empty());
        assert!(written.directories.is_empty());
        registration.finish().unwrap();
    }

    #[test]
    fn one_that_is_finished_twice_leaves_those_of_others() {
        let first = Registration::new().expect("a state directory");
        first.finish().expect("nothing is left");
        let second = Registration::new().expect("a state directory");
        assert_ne!(first.folder(), second.folder());
        first.finish().expect("nothing is left");
        assert!(second.folder().exists());
        second.finish().expect("nothing is left");
        assert!(!second.folder().exists());
    }
}
