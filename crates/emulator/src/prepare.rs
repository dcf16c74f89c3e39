//! Checks before a volume is mounted: the machine, the specification, and its two directories.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use rustix::process::{Resource, geteuid, getrlimit, setrlimit};

use super::error::EmulationError;
use super::image;
use super::setup::{Contents, EmulationSpec, Front, MountSpec};
use files::{FileError, Folder, Readers, input};
use host::child;
use host::mounts;
use model::Bytes;

/// Marks a backing directory as created by this program; holds the volume's name.
const MARK: &str = "dbstow-volume";

/// What a backing directory contains besides its mark.
const FILES: &str = "files";

/// Where in a backing directory a volume's files are.
pub(super) fn files(backing: &Path) -> PathBuf {
    backing.join(FILES)
}

/// Rejects what cannot work, before anything is mounted.
pub(super) fn check(spec: &EmulationSpec) -> Result<(), EmulationError> {
    let mut names = BTreeSet::new();
    for mount in &spec.volumes {
        let wrong = |why| {
            Err(EmulationError::Spec {
                volume: mount.volume.name.clone(),
                why,
            })
        };
        if mount.volume.disks.is_empty() {
            return wrong("it has no disk; give it one");
        }
        if !names.insert(mount.volume.name.as_str()) {
            return wrong("two volumes have this name; rename one");
        }
        if spec.contents != Contents::InPlace && mount.front == Front::File {
            return wrong("writes are recorded in block mode only; choose the block front");
        }
        if matches!(mount.front, Front::Block { .. }) && !geteuid().is_root() {
            return wrong("block mode needs root; run as root, or choose the file front");
        }
    }
    device()?;
    open_files_max();
    Ok(())
}

/// Whether this user can mount FUSE volumes on this machine.
///
/// # Errors
/// What is missing, and how to fix it.
pub fn device() -> Result<(), EmulationError> {
    let opened = OpenOptions::new().read(true).write(true).open("/dev/fuse");
    match opened {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            return Err(EmulationError::NoPermission);
        }
        // Without the kernel's module: ENODEV, or no such file.
        Err(_) => return Err(EmulationError::NoDevice),
    }
    if !geteuid().is_root() && child::command("fusermount3").arg("-V").output().is_err() {
        return Err(EmulationError::NoHelper);
    }
    Ok(())
}

/// Raises the limit of open files to its maximum: every inode that the kernel knows holds one.
fn open_files_max() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // If that fails, the current limit must do.
    let _ = setrlimit(Resource::Nofile, limit);
}

/// Ensures that a volume can be mounted: its directory exists and is empty.
pub(super) fn mount_point(mount: &MountSpec) -> Result<(), EmulationError> {
    let wrong = |why: String| EmulationError::MountPoint {
        volume: mount.volume.name.clone(),
        path: mount.directory.clone(),
        why,
    };
    if mounts::at(&mount.directory).is_ok_and(|there| there.is_some_and(|there| there.is_volume()))
    {
        let remedy = "a volume is mounted there; end it first with `dbstow unmount`";
        return Err(wrong(remedy.to_owned()));
    }
    let mut entries = fs::read_dir(&mount.directory).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => wrong("there is no such directory; make it".to_owned()),
        io::ErrorKind::NotConnected => {
            wrong("an emulator that is gone left its mount there; unmount it".to_owned())
        }
        _ => wrong(error.to_string()),
    })?;
    match entries.next() {
        None => Ok(()),
        Some(_) => Err(wrong("it is not empty; give an empty directory".to_owned())),
    }
}

/// Creates a volume's backing directory, or reuses the existing one; returns the directory for its bytes.
pub(super) fn backing(mount: &MountSpec) -> Result<PathBuf, EmulationError> {
    let wrong = |why: String| EmulationError::Backing {
        volume: mount.volume.name.clone(),
        path: mount.backing.clone(),
        why,
    };
    claim(&mount.backing, &mount.volume.name).map_err(|error| match error {
        Claim::System(error) => wrong(error.to_string()),
        Claim::File(error) => wrong(error.to_string()),
        Claim::Foreign => {
            wrong("it is not empty, and no volume's; give an empty directory".to_owned())
        }
        Claim::Other(name) => wrong(format!(
            "it holds volume \"{name}\"; give another directory, or delete that one"
        )),
    })
}

/// Locks a backing directory for this emulator alone, until the returned file is dropped.
pub(super) fn lock(mount: &MountSpec) -> Result<File, EmulationError> {
    let wrong = |why: String| EmulationError::Backing {
        volume: mount.volume.name.clone(),
        path: mount.backing.clone(),
        why,
    };
    let mark = mark(mount).map_err(|error| wrong(error.to_string()))?;
    match mark.try_lock() {
        Ok(()) => Ok(mark),
        Err(TryLockError::WouldBlock) => Err(wrong(
            "another emulator uses it; stop that one, or give another directory".to_owned(),
        )),
        Err(TryLockError::Error(error)) => Err(wrong(error.to_string())),
    }
}

/// Locks a backing directory for emulators that change nothing in it.
pub(super) fn lock_shared(mount: &MountSpec) -> Result<File, EmulationError> {
    let wrong = |why: String| EmulationError::Backing {
        volume: mount.volume.name.clone(),
        path: mount.backing.clone(),
        why,
    };
    let mark = mark(mount).map_err(|error| wrong(error.to_string()))?;
    mark.lock_shared()
        .map_err(|error| wrong(error.to_string()))?;
    Ok(mark)
}

/// The mark of a backing directory, open.
fn mark(mount: &MountSpec) -> Result<File, FileError> {
    Folder::open(&mount.backing)?.own_file(MARK.as_ref())
}

/// Most bytes of a mark that are read.
const MARK_MAX: u64 = 4096;

/// Checks, through an open handle, the backing directory of a volume in block mode that someone else may have created,
/// before anything is created in it or mounted: it and its content are owned by this user, not writable by others, and
/// not links; it holds `volume`, and an image of `size` with an ext4 file system in which `e2fsck -n` finds no error.
///
/// A file system without errors can still be crafted to harm the kernel that mounts it.
///
/// # Errors
/// What does not match, or that `e2fsck` is missing.
pub fn check_image(backing: &Folder, volume: &str, size: Bytes) -> io::Result<()> {
    let other = |error: FileError| io::Error::other(error);
    backing.check_own().map_err(other)?;
    let name = input::inside(backing, MARK, MARK_MAX).map_err(other)?;
    if name.trim_end() != volume {
        return Err(io::Error::other(format!(
            "{} holds volume \"{}\", not \"{volume}\"; drill again",
            backing.path().display(),
            name.trim_end()
        )));
    }
    let files = backing.inner(FILES.as_ref()).map_err(other)?;
    files.check_own().map_err(other)?;
    image::check(&files, size)
}

enum Claim {
    System(io::Error),
    File(FileError),
    Foreign,
    Other(String),
}

fn claim(backing: &Path, volume: &str) -> Result<PathBuf, Claim> {
    // Access to a file of the volume is governed by its own mode, once it is mounted.
    let folder = Folder::to_fill(backing, Readers::OwnerOnly).map_err(Claim::File)?;
    if folder.holds(MARK.as_ref()) {
        let mut mark = folder.own_file(MARK.as_ref()).map_err(Claim::File)?;
        let mut name = String::new();
        mark.read_to_string(&mut name).map_err(Claim::System)?;
        if name.trim_end() != volume {
            return Err(Claim::Other(name.trim_end().to_owned()));
        }
    } else {
        let names = folder.names().map_err(Claim::File)?;
        let is_unfinished = |name: &OsString| folder.is_unfinished_file(name, None);
        if !names.iter().all(is_unfinished) {
            return Err(Claim::Foreign);
        }
        let text = format!("{volume}\n");
        let written = folder.write(MARK.as_ref(), text.as_bytes(), Readers::OwnerOnly);
        written.map_err(Claim::File)?;
    }
    let files = folder.folder(FILES.as_ref()).map_err(Claim::File)?;
    Ok(files.path().to_owned())
}
