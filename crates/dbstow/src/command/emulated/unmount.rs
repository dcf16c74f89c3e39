//! `dbstow unmount`: unmounts a directory on modelled disks.

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::find::emulator;
use crate::command::orphans;

/// Arguments of `unmount`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  dbstow unmount /mnt/p30")]
pub struct Args {
    /// Directory that was given to `dbstow mount`
    pub directory: PathBuf,
}

/// Runs `dbstow unmount`.
///
/// # Errors
/// When nothing of dbstow is mounted there, or it is in use.
pub fn run(args: &Args) -> Result<()> {
    orphans::clear()?;
    let (control, _) = emulator(&args.directory)?;
    let ended = control
        .stop()
        .with_context(|| format!("cannot unmount {}", args.directory.display()))?;
    for (_, directory) in ended.volumes {
        crate::command::print(&format!("unmounted {}\n", directory.display()))?;
    }
    Ok(())
}
