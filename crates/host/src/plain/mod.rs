//! Real directories as volumes: inspected and counted, never paced.
//!
//! ```text
//!  directory ─► mount ─► device ─► disks under it        environment(): what each of them is
//!                           │           │
//!                           ▼           ▼
//!                       reading()   counters(): bytes of the disks that this program did not cause
//! ```
//!
//! What an operating system does not count is omitted, and [`Site::environment`] gives the reason. If
//! several directories are on one device, the first of them has its counters, so that nothing counts twice.

mod counted;
mod device_info;
mod disk_counters;
mod host;
mod site;
mod space;

#[cfg(target_os = "linux")]
#[path = "linux/mod.rs"]
mod platform;

#[cfg(not(target_os = "linux"))]
#[path = "elsewhere.rs"]
mod platform;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use model::Bytes;

pub use counted::{CountedDisk, processor_time, size};
pub use device_info::DeviceInfo;
pub use disk_counters::DiskCounters;
pub use site::{PlainSite, PlainVolume};

#[cfg(doc)]
use crate::site::Site;

/// Bytes available for writing at `directory`.
///
/// # Errors
/// When it does not exist, or its filesystem does not report it.
pub fn free_space(directory: &Path) -> io::Result<Bytes> {
    space::available(directory).map(Bytes)
}

/// Facts about this machine: kernel, processor, memory, limits of its control groups, and its cloud
/// if its firmware reveals it; by name, as text.
pub fn machine() -> BTreeMap<String, String> {
    let mut facts = host::facts();
    facts.extend(platform::machine());
    facts
}

/// Facts about the location of `directory`: filesystem, mount, device and its queue, free space; by
/// name, as text.
pub fn place(directory: &Path) -> BTreeMap<String, String> {
    let mut facts = host::space(directory);
    facts.extend(platform::MountedOn::of(directory).facts());
    facts
}
