//! Arguments of `dbstow advise`.

use std::path::PathBuf;

use advise::ServiceWish;
use clap::{ValueEnum, ValueHint};

use super::paid;
use crate::command::listing::ListFormat;
use crate::command::pair::key_and_value;
use analysis::report::advice::Currency;

/// Maximum price of a layout in dollars a month: more than all machines of a cloud.
const BUDGET_MAX: f64 = 1e12;

/// Arguments of `advise`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    dbstow advise shop.toml --today today.toml --cloud azure\n  \
    dbstow advise shop.toml --today today.toml --cloud azure --not-slower 5% --budget 900\n  \
    dbstow advise shop.toml --today today.toml --keep-machine --capacity data=2TiB --capacity log=100GiB\n  \
    dbstow advise shop.toml --today today.toml --cloud aws --machine r6i --temp local --growth 1.5\n  \
    dbstow advise shop.toml --today recorded --set machine.cores=16 --set machine.memory=128GiB --cloud azure \\\n      \
    --capacity data=2TiB --capacity log=100GiB --capacity temp=200GiB\n  \
    dbstow advise shop.toml --today today.toml --cloud aws --service rds\n  \
    dbstow advise shop.toml --today today.toml --cloud azure --drill finalists-drill\n  \
    dbstow advise shop.toml --today today.toml --cloud azure --rehearse base/ postgresql.csv\n  \
    dbstow advise shop.toml --today today.toml --cloud aws --minimal --currency EUR=0.92\n  \
    dbstow advise shop.toml --today today.toml --cloud azure --windows --prices own.csv --discount 30%")]
pub struct Args {
    /// Profile, as `dbstow record` and `dbstow import` write it
    #[arg(value_hint = ValueHint::FilePath)]
    pub profile: PathBuf,
    /// What the server has today: a file with machine, volumes and one placement; `recorded`: disks as the profile shows
    /// them [default: what the profile names]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub today: Option<String>,
    /// Set a key of today's machine, volumes or placement, such as machine.memory=128GiB; may be given several times
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_and_value)]
    pub set: Vec<(String, String)>,
    /// Replay only the busiest time of this length, such as 1h
    #[arg(long, value_name = "TIME", value_parser = span)]
    pub window: Option<String>,
    /// Only of this cloud: azure, aws, gcp, or how names of an own catalogue begin [default: today's]
    #[arg(long)]
    pub cloud: Option<String>,
    /// Only prices of this region
    #[arg(long)]
    pub region: Option<String>,
    /// Only machines whose name has this in it
    #[arg(long, value_name = "PATTERN")]
    pub machine: Option<String>,
    /// Managed services of the product beside machines: rds, flexible, managed-instance, sqldb, any of them, or none [default: that of
    /// today's class alone, and none where today's is a machine]
    #[arg(long, value_name = "KIND", value_parser = service)]
    pub service: Option<ServiceWish>,
    /// Only the machine of today
    #[arg(long, conflicts_with = "machine")]
    pub keep_machine: bool,
    /// Machines with Arm processors too
    #[arg(long)]
    pub arm: bool,
    /// Prices of machines with Windows [default: as `system` of today's machine, or as where its counters come from]
    #[arg(long)]
    pub windows: bool,
    /// Prices of machines with Linux
    #[arg(long, conflicts_with = "windows")]
    pub linux: bool,
    /// Only this disk of the catalogue; may be given several times
    #[arg(long, value_name = "NAME")]
    #[cfg_attr(feature = "shell", arg(add = crate::command::names::of_disks()))]
    pub disk: Vec<String>,
    /// Most disks to attach
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub disks_max: Option<u32>,
    /// Where temporary files may be
    #[arg(long, value_enum, default_value_t)]
    pub temp: Temp,
    /// Space that files need: data=2TiB, temp=100GiB, log=50GiB; may be given for each [default: the size of today's
    /// volumes]
    #[arg(long, value_name = "ROLE=SIZE", value_parser = key_and_value)]
    pub capacity: Vec<(String, String)>,
    /// Times today's sessions and space that the layout has to take
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = factor)]
    pub growth: f64,
    /// Most dollars a month
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub budget: Option<f64>,
    /// How much longer than today operations may take
    #[arg(long, value_name = "PERCENT", default_value = "5%", allow_hyphen_values = true, value_parser = longer)]
    pub not_slower: f64,
    /// What is paid besides list prices
    #[command(flatten)]
    pub paid: paid::BillArgs,
    /// Own prices in place of list prices: a CSV file with name,usd,per
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub prices: Option<PathBuf>,
    /// Take this much off list prices
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true, value_parser = share)]
    pub discount: Option<f64>,
    /// Show prices in this currency, at this rate: what one US dollar is in it, such as EUR=0.92. Options and documents stay in
    /// US dollars
    #[arg(long, value_name = "CODE=RATE", value_parser = Currency::parse)]
    pub currency: Option<Currency>,
    /// List the smallest changes from today's layout too, with what each brings and costs
    #[arg(long)]
    pub minimal: bool,
    /// Most simulations of layouts, and of what layouts have in common
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub simulations: u64,
    /// Show what the drill in this folder found of the same layouts (`dbstow drill` of the finalists)
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub drill: Option<PathBuf>,
    /// Name the command that rehearses the finalists with your own statements, from this backup (or dump) and this log of its server
    /// (`dbstow rehearse`)
    #[arg(long, num_args = 2, value_names = ["BACKUP", "LOG"], value_hint = ValueHint::AnyPath)]
    pub rehearse: Vec<PathBuf>,
    /// Continue with a profile that does not fit today's layout
    #[arg(long)]
    pub untested: bool,
    /// Also read this catalogue file; may be given several times
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub catalogue: Vec<PathBuf>,
    /// Folder for the page, the document and the finalists [default: the profile's name with -advice]
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
    /// Replace an answer that is in the folder
    #[arg(long)]
    pub force: bool,
    /// Write the simulated trials of the finalists, with the profile, as a plan to this file, to run on a cluster (`dbstow
    /// submit`, `dbstow trial`)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub plan_out: Option<PathBuf>,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    pub format: ListFormat,
    /// Print everything, not one screen of it
    #[arg(long)]
    pub full: bool,
}

/// Which services; what is not known of the product is refused later, with those that are.
#[expect(clippy::unnecessary_wraps, reason = "a parser of clap")]
fn service(text: &str) -> Result<ServiceWish, String> {
    Ok(match text {
        "none" => ServiceWish::None,
        "any" => ServiceWish::Any,
        family => ServiceWish::Family(family.to_owned()),
    })
}

/// A span of time, as it was written.
fn span(text: &str) -> Result<String, String> {
    let parsed = text.parse::<model::Duration>();
    parsed
        .map(|_| text.to_owned())
        .map_err(|error| error.to_string())
}

/// Where temporary files may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Temp {
    /// Wherever it is best
    #[default]
    Any,
    /// On disks inside the machine, which come back empty after a stop
    Local,
    /// On disks that are attached
    Remote,
}

/// Below 100 %.
fn share(text: &str) -> Result<f64, String> {
    experiment::spec::percentage(text, 1.0)
}

/// Below 900 %.
fn longer(text: &str) -> Result<f64, String> {
    experiment::spec::percentage(text, 9.0)
}

fn factor(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(factor) if (0.1..=100.0).contains(&factor) => Ok(factor),
        Ok(_) | Err(_) => Err("give a number from 0.1 to 100, such as 1.5".to_owned()),
    }
}

fn dollars(text: &str) -> Result<f64, String> {
    match text.trim().trim_start_matches('$').parse::<f64>() {
        Ok(usd) if usd > 0.0 && usd <= BUDGET_MAX => Ok(usd),
        Ok(_) | Err(_) => Err(format!(
            "give dollars a month, such as 900, up to {BUDGET_MAX:e}"
        )),
    }
}
