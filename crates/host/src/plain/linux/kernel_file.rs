//! Small files of the kernel.

use std::fs;
use std::io;
use std::path::PathBuf;

use procfs::process::{MountInfo, Process};

pub(super) fn mounts() -> io::Result<Vec<MountInfo>> {
    let own = Process::myself().and_then(|own| own.mountinfo());
    Ok(own.map_err(io::Error::other)?.0)
}

/// The text of a small kernel file; `None` if it is missing, unreadable or empty.
pub(super) fn text(file: &PathBuf) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}
