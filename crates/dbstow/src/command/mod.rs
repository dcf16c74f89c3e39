//! The subcommands, one a file: the only place that prints.

pub mod workloads;
