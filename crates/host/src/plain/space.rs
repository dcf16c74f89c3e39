//! Space of a filesystem, in bytes. A browser has none.

#[cfg(not(target_family = "wasm"))]
pub(super) use fs4::{
    allocation_granularity as allocation_unit, available_space as available, total_space as total,
};

#[cfg(target_family = "wasm")]
pub(super) use unsupported as allocation_unit;
#[cfg(target_family = "wasm")]
pub(super) use unsupported as available;
#[cfg(target_family = "wasm")]
pub(super) use unsupported as total;

#[cfg(target_family = "wasm")]
pub(super) fn unsupported(_directory: &std::path::Path) -> std::io::Result<u64> {
    Err(std::io::ErrorKind::Unsupported.into())
}
