//! A database that dumps were restored to, or that was unpacked, on a volume of its own: a backup, until it is copied for each layout.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use emulator::{Contents, when_unused};
use engine::rehearsed::RestoreVolume;
use experiment::spec::Settings;
use files::{FileError, Folder};
use model::{Bytes, DiskSpec, MachineSpec, VolumeSpec};
use nix::unistd::{getegid, geteuid};

use super::error::RehearsalError;
use super::request::Source;
use super::volumes::{Copies, Mounted, SPARE};

/// Name of its volume, and of the folder with its image.
const NAME: &str = "restored";

/// How many times its estimated size its volume has: the image takes only what is written, and the estimate may be far off.
const TIMES: u64 = 8;

/// The share of free space that its volume may take.
const OF_FREE: f64 = 0.9;

/// A restored database.
pub(crate) struct Restored {
    mounted: Mounted,
    directory: PathBuf,
    images: PathBuf,
}

impl Restored {
    /// Its data directory.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Gives its space back.
    ///
    /// # Errors
    /// When it cannot be unmounted or removed.
    pub(crate) fn end(self) -> Result<(), RehearsalError> {
        when_unused(|| self.mounted.site.stop()).map_err(RehearsalError::Volumes)?;
        fs::remove_dir_all(&self.images).map_err(RehearsalError::Volumes)
    }
}

impl Copies<'_> {
    /// Restores dumps, or unpacks a backup, and knows from then on what it has become.
    ///
    /// # Errors
    /// When that fails, or the user pressed Ctrl-C.
    pub(crate) fn restore(
        &mut self,
        source: &Source,
        settings: &Settings,
        observe: &dyn Fn(&str),
    ) -> Result<Restored, RehearsalError> {
        let images = self.folder.join(NAME);
        Folder::open(&self.folder)?.new_folder(NAME.as_ref())?;
        let volume = VolumeSpec::of(NAME, DiskSpec::unlimited());
        let sizes = BTreeMap::from([(NAME.to_owned(), self.size_for_restore()?)]);
        let machine = MachineSpec::unlimited();
        let mounted = self.mount(&images, &[volume], &sizes, machine, 1, Contents::InPlace);
        let mounted = mounted.map_err(RehearsalError::Volumes)?;
        not_to_be_replaced(&mounted.directory.path().join(NAME))?;
        let interrupted = || self.hooks.interrupted.load(Ordering::Relaxed);
        let on = RestoreVolume {
            directory: &mounted.directory.path().join(NAME),
            settings,
            let_in: &|| mounted.let_in(),
            logins: &self.logins,
            observe,
            interrupted: &interrupted,
        };
        let restored = match source {
            Source::Dumps(dumps) => self.product.restore(dumps, &self.facts, &on),
            Source::Backup(backup) => self.product.unpack(backup, &self.facts, &on),
            Source::OnServer(_) => unreachable!("its server restores it"),
        };
        let was_interrupted = interrupted();
        match restored {
            Ok((directory, facts)) => {
                self.facts = facts;
                Ok(Restored {
                    mounted,
                    directory,
                    images,
                })
            }
            Err(error) => {
                // What cannot be unmounted is reported at the end; why it came to this is what the user has to know.
                let _ = when_unused(|| mounted.site.stop());
                Err(match was_interrupted {
                    true => RehearsalError::Interrupted,
                    false => error.into(),
                })
            }
        }
    }

    fn size_for_restore(&self) -> Result<Bytes, RehearsalError> {
        let there = nix::sys::statvfs::statvfs(&self.folder);
        let there = there.map_err(|error| RehearsalError::Volumes(error.into()))?;
        let free = there.blocks_available() as f64 * there.fragment_size() as f64;
        let wanted = self
            .facts
            .size
            .0
            .saturating_mul(TIMES)
            .saturating_add(SPARE.0);
        let whole = wanted.min((free * OF_FREE) as u64);
        Ok(Bytes(whole / Bytes::mib(1).0 * Bytes::mib(1).0))
    }
}

/// What runs as the server's user may change its own directories there, and replace none of them.
fn not_to_be_replaced(directory: &Path) -> Result<(), FileError> {
    let own = Folder::open(directory)?;
    own.change_owner(geteuid().as_raw(), getegid().as_raw())?;
    own.change_mode(0o711)
}
