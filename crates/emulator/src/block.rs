//! Block mode: a volume as a block device with a real filesystem on it.
//!
//! ```text
//!   program ─► ext4 or xfs: page cache, read-ahead, journal, write-back      at the volume's directory
//!                 └─► /dev/loopN, direct I/O, 4 KiB blocks
//!                        └─► FUSE: one file, as large as the volume          images/<volume>, for root only
//!                               └─► data path: the image in the backing directory; the model
//! ```
//!
//! The offset in the image is the offset in the modelled volume. Creating and mounting the
//! filesystem is neither modelled nor counted.

mod data;
mod filesystem;
pub(super) mod layers;

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::Bytes;
use rustix::fs::{Advice, fadvise, syncfs};
use rustix::process::geteuid;

use super::error::EmulationError;
use super::fault::{Fault, Faults};
use super::image::{self, Image, Programs};
use super::journal;
use super::mounted::{Mounted, Parts};
use super::prepare;
use super::setup::{Filesystem, Front, MountSpec, READ_AHEAD};
use super::transport::{self, MountPoint, MountedFilesystem, Transport as _};
use data::Data;
use filesystem::OneFile;
use host::apart::without_open_files;
use host::loop_device::{self, LoopDevice};
use host::mounts::{self, SOURCE, UnmountError};
use host::orphans::Registration;

/// A mounted volume in block mode. Fields are ordered from last to first set up, which is also the order of teardown.
struct Block {
    directory: PathBuf,
    mounted: bool,
    device: Option<LoopDevice>,
    session: Option<Box<dyn MountedFilesystem>>,
    /// Directory where FUSE exposes the image.
    shown: PathBuf,
    filesystem: Filesystem,
    programs: Programs,
    data: Arc<Data>,
    registration: Arc<Registration>,
    name: String,
    // Last: others may use the image once no device is attached to it.
    _lock: File,
}

/// Reported when the kernel refuses to mount an image's file system.
pub const UNMOUNTABLE: &str = "the file system cannot be mounted";

/// Mounts a volume whose front is [`Front::Block`].
///
/// # Errors
/// When this is not root, a program or a loop device is missing, or a directory cannot be used; what was
/// set up until then is torn down again.
pub(super) fn mount(
    mount: &MountSpec,
    place: usize,
    parts: &Parts,
) -> Result<Box<dyn Mounted>, EmulationError> {
    let Front::Block {
        filesystem,
        read_ahead,
    } = mount.front
    else {
        unreachable!("called for {:?}", mount.front)
    };
    check(&mount.volume.name)?;
    prepare::mount_point(mount)?;
    let files = prepare::backing(mount)?;
    let lock = match parts.kept.is_modelled() {
        true => prepare::lock(mount)?,
        // Several states of one recording may be inspected at the same time.
        false => prepare::lock_shared(mount)?,
    };
    let image = Image::prepare(&files, mount.size, filesystem);
    let image = image.map_err(|error| EmulationError::Backing {
        volume: mount.volume.name.clone(),
        path: mount.backing.clone(),
        why: error.to_string(),
    })?;
    let stored = image.open().and_then(|file| {
        let journal = match filesystem {
            Filesystem::Ext4 => journal::of_ext4(&file)?,
            // Not known: a write to it may be the one that fails.
            Filesystem::Xfs => Vec::new(),
        };
        let store = parts.kept.store(file, place, &files)?;
        Ok((store, Faults::of(journal)))
    });
    let data = Data::new(
        stored.map_err(failed(mount))?,
        &mount.volume.name,
        place,
        parts,
    );
    let mut block = Block {
        directory: mount.directory.clone(),
        mounted: false,
        device: None,
        session: None,
        shown: parts.registration.folder().join(format!("image-{place}")),
        filesystem,
        programs: parts.kept.programs(),
        data: Arc::new(data),
        registration: Arc::clone(&parts.registration),
        name: mount.volume.name.clone(),
        _lock: lock,
    };
    let set_up = block
        .show(&image, parts)
        .and_then(|()| block.attach(read_ahead.unwrap_or(READ_AHEAD)))
        .and_then(|()| block.mount())
        .and_then(|()| block.hand_over(&image, mount));
    match set_up {
        Ok(()) => Ok(Box::new(block)),
        // Dropping it tears down what exists.
        Err(error) => Err(failed(mount)(error)),
    }
}

fn failed(mount: &MountSpec) -> impl Fn(io::Error) -> EmulationError {
    let what = format!(
        "cannot mount volume \"{}\" at {}",
        mount.volume.name,
        mount.directory.display()
    );
    move |error| EmulationError::system(what.clone(), error)
}

fn check(volume: &str) -> Result<(), EmulationError> {
    let why = if !geteuid().is_root() {
        "block mode needs root, for its loop device and the filesystem on it; run as root, or choose the file front"
    } else if !loop_device::exist() {
        "this machine has no loop devices (/dev/loop-control): load the kernel's module with `modprobe loop`, or choose the file front"
    } else {
        return Ok(());
    };
    Err(EmulationError::Spec {
        volume: volume.to_owned(),
        why,
    })
}

impl Block {
    /// Exposes the image through FUSE.
    fn show(&mut self, image: &Image, parts: &Parts) -> io::Result<()> {
        fs::create_dir(&self.shown)?;
        self.registration.mounting(&self.shown, SOURCE)?;
        let at = MountPoint {
            directory: &self.shown,
            all_users: false,
        };
        let filesystem = OneFile::new(image.size, Arc::clone(&self.data), parts.replies.clone());
        let data = Arc::clone(&self.data) as Arc<_>;
        self.session = Some(parts.transport.mount(&at, filesystem, data, &parts.pace)?);
        Ok(())
    }

    /// Attaches a block device to it.
    fn attach(&mut self, read_ahead: Bytes) -> io::Result<()> {
        let shown = self.shown.join(image::NAME);
        self.registration.attaching(&shown)?;
        let device = LoopDevice::attach(&shown)?;
        let request_max = Bytes(u64::from(transport::REQUEST_MAX));
        let tuned = device.tune(read_ahead, request_max);
        self.device = Some(device);
        tuned
    }

    /// Mounts its filesystem.
    fn mount(&mut self) -> io::Result<()> {
        let device = self.device.as_ref().expect("it was attached");
        let source = device.path().to_string_lossy().into_owned();
        self.registration.mounting(&self.directory, &source)?;
        image::mount(device, self.filesystem, &self.directory, self.programs)
            .map_err(|error| io::Error::new(error.kind(), format!("{UNMOUNTABLE}: {error}")))?;
        self.mounted = true;
        Ok(())
    }

    /// Hands the filesystem over to its owner, empty if it is new, and starts the model.
    fn hand_over(&self, image: &Image, mount: &MountSpec) -> io::Result<()> {
        if let Some((user, group)) = mount.owner {
            chown(&self.directory, Some(user), Some(group))?;
        }
        if let Some(mode) = mount.others.mode() {
            fs::set_permissions(&self.directory, fs::Permissions::from_mode(mode))?;
        }
        match fs::remove_dir(self.directory.join("lost+found")) {
            Err(error) if image.new && self.filesystem == Filesystem::Ext4 => return Err(error),
            // xfs has none, and in a reused volume it may contain files.
            _ => {}
        }
        write_back(&self.directory)?;
        self.data.model(true);
        Ok(())
    }

    /// Drops all caches by mounting again.
    fn remount(&mut self) -> io::Result<()> {
        self.registration.unmounted(&self.directory)?;
        self.mounted = false;
        // Reading the superblock and the journal again is not part of the measurement.
        self.data.model(false);
        let outcome = self.mount();
        self.data.model(true);
        outcome
    }

    fn take_down(&mut self) -> io::Result<()> {
        let mut outcome = Ok(());
        if std::mem::take(&mut self.mounted) {
            outcome = outcome.and(mounts::take_down(&self.directory));
            outcome = outcome.and(self.registration.unmounted(&self.directory));
        }
        if let Some(device) = self.device.take() {
            outcome = outcome.and(device.detach());
            outcome = outcome.and(self.registration.detached(&self.shown.join(image::NAME)));
        }
        if let Some(session) = self.session.take() {
            outcome = outcome.and(session.unmount());
            outcome = outcome.and(self.registration.unmounted(&self.shown));
        }
        outcome
    }
}

impl Mounted for Block {
    fn stop(mut self: Box<Self>) -> Result<(), EmulationError> {
        self.take_down().map_err(|source| EmulationError::Stop {
            volume: self.name.clone(),
            source,
        })
    }

    /// Unmounts and mounts again, which drops every page and every name that the kernel has cached of
    /// this volume, and nothing else on the machine. If a program keeps it busy, the unused pages of
    /// its files are dropped one file after the other.
    fn drop_caches(&mut self) -> io::Result<Vec<String>> {
        write_back(&self.directory)?;
        match mounts::unmount(&self.directory) {
            Ok(()) => self.remount().map(|()| Vec::new()),
            Err(busy @ UnmountError::Busy { .. }) => {
                forget_files(&self.directory)?;
                Ok(vec![format!(
                    "the page cache of volume \"{}\" was dropped file by file, which leaves names and pages in use: {busy}",
                    self.name
                )])
            }
            Err(error @ UnmountError::Failed { .. }) => Err(io::Error::other(error.to_string())),
        }
    }

    fn mount_again(&mut self) -> io::Result<()> {
        self.data.faults.disarm();
        mounts::unmount(&self.directory).map_err(|error| io::Error::other(error.to_string()))?;
        self.remount()
    }

    fn arm(&self, fault: Fault) -> io::Result<()> {
        self.data.faults.arm(fault);
        Ok(())
    }

    fn failed(&self) -> u64 {
        self.data.faults.failed()
    }

    fn problem(&self) -> Option<String> {
        let problem = self.data.problem()?;
        Some(format!("volume \"{}\": {problem}", self.name))
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // No caller to report to; whatever is left stays registered.
        let _ = self.take_down();
    }
}

/// Writes back what the kernel has cached of the filesystem at `directory`.
fn write_back(directory: &Path) -> io::Result<()> {
    without_open_files(|| Ok(syncfs(File::open(directory)?)?))
}

/// Drops the cached pages of every file below `directory`, except those in use.
fn forget_files(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            forget_files(&entry.path())?;
        } else if kind.is_file() {
            match File::open(entry.path()) {
                Ok(file) => fadvise(&file, 0, None, Advice::DontNeed)?,
                // Its owner removed it in the meantime.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(())
}
