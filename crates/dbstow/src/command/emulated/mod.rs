//! Commands about emulated volumes for any program. They need Linux.

pub mod emulator;
pub mod mount;
mod place;
pub mod stat;
pub mod unmount;

use anyhow::Result;

use crate::inventory::Inventory;

/// What can be asked about emulated volumes.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum Command {
    /// Give any program a directory on modelled disks
    Mount(mount::Args),
    /// Show what modelled disks under a directory do
    Stat(stat::Args),
    /// Take a directory on modelled disks away
    Unmount(unmount::Args),
    /// Be the process that answers modelled disks (for dbstow itself)
    #[command(hide = true)]
    Emulator(emulator::Args),
}

/// Carries a command out.
///
/// # Errors
/// What it says.
pub fn run(command: &Command, inventory: Inventory) -> Result<()> {
    match command {
        Command::Mount(args) => mount::run(args, inventory),
        Command::Stat(args) => stat::run(args),
        Command::Unmount(args) => unmount::run(args),
        Command::Emulator(args) => emulator::run(args),
    }
}

pub use emulator::attached;
