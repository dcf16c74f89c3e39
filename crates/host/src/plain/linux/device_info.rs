//! The storage under a directory: its mount, and what the queues of its device report.

use std::fs;
use std::io;
use std::path::Path;

use model::Bytes;

use super::device::Device;
use super::{mount_of, text};
use crate::plain::DeviceInfo;

/// Where the kernel reports it for a device: <https://docs.kernel.org/filesystems/ext4/atomic_writes.html>, read 2026-11-25.
const ATOMIC_WRITE: &str = "queue/atomic_write_unit_max_bytes";

/// Everything but the sizes, which every platform reports in the same way.
pub(in crate::plain) fn device_info(directory: &Path) -> io::Result<DeviceInfo> {
    let mount = mount_of(directory)?;
    let sys = Path::new("/sys");
    let device = Device::under(sys, directory).ok();
    let (disks, solid_state, atomic_write) = match &device {
        None => (Vec::new(), None, None),
        Some(device) => of_device(sys, device),
    };
    Ok(DeviceInfo {
        mount_point: mount.mount_point,
        file_system: mount.fs_type,
        disks,
        solid_state,
        atomic_write,
        size: Bytes::ZERO,
        free: Bytes::ZERO,
    })
}

fn of_device(sys: &Path, device: &Device) -> (Vec<String>, Option<bool>, Option<Bytes>) {
    let disks = device.disks.iter();
    let rotates = disks.map(|disk| text(&disk.folder.join("queue/rotational")));
    let rotates: Option<Vec<String>> = rotates.collect();
    let solid_state = rotates.map(|all| all.iter().all(|rotates| rotates == "0"));
    let names = device.disks.iter().map(|disk| disk.name.clone()).collect();
    (names, solid_state, atomic_write(sys, device))
}

/// Of the device itself, which may support less than the disks under it: an array splits a write.
fn atomic_write(sys: &Path, device: &Device) -> Option<Bytes> {
    let (major, minor) = device.number;
    let folder = fs::canonicalize(sys.join(format!("dev/block/{major}:{minor}"))).ok()?;
    // A partition has the queue of its disk.
    let own = text(&folder.join(ATOMIC_WRITE));
    let value = own.or_else(|| text(&folder.parent()?.join(ATOMIC_WRITE)));
    value?.parse().ok().map(Bytes)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A `/sys` with a disk of one partition, whose queue reports these values.
    fn sys(rotational: &str, atomic: Option<&str>) -> tempfile::TempDir {
        let sys = tempfile::tempdir().unwrap();
        let disk = sys.path().join("devices/sda");
        let partition = disk.join("sda1");
        fs::create_dir_all(disk.join("queue")).unwrap();
        fs::create_dir_all(&partition).unwrap();
        fs::create_dir_all(sys.path().join("dev/block")).unwrap();
        fs::write(disk.join("dev"), "8:0\n").unwrap();
        fs::write(partition.join("dev"), "8:1\n").unwrap();
        fs::write(partition.join("partition"), "1\n").unwrap();
        fs::write(disk.join("queue/rotational"), rotational).unwrap();
        if let Some(atomic) = atomic {
            fs::write(disk.join(ATOMIC_WRITE), atomic).unwrap();
        }
        symlink(&partition, sys.path().join("dev/block/8:1")).unwrap();
        sys
    }

    fn device_info(
        rotational: &str,
        atomic: Option<&str>,
    ) -> (Vec<String>, Option<bool>, Option<Bytes>) {
        let sys = sys(rotational, atomic);
        let device = Device::of(sys.path(), (8, 1)).unwrap();
        of_device(sys.path(), &device)
    }

    #[test]
    fn a_partition_tells_what_its_disk_does() {
        let (disks, solid_state, atomic) = device_info("0\n", Some("16384\n"));
        assert_eq!(disks, ["sda"]);
        assert_eq!((solid_state, atomic), (Some(true), Some(Bytes::kib(16))));
    }

    #[test]
    fn a_kernel_that_does_not_tell_is_not_a_promise_of_nothing() {
        let (_, solid_state, atomic) = device_info("1\n", None);
        assert_eq!((solid_state, atomic), (Some(false), None));
        assert_eq!(device_info("1\n", Some("0\n")).2, Some(Bytes::ZERO));
    }
}
