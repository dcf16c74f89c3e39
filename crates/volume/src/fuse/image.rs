//! Image files: a file that holds a whole file system.
//!
//! The file system is made before anything is modelled, straight on the sparse file. It takes next to no
//! room and time, because a new sparse file reads as zeros: what a maker of file systems would zero, at
//! once or later behind the back of a measurement, is zero already.

use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use model::Bytes;
use rustix::mount::MountFlags;

use super::apart::without_open_files;
use super::loop_device::{LoopDevice, run};
use super::setup::Filesystem;
use crate::child;
use files::Folder;

/// The image's name in the backing directory, and where FUSE shows it.
pub(super) const NAME: &str = "image";

/// An image that is being made has this name, so that half a file system is never taken for a whole one.
const UNFINISHED: &str = "image.unfinished";

/// Smallest image: below it, neither file system can be made.
const SIZE_MIN: Bytes = Bytes::mib(300);

/// Block size of the file systems, and what an image's size is a multiple of.
const BLOCK: Bytes = Bytes::kib(4);

/// The image of a volume.
#[derive(Clone, Debug)]
pub(super) struct Image {
    /// Where it is.
    pub(super) path: PathBuf,
    /// Its size.
    pub(super) size: Bytes,
    /// Whether it was made just now.
    pub(super) new: bool,
}

impl Image {
    /// Finds the image in directory `backing`, or makes one with an empty file system on it.
    ///
    /// # Errors
    /// When the size is too small or not that of an image that is there, or the program that makes the
    /// file system is missing or fails.
    pub(super) fn prepare(
        backing: &Path,
        size: Bytes,
        filesystem: Filesystem,
    ) -> io::Result<Image> {
        // Whoever may write to it could take the image away.
        let own = Folder::open(backing).and_then(|folder| folder.check_own());
        own.map_err(io::Error::other)?;
        let path = backing.join(NAME);
        let size = Bytes(size.0 / BLOCK.0 * BLOCK.0);
        if size < SIZE_MIN {
            return Err(io::Error::other(format!(
                "a volume of {size} is too small for a file system; give at least {SIZE_MIN}"
            )));
        }
        // The bytes of every user's files in the volume.
        let private = fs::Permissions::from_mode(0o600);
        let there = match open(backing)? {
            Some(image) => {
                image.set_permissions(private)?;
                Some(Bytes(image.metadata()?.len()))
            }
            None => None,
        };
        match there {
            None => make(backing, &path, size, filesystem)?,
            Some(there) if there != size => {
                return Err(io::Error::other(format!(
                    "{} holds {there}, not {size}; give its size, or remove it",
                    path.display()
                )));
            }
            Some(_) => {}
        }
        Ok(Image {
            path,
            size,
            new: there.is_none(),
        })
    }

    /// Opens it for the requests of its device.
    ///
    /// # Errors
    /// When it is gone.
    pub(super) fn open(&self) -> io::Result<File> {
        let backing = self.path.parent().expect("it lies in a directory");
        open(backing)?.ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// Opens the image in `backing`, if there is one: a file of this user's own.
pub(super) fn open(backing: &Path) -> io::Result<Option<File>> {
    let folder = Folder::open(backing).map_err(io::Error::other)?;
    folder.found_file(NAME.as_ref()).map_err(io::Error::other)
}

/// Checks the image in `backing` that somebody else may have made: of this user alone, no link, as large as `size`, and `e2fsck -n`
/// finds no error. A recording's image was unmounted before anything was recorded, so that its journal is empty.
///
/// # Errors
/// What is otherwise, or that there is no `e2fsck`.
pub(super) fn check(backing: &Folder, size: Bytes) -> io::Result<()> {
    let path = backing.path().join(NAME);
    let wrong = |why: String| io::Error::other(format!("{}: {why}", path.display()));
    let image = backing
        .found_file(NAME.as_ref())
        .map_err(io::Error::other)?;
    let image = image.ok_or_else(|| wrong("there is no image; drill again".to_owned()))?;
    let there = Bytes(image.metadata()?.len());
    if there != size {
        return Err(wrong(format!(
            "it is of {there}, not of {size}; drill again"
        )));
    }
    let mut command = child::command("e2fsck");
    command.args(["-f", "-n", "--"]).arg(&path);
    run(&mut command).map(|_| ()).map_err(|error| {
        wrong(format!(
            "e2fsck -n finds errors in its file system, which a drill does not leave: {error}; drill again"
        ))
    })
}

fn make(backing: &Path, path: &Path, size: Bytes, filesystem: Filesystem) -> io::Result<()> {
    let unfinished = backing.join(UNFINISHED);
    match fs::remove_file(&unfinished) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        // A kill may have left one.
        Ok(()) | Err(_) => {}
    }
    let mut options = File::options();
    let image = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&unfinished)?;
    image.set_len(size.0)?;
    let made = run(maker(filesystem).arg(&unfinished)).and_then(|_| fs::rename(&unfinished, path));
    if made.is_err() {
        // What is reported is why it failed, not that its remains could not be removed.
        let _ = fs::remove_file(&unfinished);
    }
    made
}

/// The program that makes a file system, and its options.
fn maker(filesystem: Filesystem) -> Command {
    match filesystem {
        Filesystem::Ext4 => {
            let mut command = child::command("mkfs.ext4");
            // Nothing is zeroed now, and `noinit_itable` keeps the kernel from doing it later. No part is
            // kept for root: a volume has the size it says.
            command.args(["-q", "-F", "-b", "4096", "-m", "0", "-E"]);
            command.arg("lazy_itable_init=1,lazy_journal_init=1,nodiscard");
            command
        }
        Filesystem::Xfs => {
            let mut command = child::command("mkfs.xfs");
            command.args(["-q", "-K", "-s", "size=4096"]);
            command
        }
    }
}

/// Whether programs on a file system can be run, and libraries be loaded from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Programs {
    /// As from any disk of the machine.
    Run,
    /// Not: it may be of anybody's making.
    Refused,
}

/// Mounts the file system on `device` at `directory`.
///
/// # Errors
/// When the kernel does not know the file system, or finds it damaged.
pub(super) fn mount(
    device: &LoopDevice,
    filesystem: Filesystem,
    directory: &Path,
    programs: Programs,
) -> io::Result<()> {
    let name = match filesystem {
        Filesystem::Ext4 => "ext4",
        Filesystem::Xfs => "xfs",
    };
    let options = options(filesystem, programs);
    let options = CString::new(options).expect("options have no zero byte");
    let flags = MountFlags::NOSUID
        | MountFlags::NODEV
        | match programs {
            Programs::Run => MountFlags::empty(),
            Programs::Refused => MountFlags::NOEXEC,
        };
    let mounted = without_open_files(|| {
        rustix::mount::mount(device.path(), directory, name, flags, options.as_c_str())
    });
    mounted.map_err(|error| {
        let error = io::Error::from(error);
        let what = format!(
            "{name} on {} cannot be mounted at {}: {error}",
            device.path().display(),
            directory.display()
        );
        io::Error::new(error.kind(), what)
    })
}

/// Options of a mount besides its flags.
///
/// An ext4 file system itself says what the kernel does when it finds an error in it. With `tune2fs -e panic` that is to stop
/// the machine. In a file system that anybody may have made, `errors=continue` overrides it. That is also what `mkfs.ext4`
/// writes, so a replay does what the drill did; were it to go read-only, a server would see another disk.
/// Xfs has no such setting.
/// <https://docs.kernel.org/admin-guide/ext4.html>, `errors=`.
fn options(filesystem: Filesystem, programs: Programs) -> &'static str {
    match (filesystem, programs) {
        (Filesystem::Ext4, Programs::Run) => "noinit_itable",
        (Filesystem::Ext4, Programs::Refused) => "noinit_itable,errors=continue",
        (Filesystem::Xfs, Programs::Run | Programs::Refused) => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_image_takes_next_to_no_room_and_is_found_again() {
        use std::os::unix::fs::MetadataExt;
        let backing = tempfile::tempdir().unwrap();
        let prepare = || Image::prepare(backing.path(), Bytes::gib(64), Filesystem::Ext4).unwrap();

        let image = prepare();

        let metadata = fs::metadata(&image.path).unwrap();
        assert_eq!(metadata.len(), Bytes::gib(64).0);
        assert!(metadata.blocks() * 512 < Bytes::mib(64).0, "{metadata:?}");
        assert!(image.new);
        assert!(!prepare().new);
    }

    #[test]
    fn an_image_of_another_size_is_refused() {
        let backing = tempfile::tempdir().unwrap();
        Image::prepare(backing.path(), Bytes::gib(2), Filesystem::Ext4).unwrap();

        let error = Image::prepare(backing.path(), Bytes::gib(1), Filesystem::Ext4).unwrap_err();

        assert!(
            error.to_string().contains("holds 2 GiB, not 1 GiB"),
            "{error}"
        );
    }

    #[test]
    fn an_image_is_for_its_owner_alone_and_no_link() {
        let backing = tempfile::tempdir().unwrap();
        let path = backing.path().join(NAME);
        let prepare = || Image::prepare(backing.path(), Bytes::mib(300), Filesystem::Ext4);
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
        prepare().unwrap();
        assert_eq!(mode(), 0o600);
        // One of an earlier version.
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        prepare().unwrap();
        assert_eq!(mode(), 0o600);

        let away = backing.path().join("away");
        fs::rename(&path, &away).unwrap();
        std::os::unix::fs::symlink(&away, &path).unwrap();
        let error = prepare().unwrap_err().to_string();
        assert!(error.contains("is a symbolic link"), "{error}");
        fs::remove_file(&path).unwrap();
        fs::hard_link(&away, &path).unwrap();
        let error = prepare().unwrap_err().to_string();
        assert!(error.contains("has 2 names"), "{error}");
    }

    #[test]
    fn a_size_that_no_file_system_fits_is_refused() {
        let backing = tempfile::tempdir().unwrap();
        let error = Image::prepare(backing.path(), Bytes::mib(1), Filesystem::Xfs).unwrap_err();
        assert!(error.to_string().contains("at least 300 MiB"), "{error}");
        assert_eq!(fs::read_dir(backing.path()).unwrap().count(), 0);
    }
}
