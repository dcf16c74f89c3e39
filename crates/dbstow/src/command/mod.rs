//! The subcommands, one file each: the only place that prints.

pub mod disks;
pub mod machines;

mod listing;
