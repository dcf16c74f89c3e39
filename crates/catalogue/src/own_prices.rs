//! Prices that a user pays, in place of list prices: a table of three columns.
//!
//! ```text
//! name,usd,per
//! azure.E8bds_v5,0.41,hour
//! azure.premium.p30,101,month
//! aws.gp3,0.064,GiB
//! aws.gp3,0.004,IOPS
//! azure.licence.enterprise,0.3,core-hour
//! ```

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::Catalogue;
use super::disk::DiskEntry;
use super::error::CatalogueError;
use super::hourly_price::{HourlyPrice, PriceAssumed};
use super::licence::{Edition, LicenceRate};
use super::limits::Limit;
use super::machine::MachineEntry;
use super::price::{self, Parts, Price, Step};
use super::size::SizeRule;

/// A row of the table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    usd: f64,
    per: String,
}

/// What a price is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Per {
    /// A machine, with any operating system.
    Hour,
    /// A disk as a whole.
    Month,
    /// The rest: a part of a disk, per month.
    Gib,
    Iops,
    MbPerS,
    MibPerS,
    /// Of a licence, without the operating system: each core that is charged, by the hour.
    CoreHour,
}

/// Valid values of `per`.
const UNITS: [(&str, Per); 7] = [
    ("hour", Per::Hour),
    ("month", Per::Month),
    ("GiB", Per::Gib),
    ("IOPS", Per::Iops),
    ("MB/s", Per::MbPerS),
    ("MiB/s", Per::MibPerS),
    ("core-hour", Per::CoreHour),
];

/// What the name of a licence has between those of its cloud and its edition.
const LICENCE: &str = ".licence.";

/// Cores that are charged at least where the list has no licence of the edition in the cloud: as in every list that has one.
///
/// Source: <https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/optimize-cpu.html> (read 2026-11-26).
const CORES_MIN: u32 = 4;

/// The prices of one name, and the line of the first.
#[derive(Default)]
struct Own {
    line: u64,
    prices: BTreeMap<Per, f64>,
}

/// Replaces list prices with the prices of a table. Returns the names of the entries whose price changed.
///
/// # Errors
/// The first invalid row, with its line; the catalogue may then have some of the prices.
pub(super) fn add(
    catalogue: &mut Catalogue,
    text: &str,
    file: &str,
) -> Result<BTreeSet<String>, CatalogueError> {
    let at = |line: u64, message: String| CatalogueError::File {
        file: file.to_owned(),
        line: usize::try_from(line).unwrap_or(usize::MAX),
        message,
    };
    let own = read(text).map_err(|(line, message)| at(line, message))?;
    let mut names = BTreeSet::new();
    for (name, own) in &own {
        if let Some((cloud, edition)) = name.split_once(LICENCE) {
            let result = of_licence(catalogue, (cloud, edition), &own.prices, file);
            result.map_err(|message| at(own.line, message))?;
            names.insert(name.clone());
            continue;
        }
        let entry = catalogue.unaliased(name).to_owned();
        let classes = catalogue.services.values_mut();
        let mut classes = classes.flat_map(|service| service.classes.iter_mut());
        let class = classes.find(|(class, _)| **class == entry);
        let class = class.map(|(_, class)| class);
        let disk = catalogue.disks.get_mut(&entry);
        let result = match (
            disk.or_else(|| catalogue.storage.get_mut(&entry)),
            catalogue.machines.get_mut(&entry).or(class),
        ) {
            (Some(disk), _) => of_disk(disk, &own.prices, file),
            (None, Some(machine)) => of_machine(machine, &own.prices, file),
            (None, None) => {
                let names = catalogue.disks.keys().chain(catalogue.machines.keys());
                let names = names.chain(catalogue.aliases.keys());
                let near = super::near::suggestion(&super::near::near(name, names));
                Err(format!(
                    "there is no disk or machine `{name}` in the catalogue{near}"
                ))
            }
        };
        result.map_err(|message| at(own.line, message))?;
        names.insert(entry);
    }
    names.extend(of_constrained(catalogue, &names));
    Ok(names)
}

/// Gives sizes with fewer processors the price of the size that they are made of, where that has one of `names` and they have none.
/// Returns their names.
fn of_constrained(catalogue: &mut Catalogue, names: &BTreeSet<String>) -> Vec<String> {
    let priced: BTreeMap<String, MachineEntry> = names
        .iter()
        .filter_map(|name| Some((name.clone(), catalogue.machines.get(name)?.clone())))
        .collect();
    let mut changed = Vec::new();
    for (name, machine) in &mut catalogue.machines {
        let base = machine.base.as_ref().and_then(|base| priced.get(base));
        if let Some(base) = base.filter(|_| !names.contains(name)) {
            machine.price = base.price;
            machine.price_assumed = base.price_assumed.clone();
            machine.own_price_list.clone_from(&base.own_price_list);
            changed.push(name.clone());
        }
    }
    changed
}

/// The table's prices by name.
fn read(text: &str) -> Result<BTreeMap<String, Own>, (u64, String)> {
    let mut reader = csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let headers = reader.headers().cloned();
    let headers = headers.map_err(|error| (1, error.to_string()))?;
    let is_ours = headers.iter().eq(["name", "usd", "per"]);
    if !is_ours {
        let found = headers.iter().collect::<Vec<_>>().join(",");
        let message = format!("the columns are `{found}`; they have to be `name,usd,per`");
        return Err((1, message));
    }
    let mut all: BTreeMap<String, Own> = BTreeMap::new();
    for record in reader.records() {
        let line_of = |position: Option<&csv::Position>| position.map_or(1, csv::Position::line);
        let record = record.map_err(|error| (line_of(error.position()), error.to_string()))?;
        let line = line_of(record.position());
        let row: Row = record
            .deserialize(Some(&headers))
            .map_err(|error| match error.kind() {
                // Its other columns are text.
                csv::ErrorKind::Deserialize { .. } => (
                    line,
                    format!(
                        "`usd` of `{}` is `{}`; write a number of US dollars, such as 0.08",
                        record.get(0).unwrap_or_default(),
                        record.get(1).unwrap_or_default()
                    ),
                ),
                _ => (line, error.to_string()),
            })?;
        price::check(row.usd).map_err(|message| (line, message))?;
        let unit = UNITS.iter().find(|(name, _)| *name == row.per);
        let Some((_, per)) = unit else {
            let units: Vec<&str> = UNITS.iter().map(|(name, _)| *name).collect();
            let units = units.join(", ");
            let message = match row.per.as_str() {
                "" => format!("`{}` has no unit; in `per`, write one of {units}", row.name),
                other => format!("`{other}` is not a unit; in `per`, write one of {units}"),
            };
            return Err((line, message));
        };
        let own = all.entry(row.name.clone()).or_default();
        if own.prices.is_empty() {
            own.line = line;
        }
        if own.prices.insert(*per, row.usd).is_some() {
            let message = format!(
                "`{}` has a price per {} already; keep one of the rows",
                row.name, row.per
            );
            return Err((line, message));
        }
    }
    Ok(all)
}

/// The licence of an edition in a cloud, with whatever system, whose own price stays apart.
fn of_licence(
    catalogue: &mut Catalogue,
    (cloud, edition): (&str, &str),
    prices: &BTreeMap<Per, f64>,
    file: &str,
) -> Result<(), String> {
    let name = format!("{cloud}{LICENCE}{edition}");
    let (Some(usd), 1) = (prices.get(&Per::CoreHour), prices.len()) else {
        return Err(format!(
            "`{name}` is a licence, and has a price per core-hour alone"
        ));
    };
    let begins = format!("{cloud}.");
    let mut machines = catalogue.machines.keys();
    if !machines.any(|machine| machine.starts_with(&begins)) {
        return Err(format!(
            "`{name}`: the catalogue has no machines of `{cloud}`; write a cloud that it has, such as `azure`"
        ));
    }
    let of_edition = |known: &&Edition| known.name == edition;
    let Some(product) = catalogue.editions.iter().find(of_edition) else {
        let names = catalogue.editions.iter().map(|known| known.name.as_str());
        let names: BTreeSet<&str> = names.collect();
        let names: Vec<&str> = names.into_iter().collect();
        return Err(format!(
            "`{name}`: there is no edition `{edition}`; write one of {}",
            names.join(", ")
        ));
    };
    let is_replaced = |rate: &LicenceRate| rate.cloud == cloud && rate.edition == edition;
    let listed = catalogue.licences.iter().filter(|rate| is_replaced(rate));
    let own = LicenceRate {
        product: product.product.clone(),
        edition: edition.to_owned(),
        cloud: cloud.to_owned(),
        windows: None,
        usd_hour_core: *usd,
        cores_min: listed
            .clone()
            .map(|rate| rate.cores_min)
            .max()
            .unwrap_or(CORES_MIN),
        counts_switched_on: listed.clone().all(|rate| rate.counts_switched_on),
        with_system: false,
        own_price_list: Some(file.to_owned()),
        sources: Vec::new(),
        assumed: Vec::new(),
    };
    catalogue.licences.retain(|rate| !is_replaced(rate));
    catalogue.licences.push(own);
    Ok(())
}

fn of_machine(
    machine: &mut MachineEntry,
    prices: &BTreeMap<Per, f64>,
    file: &str,
) -> Result<(), String> {
    let (Some(usd), 1) = (prices.get(&Per::Hour), prices.len()) else {
        return Err(format!(
            "`{}` is a machine, and has a price per hour alone",
            machine.name
        ));
    };
    machine.price = Some(HourlyPrice {
        linux: Some(*usd),
        windows: Some(*usd),
    });
    machine.price_assumed = PriceAssumed::default();
    machine.licence_apart = false;
    machine.own_price_list = Some(file.to_owned());
    Ok(())
}

/// Parts that are not given keep their list price; parts that are free stay free.
fn of_disk(disk: &mut DiskEntry, prices: &BTreeMap<Per, f64>, file: &str) -> Result<(), String> {
    let name = &disk.name;
    for (per, unit) in [(Per::Hour, "hour"), (Per::CoreHour, "core-hour")] {
        if prices.contains_key(&per) {
            return Err(format!("`{name}` is a disk, and is not priced per {unit}"));
        }
    }
    let price = match (prices.get(&Per::Month), &disk.price) {
        (Some(usd), _) if prices.len() == 1 && is_one_thing(disk) => Price::Whole { usd: *usd },
        (Some(_), _) if prices.len() == 1 => {
            return Err(format!(
                "`{name}` comes in several sizes or rates: give its price per GiB, and per IOPS and MB/s where these are \
                 provisioned"
            ));
        }
        (Some(_), _) => {
            return Err(format!(
                "`{name}` has a price per month and one of its parts; keep one or the other"
            ));
        }
        (None, Some(Price::Parts(list))) => {
            let steps = |list: &[Step], per| match prices.get(&per) {
                None => list.to_vec(),
                Some(usd) => {
                    let above = list.first().map_or(0, |step| step.above);
                    vec![Step { above, usd: *usd }]
                }
            };
            // If a part has two units, the given one replaces the other.
            let (mib, mb) = (
                prices.contains_key(&Per::MibPerS),
                prices.contains_key(&Per::MbPerS),
            );
            let in_other_unit =
                (mib && !list.per_mb_per_s.is_empty()) || (mb && !list.per_mib_per_s.is_empty());
            if in_other_unit {
                let unit = if mib { "MB/s" } else { "MiB/s" };
                return Err(format!(
                    "`{name}` is sold by {unit}; give its price per {unit}"
                ));
            }
            Price::Parts(Parts {
                per_gib: *prices.get(&Per::Gib).unwrap_or(&list.per_gib),
                billed_size: list.billed_size.clone(),
                iops_free: list.iops_free,
                per_iops: steps(&list.per_iops, Per::Iops),
                per_mib_per_s: steps(&list.per_mib_per_s, Per::MibPerS),
                per_mb_per_s: steps(&list.per_mb_per_s, Per::MbPerS),
            })
        }
        (None, Some(Price::Whole { .. }) | None) => parts(disk, prices)?,
    };
    disk.price = Some(price);
    disk.own_price_list = Some(file.to_owned());
    Ok(())
}

/// Whether a disk has nothing to configure, so that it can have one price.
fn is_one_thing(disk: &DiskEntry) -> bool {
    let is_asked = matches!(disk.limits.iops, Some(Limit::Provisioned { .. }))
        || matches!(disk.limits.throughput, Some(Limit::Provisioned { .. }));
    matches!(disk.size, SizeRule::Fixed(_)) && !is_asked
}

/// The price of a disk without list prices: all parts that it is provisioned by must be given.
fn parts(disk: &DiskEntry, prices: &BTreeMap<Per, f64>) -> Result<Price, String> {
    let mut missing = Vec::new();
    if !prices.contains_key(&Per::Gib) {
        missing.push("GiB");
    }
    if matches!(disk.limits.iops, Some(Limit::Provisioned { .. }))
        && !prices.contains_key(&Per::Iops)
    {
        missing.push("IOPS");
    }
    let has_throughput = prices.contains_key(&Per::MbPerS) || prices.contains_key(&Per::MibPerS);
    if matches!(disk.limits.throughput, Some(Limit::Provisioned { .. })) && !has_throughput {
        missing.push("MB/s");
    }
    if !missing.is_empty() {
        return Err(format!(
            "`{}` has no list price of its parts, so that its price per {} is needed too (0 where it is free), or one per \
             month",
            disk.name,
            missing.join(" and ")
        ));
    }
    let step = |per| {
        let usd = prices.get(&per);
        usd.map(|usd| Step {
            above: 0,
            usd: *usd,
        })
        .into_iter()
        .collect()
    };
    Ok(Price::Parts(Parts {
        per_gib: prices[&Per::Gib],
        billed_size: None,
        iops_free: None,
        per_iops: step(Per::Iops),
        per_mib_per_s: step(Per::MibPerS),
        per_mb_per_s: step(Per::MbPerS),
    }))
}

#[cfg(test)]
mod tests;
