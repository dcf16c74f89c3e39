//! Cleans up what processes that no longer run left behind.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use model::Duration;
use rustix::fs::OFlags;
use rustix::process::geteuid;

use super::made::{Directory, FILE, Inode, Made, Mount};
use super::state::{folders, lock, state_directory};
use super::work;
use crate::clock::wait_until;
use crate::loop_device;
use crate::mounts::{self, UnmountError};

/// What was found and removed, as human-readable sentences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cleared {
    /// What was removed.
    pub done: Vec<String>,
    /// What still exists, and why.
    pub failed: Vec<String>,
}

impl Cleared {
    fn note<E: std::fmt::Display>(&mut self, what: String, outcome: Result<bool, E>) {
        match outcome {
            Ok(true) => self.done.push(what),
            Ok(false) => {}
            Err(error) => self.failed.push(format!("not {what}: {error}")),
        }
    }
}

/// Cleans up what this user's emulations left whose process no longer runs: ends their servers,
/// unmounts, detaches, removes. Does nothing, and reports nothing, if nothing was left.
///
/// # Errors
/// When the state directory cannot be used. What could not be removed is in the result, and is retried
/// the next time.
pub fn clear() -> io::Result<Cleared> {
    let state = state_directory()?;
    let mut found = None;
    wait_until(PATIENCE, || {
        let looked = look(&state);
        let over = !matches!(&looked, Ok(found) if found.ending);
        // Without the lock in between: a process that is ending may need it for that.
        found = over.then_some(looked);
        over
    });
    let found = found.unwrap_or_else(|| look(&state))?;
    // One that is in the kernel may wait for what is unmounted below.
    wait_until(ENDING, || {
        !found.left.iter().any(|(made, _)| made.owner.is_ending())
    });
    let left = found.left;
    let mut cleared = Cleared {
        done: Vec::new(),
        failed: found.failed,
    };
    let (left, folders): (Vec<Made>, Vec<PathBuf>) = left.into_iter().unzip();
    let (left, _locks) = without_taken_over(left);
    // A run's directories hold the mounts of its emulator, which has its own folder.
    let undone: Vec<Cleared> = left.iter().map(take_down).collect();
    for ((made, folder), mut one) in left.iter().zip(&folders).zip(undone) {
        remove_all(made, folder, PATIENCE, &mut one);
        cleared.done.extend(one.done);
        cleared.failed.extend(one.failed);
    }
    Ok(cleared)
}

/// What is to be cleaned up.
struct Found {
    _lock: fs::File,
    /// Of processes that no longer run.
    left: Vec<(Made, PathBuf)>,
    /// Whether an emulator still runs that ends because one of those is gone.
    ending: bool,
    failed: Vec<String>,
}

fn look(state: &Path) -> io::Result<Found> {
    let mut found = Found {
        _lock: lock(state)?,
        left: Vec::new(),
        ending: false,
        failed: Vec::new(),
    };
    let mut running = Vec::new();
    for folder in folders(state)? {
        match Made::read(&folder) {
            Ok(made) if made.owner.is_alive() => running.push(made),
            Ok(made) => found.left.push((made, folder)),
            // Killed before it recorded anything, it created nothing. The lock is ours, so no process is
            // about to write; an incomplete list may be left there.
            Err(error)
                if error.kind() == io::ErrorKind::NotFound && remove_folder(&folder).is_ok() => {}
            Err(error) => found.failed.push(format!(
                "not cleared {}: {error}; look into it, and remove it",
                folder.display()
            )),
        }
    }
    found.ending = running.iter().any(|made| {
        let mut owners = found.left.iter().map(|(left, _)| &left.owner);
        owners.any(|owner| Some(owner) == made.parent.as_ref())
    });
    Ok(found)
}

/// Removes what `made` lists, in reverse order, and `folder` if nothing is left.
pub(super) fn undo(made: &Made, folder: &Path) -> Cleared {
    let (ours, _locks) = without_taken_over(vec![made.clone()]);
    let mut cleared = Cleared::default();
    for made in &ours {
        cleared = take_down(made);
        remove_all(made, folder, Duration::ZERO, &mut cleared);
    }
    cleared
}

/// The list, without what another run has taken over since: a directory whose mark is locked, and
/// everything beneath it. The marks of the others are locked as long as the files are held.
fn without_taken_over(mut all: Vec<Made>) -> (Vec<Made>, Vec<fs::File>) {
    let mut locks = Vec::new();
    let mut taken = Vec::new();
    for directory in all.iter().flat_map(|made| &made.directories) {
        let Some(mark) = &directory.mark else {
            continue;
        };
        match lock_mark(&directory.path.join(mark)) {
            Ok(lock) => locks.extend(lock),
            Err(TakenOver) => taken.push(directory.path.clone()),
        }
    }
    let is_left = |path: &Path| !taken.iter().any(|taken| path.starts_with(taken));
    for made in &mut all {
        made.directories.retain(|one| is_left(&one.path));
        made.work.retain(|one| is_left(&one.directory));
        made.mounts.retain(|one| is_left(&one.directory));
    }
    (all, locks)
}

/// Another run has locked a mark.
struct TakenOver;

/// Locks a mark; `None` if it does not exist.
fn lock_mark(mark: &Path) -> Result<Option<fs::File>, TakenOver> {
    // Opened for reading and non-blocking, so that a FIFO in its place does not block.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let opened = fs::File::options()
        .read(true)
        .custom_flags(flags)
        .open(mark);
    match opened {
        Ok(file) if file.try_lock().is_ok() => Ok(Some(file)),
        Ok(_) => Err(TakenOver),
        Err(_) => Ok(None),
    }
}

/// Ends processes, unmounts, and detaches.
fn take_down(made: &Made) -> Cleared {
    let mut cleared = Cleared::default();
    // Before any directory is removed: a leftover initdb could write to the next one of that name, or
    // remove it.
    for work in &made.work {
        match work::end(work) {
            Ok(ended) if ended.is_empty() => {}
            Ok(ended) => {
                let what = format!("ended {} ({})", work.name, ended.join(", "));
                cleared.done.push(what);
            }
            Err(error) => cleared
                .failed
                .push(format!("not ended {}: {error}", work.name)),
        }
    }
    for group in &made.groups {
        let what = format!("removed the control group {}", group.display());
        cleared.note(what, work::remove_group(group));
    }
    // A file system lies on a loop device, which lies on an image that FUSE exposes.
    let (on_loops, others): (Vec<&Mount>, Vec<&Mount>) = made
        .mounts
        .iter()
        .rev()
        .partition(|mount| mount.source.starts_with("/dev/loop"));
    unmount_all(&on_loops, &mut cleared);
    for backing in made.loops.iter().rev() {
        let what = format!("detached the loop device of {}", backing.display());
        cleared.note(what, detach(backing));
    }
    unmount_all(&others, &mut cleared);
    cleared
}

/// Removes directories, and `folder` if nothing failed.
fn remove_all(made: &Made, folder: &Path, patience: Duration, cleared: &mut Cleared) {
    for directory in made.directories.iter().rev() {
        let what = format!("removed {}", directory.path.display());
        cleared.note(what, remove(directory, patience));
    }
    if cleared.failed.is_empty()
        && let Err(error) = remove_folder(folder)
    {
        let what = format!("not removed {}: {error}", folder.display());
        cleared.failed.push(what);
    }
}

fn unmount_all(those: &[&Mount], cleared: &mut Cleared) {
    for mount in those {
        match unmount(mount) {
            Ok(None) => {}
            Ok(Some(what)) => cleared.done.push(what),
            Err(error) => cleared.failed.push(format!(
                "not unmounted {}: {error}",
                mount.directory.display()
            )),
        }
    }
}

/// Unmounts what still exists, lazily if it is busy: its users have lost their disks already.
fn unmount(mount: &Mount) -> io::Result<Option<String>> {
    let same = mounts::at(&mount.directory)?.is_some_and(|found| found.source == mount.source);
    if !same {
        return Ok(None);
    }
    let directory = mount.directory.display();
    match mounts::unmount(&mount.directory) {
        Ok(()) => Ok(Some(format!("unmounted {directory}"))),
        Err(error) => {
            mounts::unmount_lazily(&mount.directory)?;
            Ok(Some(match error {
                UnmountError::Busy { users, .. } => format!(
                    "lazily unmounted {directory}; still in use by: {}",
                    users.join(", ")
                ),
                UnmountError::Failed { why, .. } => {
                    format!("lazily unmounted {directory}, since unmounting failed: {why}")
                }
            }))
        }
    }
}

fn detach(backing: &Path) -> io::Result<bool> {
    let devices = loop_device::of_backing(backing)?;
    for device in &devices {
        device.detach()?;
    }
    Ok(!devices.is_empty())
}

/// How long threads of a killed process may take to end: until then the marks of its directories are locked, as if another run had
/// taken them over.
const ENDING: Duration = Duration::from_secs(2);

/// How long an emulator may take to notice that its parent is gone, and to unmount.
const PATIENCE: Duration = Duration::from_secs(20);

/// Removes a directory, unless it has been replaced, or a mount in it remains.
fn remove(directory: &Directory, patience: Duration) -> io::Result<bool> {
    let path = &directory.path;
    let metadata = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        metadata => metadata?,
    };
    let Some(inode) = directory.inode else {
        // Killed before it recorded the inode: an empty directory of this user is assumed to be it.
        let ours = metadata.is_dir() && metadata.uid() == geteuid().as_raw();
        return Ok(ours && remove_planned(path, directory.mark.as_deref()));
    };
    if inode != Inode::of(&metadata) {
        return Ok(false);
    }
    let mut mounts = Ok(Vec::new());
    wait_until(patience, || {
        mounts = mounts::within(path);
        mounts.as_ref().map_or(true, Vec::is_empty)
    });
    if let Some(mount) = mounts?.first() {
        let why = format!("something is mounted at {}", mount.display());
        return Err(io::Error::other(why));
    }
    if directory.with_contents {
        fs::remove_dir_all(path)?;
    } else {
        fs::remove_dir(path)?;
    }
    Ok(true)
}

/// Removes a directory that is empty or holds only a mark. Returns whether it did.
fn remove_planned(path: &Path, mark: Option<&str>) -> bool {
    let names = fs::read_dir(path).into_iter().flatten().flatten();
    let names: Vec<_> = names.map(|entry| entry.file_name()).collect();
    if let (Some(mark), [name]) = (mark, &names[..])
        && name == mark
    {
        // It is locked by this process, or there would be nothing to remove.
        if fs::remove_file(path.join(mark)).is_err() {
            return false;
        }
    }
    fs::remove_dir(path).is_ok()
}

/// Removes a process's folder. One without a list may have been removed by another cleanup.
fn remove_folder(folder: &Path) -> io::Result<()> {
    match remove_known(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && !folder.exists() => Ok(()),
        removed => removed,
    }
}

/// Removes a process's folder, by its known contents only: an image that is still mounted there must not
/// be entered. The list goes last, so that a folder without one never remains.
fn remove_known(folder: &Path) -> io::Result<()> {
    if let Some(mount) = mounts::within(folder)?.first() {
        let why = format!("something is mounted at {}", mount.display());
        return Err(io::Error::other(why));
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name() == FILE {
            continue;
        }
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    match fs::remove_file(folder.join(FILE)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::remove_dir(folder)
}

#[cfg(test)]
mod tests;
