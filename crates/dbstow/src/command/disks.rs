//! `dbstow disks`: lists, searches and shows the disks of the catalogue.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use model::{Bytes, Iops, Throughput};
use serde_json::{Value, json};

use super::listing::{self, ListFormat};
use catalogue::{CatalogueError, DiskEntry, Limit, LimitValue, Price, Provision, Provisioned};
use table::quantity::list_price;

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
    let asked = args.provision();
    let meant = catalogue.disks_meant(pattern);
    let mut disks: Vec<&DiskEntry> = match meant.as_slice() {
        [one] => vec![*one],
        _ => (catalogue.disks())
            .filter(|disk| found(disk, pattern))
            .collect(),
    };
    if let [disk] = disks.as_slice() {
        let provisioned = provisioned(disk, &asked)?;
        return Ok(match args.format {
            ListFormat::Text => details(disk, provisioned.as_ref()),
            ListFormat::Json => document(vec![disk_json(disk, provisioned.as_ref())]),
        });
    }
    if disks.is_empty() || asked != Provision::default() {
        catalogue.disk(pattern)?;
    }
    disks.sort_by_cached_key(|disk| listing::natural_key(&disk.name));
    Ok(match (args.format, args.details) {
        (ListFormat::Json, true | false) => {
            document(disks.iter().map(|disk| disk_json(disk, None)).collect())
        }
        (ListFormat::Text, false) => overview(&disks),
        (ListFormat::Text, true) => {
            let all: Vec<String> = disks.iter().map(|disk| details(disk, None)).collect();
            all.join("\n")
        }
    })
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

fn found(disk: &DiskEntry, pattern: &str) -> bool {
    let mut texts = vec![
        disk.name.as_str(),
        disk.title.as_str(),
        disk.class.title.as_str(),
    ];
    texts.extend(disk.aliases.iter().map(String::as_str));
    listing::matches(pattern, &texts)
}

/// The disk as provisioned; `None` without options for a disk that needs them.
fn provisioned(disk: &DiskEntry, asked: &Provision) -> Result<Option<Provisioned>, CatalogueError> {
    match disk.provision(asked) {
        Err(_) if *asked == Provision::default() => Ok(None),
        result => result.map(Some),
    }
}

fn overview(disks: &[&DiskEntry]) -> String {
    let row = |disk: &&DiskEntry| {
        vec![
            disk.name.clone(),
            disk.size.shown(),
            brief(disk.limits.iops.as_ref()),
            brief(disk.limits.throughput.as_ref()),
            format!(
                "{}\n{}",
                disk.class.read.typical(),
                disk.class.write.typical()
            ),
            price_shown(disk.price.as_ref()),
        ]
    };
    let header = [
        "disk",
        "size",
        "IOPS",
        "throughput",
        "p50 r, w",
        "USD/month",
    ];
    listing::table(&header, disks.iter().map(row).collect())
}

fn brief<Q: LimitValue>(limit: Option<&Limit<Q>>) -> String {
    limit.map_or_else(|| "no limit".into(), Limit::brief)
}

fn shown<Q: LimitValue>(limit: Option<&Limit<Q>>) -> String {
    limit.map_or_else(|| "no limit".into(), Limit::shown)
}

fn price_shown(price: Option<&Price>) -> String {
    match price {
        None => String::new(),
        Some(Price::Whole { usd }) => list_price(*usd),
        Some(Price::Parts(parts)) => format!("{} per GiB", list_price(parts.per_gib)),
    }
}

/// The price with all its parts, and the region and date of its price list.
fn price_parts_shown(disk: &DiskEntry) -> String {
    let price = disk.price.as_ref();
    let mut text = price_shown(price);
    if let Some(Price::Parts(parts)) = price {
        if let Some(sizes) = &parts.billed_size {
            text.push_str(&format!(
                ", billed as the next larger of {}",
                sizes.steps_shown()
            ));
        }
        let steps = parts.per_iops.iter().map(|step| ("IOPS", step));
        let steps = steps.chain(parts.per_mib_per_s.iter().map(|step| ("MiB/s", step)));
        let steps = steps.chain(parts.per_mb_per_s.iter().map(|step| ("MB/s", step)));
        for (unit, step) in steps {
            text.push_str(&format!(", {} per {unit}", list_price(step.usd)));
            if step.above > 0 {
                text.push_str(&format!(" above {}", step.above));
            }
        }
    }
    if let Some(list) = disk.price_list() {
        text.push_str(&format!("; {list}"));
    }
    text
}

fn details(disk: &DiskEntry, provisioned: Option<&Provisioned>) -> String {
    let class = &disk.class;
    let mut rows = vec![
        ("kind", class.title.clone()),
        ("size", disk.size.shown()),
        ("IOPS", shown(disk.limits.iops.as_ref())),
        ("throughput", shown(disk.limits.throughput.as_ref())),
        ("bursting", bursting_shown(disk)),
        ("one I/O", io_unit_shown(disk)),
        ("read", listing::latency_shown(&class.read)),
        ("write", listing::latency_shown(&class.write)),
        ("flush", listing::latency_shown(&class.flush)),
        ("machine limits", class.machine_limits.join(", or else ")),
        ("limits hold on", disk.on_machines.shown()),
        (
            "of a machine",
            (disk.on_machines.count_max).map_or_else(String::new, |most| format!("at most {most}")),
        ),
        (
            "not together with",
            (disk.on_machines.group.as_ref())
                .map_or_else(String::new, |group| format!("other entries of {group}")),
        ),
        (
            "host cache",
            if class.host_cache { "allowed" } else { "no" }.into(),
        ),
        ("after a stop", class.after_stop.shown().into()),
        (
            "atomic write",
            class
                .atomic_write
                .map_or_else(String::new, |size| format!("{size}, aligned")),
        ),
        ("USD a month", price_parts_shown(disk)),
        ("confidence", disk.confidence.to_string()),
        ("also called", disk.aliases.join(", ")),
    ];
    rows.extend(
        class
            .assumed
            .iter()
            .chain(&disk.assumed)
            .map(|text| ("assumed", text.clone())),
    );
    rows.extend(
        class
            .notes
            .iter()
            .chain(&disk.notes)
            .map(|text| ("note", text.clone())),
    );
    let missed = disk.on_machines.missed();
    rows.extend(missed.map(|text| ("measured less", text.to_owned())));
    if let Some(provisioned) = provisioned {
        let price = provisioned
            .usd_per_month
            .map(|usd| format!(", {} USD a month", list_price(usd)));
        let limits = listing::limits_shown(&provisioned.spec.limits);
        let as_asked = format!(
            "{}: {limits}{}",
            provisioned.spec.size,
            price.unwrap_or_default()
        );
        rows.push(("as asked", as_asked));
    }
    rows.retain(|(_, value)| !value.is_empty());
    let mut sources = disk.sources.clone();
    let of_class = [
        &class.sources,
        &class.read.sources,
        &class.write.sources,
        &class.flush.sources,
    ];
    for source in of_class.into_iter().flatten() {
        if !sources.contains(source) {
            sources.push(source.clone());
        }
    }
    format!(
        "{}: {}\n{}{}",
        disk.name,
        disk.title,
        listing::pairs(rows),
        listing::sources_shown(&sources)
    )
}

fn bursting_shown(disk: &DiskEntry) -> String {
    let bursts = &disk.limits.bursts;
    let iops = bursts
        .iops
        .as_ref()
        .map(|burst| format!("{} IOPS", burst.rate.shown()));
    let throughput = bursts.throughput.as_ref().map(|burst| burst.rate.shown());
    let rates: Vec<String> = iops.into_iter().chain(throughput).collect();
    match (rates.is_empty(), bursts.optional) {
        (true, _) => "none".into(),
        (false, true) => format!("{}, when asked for", rates.join(" and ")),
        (false, false) => rates.join(" and "),
    }
}

fn io_unit_shown(disk: &DiskEntry) -> String {
    let unit = disk.class.io_unit;
    let size = match unit.size_max {
        Some(size) => format!("up to {size}"),
        None => "a request of any size".into(),
    };
    match unit.charge_min {
        Some(least) => format!("{size}, charged as {least} at least"),
        None => size,
    }
}

fn disk_json(disk: &DiskEntry, provisioned: Option<&Provisioned>) -> Value {
    let class = &disk.class;
    json!({
        "name": disk.name,
        "title": disk.title,
        "aliases": disk.aliases,
        "class": class.name,
        "size": disk.size.shown(),
        "iops": disk.limits.iops.as_ref().map(Limit::shown),
        "throughput": disk.limits.throughput.as_ref().map(Limit::shown),
        "bursting": bursting_shown(disk),
        "io_unit": class.io_unit,
        "atomic_write": class.atomic_write,
        "read_latency": listing::latency_json(&class.read),
        "write_latency": listing::latency_json(&class.write),
        "flush_latency": listing::latency_json(&class.flush),
        "machine_limits": class.machine_limits,
        "host_cache": class.host_cache,
        "after_stop": class.after_stop,
        "on_machines": disk.on_machines,
        "price_usd_per_month": disk.price,
        "confidence": disk.confidence,
        "assumed": class.assumed.iter().chain(&disk.assumed).collect::<Vec<_>>(),
        "notes": class.notes.iter().chain(&disk.notes).collect::<Vec<_>>(),
        "sources": disk.sources,
        "class_sources": class.sources,
        "provisioned": provisioned.map(|provisioned| json!({
            "spec": provisioned.spec,
            "usd_per_month": provisioned.usd_per_month,
        })),
    })
}

fn document(disks: Vec<Value>) -> String {
    let document = json!({ "schema": "dbstow.disks/1", "disks": disks });
    format!("{document:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(pattern: &str) -> Args {
        Args {
            pattern: Some(pattern.into()),
            ..Args::default()
        }
    }

    #[test]
    fn no_line_of_the_list_is_wider_than_100_columns() {
        let text = rendered(&Args::default()).expect("all disks");
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(100), "{widest:?}");
    }

    #[test]
    fn a_part_of_a_name_lists_what_contains_it_in_natural_order() {
        let text = rendered(&args("PREMIUM.P")).expect("several");
        let at = |name: &str| text.find(name).unwrap_or_else(|| panic!("{name}: {text}"));
        assert!(at("azure.premium.p4 ") < at("azure.premium.p10"));
        assert!(!text.contains("gp3"));
    }

    #[test]
    fn a_whole_name_shows_sources_and_what_is_assumed() {
        let text = rendered(&args("azure.premium.p30")).expect("one");
        for part in [
            "135.17; Azure eastus, 2026",
            "[az-premium-sizes]",
            "assumed: the spread",
            "5000 IOPS, 200 MB/s",
        ] {
            assert!(text.contains(part), "no {part} in {text}");
        }
    }

    #[test]
    fn a_name_or_part_that_only_one_disk_has_shows_it_in_full() {
        let whole = rendered(&args("azure.premium.p30")).expect("one");
        for one in ["p30", "Premium.P30", "premium ssd p30"] {
            assert_eq!(rendered(&args(one)).expect("one"), whole, "{one}");
        }
    }

    #[test]
    fn a_provisioned_disk_is_shown_with_its_limits_and_price() {
        let asked = Args {
            size: Some(Bytes::gib(100)),
            iops: Some(6000),
            ..args("aws.gp3")
        };
        // 100 * 0.08 + 3000 * 0.005 = 23
        let text = rendered(&asked).expect("allowed");
        assert!(text.contains("6000 IOPS, 125 MiB/s, 23.00 USD"), "{text}");
        assert!(text.contains("0.005 per IOPS above 3000"), "{text}");
        let json = Args {
            format: ListFormat::Json,
            ..asked
        };
        let json: Value = serde_json::from_str(&rendered(&json).expect("allowed")).expect("JSON");
        assert_eq!(json["disks"][0]["provisioned"]["usd_per_month"], 23.0);
    }

    #[test]
    fn what_cannot_be_had_or_found_is_an_error_with_the_remedy() {
        let small = Args {
            size: Some(Bytes::gib(4)),
            iops: Some(6000),
            ..args("aws.gp3")
        };
        let error = rendered(&small)
            .expect_err("beyond 500 for each GiB")
            .to_string();
        assert!(error.contains("12 GiB"), "{error}");
        let error = rendered(&args("azure.premum.p30"))
            .expect_err("a typo")
            .to_string();
        assert!(error.contains("azure.premium.p30"), "{error}");
    }
}
