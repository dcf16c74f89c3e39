//! Prices that a user pays, in place of list prices: a table of three columns.
//!
//! ```text
//! name,usd,per
//! azure.E8bds_v5,0.41,hour
//! azure.premium.p30,101,month
//! aws.gp3,0.064,GiB
//! aws.gp3,0.004,IOPS
//! ```

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::Catalogue;
use super::disk::DiskEntry;
use super::error::CatalogueError;
use super::hourly_price::{HourlyPrice, PriceAssumed};
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
}

/// Valid values of `per`.
const UNITS: [(&str, Per); 6] = [
    ("hour", Per::Hour),
    ("month", Per::Month),
    ("GiB", Per::Gib),
    ("IOPS", Per::Iops),
    ("MB/s", Per::MbPerS),
    ("MiB/s", Per::MibPerS),
];

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
        let entry = catalogue.unaliased(name).to_owned();
        let result = match (
            catalogue.disks.get_mut(&entry),
            catalogue.machines.get_mut(&entry),
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
    machine.own_price_list = Some(file.to_owned());
    Ok(())
}

/// Parts that are not given keep their list price; parts that are free stay free.
fn of_disk(disk: &mut DiskEntry, prices: &BTreeMap<Per, f64>, file: &str) -> Result<(), String> {
    let name = &disk.name;
    if prices.contains_key(&Per::Hour) {
        return Err(format!("`{name}` is a disk, and is not priced per hour"));
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
    let is_asked = matches!(disk.limits.iops, Some(Limit::Asked { .. }))
        || matches!(disk.limits.throughput, Some(Limit::Asked { .. }));
    matches!(disk.size, SizeRule::Fixed(_)) && !is_asked
}

/// The price of a disk without list prices: all parts that it is provisioned by must be given.
fn parts(disk: &DiskEntry, prices: &BTreeMap<Per, f64>) -> Result<Price, String> {
    let mut missing = Vec::new();
    if !prices.contains_key(&Per::Gib) {
        missing.push("GiB");
    }
    if matches!(disk.limits.iops, Some(Limit::Asked { .. })) && !prices.contains_key(&Per::Iops) {
        missing.push("IOPS");
    }
    let has_throughput = prices.contains_key(&Per::MbPerS) || prices.contains_key(&Per::MibPerS);
    if matches!(disk.limits.throughput, Some(Limit::Asked { .. })) && !has_throughput {
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
        per_iops: step(Per::Iops),
        per_mib_per_s: step(Per::MibPerS),
        per_mb_per_s: step(Per::MbPerS),
    }))
}

#[cfg(test)]
mod tests {
    use model::Bytes;

    use super::super::{Catalogue, Provision};

    fn with(rows: &str) -> Result<Catalogue, String> {
        let mut catalogue = Catalogue::builtin();
        let text = format!("name,usd,per\n{rows}");
        match catalogue.add_prices(&text, "own.csv") {
            Ok(_) => Ok(catalogue),
            Err(error) => Err(error.to_string()),
        }
    }

    fn refused(rows: &str) -> String {
        with(rows).expect_err("it is wrong")
    }

    #[test]
    fn own_prices_stand_in_place_of_list_prices_and_what_is_free_stays_free() {
        let rows = "aws.gp3,0.064,GiB\naws.gp3,0.004,IOPS\nazure.premium.p30,101,month\naws.r6i.large,0.1,hour\n";
        let catalogue = with(rows).expect("they are prices");
        let asked = Provision {
            size: Some(Bytes::gib(100)),
            iops: Some(model::Iops(4_000)),
            ..Provision::default()
        };
        let gp3 = catalogue.disk("aws.gp3").expect("it is there");
        let usd = gp3.provision(&asked).expect("it is sold").usd_per_month;
        // 100 GiB at 6.4 cents, and 1,000 IOPS above the 3,000 that are free.
        assert!((usd.expect("it has one") - 10.4).abs() < 1e-9);
        assert_eq!(gp3.price_list().as_deref(), Some("own.csv"));
        let machine = catalogue.machine("aws.r6i.large").expect("it is there");
        let price = machine.price.expect("it has one");
        assert_eq!((price.linux, price.windows), (Some(0.1), Some(0.1)));
        assert_eq!(machine.price_list().as_deref(), Some("own.csv"));
    }

    #[test]
    fn a_wrong_row_is_named_with_its_line_and_what_to_write() {
        let error = refused("aws.gp3,0.064,\n");
        assert!(
            error.starts_with("own.csv:2: `aws.gp3` has no unit"),
            "{error}"
        );
        assert!(
            refused("aws.gp3,1,GB\n").contains("`GB` is not a unit; in `per`, write one of hour")
        );
        assert!(refused("aws.gp3,x,GiB\n").starts_with("own.csv:2: "));
        assert!(refused("aws.gp3,-1,GiB\n").contains("-1 is not a price"));
        assert!(refused("aws.gp33,1,GiB\n").contains("`aws.gp3`"));
        assert!(refused("aws.gp3,1,hour\n").contains("not priced per hour"));
        assert!(refused("aws.r6i.large,1,month\n").contains("per hour alone"));
        assert!(refused("aws.gp3,1,month\naws.gp3,1,GiB\n").contains("one or the other"));
        assert!(refused("aws.gp3,1,GiB\naws.gp3,2,GiB\n").starts_with("own.csv:3: "));
        assert!(refused("aws.gp3,1,MB/s\n").contains("sold by MiB/s"));
        assert!(refused("aws.gp3,40,month\n").contains("comes in several sizes or rates"));
        assert!(refused("azure.blob_std_2013,1,IOPS\n").contains("price per GiB is needed too"));
        let error = Catalogue::builtin().add_prices("disk,usd\n", "own.csv");
        let error = error.expect_err("other columns").to_string();
        assert!(error.contains("they have to be `name,usd,per`"), "{error}");
    }

    #[test]
    fn a_discount_is_taken_off_every_price() {
        let mut catalogue = Catalogue::builtin();
        let usd = |catalogue: &Catalogue| {
            let disk = catalogue.disk("azure.premium.p30").expect("it is there");
            let disk = disk.provision(&Provision::default()).expect("it is sold");
            let machine = catalogue.machine("aws.r6i.large").expect("it is there");
            let machine = machine.price.expect("it has one");
            [disk.usd_per_month, machine.linux, machine.windows].map(Option::unwrap)
        };
        let list = usd(&catalogue);
        catalogue.discount(0.3);
        for (own, list) in usd(&catalogue).into_iter().zip(list) {
            assert!((own / list - 0.7).abs() < 1e-9, "{own} of {list}");
        }
        let list = catalogue
            .disk("azure.premium.p30")
            .expect("it is there")
            .price_list();
        assert!(list.expect("it has one").ends_with(", less 30 %"));
    }
}
