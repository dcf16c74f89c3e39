//! The catalogue entry of a fitted disk, and the disk that results from it.

use model::{Bytes, DiskSpec, LatencySpec};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, Value, value};

use super::{Fitted, Rates};
use catalogue::{Catalogue, CatalogueError, Provision};
use experiment::spec::Disk;

/// What an entry contains besides the fitted values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// Its name in the catalogue.
    pub name: String,
    /// The volume's capacity.
    pub size: Bytes,
    /// Host it was measured on.
    pub host: String,
    /// Day of the measurement, `2026-01-31`.
    pub date: String,
    /// Version of fio.
    pub fio: String,
    /// A remark on the measurement.
    pub note: String,
}

/// A name that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum EntryError {
    /// It contains characters that names cannot have.
    #[error(
        "\"{0}\" cannot be a disk's name; use 1 to 64 letters, digits, `-`, `_` and `.` (--name)"
    )]
    Name(String),
    /// Experiments use it for something else.
    #[error("\"{0}\" is reserved: experiments call {1} so; choose another --name")]
    Reserved(String, &'static str),
    /// The catalogue already has a disk of this name.
    #[error("\"{0}\" is in the catalogue already (`dbstow disks {0}`); choose another --name")]
    Taken(String),
    /// The catalogue refuses the entry.
    #[error("{0}; choose another --name")]
    Catalogue(#[from] CatalogueError),
}

impl About {
    /// Checks that its name can be that of a new disk of `catalogue`.
    ///
    /// # Errors
    /// When it has invalid characters, is reserved, or is taken.
    pub fn check_name(name: &str, catalogue: &Catalogue) -> Result<(), EntryError> {
        let usual = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let owned = || name.to_owned();
        if !(1..=64).contains(&name.len()) || !name.chars().all(usual) {
            return Err(EntryError::Name(owned()));
        }
        match Disk::from(owned()) {
            Disk::Local => Err(EntryError::Reserved(owned(), "the machine's own disk")),
            Disk::Unlimited => Err(EntryError::Reserved(owned(), "a disk without limits")),
            Disk::Recorded => Err(EntryError::Reserved(
                owned(),
                "a disk as a recording shows it",
            )),
            Disk::Catalogue(_) if catalogue.disk(name).is_ok() => Err(EntryError::Taken(owned())),
            Disk::Catalogue(_) => Ok(()),
        }
    }
}

/// The catalogue file with this one entry.
pub fn entry(fitted: &Fitted, about: &About) -> String {
    let id = format!("calibrated-{}", about.name);
    let origin = format!(
        "calibrated on {} at {} with {}",
        about.host, about.date, about.fio
    );
    let source = table([
        ("title", value(&origin)),
        ("date", value(&about.date)),
        ("note", value(&about.note)),
    ]);
    let mut class = table([("title", value(format!("{}, {origin}", about.name)))]);
    if let Some(transfer) = fitted.transfer {
        class["transfer"] = value(format!("{} B/s", transfer.0));
    }
    if let Some(places) = fitted.in_flight_max {
        class["in_flight_max"] = value(i64::from(places));
    }
    let sources = || value([id.as_str()].into_iter().collect::<Array>());
    for (key, latency) in [
        ("read", fitted.read),
        ("write", fitted.write),
        ("flush", fitted.flush),
    ] {
        class[key] = value(latency_table(latency, &id));
    }
    class["sources"] = sources();
    class["assumed"] = value(fitted.assumed.iter().map(String::as_str).collect::<Array>());
    let mut disk = table([
        ("class", value(&about.name)),
        ("title", value(format!("{}, {origin}", about.name))),
        ("size", value(format!("{} B", about.size.0))),
    ]);
    if let Some(iops) = fitted.iops {
        disk["iops"] = rates(iops, |rate| i64::try_from(rate).unwrap_or(i64::MAX).into());
    }
    if let Some(throughput) = fitted.throughput {
        disk["throughput"] = rates(throughput, |rate| format!("{rate} B/s").into());
    }
    disk["confidence"] = value("measured");
    disk["sources"] = sources();
    if !fitted.warnings.is_empty() {
        let warnings = fitted.warnings.iter().map(String::as_str);
        disk["notes"] = value(warnings.collect::<Array>());
    }
    let mut document = DocumentMut::new();
    for (kind, name, entry) in [
        ("source", &id, source),
        ("class", &about.name, class),
        ("disk", &about.name, disk),
    ] {
        let mut outer = Table::new();
        outer.set_implicit(true);
        outer.insert(name, Item::Table(entry));
        document.insert(kind, Item::Table(outer));
    }
    document.to_string()
}

/// The disk that the catalogue derives from `text`, read as `file`.
///
/// # Errors
/// When the catalogue refuses it.
pub fn disk_of(text: &str, file: &str, name: &str) -> Result<DiskSpec, EntryError> {
    let mut catalogue = Catalogue::builtin();
    catalogue.add(text, file)?;
    let disk = catalogue.disk(name)?;
    Ok(disk.provision(&Provision::default())?.spec)
}

fn table<const N: usize>(rows: [(&str, Item); N]) -> Table {
    let mut table = Table::new();
    for (key, item) in rows {
        table.insert(key, item);
    }
    table
}

fn latency_table(latency: LatencySpec, source: &str) -> InlineTable {
    let mut table = InlineTable::new();
    match latency {
        LatencySpec::Constant { value } => {
            table.insert("value", value.to_string().into());
        }
        // The one of the three shapes that the fit never produces; the catalogue takes its mean.
        LatencySpec::Exponential { mean } => {
            table.insert("mean", mean.to_string().into());
        }
        LatencySpec::LogNormal { p50, p99 } => {
            table.insert("p50", p50.to_string().into());
            table.insert("p99", p99.to_string().into());
        }
    }
    let sources: Array = [source].into_iter().collect();
    table.insert("sources", sources.into());
    // Measured on the volume itself.
    table.insert("known", "documented".into());
    table
}

fn rates(rates: Rates, shown: impl Fn(u64) -> Value) -> Item {
    match rates {
        Rates::Shared(rate) => Item::Value(shown(rate)),
        Rates::Split { read, write } => {
            let mut table = InlineTable::new();
            table.insert("read", shown(read));
            table.insert("write", shown(write));
            value(table)
        }
    }
}
