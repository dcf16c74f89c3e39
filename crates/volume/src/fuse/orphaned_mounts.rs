//! Mounts of emulators that no longer run, by the directory they are in.

use std::io;
use std::path::Path;

use super::orphans::mounts;

/// Unmounts every emulated volume below `directory`, which must be the caller's own and have no running
/// emulator; lazily if it is in use.
///
/// # Errors
/// When something else is mounted there, or stays mounted.
pub fn unmount_within(directory: &Path) -> io::Result<()> {
    let points = mounts::within(directory)?;
    // What was mounted last may lie on top of an earlier mount.
    for point in points.iter().rev() {
        let volume = mounts::at(point)?.is_some_and(|mount| mount.is_volume());
        if volume && mounts::unmount(point).is_err() {
            mounts::unmount_lazily(point)?;
        }
    }
    match mounts::within(directory)?.first() {
        None => Ok(()),
        Some(point) => Err(io::Error::other(format!(
            "something is mounted at {}; unmount it first",
            point.display()
        ))),
    }
}
