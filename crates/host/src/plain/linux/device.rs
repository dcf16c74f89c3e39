//! From a device number to the disks under it, through `/sys/dev/block`.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{major, minor};

/// Most layers of devices on devices that are followed; a longer chain is an error.
const LAYERS_MAX: usize = 16;

/// Major and minor number of a block device.
pub(super) type Number = (u32, u32);

/// A block device that holds a filesystem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Device {
    /// Its number.
    pub(super) number: Number,
    /// The kernel's name for it: `sda1`, `dm-0`, `loop3`.
    pub(super) name: String,
    /// The whole disks at the bottom, through partitions, mappings, arrays and loops.
    pub(super) disks: BTreeSet<Disk>,
}

/// A disk that is not on top of another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Disk {
    /// Its number.
    pub(super) number: Number,
    /// The kernel's name for it.
    pub(super) name: String,
    /// Its folder in `/sys`.
    pub(super) folder: PathBuf,
}

impl Device {
    /// The device under the files at `path`, using the tables under `sys` (`/sys`).
    ///
    /// # Errors
    /// When there is none whose requests the kernel counts; the message gives the reason.
    pub(super) fn under(sys: &Path, path: &Path) -> io::Result<Device> {
        let number = number_of(path)?;
        if number.0 == 0 {
            return Err(io::Error::other(
                "its filesystem has no block device of its own (a network, memory or overlay filesystem, \
                 or one that manages several devices itself, such as btrfs or zfs)",
            ));
        }
        Device::of(sys, number)
    }

    /// The device with this number.
    ///
    /// # Errors
    /// When `sys` does not have it.
    pub(super) fn of(sys: &Path, number: Number) -> io::Result<Device> {
        let folder = folder(sys, number)?;
        let mut disks = BTreeSet::new();
        descend(sys, &folder, LAYERS_MAX, &mut disks)?;
        Ok(Device {
            number,
            name: name(&folder),
            disks,
        })
    }

    /// The device whose bytes are compared with what programs requested: the disk if there is exactly
    /// one, and the device itself otherwise, since an array would count a write several times.
    pub(super) fn watched(&self) -> Number {
        match self.disks.iter().next() {
            Some(disk) if self.disks.len() == 1 => disk.number,
            Some(_) | None => self.number,
        }
    }
}

/// Number of the device that holds `path`.
fn number_of(path: &Path) -> io::Result<Number> {
    let device = fs::metadata(path)?.dev();
    Ok((major(device), minor(device)))
}

fn folder(sys: &Path, (major, minor): Number) -> io::Result<PathBuf> {
    let link = sys.join(format!("dev/block/{major}:{minor}"));
    fs::canonicalize(&link)
        .map_err(|why| io::Error::new(why.kind(), format!("{}: {why}", link.display())))
}

fn name(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// Adds the disks under the device of `folder` to `disks`.
fn descend(sys: &Path, folder: &Path, layers: usize, disks: &mut BTreeSet<Disk>) -> io::Result<()> {
    if layers == 0 {
        return Err(io::Error::other(format!(
            "{} stands on more than {LAYERS_MAX} layers of devices",
            folder.display()
        )));
    }
    let whole = match folder.parent() {
        Some(parent) if folder.join("partition").exists() => parent,
        Some(_) | None => folder,
    };
    let mut below: Vec<PathBuf> = Vec::new();
    if let Ok(slaves) = whole.join("slaves").read_dir() {
        for slave in slaves {
            below.push(fs::canonicalize(slave?.path())?);
        }
    }
    if let Ok(file) = fs::read_to_string(whole.join("loop/backing_file")) {
        // The file may be gone, or in memory: then only the loop device can be counted.
        let number = number_of(Path::new(file.trim_end())).ok();
        below.extend(number.and_then(|number| self::folder(sys, number).ok()));
    }
    if below.is_empty() {
        disks.insert(Disk {
            number: number_in(whole)?,
            name: name(whole),
            folder: whole.to_owned(),
        });
    }
    for folder in below {
        descend(sys, &folder, layers - 1, disks)?;
    }
    Ok(())
}

/// The number in the file `dev` of a device's folder.
fn number_in(folder: &Path) -> io::Result<Number> {
    let file = folder.join("dev");
    let text = fs::read_to_string(&file)
        .map_err(|why| io::Error::new(why.kind(), format!("{}: {why}", file.display())))?;
    let number = text
        .trim()
        .split_once(':')
        .and_then(|(major, minor)| Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?)));
    number.ok_or_else(|| {
        io::Error::other(format!(
            "{} holds {text:?}, no device number",
            file.display()
        ))
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A `/sys` with a disk of two partitions, another disk, an array of both, and a mapping on one.
    fn sys() -> tempfile::TempDir {
        let sys = tempfile::tempdir().unwrap();
        let root = sys.path();
        add(root, "8:0", "sda", &[]);
        add(root, "8:1", "sda/sda1", &[]);
        fs::write(root.join("devices/sda/sda1/partition"), "1").unwrap();
        add(root, "8:2", "sda/sda2", &[]);
        fs::write(root.join("devices/sda/sda2/partition"), "2").unwrap();
        add(root, "8:16", "sdb", &[]);
        add(root, "9:0", "md0", &["sda/sda1", "sdb"]);
        add(root, "253:0", "dm-0", &["sda/sda2"]);
        add(root, "253:1", "dm-1", &["dm-0"]);
        add(root, "7:0", "loop0", &[]);
        fs::create_dir(root.join("devices/loop0/loop")).unwrap();
        fs::write(
            root.join("devices/loop0/loop/backing_file"),
            "/no/such/image\n",
        )
        .unwrap();
        sys
    }

    fn add(root: &Path, number: &str, place: &str, slaves: &[&str]) {
        let folder = root.join("devices").join(place);
        fs::create_dir_all(folder.join("slaves")).unwrap();
        fs::write(folder.join("dev"), format!("{number}\n")).unwrap();
        fs::create_dir_all(root.join("dev/block")).unwrap();
        symlink(&folder, root.join("dev/block").join(number)).unwrap();
        for slave in slaves {
            let target = root.join("devices").join(slave);
            let link = folder.join("slaves").join(target.file_name().unwrap());
            symlink(target, link).unwrap();
        }
    }

    fn disks(number: Number) -> Vec<String> {
        let sys = sys();
        let device = Device::of(sys.path(), number).unwrap();
        device.disks.into_iter().map(|disk| disk.name).collect()
    }

    #[test]
    fn a_partition_stands_on_its_disk() {
        assert_eq!(disks((8, 1)), ["sda"]);
        assert_eq!(disks((8, 16)), ["sdb"]);
    }

    #[test]
    fn mappings_and_arrays_are_followed_to_the_disks() {
        assert_eq!(disks((253, 1)), ["sda"]);
        assert_eq!(disks((9, 0)), ["sda", "sdb"]);
    }

    #[test]
    fn a_loop_device_whose_file_is_gone_stands_for_itself() {
        assert_eq!(disks((7, 0)), ["loop0"]);
    }

    #[test]
    fn one_disk_is_watched_itself_and_an_array_as_a_whole() {
        let sys = sys();
        let watched = |number| Device::of(sys.path(), number).unwrap().watched();

        assert_eq!(watched((253, 1)), (8, 0));
        assert_eq!(watched((9, 0)), (9, 0));
    }

    #[test]
    fn a_device_that_is_not_there_is_an_error_with_its_number() {
        let error = Device::of(sys().path(), (8, 99)).unwrap_err();

        assert!(error.to_string().contains("8:99"), "{error}");
    }

    #[test]
    fn a_filesystem_without_a_device_is_not_guessed_at() {
        let error = Device::under(Path::new("/sys"), Path::new("/proc")).unwrap_err();

        assert!(error.to_string().contains("no block device"), "{error}");
    }
}
