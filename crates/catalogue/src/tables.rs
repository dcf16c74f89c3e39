//! Tables beside that of machines: sizes with fewer processors, processors that can be left off, licences and editions.

use model::Bytes;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::Catalogue;
use super::commitment::{BackupPrice, Commitment};
use super::cpu_options::CpuOptions;
use super::each_row;
use super::error::CatalogueError;
use super::licence::{Edition, LicenceRate};
use super::machine::MachineEntry;
use super::price;
use super::processor::Processor;
use super::read::{at_line, insert, lookup, sources};

/// A size that is another one with fewer processors.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConstrainedRow {
    name: String,
    base: String,
    cores: u32,
    sources: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CpuOptionsRow {
    name: String,
    cores: String,
    threads: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProcessorRow {
    cloud: String,
    processor: String,
    speed: f64,
    low: f64,
    high: f64,
    machines: u32,
    all_core_ghz: Option<f64>,
    boost_ghz: Option<f64>,
    families: String,
    sources: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BurstableRow {
    name: String,
    baseline: f64,
    sources: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LicenceRow {
    product: String,
    edition: String,
    cloud: String,
    system: String,
    usd_hour_core: f64,
    cores_min: Option<u32>,
    with_system: String,
    counted: String,
    sources: String,
    flags: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VisibleCoresRow {
    cloud: String,
    families: String,
    sources: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EditionRow {
    product: String,
    edition: String,
    title: String,
    from: u32,
    until: Option<u32>,
    cores_max: Option<u32>,
    memory_max_mib: Option<u64>,
    database_max_gib: Option<u64>,
    lacks: String,
    sources: String,
    flags: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CommitmentRow {
    cloud: String,
    years: u32,
    share: f64,
    title: String,
    sources: String,
    assumed: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BackupRow {
    cloud: String,
    usd_gib_month: f64,
    sources: String,
}

/// Flags of licences, each with the assumption that it stands for.
const ASSUMED: [(&str, &str); 3] = [
    (
        "less-windows",
        "the licence with Linux: the rate with Windows, less the $0.046 that Windows costs",
    ),
    (
        "own-media",
        "the licence: free as elsewhere, installed from media of one's own",
    ),
    ("of-2019", "the licence: a price of 2019, of one size"),
];

/// What a licence is counted by that falls with the processors that are switched on.
const SWITCHED_ON: &str = "switched-on";

/// Flag of editions that may not be used in production.
const NOT_FOR_PRODUCTION: &str = "not-for-production";

/// Adds the sizes of a table, each as the size that it is made of, with fewer processors.
///
/// # Errors
/// The first error, with its line.
pub(super) fn constrained(
    catalogue: &mut Catalogue,
    text: &str,
    file: &str,
) -> Result<(), CatalogueError> {
    each(text, file, |row: ConstrainedRow| {
        let mut machine = lookup(&catalogue.machines, "machine", &row.base)?.clone();
        if row.cores == 0 || row.cores >= machine.spec.cores {
            return Err(format!(
                "`{}`: {} processors are not fewer than the {} of `{}`",
                row.name, row.cores, machine.spec.cores, row.base
            ));
        }
        machine.spec.cores = row.cores;
        let more = sources(catalogue, &ids(&row.sources))?.into_iter();
        let more = more.filter(|source| !machine.sources.contains(source));
        let more: Vec<_> = more.collect();
        machine.sources.extend(more);
        machine.name.clone_from(&row.name);
        machine.aliases.clear();
        machine.base = Some(row.base);
        insert(&mut catalogue.machines, &row.name, machine)
    })
}

/// Adds which processors can be left off.
///
/// # Errors
/// The first error, with its line.
pub(super) fn cpu_options(
    catalogue: &mut Catalogue,
    text: &str,
    file: &str,
) -> Result<(), CatalogueError> {
    each(text, file, |row: CpuOptionsRow| {
        let options = CpuOptions::read(&row.cores, &row.threads)
            .map_err(|why| format!("`{}`: {why}", row.name))?;
        lookup(&catalogue.machines, "machine", &row.name)?;
        let machine = catalogue.machines.get_mut(&row.name);
        machine.expect("it was looked up").cpu_options = Some(options);
        Ok(())
    })
}

/// Adds the series whose machines show any number of their cores, with one or two threads each.
///
/// # Errors
/// The first error, with its line.
pub(super) fn visible_cores(
    catalogue: &mut Catalogue,
    text: &str,
    file: &str,
) -> Result<(), CatalogueError> {
    each(text, file, |row: VisibleCoresRow| {
        let more = sources(catalogue, &ids(&row.sources))?;
        for family in row.families.split_whitespace() {
            for machine in of_family(catalogue, &row.cloud, family)? {
                machine.cpu_options = CpuOptions::any_of(machine.spec.cores);
                let known = machine.sources.clone();
                let new = more.iter().filter(|source| !known.contains(source));
                machine.sources.extend(new.cloned());
            }
        }
        Ok(())
    })
}

/// The machines of a series.
///
/// # Errors
/// There is none.
fn of_family<'a>(
    catalogue: &'a mut Catalogue,
    cloud: &str,
    family: &str,
) -> Result<Vec<&'a mut MachineEntry>, String> {
    let begins = format!("{cloud}.");
    let all = catalogue.machines.values_mut();
    let all = all.filter(|machine| machine.family == family && machine.name.starts_with(&begins));
    let all: Vec<&mut MachineEntry> = all.collect();
    match all.is_empty() {
        true => Err(format!("no machine of {cloud} is of `{family}`")),
        false => Ok(all),
    }
}

/// Adds the processors of series.
///
/// # Errors
/// The first error, with its line.
pub(super) fn processors(
    catalogue: &mut Catalogue,
    text: &str,
    file: &str,
) -> Result<(), CatalogueError> {
    each(text, file, |row: ProcessorRow| {
        if !(0.0 < row.low && row.low <= row.speed && row.speed <= row.high) {
            return Err(format!(
                "`{}`: {} is not from {} to {}, all above 0",
                row.processor, row.speed, row.low, row.high
            ));
        }
        let processor = Processor {
            sources: sources(catalogue, &ids(&row.sources))?,
            model: row.processor,
            speed: row.speed,
            spread: [row.low, row.high],
            machines: row.machines,
            all_core_ghz: row.all_core_ghz,
            boost_ghz: row.boost_ghz,
        };
        for family in row.families.split_whitespace() {
            for machine in of_family(catalogue, &row.cloud, family)? {
                machine.processor = Some(processor.clone());
            }
        }
        Ok(())
    })
}

/// Adds what burstable machines may use of their processors in the long run.
///
/// # Errors
/// The first error, with its line.
pub(super) fn burstable(
    catalogue: &mut Catalogue,
    text: &str,
    file: &str,
) -> Result<(), CatalogueError> {
    each(text, file, |row: BurstableRow| {
        if !(0.0 < row.baseline && row.baseline < 1.0) {
            return Err(format!(
                "{} is not a share of processors; write one above 0 and below 1",
                row.baseline
            ));
        }
        lookup(&catalogue.machines, "machine", &row.name)?;
        let more = sources(catalogue, &ids(&row.sources))?.into_iter();
        let machine = catalogue.machines.get_mut(&row.name);
        let machine = machine.expect("it was looked up");
        machine.baseline = Some(row.baseline);
        let more: Vec<_> = more
            .filter(|source| !machine.sources.contains(source))
            .collect();
        machine.sources.extend(more);
        Ok(())
    })
}

/// Adds what licences cost.
///
/// # Errors
/// The first error, with its line.
pub(super) fn licences(
    catalogue: &mut Catalogue,
    text: &str,
    file: &str,
) -> Result<(), CatalogueError> {
    each(text, file, |row: LicenceRow| {
        price::check(row.usd_hour_core)?;
        let windows = match row.system.as_str() {
            "" => None,
            "linux" => Some(false),
            "windows" => Some(true),
            other => return Err(format!("`{other}` is not `linux` or `windows`")),
        };
        let assumed = |flag: &str| {
            let found = ASSUMED.iter().find(|(name, _)| *name == flag);
            let found = found.map(|(_, text)| (*text).to_owned());
            found.ok_or_else(|| format!("there is no flag `{flag}`"))
        };
        let licence = LicenceRate {
            own_price_list: None,
            sources: sources(catalogue, &ids(&row.sources))?,
            assumed: row
                .flags
                .split_whitespace()
                .map(assumed)
                .collect::<Result<_, _>>()?,
            product: row.product,
            edition: row.edition,
            cloud: row.cloud,
            windows,
            usd_hour_core: row.usd_hour_core,
            cores_min: row.cores_min.unwrap_or(0),
            counts_switched_on: row.counted == SWITCHED_ON,
            with_system: row.with_system == "yes",
        };
        catalogue.licences.push(licence);
        Ok(())
    })
}

/// Adds what editions can use.
///
/// # Errors
/// The first error, with its line.
pub(super) fn editions(
    catalogue: &mut Catalogue,
    text: &str,
    file: &str,
) -> Result<(), CatalogueError> {
    each(text, file, |row: EditionRow| {
        let edition = Edition {
            sources: sources(catalogue, &ids(&row.sources))?,
            product: row.product,
            name: row.edition,
            title: row.title,
            from: row.from,
            until: row.until,
            cores_max: row.cores_max,
            memory_max: row.memory_max_mib.map(|mib| Bytes(mib << 20)),
            database_max: row.database_max_gib.map(Bytes::gib),
            lacks: row
                .lacks
                .split("; ")
                .filter(|what| !what.is_empty())
                .map(str::to_owned)
                .collect(),
            not_for_production: row.flags == NOT_FOR_PRODUCTION,
        };
        catalogue.editions.push(edition);
        Ok(())
    })
}

/// Adds what commitments make of prices.
///
/// # Errors
/// The first error, with its line.
pub(super) fn commitments(
    catalogue: &mut Catalogue,
    text: &str,
    file: &str,
) -> Result<(), CatalogueError> {
    each(text, file, |row: CommitmentRow| {
        if !(0.0..=1.0).contains(&row.share) {
            return Err(format!(
                "{} is not a share of a price; write 0 to 1",
                row.share
            ));
        }
        let commitment = Commitment {
            sources: sources(catalogue, &ids(&row.sources))?,
            cloud: row.cloud,
            years: row.years,
            share: row.share,
            title: row.title,
            assumed: row.assumed,
        };
        catalogue.commitments.push(commitment);
        Ok(())
    })
}

/// Adds what snapshots cost.
///
/// # Errors
/// The first error, with its line.
pub(super) fn backups(
    catalogue: &mut Catalogue,
    text: &str,
    file: &str,
) -> Result<(), CatalogueError> {
    each(text, file, |row: BackupRow| {
        price::check(row.usd_gib_month)?;
        let backup = BackupPrice {
            sources: sources(catalogue, &ids(&row.sources))?,
            cloud: row.cloud,
            usd_gib_month: row.usd_gib_month,
        };
        catalogue.backups.push(backup);
        Ok(())
    })
}

/// Reads each row of a table.
fn each<T: DeserializeOwned>(
    text: &str,
    file: &str,
    mut read: impl FnMut(T) -> Result<(), String>,
) -> Result<(), CatalogueError> {
    let rows = each_row::each(text, |_, row| read(row));
    rows.map_err(|error| at_line(file, error.line, error.message))
}

fn ids(sources: &str) -> Vec<String> {
    sources.split_whitespace().map(str::to_owned).collect()
}
