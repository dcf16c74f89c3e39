//! Loop devices: an image file as a block device, without a page cache of its own.
//!
//! Created by the program `losetup`, which comes with `mount` and `mkfs` on every distribution and
//! resolves the race for a free device. The crate for this, `loopdev-3`, needs a C header parser to build.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use model::Bytes;

use crate::child;

/// A loop device in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopDevice {
    name: String,
}

/// Size of a block, logical and physical: that of the file systems on it, so that each of their requests
/// is one of the device.
const BLOCK_BYTES: u32 = 4096;

impl LoopDevice {
    /// Attaches a device to `image`, with direct I/O.
    ///
    /// # Errors
    /// When no device is available, or the kernel would cache what passes through it.
    pub fn attach(image: &Path) -> io::Result<LoopDevice> {
        let mut command = child::command("losetup");
        command
            .args(["--find", "--show", "--direct-io=on", "--sector-size"])
            .arg(BLOCK_BYTES.to_string())
            .arg("--")
            .arg(image);
        let said = run(&mut command)?;
        let device = LoopDevice {
            name: said.trim().trim_start_matches("/dev/").to_owned(),
        };
        // If direct I/O is not possible, the kernel silently continues without it.
        let direct = device.attribute("loop/dio")?;
        if direct != "1" {
            device.detach()?;
            return Err(io::Error::other(format!(
                "{image} cannot be used without the page cache (loop/dio is {direct})",
                image = image.display()
            )));
        }
        Ok(device)
    }

    /// Its path in `/dev`.
    pub fn path(&self) -> PathBuf {
        Path::new("/dev").join(&self.name)
    }

    /// Configures how it takes requests: read-ahead, and at most `request_max` bytes per request.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn tune(&self, read_ahead: Bytes, request_max: Bytes) -> io::Result<()> {
        let kib = |bytes: Bytes| (bytes.0 / 1024).to_string();
        self.set("queue/max_sectors_kb", &kib(request_max))?;
        self.set("queue/read_ahead_kb", &kib(read_ahead))?;
        // The kernel inherits this from the disk under the image, which does not apply to a modelled disk.
        self.set("queue/rotational", "0")
    }

    /// Detaches the image from it. While it is in use, that happens when its last user ends.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn detach(&self) -> io::Result<()> {
        run(child::command("losetup").arg("--detach").arg(self.path())).map(|_| ())
    }

    fn attribute(&self, name: &str) -> io::Result<String> {
        let text = fs::read_to_string(self.attributes().join(name))?;
        Ok(text.trim().to_owned())
    }

    fn set(&self, name: &str, value: &str) -> io::Result<()> {
        let path = self.attributes().join(name);
        fs::write(&path, value).map_err(|error| {
            io::Error::new(
                error.kind(),
                format!("{} = {value}: {error}", path.display()),
            )
        })
    }

    fn attributes(&self) -> PathBuf {
        Path::new("/sys/block").join(&self.name)
    }
}

/// Whether loop devices are supported here.
pub fn exist() -> bool {
    Path::new("/dev/loop-control").exists()
}

/// Devices whose image is `backing`.
///
/// # Errors
/// When the kernel's list cannot be read.
pub fn of_backing(backing: &Path) -> io::Result<Vec<LoopDevice>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/sys/block")? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let device = LoopDevice { name };
        // All other block devices, and free loop devices, lack this attribute.
        if device
            .attribute("loop/backing_file")
            .is_ok_and(|file| Path::new(&file) == backing)
        {
            found.push(device);
        }
    }
    Ok(found)
}

/// Runs a program to completion; returns its output.
///
/// # Errors
/// When it is missing or fails; includes its own message.
pub fn run(command: &mut Command) -> io::Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            let what = format!(
                "the program {name} is not there; install it (it comes with {})",
                package(&name)
            );
            io::Error::new(error.kind(), what)
        }
        kind => io::Error::new(kind, format!("{name}: {error}")),
    })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(format!(
        "{name}: {} ({})",
        said.trim(),
        output.status
    )))
}

/// The Debian package that contains a program.
fn package(program: &str) -> &'static str {
    match program {
        "mkfs.ext4" | "e2fsck" => "the package e2fsprogs",
        "mkfs.xfs" => "the package xfsprogs",
        _ => "the package mount",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_without_a_device_has_none() {
        assert_eq!(of_backing(Path::new("/nowhere/image")).unwrap(), []);
    }

    #[test]
    fn a_missing_program_is_named_with_its_package() {
        let error = run(&mut Command::new("mkfs.no-such")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(error.to_string().contains("mkfs.no-such is not there"));
    }
}
