//! The disk under a directory and its counters, and processor time of a server: for recording what already runs.

use std::io;
use std::path::Path;

use model::{Bytes, Duration};
use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};

use super::disk_counters::DiskCounters;
use super::platform;

/// The disk that holds a directory: the whole disk if there is a single one below it, otherwise the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CountedDisk {
    pub(super) number: (u32, u32),
}

impl CountedDisk {
    /// The disk under `directory`.
    ///
    /// # Errors
    /// When the requests of no disk there are counted.
    pub fn under(directory: &Path) -> io::Result<CountedDisk> {
        let number = platform::watched(directory)?;
        Ok(CountedDisk { number })
    }

    /// Its counters so far.
    ///
    /// # Errors
    /// When the counters cannot be read, or the disk is gone.
    pub fn counters(self) -> io::Result<DiskCounters> {
        platform::disk_counters(self.number)
    }
}

/// Processor time of a process and all its children so far, including those that have ended.
///
/// # Errors
/// When the process is gone, or the system does not report it.
pub fn processor_time(process: i32) -> io::Result<Duration> {
    platform::processor_time(process)
}

/// Logical processors and memory of this machine.
pub fn size() -> (usize, Bytes) {
    let wanted = RefreshKind::nothing()
        .with_cpu(CpuRefreshKind::nothing())
        .with_memory(MemoryRefreshKind::nothing().with_ram());
    match System::new_with_specifics(wanted) {
        Ok(system) => (system.cpus().len(), Bytes(system.total_memory())),
        Err(_) => (0, Bytes(0)),
    }
}
