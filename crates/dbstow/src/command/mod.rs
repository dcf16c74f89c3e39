//! The subcommands, one file each: the only place that prints.
