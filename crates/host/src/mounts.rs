//! Mounts, their users, and unmounting.

use std::io;
use std::path::{Path, PathBuf};

use procfs::process::{FDTarget, Process, all_processes};
use rustix::mount::{UnmountFlags, unmount as unmount_now};

use crate::apart::without_open_files;
use crate::child;
use crate::clock::wait_until;

/// Source of an emulated volume in the kernel's table of mounts and, after `fuse.`, its type: identifies mounts of this
/// program.
pub const SOURCE: &str = "dbstow";

/// What is mounted at a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mounted {
    /// The device, or the source name of a FUSE file system.
    pub source: String,
    /// `ext4`, `fuse.dbstow`, ..
    pub kind: String,
}

impl Mounted {
    /// Whether it could be an emulated volume, in either mode.
    pub fn is_volume(&self) -> bool {
        self.source == SOURCE || self.source.starts_with("/dev/loop")
    }
}

/// The mount at `directory`; the topmost if several are stacked.
///
/// # Errors
/// When the table of mounts cannot be read.
pub fn at(directory: &Path) -> io::Result<Option<Mounted>> {
    let mut mounts = table()?
        .into_iter()
        .filter(|mount| mount.mount_point == directory);
    Ok(mounts.next_back().map(|mount| Mounted {
        source: mount.mount_source.unwrap_or_default(),
        kind: mount.fs_type,
    }))
}

/// Mount points below `directory`, including `directory` itself.
///
/// # Errors
/// When the table of mounts cannot be read.
pub fn within(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let points = table()?.into_iter().map(|mount| mount.mount_point);
    Ok(points
        .filter(|point| point.starts_with(directory))
        .collect())
}

fn table() -> io::Result<Vec<procfs::process::MountInfo>> {
    let mounts = Process::myself().and_then(|own| own.mountinfo());
    Ok(mounts.map_err(io::Error::other)?.into_iter().collect())
}

/// Why something is still mounted.
#[derive(Debug, thiserror::Error)]
pub enum UnmountError {
    /// Processes use it.
    // Uses the words of `IN_USE`.
    #[error("{} is still in use by {}", directory.display(), names(users))]
    Busy {
        /// Where it is mounted.
        directory: PathBuf,
        /// Their names and process ids, if visible.
        users: Vec<String>,
    },
    /// Another failure.
    #[error("unmounting {} failed: {why}", directory.display())]
    Failed {
        /// Where it is mounted.
        directory: PathBuf,
        /// The system's message.
        why: String,
    },
}

fn names(users: &[String]) -> String {
    if users.is_empty() {
        "a process that cannot be seen from here".to_owned()
    } else {
        users.join(", ")
    }
}

/// How long a directory may be busy before that is reported: indexers and shells use it for a moment.
const PATIENCE: model::Duration = model::Duration::from_millis(500);

/// Unmounts `directory`.
///
/// # Errors
/// When it is in use for longer than a moment, or cannot be unmounted.
pub fn unmount(directory: &Path) -> Result<(), UnmountError> {
    let mut outcome = Ok(());
    wait_until(PATIENCE, || {
        outcome = try_unmount(directory, UnmountFlags::NOFOLLOW);
        !matches!(outcome, Err(ref error) if error.kind() == io::ErrorKind::ResourceBusy)
    });
    outcome.map_err(|error| match error.kind() {
        io::ErrorKind::ResourceBusy => UnmountError::Busy {
            directory: directory.to_owned(),
            users: users(directory),
        },
        _ => UnmountError::Failed {
            directory: directory.to_owned(),
            why: error.to_string(),
        },
    })
}

/// Lazily unmounts `directory`: it ends when its last user does.
///
/// # Errors
/// When even that fails.
pub fn unmount_lazily(directory: &Path) -> io::Result<()> {
    try_unmount(directory, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW)
}

/// Unmounts `directory`, lazily if it stays in use: the requests of its users would have no answer anyway.
///
/// # Errors
/// When it stayed in use, although it is then detached; or when it cannot be unmounted at all.
pub fn take_down(directory: &Path) -> io::Result<()> {
    match unmount(directory) {
        Ok(()) => Ok(()),
        Err(error) => {
            unmount_lazily(directory)?;
            let what = format!("{error}; it was unmounted lazily");
            Err(io::Error::new(io::ErrorKind::ResourceBusy, what))
        }
    }
}

fn try_unmount(directory: &Path, flags: UnmountFlags) -> io::Result<()> {
    // The mount may be on a disk that this process serves.
    let done = without_open_files(|| unmount_now(directory, flags));
    match done.map_err(io::Error::from) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            unmount_as_user(directory, flags.contains(UnmountFlags::DETACH))
        }
        outcome => outcome,
    }
}

/// Without root, FUSE mounts are removed by the program that created them.
fn unmount_as_user(directory: &Path, lazily: bool) -> io::Result<()> {
    let mut command = child::command("fusermount3");
    command
        .arg("-u")
        .args(lazily.then_some("-z"))
        .arg("--")
        .arg(directory);
    let output = command.output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    let kind = if said.contains("busy") {
        io::ErrorKind::ResourceBusy
    } else {
        io::ErrorKind::Other
    };
    Err(io::Error::new(kind, said))
}

/// Unmounts every emulated volume below `directory`, which must be the caller's own and have no running
/// emulator; lazily if it is in use.
///
/// # Errors
/// When something else is mounted there, or stays mounted.
pub fn unmount_within(directory: &Path) -> io::Result<()> {
    let points = within(directory)?;
    // What was mounted last may lie on top of an earlier mount.
    for point in points.iter().rev() {
        let volume = at(point)?.is_some_and(|mount| mount.is_volume());
        if volume && unmount(point).is_err() {
            unmount_lazily(point)?;
        }
    }
    match within(directory)?.first() {
        None => Ok(()),
        Some(point) => Err(io::Error::other(format!(
            "something is mounted at {}; unmount it first",
            point.display()
        ))),
    }
}

/// Processes with an open file, a working directory, a root or mapped memory below `directory`, as
/// `name (pid)`. Only root can see processes of other users.
pub fn users(directory: &Path) -> Vec<String> {
    let Ok(processes) = all_processes() else {
        return Vec::new();
    };
    let using = processes
        .flatten()
        .filter(|process| uses(process, directory));
    using
        .map(|process| {
            let name = process
                .stat()
                .map_or_else(|_| "?".to_owned(), |stat| stat.comm);
            format!("{name} ({})", process.pid)
        })
        .collect()
}

fn uses(process: &Process, directory: &Path) -> bool {
    let within = |path: &PathBuf| path.starts_with(directory);
    let links = [process.cwd(), process.root(), process.exe()];
    let open = || {
        let files = process.fd().into_iter().flatten().flatten();
        files
            .into_iter()
            .any(|file| matches!(&file.target, FDTarget::Path(path) if within(path)))
    };
    let mapped = || {
        let maps = process.maps().into_iter().flatten();
        maps.into_iter().any(
            |map| matches!(&map.pathname, procfs::process::MMapPath::Path(path) if within(path)),
        )
    };
    links.iter().flatten().any(within) || open() || mapped()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_mounted_and_a_plain_directory_is_not() {
        let plain = tempfile::tempdir().unwrap();

        assert!(
            at(Path::new("/proc"))
                .unwrap()
                .is_some_and(|found| found.kind == "proc")
        );
        assert_eq!(at(plain.path()).unwrap(), None);
        assert!(
            within(Path::new("/proc"))
                .unwrap()
                .contains(&"/proc".into())
        );
        assert!(within(plain.path()).unwrap().is_empty());
    }

    #[test]
    fn an_open_file_names_its_user() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(users(directory.path()), [""; 0]);

        let _open = std::fs::File::create(directory.path().join("file")).unwrap();

        let users = users(directory.path());
        let own = format!("({})", std::process::id());
        assert!(users.len() == 1 && users[0].ends_with(&own), "{users:?}");
    }
}
