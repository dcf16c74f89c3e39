//! What every platform reports about a machine and about the space at a directory.

use std::collections::BTreeMap;
use std::path::Path;

use super::space;
use model::Bytes;
use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};

/// System, kernel, processor and memory.
pub(super) fn facts() -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    let mut note = |name: &str, value: Option<String>| {
        let value = value.filter(|value| !value.trim().is_empty());
        facts.insert(name.to_owned(), value.unwrap_or_else(|| "unknown".into()));
    };
    note("system", System::long_os_version().ok());
    note("kernel", System::kernel_version().ok());
    let cores = std::thread::available_parallelism().ok();
    note("cpus", cores.map(|cores| cores.to_string()));
    let wanted = RefreshKind::nothing()
        .with_cpu(CpuRefreshKind::nothing())
        .with_memory(MemoryRefreshKind::nothing().with_ram());
    let system = System::new_with_specifics(wanted).ok();
    let cpu = system.as_ref().and_then(|system| system.cpus().first());
    note("cpu", cpu.map(|cpu| cpu.brand().trim().to_owned()));
    let memory = system.as_ref().map(System::total_memory);
    note("memory", memory.map(|bytes| Bytes(bytes).to_string()));
    facts
}

/// Allocation unit, size and free space of the filesystem at `directory`.
pub(super) fn space(directory: &Path) -> BTreeMap<String, String> {
    let words = |bytes: std::io::Result<u64>| match bytes {
        Ok(bytes) => Bytes(bytes).to_string(),
        Err(why) => format!("unknown: {why}"),
    };
    BTreeMap::from([
        (
            "allocation unit".to_owned(),
            words(space::allocation_unit(directory)),
        ),
        ("free".to_owned(), words(space::available(directory))),
        ("size".to_owned(), words(space::total(directory))),
    ])
}
