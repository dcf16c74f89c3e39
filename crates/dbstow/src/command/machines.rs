//! `dbstow machines`: lists, searches and shows the machines of the catalogue.

use std::path::PathBuf;

use catalogue::{HostCaching, MachineEntry};
use clap::{Args as ClapArgs, ValueEnum};
use model::{Bytes, DiskSpec, MachineSpec};
use serde_json::{Value, json};

use super::UsageError;
use super::listing::{self, ListFormat};
use super::range::Range;
use table::quantity;

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
    args.format.print(&rendered(args)?)?;
    Ok(())
}

/// The output of [`run`].
///
/// # Errors
/// As [`run`].
pub fn rendered(args: &Args) -> anyhow::Result<String> {
    let catalogue = listing::catalogue(&args.catalogue)?;
    let pattern = args.pattern.as_deref().unwrap_or_default();
    let meant = catalogue.machines_meant(pattern);
    let mut machines: Vec<&MachineEntry> = match meant.as_slice() {
        [one] => vec![*one],
        _ => (catalogue.machines())
            .filter(|machine| found(machine, pattern))
            .collect(),
    };
    if machines.is_empty() {
        catalogue.machine(pattern)?;
    }
    if let Some(cloud) = &args.cloud {
        check_cloud(cloud, catalogue.machines())?;
    }
    machines.retain(|machine| args.asks_for(machine));
    if machines.is_empty() {
        let message =
            "no machine is like this; ask for other cores or memory, or leave --cloud out";
        return Err(UsageError(message.to_owned()).into());
    }
    machines.sort_by_cached_key(|machine| listing::natural_key(&machine.name));
    match args.sort {
        Sort::Name => {}
        Sort::Price => machines.sort_by(|a, b| {
            let price = |machine: &MachineEntry| price_of(machine).unwrap_or(f64::INFINITY);
            price(a).total_cmp(&price(b))
        }),
        Sort::Cores => machines.sort_by_key(|machine| machine.spec.cores),
        Sort::Memory => machines.sort_by_key(|machine| machine.spec.memory),
    }
    Ok(match (args.format, args.details || machines.len() == 1) {
        (ListFormat::Json, true | false) => {
            let machines: Vec<Value> = machines
                .iter()
                .map(|machine| machine_json(machine))
                .collect();
            let document = json!({ "schema": "dbstow.machines/1", "machines": machines });
            format!("{document:#}\n")
        }
        (ListFormat::Text, false) => overview(&machines),
        (ListFormat::Text, true) => {
            let all: Vec<String> = machines.iter().map(|machine| details(machine)).collect();
            all.join("\n")
        }
    })
}

impl Args {
    fn asks_for(&self, machine: &MachineEntry) -> bool {
        let is_of_cloud = |cloud: &String| cloud_of(machine).eq_ignore_ascii_case(cloud);
        self.cloud.as_ref().is_none_or(is_of_cloud)
            && self
                .cores
                .is_none_or(|range| range.holds(machine.spec.cores))
            && self
                .memory
                .is_none_or(|range| range.holds(machine.spec.memory))
    }
}

fn cloud_of(machine: &MachineEntry) -> &str {
    let name = machine.name.as_str();
    name.split_once('.').map_or(name, |(cloud, _)| cloud)
}

fn check_cloud<'a>(
    cloud: &str,
    machines: impl Iterator<Item = &'a MachineEntry>,
) -> Result<(), UsageError> {
    let known: std::collections::BTreeSet<&str> = machines.map(cloud_of).collect();
    if known.iter().any(|name| name.eq_ignore_ascii_case(cloud)) {
        return Ok(());
    }
    let known: Vec<&str> = known.into_iter().collect();
    Err(UsageError(format!(
        "--cloud {cloud}: there is no such cloud; give {}",
        known.join(", ")
    )))
}

/// Dollars a month, with Linux.
fn price_of(machine: &MachineEntry) -> Option<f64> {
    machine.price?.linux_per_month()
}

fn found(machine: &MachineEntry, pattern: &str) -> bool {
    let mut texts = vec![machine.name.as_str(), machine.title.as_str()];
    texts.extend(machine.aliases.iter().map(String::as_str));
    listing::matches(pattern, &texts)
}

fn overview(machines: &[&MachineEntry]) -> String {
    let row = |machine: &&MachineEntry| {
        let spec = &machine.spec;
        let limits = spec.limits.iter();
        let limits =
            limits.map(|(name, limit)| format!("{name}: {}", listing::limits_shown(limit)));
        vec![
            machine.name.clone(),
            spec.cores.to_string(),
            spec.memory.to_string(),
            limits.collect::<Vec<_>>().join("\n"),
            host_cache_shown(machine),
            local_disks_shown(machine),
            price_of(machine).map_or_else(String::new, quantity::usd),
        ]
    };
    let header = [
        "machine",
        "cores",
        "memory",
        "limits",
        "host cache",
        "local disks",
        "$/month",
    ];
    let table = listing::table(&header, machines.iter().map(row).collect());
    let lists: std::collections::BTreeSet<String> = machines
        .iter()
        .filter_map(|machine| machine.price_list())
        .collect();
    match lists.len() {
        0 => table,
        _ => {
            let lists: Vec<String> = lists.into_iter().collect();
            format!(
                "{table}\n$/month: list price with Linux, on demand, 730 hours, without disks\n{}\n",
                lists.join("; ")
            )
        }
    }
}

/// Its memory, where known.
fn host_cache_shown(machine: &MachineEntry) -> String {
    match (&machine.host_caching, &machine.spec.host_cache) {
        (HostCaching::Sized, Some(cache)) => cache.size.to_string(),
        (HostCaching::SizeUnknown { .. }, _) => "yes".to_owned(),
        (HostCaching::Unsupported { .. }, _) => "no".to_owned(),
        (HostCaching::Sized | HostCaching::NotInCatalogue, _) => String::new(),
    }
}

/// Number and size of its disks, and whether they come without a file system.
fn local_disks_shown(machine: &MachineEntry) -> String {
    let Some(disk) = &machine.spec.local_disk else {
        return String::new();
    };
    let count = match machine.local_disks {
        None | Some(0 | 1) => String::new(),
        Some(several) => format!("{several} x "),
    };
    let raw = match machine.local_disks_raw {
        Some(true) => ", raw",
        Some(false) | None => "",
    };
    format!("{count}{}{raw}", disk.size)
}

/// The processor that the speed of others is told beside, in [`catalogue::Processor::speed`].
const REFERENCE: &str = "Intel's Xeon Platinum 8370C";

fn details(machine: &MachineEntry) -> String {
    let spec = &machine.spec;
    let mut rows = vec![
        ("cores", spec.cores.to_string()),
        ("memory", spec.memory.to_string()),
    ];
    rows.extend(machine.processor.as_ref().map(|processor| {
        let [low, high] = processor.spread.map(quantity::number);
        let speed = quantity::number(processor.speed);
        let model = &processor.model;
        (
            "processor",
            format!("{model}: {speed} times as fast as {REFERENCE} ({low} to {high})"),
        )
    }));
    rows.extend(machine.baseline.map(|baseline| {
        let share = quantity::percent(baseline);
        (
            "burstable",
            format!("may use {share} of its processors in the long run"),
        )
    }));
    for (name, limits) in &spec.limits {
        rows.push((
            "limit",
            format!("{name}: {}", listing::limits_shown(limits)),
        ));
    }
    let host_cache = match (&machine.host_caching, &spec.host_cache) {
        (HostCaching::Sized, Some(cache)) => Some(format!(
            "{}, within the limit {}; a write through a read-only one takes {} more than on the disk",
            cache.size,
            cache.limit,
            cache.through_latency.mean()
        )),
        (HostCaching::SizeUnknown { source, .. }, _) => Some(format!(
            "yes ({}, {}); its size is not published: experiments give it ([machine] host_cache)",
            source.title, source.date
        )),
        (HostCaching::Unsupported { source }, _) => {
            Some(format!("no ({}, {})", source.title, source.date))
        }
        (HostCaching::Sized | HostCaching::NotInCatalogue, _) => None,
    };
    rows.extend(host_cache.map(|text| ("host cache", text)));
    if let Some(disk) = &spec.local_disk {
        let count = match machine.local_disks {
            None | Some(0 | 1) => String::new(),
            Some(several) => format!("{several}, each "),
        };
        rows.push((
            "local disk",
            format!("{count}{}", local_disk_shown(disk, &machine.spec)),
        ));
        if machine.local_disks_raw == Some(true) {
            let raw = "without a file system at first, and again after every stop";
            rows.push(("local disk", raw.to_owned()));
        }
    }
    let counts = [
        ("disks at most", machine.disks_max),
        ("files at most", machine.files_max),
    ];
    for (what, count) in counts {
        rows.extend(count.map(|count| (what, count.to_string())));
    }
    if let Some(price) = machine.price {
        let list = machine.price_list().unwrap_or_default();
        let usd = |price: Option<f64>| price.map_or("unknown".to_owned(), quantity::usd);
        rows.push((
            "USD a month",
            format!(
                "{} with Linux, {} with Windows; on demand, 730 hours, without disks; {list}",
                usd(price.linux_per_month()),
                usd(price.windows_per_month())
            ),
        ));
    }
    rows.push(("confidence", machine.confidence.to_string()));
    rows.push(("also called", machine.aliases.join(", ")));
    let assumed = machine.assumptions().into_iter();
    rows.extend(assumed.map(|text| ("assumed", text)));
    rows.extend(machine.notes.iter().map(|text| ("note", text.clone())));
    rows.retain(|(_, value)| !value.is_empty());
    let title = match machine.title.as_str() {
        "" => String::new(),
        title => format!(": {title}"),
    };
    format!(
        "{}{title}\n{}{}",
        machine.name,
        listing::pairs(rows),
        listing::sources_shown(&machine.sources)
    )
}

fn local_disk_shown(disk: &DiskSpec, machine: &MachineSpec) -> String {
    let mut parts = vec![disk.size.to_string()];
    if !disk.limits.is_empty() {
        parts.push(listing::limits_shown(&disk.limits));
    }
    let mut names = disk.machine_limits.iter();
    if let Some(name) = names.find(|name| machine.limits.contains_key(*name)) {
        parts.push(format!("within the limit {name}"));
    }
    parts.join(", ")
}

fn machine_json(machine: &MachineEntry) -> Value {
    json!({
        "name": machine.name,
        "title": machine.title,
        "aliases": machine.aliases,
        "family": machine.family,
        "arm": machine.arm,
        "spec": machine.spec,
        "processor": machine.processor.as_ref().map(|processor| &processor.model),
        "processor_speed": machine.processor.as_ref().map(|processor| processor.speed),
        "baseline": machine.baseline,
        "host_cache_supported": match machine.host_caching {
            HostCaching::Sized | HostCaching::SizeUnknown { .. } => Some(true),
            HostCaching::Unsupported { .. } => Some(false),
            HostCaching::NotInCatalogue => None,
        },
        "local_disks": machine.local_disks,
        "local_disks_raw": machine.local_disks_raw,
        "usd_per_hour": machine.price,
        "price_list": machine.price_list(),
        "disks_max": machine.disks_max,
        "files_max": machine.files_max,
        "confidence": machine.confidence,
        "assumed": machine.assumptions(),
        "notes": machine.notes,
        "sources": machine.sources,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(pattern: &str) -> String {
        let args = Args {
            pattern: Some(pattern.into()),
            ..Args::default()
        };
        rendered(&args).expect("something is found")
    }

    #[test]
    fn no_line_of_the_list_is_wider_than_100_columns() {
        let text = text_of("");
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(100), "{widest:?}");
    }

    #[test]
    fn a_whole_name_shows_limits_cache_and_source() {
        let text = text_of("azure.DS2");
        for part in [
            "cached: 8000 IOPS, 64 MB/s",
            "86 GiB, within the limit cached",
            "14 GiB, within the limit cached",
            "[az-prevgen]",
        ] {
            assert!(text.contains(part), "no {part} in {text}");
        }
    }

    #[test]
    fn a_machine_is_shown_in_full_by_the_end_of_its_name() {
        let whole = text_of("azure.DS14_v2");
        for end in ["ds14_v2", "azure.DS14v2"] {
            assert_eq!(text_of(end), whole, "{end}");
        }
    }

    #[test]
    fn an_unknown_machine_is_answered_with_the_near_ones() {
        let args = Args {
            pattern: Some("azure.DS14_v22".into()),
            ..Args::default()
        };
        let error = rendered(&args).expect_err("no such machine").to_string();
        assert!(error.contains("`azure.DS14_v2`"), "{error}");
    }
}
