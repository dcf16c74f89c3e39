//! Image files: a file that holds a whole file system.
//!
//! The file system is created before anything is modelled, directly on the sparse file. It takes next to
//! no space and time, because a new sparse file reads as zeros: what mkfs would zero, at once or later
//! during a measurement, is zero already.

use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use model::Bytes;
use rustix::mount::MountFlags;

use super::setup::Filesystem;
use files::Folder;
use host::apart::without_open_files;
use host::child;
use host::loop_device::{LoopDevice, run};

/// The image's name in the backing directory, and at the path that FUSE exposes.
pub(super) const NAME: &str = "image";

/// Name of an image under construction, so that an incomplete file system is never used.
const UNFINISHED: &str = "image.unfinished";

/// Smallest image: below this size, neither file system can be created.
const SIZE_MIN: Bytes = Bytes::mib(300);

/// Block size of the file systems; an image's size is a multiple of it.
const BLOCK: Bytes = Bytes::kib(4);

/// The image of a volume.
#[derive(Clone, Debug)]
pub(super) struct Image {
    /// Its path.
    pub(super) path: PathBuf,
    /// Its size.
    pub(super) size: Bytes,
    /// Whether it was just created.
    pub(super) new: bool,
}

impl Image {
    /// Finds the image in directory `backing`, or creates one with an empty file system on it.
    ///
    /// # Errors
    /// When the size is too small or differs from that of an existing image, or the program that
    /// creates the file system is missing or fails.
    pub(super) fn prepare(
        backing: &Path,
        size: Bytes,
        filesystem: Filesystem,
    ) -> io::Result<Image> {
        // Anyone with write access could remove the image.
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

    /// Opens it to serve the requests of its device.
    ///
    /// # Errors
    /// When it is gone.
    pub(super) fn open(&self) -> io::Result<File> {
        let backing = self.path.parent().expect("it lies in a directory");
        open(backing)?.ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// Opens the image in `backing`, if it exists: a file owned by this user.
pub(super) fn open(backing: &Path) -> io::Result<Option<File>> {
    let folder = Folder::open(backing).map_err(io::Error::other)?;
    folder.found_file(NAME.as_ref()).map_err(io::Error::other)
}

/// Checks the image in `backing` that someone else may have created: accessible to this user only, not a link, of size
/// `size`, and without errors according to `e2fsck -n`. A recording's image was unmounted before the recording started,
/// so its journal is empty.
///
/// # Errors
/// What does not match, or that `e2fsck` is missing.
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
        // The failure itself is reported, not what could not be removed after it.
        let _ = fs::remove_file(&unfinished);
    }
    made
}

/// The program that creates a file system, and its options.
fn maker(filesystem: Filesystem) -> Command {
    match filesystem {
        Filesystem::Ext4 => {
            let mut command = child::command("mkfs.ext4");
            // Nothing is zeroed now, and `noinit_itable` keeps the kernel from doing it later. No space
            // is reserved for root: a volume has exactly its stated size.
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

/// Whether programs on a file system can be executed, and libraries loaded from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Programs {
    /// Allowed, as on any disk of the machine.
    Run,
    /// Refused: its content may come from anyone.
    Refused,
}

/// Mounts the file system on `device` at `directory`.
///
/// # Errors
/// When the kernel does not support the file system, or finds it damaged.
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

/// Mount options besides the flags.
///
/// An ext4 file system itself specifies what the kernel does when it finds an error in it. With `tune2fs -e panic` it
/// stops the machine. For a file system from an unknown source, `errors=continue` overrides it. That is also what
/// `mkfs.ext4` writes, so a replay does what the drill did; if it went read-only, a server would see another disk. Xfs
/// has no such setting.
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
