//! What commands that run servers on emulated volumes need of the program.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use engine::hooks::HostHooks;

use super::attached;
use crate::command::output::note;

/// A command for the emulator, and Ctrl-C, which ends what runs and cleans up.
///
/// # Errors
/// When Ctrl-C has a handler already.
pub fn hooks() -> Result<HostHooks> {
    let interrupted = Arc::<AtomicBool>::default();
    let asked = Arc::clone(&interrupted);
    ctrlc::set_handler(move || {
        if !asked.swap(true, Ordering::Relaxed) {
            note("\nstopping and cleaning up");
        }
    })
    .context("a handler for Ctrl-C")?;
    Ok(HostHooks {
        emulator: || attached().map_err(io::Error::other),
        interrupted,
        ..HostHooks::default()
    })
}
