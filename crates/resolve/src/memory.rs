//! Memory that a trial in virtual time needs on this machine, estimated before it begins.
//!
//! The estimate covers what follows from the experiment: sessions and disks. The database itself is kept compressed,
//! at most a quarter of its size and mostly far less (`sqlite_vfs::virtual_time`), and a used page of the buffer pool
//! takes 100 bytes; neither is known before the workload has run.

use model::Bytes;
use sysinfo::{MemoryRefreshKind, RefreshKind, System};

use experiment::record::series;
use experiment::spec::{Script, Settings};

/// Per session: the touched part of its stack, its connection, its statements.
const SESSION: Bytes = Bytes::kib(512);

/// Per session of a profile: the requests that its operation has still to issue.
const REPLAYED: Bytes = Bytes::kib(4);

/// Minimum size of a connection's two caches, that of its database and that of its temporary tables.
const CACHE: Bytes = Bytes::kib(512);

/// A histogram of latencies from microseconds to minutes.
const HISTOGRAM: Bytes = Bytes::kib(300);

/// Memory of this machine, if the system reports it.
pub fn memory() -> Option<Bytes> {
    let wanted = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
    let system = System::new_with_specifics(wanted).ok()?;
    // A container may have less than its machine.
    let group = system.cgroup_limits().map(|limits| limits.total_memory);
    let memory = system.total_memory().min(group.unwrap_or(u64::MAX));
    Some(Bytes(memory)).filter(|memory| *memory > Bytes::ZERO)
}

/// The most memory that sessions and disks of an arm take.
pub fn memory_needed(settings: &Settings) -> Bytes {
    let cache = settings.engine.sort_memory.max(CACHE);
    let session = match settings.workload.script {
        Script::Profile { .. } => REPLAYED.0,
        Script::BuiltIn(_) | Script::Folder(_) => {
            SESSION.0 + HISTOGRAM.0 + cache.0.saturating_add(CACHE.0)
        }
    };
    let sessions = session.saturating_mul(settings.workload.sessions.into());
    let disks: u64 = settings
        .volumes
        .iter()
        .map(|volume| u64::from(volume.count))
        .sum();
    let disk = 2 * HISTOGRAM.0 + series::disk_bytes(usize::try_from(disks).unwrap_or(usize::MAX));
    Bytes(sessions.saturating_add(disk.saturating_mul(disks)))
}
