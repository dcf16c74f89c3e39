//! Rules of the engine between SQL and the files.

use model::{Bytes, Duration};

use crate::spec::bounds::{
    DOUBLEWRITE_MAX, GATHER_MAX, MEMORY_MAX, SORT_MAX, VERSION_MAX, at_most, not_zero,
    size_at_most, span_at_most,
};
use crate::spec::error::Fault;
use crate::spec::own;
use crate::spec::settings::{Engine, Versions};

/// Smallest buffer pool: a smaller number probably has the wrong unit.
pub(crate) const MEMORY_MIN: Bytes = Bytes::mib(1);

/// Checks an engine alone.
pub(crate) fn engine(engine: &Engine) -> Result<(), Fault> {
    let (memory, page_size) = (engine.memory, engine.page_size);
    if memory < MEMORY_MIN {
        let message = format!(
            "a buffer pool of {memory} is too small; give at least {MEMORY_MIN}, with its unit"
        );
        return Err(Fault::at(&["engine", "memory"], message));
    }
    for (key, amount) in [
        ("write_gather", engine.write_gather),
        ("log_gather", engine.log_gather),
        ("sort_memory", engine.sort_memory),
    ] {
        not_zero(&["engine", key], Some(amount.0))?;
    }
    for (key, amount, most) in [
        ("memory", memory, MEMORY_MAX),
        ("page_cache", engine.page_cache, MEMORY_MAX),
        ("read_ahead", engine.read_ahead, GATHER_MAX),
        ("write_gather", engine.write_gather, GATHER_MAX),
        ("log_gather", engine.log_gather, GATHER_MAX),
        ("sort_memory", engine.sort_memory, SORT_MAX),
    ] {
        size_at_most(&["engine", key], Some(amount), most)?;
    }
    not_zero(
        &["engine", "writes_in_flight"],
        Some(engine.writes_in_flight),
    )?;
    at_most(
        &["engine", "doublewrite_pages"],
        Some(engine.doublewrite_pages),
        DOUBLEWRITE_MAX.into(),
    )?;
    if memory.0 / page_size.bytes().0 > u64::from(u32::MAX) {
        let message = format!(
            "a buffer pool of {memory} has 2^32 pages of {} or more; give larger pages or less memory",
            page_size.bytes()
        );
        return Err(Fault::at(&["engine", "memory"], message));
    }
    times(engine)?;
    if let Some(versions) = &engine.versions {
        row_versions(versions)?;
    }
    own::check(engine)
}

fn times(engine: &Engine) -> Result<(), Fault> {
    let checkpoint = &["engine", "checkpoint"];
    if engine.checkpoint == Some(Duration::ZERO) {
        return Err(Fault::at(checkpoint, "a checkpoint every 0 s never ends"));
    }
    span_at_most(checkpoint, engine.checkpoint)?;
    for (key, span) in [
        ("statement", engine.cpu.statement),
        ("logical_read", engine.cpu.logical_read),
        ("vm_step", engine.cpu.vm_step),
    ] {
        span_at_most(&["engine", "cpu", key], Some(span))?;
    }
    Ok(())
}

fn row_versions(versions: &Versions) -> Result<(), Fault> {
    let bytes = versions.bytes_per_row;
    let key = &["engine", "versions", "bytes_per_row"];
    not_zero(key, Some(bytes.0))?;
    size_at_most(key, Some(bytes), VERSION_MAX)?;
    span_at_most(
        &["engine", "versions", "retention"],
        Some(versions.retention),
    )
}
