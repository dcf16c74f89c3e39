//! The device under a directory: its mount, file system, disks and sizes.

use std::io;
use std::path::{Path, PathBuf};

use model::Bytes;

use super::{platform, space};

/// The device under a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Where its filesystem is mounted.
    pub mount_point: PathBuf,
    /// The filesystem's kind: `ext4`, `xfs`, `tmpfs`, `nfs4`.
    pub file_system: String,
    /// The whole disks under it, by the kernel's names; empty if the filesystem has none or does not report them.
    pub disks: Vec<String>,
    /// Whether all disks report that they have no moving parts; `None` if no disk is known. Virtual disks may report
    /// anything.
    pub solid_state: Option<bool>,
    /// The largest write that the device guarantees to be atomic across power loss, 0 for none; `None` if no device is
    /// known, or the kernel does not report it (Linux before 6.11).
    pub atomic_write: Option<Bytes>,
    /// Size of the filesystem.
    pub size: Bytes,
    /// Free space available to this user.
    pub free: Bytes,
}

impl DeviceInfo {
    /// The device under `directory`.
    ///
    /// # Errors
    /// When it does not exist, or its mount is not known.
    pub fn of(directory: &Path) -> io::Result<DeviceInfo> {
        let device_info = platform::device_info(directory)?;
        Ok(DeviceInfo {
            size: space::total(directory).map(Bytes)?,
            free: space::available(directory).map(Bytes)?,
            ..device_info
        })
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn memory_has_no_disk_and_promises_nothing() {
        let device_info = DeviceInfo::of(Path::new("/dev/shm")).expect("every Linux has it");
        assert_eq!(device_info.file_system, "tmpfs");
        assert_eq!(device_info.disks, [""; 0]);
        assert_eq!(
            (device_info.solid_state, device_info.atomic_write),
            (None, None)
        );
        assert!(device_info.size >= device_info.free);
    }

    #[test]
    fn a_directory_that_is_not_there_stands_nowhere() {
        let error = DeviceInfo::of(Path::new("/no/such/directory")).expect_err("it is not there");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
