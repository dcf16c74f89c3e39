//! `dbstow machines`: lists, searches and shows the machines of the catalogue.

use std::path::PathBuf;

use analysis::report::catalogue as report;
use catalogue::{MachineQuery, Order, Range};
use clap::{Args as ClapArgs, ValueEnum};
use model::Bytes;

use super::listing::{self, ListFormat};
use super::output::{print_all, print_whole};

/// Arguments of `dbstow machines`.
#[derive(Clone, Debug, Default, ClapArgs)]
#[command(after_help = "Examples:\n  \
    dbstow machines DS14\n  \
    dbstow machines --cloud aws --cores 8-16 --memory 64GiB- --sort price\n  \
    dbstow machines bds_v5 --cloud azure --format json")]
pub struct Args {
    /// Part of a name or title; where one machine is meant, everything about it is shown
    #[cfg_attr(feature = "shell", arg(add = super::names::of_machines()))]
    pub pattern: Option<String>,
    /// Only of this cloud: azure, aws, gcp, or how names of an own catalogue begin
    #[arg(long)]
    pub cloud: Option<String>,
    /// Only with so many virtual processors: 8, 8-16, 8- or -16
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true)]
    pub cores: Option<Range<u32>>,
    /// Only with so much memory: 64GiB, 64GiB-128GiB, 64GiB- or -128GiB
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true)]
    pub memory: Option<Range<Bytes>>,
    /// What comes first
    #[arg(long, value_enum, default_value_t)]
    pub sort: Sort,
    /// Show everything about each machine found, sources included
    #[arg(long)]
    pub details: bool,
    /// Also read this catalogue file; may be given several times
    #[arg(long, value_name = "FILE")]
    pub catalogue: Vec<PathBuf>,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    pub format: ListFormat,
}

/// What machines are ordered by; those of which it is not known come last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// By name
    #[default]
    Name,
    /// The cheapest first, with Linux
    Price,
    /// The fewest first
    Cores,
    /// The least first
    Memory,
}

/// Prints the list or the machine.
///
/// # Errors
/// When a catalogue file cannot be read or nothing is found.
pub fn run(args: &Args) -> anyhow::Result<()> {
    let catalogue = listing::catalogue(&args.catalogue)?;
    let machines = catalogue.find_machines(&args.query())?;
    match args.format {
        ListFormat::Json => super::print_json(&report::machines_json(&machines))?,
        ListFormat::Text if args.details || machines.len() == 1 => {
            print_all(machines.iter().map(|machine| report::machine(machine)))?;
        }
        ListFormat::Text => print_whole(&report::machines(&machines))?,
    }
    Ok(())
}

impl Args {
    fn query(&self) -> MachineQuery<'_> {
        MachineQuery {
            pattern: self.pattern.as_deref().unwrap_or_default(),
            cloud: self.cloud.as_deref(),
            cores: self.cores,
            memory: self.memory,
            order: match self.sort {
                Sort::Name => Order::Name,
                Sort::Price => Order::Price,
                Sort::Cores => Order::Cores,
                Sort::Memory => Order::Memory,
            },
        }
    }
}
