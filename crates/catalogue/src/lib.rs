//! Disks, machines and managed tiers: what vendors sell, with source and date of every figure.
//!
//! The catalogue is data (`entries/*.toml`), so that a new disk is one entry and no code. A name
//! leads to an entry; an entry, with what the user asks of it, becomes a [`model::DiskSpec`]:
//!
//! ```text
//! file text, or a row -> wire -> read -> entries -> provision -> model::DiskSpec
//!                                                   -> model::MachineSpec
//! ```
//!
//! ```
//! use catalogue::Catalogue;
//!
//! let disk = Catalogue::builtin().disk("azure.premium.p30").expect("it is built in").clone();
//! assert_eq!(disk.name, "azure.premium.p30");
//! ```

mod after_stop;
mod class;
mod commitment;
mod cpu_options;
mod disk;
mod error;
mod host_caching;
mod latency;
mod licence;
mod limit_value;
mod limits;
mod machine;
mod near;
mod on_machines;
mod own_prices;
mod price;
mod processor;
mod query;
mod range;
mod read;
mod rows;
mod rule;
mod size;
mod source;
mod tables;
mod wire;

#[cfg(test)]
mod published;
#[cfg(test)]
mod published_prices;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

pub use after_stop::AfterStop;
pub use class::Class;
pub use commitment::{BackupPrice, Commitment};
pub use cpu_options::{CpuOption, CpuOptions};
pub use disk::{DiskEntry, Provision, Provisioned};
pub use error::CatalogueError;
pub use host_caching::{CACHED_LIMIT, CacheLatencies, HostCaching};
pub use latency::Latency;
pub use licence::{Edition, LicenceRate};
pub use limit_value::{Ios, LimitValue};
pub use limits::{BurstRule, Bursts, Holds, Limit, Limits};
pub use machine::{Generation, HOURS, HourlyPrice, MachineEntry, PriceAssumed};
use model::{Duration, LatencySpec, Operation};
use near::is_end;
pub use on_machines::{OnMachines, Published};
pub use price::{Parts, PerRequest, Price, Step};
pub use processor::Processor;
pub use query::{MachineQuery, Order, QueryError};
pub use range::Range;
pub use rule::{Linear, Rule, Share, Tier};
pub use size::SizeRule;
pub use source::{Confidence, Known, Source, Spreads, statement_spread};

/// The embedded files, ordered so that references resolve.
const BUILTIN: [(&str, &str); 6] = [
    (
        "catalogue/machines.toml",
        include_str!("../entries/machines.toml"),
    ),
    (
        "catalogue/measured.toml",
        include_str!("../entries/measured.toml"),
    ),
    (
        "catalogue/azure.toml",
        include_str!("../entries/azure.toml"),
    ),
    ("catalogue/aws.toml", include_str!("../entries/aws.toml")),
    ("catalogue/gcp.toml", include_str!("../entries/gcp.toml")),
    (
        "catalogue/managed.toml",
        include_str!("../entries/managed.toml"),
    ),
];

/// Machines, one per row.
const MACHINES: (&str, &str) = (
    "catalogue/machines.csv",
    include_str!("../entries/machines.csv"),
);

/// Host caching, one series per row.
const HOST_CACHES: (&str, &str) = (
    "catalogue/host_caches.csv",
    include_str!("../entries/host_caches.csv"),
);

/// Sizes with fewer processors than the size that they are made of, one per row.
const CONSTRAINED: (&str, &str) = (
    "catalogue/constrained.csv",
    include_str!("../entries/constrained.csv"),
);

/// Processors that can be left off, one machine per row.
const CPU_OPTIONS: (&str, &str) = (
    "catalogue/cpu_options.csv",
    include_str!("../entries/cpu_options.csv"),
);

/// Processors of series, one per row.
const PROCESSORS: (&str, &str) = (
    "catalogue/processors.csv",
    include_str!("../entries/processors.csv"),
);

/// What burstable machines may use of their processors in the long run, one machine per row.
const BURSTABLE: (&str, &str) = (
    "catalogue/burstable.csv",
    include_str!("../entries/burstable.csv"),
);

/// Prices of licences, one per row.
const LICENCES: (&str, &str) = (
    "catalogue/licences.csv",
    include_str!("../entries/licences.csv"),
);

/// What commitments make of prices, one cloud and term per row.
const COMMITMENTS: (&str, &str) = (
    "catalogue/commitments.csv",
    include_str!("../entries/commitments.csv"),
);

/// Prices of snapshots, one cloud per row.
const BACKUPS: (&str, &str) = (
    "catalogue/backups.csv",
    include_str!("../entries/backups.csv"),
);

/// What editions can use, one per row.
const EDITIONS: (&str, &str) = (
    "catalogue/editions.csv",
    include_str!("../entries/editions.csv"),
);

/// All known disks and machines, by name.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    /// Sources that ship with the program.
    shipped_sources: BTreeMap<String, Source>,
    /// Sources of files that were added: the last one of each id.
    sources: BTreeMap<String, Source>,
    classes: BTreeMap<String, Class>,
    disks: BTreeMap<String, DiskEntry>,
    machines: BTreeMap<String, MachineEntry>,
    licences: Vec<LicenceRate>,
    editions: Vec<Edition>,
    commitments: Vec<Commitment>,
    backups: Vec<BackupPrice>,
    /// Other names of disks and machines, such as `aws.gp3` for the current rules of gp3.
    aliases: BTreeMap<String, String>,
}

impl Catalogue {
    /// What ships with the program.
    ///
    /// # Panics
    /// When an embedded file does not parse; a test reads them all.
    pub fn builtin() -> Catalogue {
        let mut catalogue = Catalogue::default();
        for (file, text) in BUILTIN {
            if let Err(error) = catalogue.add(text, file) {
                panic!("the embedded catalogue is broken: {error}");
            }
        }
        let (file, text) = MACHINES;
        let tables = read::table(&mut catalogue, text, file)
            .and_then(|()| read::host_caches(&mut catalogue, HOST_CACHES.1, HOST_CACHES.0))
            .and_then(|()| tables::constrained(&mut catalogue, CONSTRAINED.1, CONSTRAINED.0))
            .and_then(|()| tables::cpu_options(&mut catalogue, CPU_OPTIONS.1, CPU_OPTIONS.0))
            .and_then(|()| tables::processors(&mut catalogue, PROCESSORS.1, PROCESSORS.0))
            .and_then(|()| tables::burstable(&mut catalogue, BURSTABLE.1, BURSTABLE.0))
            .and_then(|()| tables::licences(&mut catalogue, LICENCES.1, LICENCES.0))
            .and_then(|()| tables::editions(&mut catalogue, EDITIONS.1, EDITIONS.0))
            .and_then(|()| tables::commitments(&mut catalogue, COMMITMENTS.1, COMMITMENTS.0))
            .and_then(|()| tables::backups(&mut catalogue, BACKUPS.1, BACKUPS.0));
        if let Err(error) = tables {
            panic!("the embedded catalogue is broken: {error}");
        }
        catalogue.shipped_sources = std::mem::take(&mut catalogue.sources);
        catalogue
    }

    /// Adds the entries of a file of the same format; they may refer to sources, classes and disks
    /// that already exist. A source may reuse an id of another added file: entries keep their own.
    ///
    /// # Errors
    /// When the text is not a catalogue file, refers to something unknown, or defines a name again.
    /// The catalogue is then unchanged.
    pub fn add(&mut self, text: &str, file: &str) -> Result<(), CatalogueError> {
        let mut next = self.clone();
        read::file(&mut next, text, file)?;
        *self = next;
        Ok(())
    }

    /// Puts the prices of a table (`name,usd,per`; per hour, month, GiB, IOPS, MB/s or MiB/s) in place of list prices. Returns
    /// the names of the entries whose price changed.
    ///
    /// # Errors
    /// The first invalid row, with its line. The catalogue is then unchanged.
    pub fn add_prices(
        &mut self,
        text: &str,
        file: &str,
    ) -> Result<BTreeSet<String>, CatalogueError> {
        let mut next = self.clone();
        let names = own_prices::add(&mut next, text, file)?;
        *self = next;
        Ok(names)
    }

    /// Puts `spec` in the place of the latency of requests of one kind to the disk `name`, for the reason that `assumed` says.
    ///
    /// Other disks of its class keep theirs; a disk that is not in the catalogue changes nothing.
    pub fn replace_latency(
        &mut self,
        name: &str,
        operation: Operation,
        spec: LatencySpec,
        assumed: String,
    ) {
        let name = self.unaliased(name).to_owned();
        let Some(disk) = self.disks.get_mut(&name) else {
            return;
        };
        let latency = match operation {
            Operation::Read => &mut disk.class.read,
            Operation::Write => &mut disk.class.write,
            Operation::Flush => &mut disk.class.flush,
        };
        *latency = Latency {
            spec,
            known: Known::Assumed,
            between: Known::Assumed.spread(),
            is_between_assumed: true,
            assumed: Some(assumed),
            sources: Vec::new(),
        };
    }

    /// Makes the flush of every disk take `more` time, for the reason that `assumed` says.
    pub fn lengthen_flushes(&mut self, more: Duration, assumed: &str) {
        for disk in self.disks.values_mut() {
            let flush = &mut disk.class.flush;
            let mean = flush.spec.mean();
            flush.spec = flush.spec.scaled(mean, mean + more);
            flush.assumed = Some(match &flush.assumed {
                Some(known) => format!("{known}; {assumed}"),
                None => assumed.to_owned(),
            });
        }
    }

    /// Takes a share, 0 to 1, off every price.
    pub fn discount(&mut self, share: f64) {
        // Without floating-point error of the product.
        let off = format!("less {} %", (share * 1e4).round() / 1e2);
        for disk in self.disks.values_mut() {
            let list = disk.price_list();
            disk.own_price_list = list.map(|list| format!("{list}, {off}"));
            if let Some(price) = &mut disk.price {
                price.discount(share);
            }
            if let Some(requests) = &mut disk.requests {
                requests.usd_per_10000 *= 1.0 - share;
            }
        }
        for machine in self.machines.values_mut() {
            let list = machine.price_list();
            machine.own_price_list = list.map(|list| format!("{list}, {off}"));
            let less = |usd: Option<f64>| usd.map(|usd| usd * (1.0 - share));
            machine.price = machine.price.map(|price| HourlyPrice {
                linux: less(price.linux),
                windows: less(price.windows),
            });
        }
        for backup in &mut self.backups {
            backup.usd_gib_month *= 1.0 - share;
        }
    }

    /// What a commitment of so many years makes of the price of a cloud's machines; `None` where that is not known.
    pub fn commitment(&self, cloud: &str, years: u32) -> Option<&Commitment> {
        let mut all = self.commitments.iter();
        all.find(|one| one.cloud == cloud && one.years == years)
    }

    /// What a cloud's snapshots of disks cost; `None` where that is not known.
    pub fn backup(&self, cloud: &str) -> Option<&BackupPrice> {
        self.backups.iter().find(|one| one.cloud == cloud)
    }

    /// The disk of this name or alias.
    ///
    /// # Errors
    /// When it does not exist; the error lists the nearest names.
    pub fn disk(&self, name: &str) -> Result<&DiskEntry, CatalogueError> {
        let found = self.disks.get(self.unaliased(name));
        found.ok_or_else(|| CatalogueError::unknown("disk", name, self.names_of(&self.disks)))
    }

    /// The disks that `name` may refer to: the one of this name or alias, or else those whose name or alias ends in it after a
    /// dot, as `azure.premium.p30` for `P30`; case is ignored.
    pub fn disks_meant(&self, name: &str) -> Vec<&DiskEntry> {
        self.meant(&self.disks, name)
    }

    /// The machine of this name or alias.
    ///
    /// # Errors
    /// When it does not exist; the error lists the nearest names.
    pub fn machine(&self, name: &str) -> Result<&MachineEntry, CatalogueError> {
        let found = self.machines.get(self.unaliased(name));
        found.ok_or_else(|| CatalogueError::unknown("machine", name, self.names_of(&self.machines)))
    }

    /// The machines that `name` may refer to; see [`Catalogue::disks_meant`].
    pub fn machines_meant(&self, name: &str) -> Vec<&MachineEntry> {
        self.meant(&self.machines, name)
    }

    /// All disks, by name.
    pub fn disks(&self) -> impl Iterator<Item = &DiskEntry> {
        self.disks.values()
    }

    /// All machines, by name.
    pub fn machines(&self) -> impl Iterator<Item = &MachineEntry> {
        self.machines.values()
    }

    /// What is known of the editions of a licensed database, by version; none where a product needs no licence.
    pub fn editions<'a>(&'a self, product: &str) -> impl Iterator<Item = &'a Edition> {
        let editions = self.editions.iter();
        editions.filter(move |edition| edition.product == product)
    }

    /// What a licence of this edition costs by the hour in a cloud, with Windows or with Linux; `None` where that is not known.
    pub fn licence(&self, edition: &Edition, cloud: &str, windows: bool) -> Option<&LicenceRate> {
        self.licences.iter().find(|rate| {
            (&rate.product, &rate.edition) == (&edition.product, &edition.name)
                && rate.cloud == cloud
                && rate.windows.is_none_or(|own| own == windows)
        })
    }

    /// The names of `entries` and their aliases.
    fn names_of<'a, T>(
        &'a self,
        entries: &'a BTreeMap<String, T>,
    ) -> impl Iterator<Item = &'a String> + Clone {
        let aliases = self.aliases.iter();
        let aliases = aliases.filter(|(_, name)| entries.contains_key(*name));
        entries.keys().chain(aliases.map(|(alias, _)| alias))
    }

    fn meant<'a, T>(&'a self, entries: &'a BTreeMap<String, T>, name: &str) -> Vec<&'a T> {
        if let Some(entry) = entries.get(self.unaliased(name)) {
            return vec![entry];
        }
        let ends = self.names_of(entries).filter(|known| is_end(known, name));
        let names: BTreeSet<&str> = ends.map(|known| self.unaliased(known)).collect();
        names
            .into_iter()
            .filter_map(|name| entries.get(name))
            .collect()
    }

    fn unaliased<'a>(&'a self, name: &'a str) -> &'a str {
        self.aliases.get(name).map_or(name, String::as_str)
    }
}
