//! `dbstow disks`: lists, searches and shows the disks of the catalogue.

use std::path::PathBuf;

use analysis::report::catalogue as report;
use catalogue::Provision;
use clap::Args as ClapArgs;
use model::{Bytes, Iops, Throughput};

use super::listing::{self, ListFormat};
use super::output::{print_all, print_whole};

/// Arguments of `dbstow disks`.
#[derive(Clone, Debug, Default, ClapArgs)]
pub struct Args {
    /// Part of a name or title; where one disk is meant, as by p30, everything about it is shown
    #[cfg_attr(feature = "shell", arg(add = super::names::of_disks()))]
    pub pattern: Option<String>,
    /// Show everything about each disk found, sources included
    #[arg(long)]
    pub details: bool,
    /// Provision this size, such as "100 GiB"
    #[arg(long)]
    pub size: Option<Bytes>,
    /// Provision these IOPS
    #[arg(long)]
    pub iops: Option<u64>,
    /// Provision this throughput, such as "250 MiB/s"
    #[arg(long)]
    pub throughput: Option<Throughput>,
    /// Let it burst, where bursting is an option
    #[arg(long)]
    pub bursting: bool,
    /// Also read this catalogue file; may be given several times
    #[arg(long, value_name = "FILE")]
    pub catalogue: Vec<PathBuf>,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    pub format: ListFormat,
}

/// Prints the list or the disk.
///
/// # Errors
/// When a catalogue file cannot be read, nothing is found, or a disk cannot be provisioned as requested.
pub fn run(args: &Args) -> anyhow::Result<()> {
    let catalogue = listing::catalogue(&args.catalogue)?;
    let pattern = args.pattern.as_deref().unwrap_or_default();
    let asked = args.provision();
    let disks = catalogue.find_disks(pattern)?;
    let provisioned = match disks.as_slice() {
        [one] => one.provisioned(&asked)?,
        _ if asked == Provision::default() => None,
        // Which of them is meant?
        _ => {
            catalogue.disk(pattern)?;
            None
        }
    };
    match args.format {
        ListFormat::Json => super::print_json(&report::disks_json(&disks, provisioned.as_ref()))?,
        ListFormat::Text if args.details || disks.len() == 1 => {
            let all = disks.iter();
            print_all(all.map(|disk| report::disk(disk, provisioned.as_ref())))?;
        }
        ListFormat::Text => print_whole(&report::disks(&disks))?,
    }
    Ok(())
}

impl Args {
    fn provision(&self) -> Provision {
        Provision {
            size: self.size,
            iops: self.iops.map(Iops),
            throughput: self.throughput,
            bursting: self.bursting,
        }
    }
}
