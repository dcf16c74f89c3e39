//! The volumes of a drilled placement: while they are filled, recorded, and checked after a crash.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use emulator::{
    Contents, EmulationSpec, Filesystem, Front, MountSpec, Others, RemoteSite, TransportChoice,
    check_image, when_unused,
};
use files::Folder;
use host::orphans::Registration;
use model::{Bytes, DiskSpec, MachineSpec, VolumeSpec};

use super::{DrillError, Placed};
use engine::drilled::{Origin, Product};
use engine::hooks::HostHooks;
use engine::own_directory::{OwnDirectory, short_directory};

/// Size of a volume: it holds a small server and what clients write meanwhile.
pub(super) const VOLUME: Bytes = Bytes::gib(4);

/// The environment of a drill.
#[derive(Clone)]
pub struct Tools {
    /// The drilled product.
    pub(super) product: Arc<dyn Product>,
    /// Registers everything that must be ended and removed.
    registration: Arc<Registration>,
    /// Starts emulators, and signals an early end.
    pub(super) hooks: HostHooks,
    /// The origin of the recording.
    pub(super) origin: Origin,
}

/// Mounted volumes, each in its own directory.
pub(super) struct Volumes {
    /// The emulator that serves them. First, so that they are unmounted before their directories are removed.
    pub(super) site: RemoteSite,
    /// Whether the server runs as another user.
    for_others: bool,
    directory: OwnDirectory,
}

impl Tools {
    /// For drills of a product.
    pub fn new(
        product: Arc<dyn Product>,
        registration: Arc<Registration>,
        hooks: HostHooks,
        origin: Origin,
    ) -> Tools {
        Tools {
            product,
            registration,
            hooks,
            origin,
        }
    }

    /// Reports what could not be removed.
    ///
    /// # Errors
    /// When something is left.
    pub fn finish(&self) -> Result<(), Vec<String>> {
        self.registration.finish()
    }

    /// Whether the user pressed Ctrl-C.
    pub(super) fn is_interrupted(&self) -> bool {
        self.hooks.interrupted.load(Ordering::Relaxed)
    }

    /// Mounts a placement's volumes; their bytes are in `folder`.
    pub(super) fn mount(
        &self,
        placed: &Placed,
        folder: &Path,
        contents: Contents,
    ) -> io::Result<Volumes> {
        let directory = OwnDirectory::make(&short_directory(), &self.registration)?;
        let own = Folder::open(directory.path()).map_err(io::Error::other)?;
        for volume in &placed.volumes {
            own.new_folder(volume.name.as_ref())
                .map_err(io::Error::other)?;
        }
        let spec = self.emulation(placed, folder, directory.path(), contents);
        let site = RemoteSite::start((self.hooks.emulator)()?, &spec)?;
        Ok(Volumes {
            site,
            for_others: self.product.owner().is_some(),
            directory,
        })
    }

    /// A placement's volumes, mounted in `directory`, with their bytes in `folder`.
    pub(super) fn emulation(
        &self,
        placed: &Placed,
        folder: &Path,
        directory: &Path,
        contents: Contents,
    ) -> EmulationSpec {
        let timed = matches!(contents, Contents::Recorded(_));
        // No request of a crash state takes modelled time.
        let machine = match contents {
            Contents::Crashed(_) => MachineSpec::unlimited(),
            Contents::InPlace | Contents::Discarded | Contents::Recorded(_) => {
                placed.machine.clone()
            }
        };
        let mount = |volume: &VolumeSpec| MountSpec {
            volume: match timed {
                true => volume.clone(),
                false => VolumeSpec::of(&volume.name, DiskSpec::unlimited()),
            },
            front: Front::Block {
                filesystem: Filesystem::Ext4,
                read_ahead: None,
            },
            directory: directory.join(&volume.name),
            backing: folder.join(DISKS).join(&volume.name),
            size: VOLUME,
            owner: self.product.owner(),
            others: Others::Nothing,
        };
        EmulationSpec {
            machine,
            volumes: placed.volumes.iter().map(mount).collect(),
            seed: 1,
            transport: TransportChoice::default(),
            trace: None,
            contents,
        }
    }
}

/// Where in a placement's folder the volumes' images are.
const DISKS: &str = "disks";

/// Checks the disks' images in the folder of a placement that this run has not created, through an open handle, before
/// anything is mounted: each must be in its place, accessible to this user only, not a link, of the right size, and
/// hold a file system without errors.
pub(super) fn check_disks(folder: &Folder, placed: &Placed) -> Result<(), DrillError> {
    folder.check_own()?;
    let disks = folder.inner(DISKS.as_ref())?;
    disks.check_own()?;
    for volume in &placed.volumes {
        let backing = disks.inner(volume.name.as_ref())?;
        check_image(&backing, &volume.name, VOLUME).map_err(DrillError::volumes)?;
    }
    Ok(())
}

impl Volumes {
    /// Where they are mounted.
    pub(super) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Gives a server that runs as another user access to them. Until then only this user can reach their content.
    pub(super) fn let_in(&self) -> io::Result<()> {
        if !self.for_others {
            return Ok(());
        }
        let own = Folder::open(self.directory.path()).map_err(io::Error::other)?;
        own.change_mode(0o711).map_err(io::Error::other)
    }

    /// Unmounts them.
    pub(super) fn stop(self) -> io::Result<()> {
        when_unused(|| self.site.stop())
    }
}
