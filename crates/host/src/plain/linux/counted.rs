//! Counters of disks and processes that dbstow did not start.

use std::io;
use std::path::Path;

use model::Duration;
use procfs::process::{Process, all_processes};

use super::super::disk_counters::DiskCounters;
use super::device::{Device, Number};
use super::{SECTOR_BYTES, counters_of};

pub(crate) fn watched(directory: &Path) -> io::Result<Number> {
    Device::under(Path::new("/sys"), directory).map(|device| device.watched())
}

pub(crate) fn disk_counters(number: Number) -> io::Result<DiskCounters> {
    let counted = counters_of(number)?;
    Ok(DiskCounters {
        reads: counted.reads,
        writes: counted.writes,
        flushes: counted.flushes,
        read_bytes: counted.sectors_read * SECTOR_BYTES,
        write_bytes: counted.sectors_written * SECTOR_BYTES,
        read_ms: counted.time_reading,
        write_ms: counted.time_writing,
        flush_ms: counted.time_flushing,
    })
}

/// A child's figures are added to its parent's once the parent has reaped it, so nothing is lost when it ends.
pub(crate) fn processor_time(process: i32) -> io::Result<Duration> {
    let parent = Process::new(process)
        .and_then(|process| process.stat())
        .map_err(io::Error::other)?;
    let ended = parent.cutime.unsigned_abs() + parent.cstime.unsigned_abs();
    let mut ticks = parent.utime + parent.stime + ended;
    for other in all_processes().map_err(io::Error::other)? {
        // A process that ends in the meantime has no figures any more.
        if let Ok(stat) = other.and_then(|other| other.stat())
            && stat.ppid == process
        {
            ticks += stat.utime + stat.stime;
        }
    }
    let seconds = ticks as f64 / procfs::ticks_per_second() as f64;
    Ok(Duration::from_secs_f64(seconds))
}
