//! Where the files of a placement are on a trial's volumes.

use std::path::Path;

use experiment::spec::{File, Settings};
use host::site::Site;

/// The directory of the volume that `file` lives on.
///
/// # Panics
/// When the settings do not define the volume; those that were checked do.
pub fn home<'a>(site: &'a dyn Site, settings: &Settings, file: &File) -> &'a Path {
    let used = settings.placement.volumes();
    let place = settings
        .volumes
        .iter()
        .filter(|volume| used.contains(volume.name.as_str()))
        .position(|volume| volume.name == file.volume)
        .expect("a checked spec defines every volume");
    site.directory(place)
}
