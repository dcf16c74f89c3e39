//! File mode: a directory tree without page cache.

use super::emulation::{EmulationError, Mounted, Parts};
use super::prepare;
use super::spec::MountSpec;

/// Mounts volume `place` of an emulation.
pub(super) fn mount(
    mount: &MountSpec,
    _place: usize,
    _parts: &Parts,
) -> Result<Box<dyn Mounted>, EmulationError> {
    prepare::mount_point(mount)?;
    let _files = prepare::backing(mount)?;
    Err(EmulationError::Spec {
        volume: mount.volume.name.clone(),
        why: "this build has no file mode",
    })
}
