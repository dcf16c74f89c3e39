//! Commands for emulated volumes that any program can use. They need Linux.

pub mod emulator;
mod find;
mod hooks;
pub mod mount;
pub mod stat;
pub mod unmount;
mod watched;

use anyhow::Result;

use lab::inventory::Inventory;

/// What can be asked about emulated volumes.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum Command {
    /// Mount a directory on modelled disks, for any program
    ///
    /// Programs read and write real files there; each request takes as long as on the modelled disk.
    /// Returns when the directory is ready.
    Mount(mount::Args),
    /// Show statistics of the modelled disks under a mounted directory
    ///
    /// Since the last look, or since they were mounted: rates, latencies, how much of each limit was
    /// used, and how well the emulator kept time.
    Stat(stat::Args),
    /// Unmount a directory on modelled disks
    ///
    /// Writes back what is cached, at the speed of the modelled disk, unmounts, and ends the emulator.
    /// All volumes that were mounted together end together. If programs still use them, it lists these and
    /// changes nothing.
    Unmount(unmount::Args),
    /// Be the process that answers modelled disks (for dbstow itself)
    #[command(hide = true)]
    Emulator(emulator::Args),
}

/// Runs a command.
///
/// # Errors
/// Those of the command.
pub fn run(command: &Command, inventory: Inventory) -> Result<()> {
    match command {
        Command::Mount(args) => mount::run(args, inventory),
        Command::Stat(args) => stat::run(args),
        Command::Unmount(args) => unmount::run(args),
        Command::Emulator(args) => emulator::run(args),
    }
}

pub use emulator::attached;
pub use hooks::hooks;
