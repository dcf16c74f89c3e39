//! All known disks and machines, by name.

use std::collections::{BTreeMap, BTreeSet};

use model::{Duration, LatencySpec, Operation};

use super::after_stop::AfterStop;
use super::class::Class;
use super::commitment::{BackupPrice, Commitment};
use super::disk::DiskEntry;
use super::error::CatalogueError;
use super::hourly_price::HourlyPrice;
use super::latency::Latency;
use super::licence::{Edition, LicenceRate};
use super::machine::MachineEntry;
use super::near::is_end;
use super::service::{LOCAL, Service};
use super::source::{Known, Source};

/// All known disks and machines, by name.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    /// Sources that ship with the program.
    pub(super) shipped_sources: BTreeMap<String, Source>,
    /// Sources of files that were added: the last one of each id.
    pub(super) sources: BTreeMap<String, Source>,
    pub(super) classes: BTreeMap<String, Class>,
    pub(super) disks: BTreeMap<String, DiskEntry>,
    pub(super) machines: BTreeMap<String, MachineEntry>,
    pub(super) licences: Vec<LicenceRate>,
    pub(super) editions: Vec<Edition>,
    pub(super) commitments: Vec<Commitment>,
    pub(super) backups: Vec<BackupPrice>,
    /// Managed services; their classes are not in the list of machines.
    pub(super) services: BTreeMap<String, Service>,
    /// Storage types of services, which no machine can be given.
    pub(super) storage: BTreeMap<String, DiskEntry>,
    /// Other names of disks and machines, such as `aws.gp3` for the current rules of gp3.
    pub(super) aliases: BTreeMap<String, String>,
}

impl Catalogue {
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
        let disk = match self.disks.get_mut(&name) {
            Some(disk) => Some(disk),
            None => self.storage.get_mut(&name),
        };
        let Some(disk) = disk else {
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
        for disk in self.disks.values_mut().chain(self.storage.values_mut()) {
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
        for disk in self.disks.values_mut().chain(self.storage.values_mut()) {
            let list = disk.price_list();
            disk.own_price_list = list.map(|list| format!("{list}, {off}"));
            if let Some(price) = &mut disk.price {
                price.discount(share);
            }
            if let Some(requests) = &mut disk.requests {
                requests.usd_per_10000 *= 1.0 - share;
            }
        }
        let classes = self.services.values_mut();
        let classes = classes.flat_map(|service| service.classes.values_mut());
        for machine in self.machines.values_mut().chain(classes) {
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

    /// The disk of this name or alias, or the storage type of a managed service.
    ///
    /// # Errors
    /// When it does not exist; the error lists the nearest names.
    pub fn disk(&self, name: &str) -> Result<&DiskEntry, CatalogueError> {
        let found = self.disks.get(self.unaliased(name));
        let found = found.or_else(|| self.storage.get(name));
        found.ok_or_else(|| {
            let others = self.names_of(&self.disks).chain(self.storage.keys());
            self.unknown("disk", name, others)
        })
    }

    /// The disks that `name` may refer to: the one of this name or alias, or else those whose name or alias ends in it after a
    /// dot, as `azure.premium.p30` for `P30`; case is ignored.
    pub fn disks_meant(&self, name: &str) -> Vec<&DiskEntry> {
        self.meant(&self.disks, name)
    }

    /// The machine of this name or alias, or the class of a managed service.
    ///
    /// # Errors
    /// When it does not exist; the error lists the nearest names.
    pub fn machine(&self, name: &str) -> Result<&MachineEntry, CatalogueError> {
        let found = self.machines.get(self.unaliased(name));
        let of_service = || self.services.values().find_map(|one| one.classes.get(name));
        let found = found.or_else(of_service);
        found.ok_or_else(|| self.unknown("machine", name, self.names_of(&self.machines)))
    }

    /// The machines that `name` may refer to; see [`Catalogue::disks_meant`].
    pub fn machines_meant(&self, name: &str) -> Vec<&MachineEntry> {
        self.meant(&self.machines, name)
    }

    /// All disks that machines can be given, by name.
    pub fn disks(&self) -> impl Iterator<Item = &DiskEntry> {
        self.disks.values()
    }

    /// All machines, by name, without the classes of managed services.
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

    /// What a disk holds after its machine was stopped, by the name that an experiment gives it: one of the catalogue, or
    /// `local` for the one inside `machine`. Names without an entry, such as `unlimited`, keep their contents.
    pub fn after_stop(&self, disk: &str, machine: Option<&str>) -> AfterStop {
        if disk != LOCAL {
            let entry = self.disk(disk);
            return entry.map_or(AfterStop::Kept, |entry| entry.class.after_stop);
        }
        let machine = machine.and_then(|name| self.machine(name).ok());
        match machine.and_then(|machine| machine.local_disks_raw) {
            Some(true) => AfterStop::Raw,
            Some(false) | None => AfterStop::Empty,
        }
    }

    /// Why `name`, which is in no list, is not known: it is of a service that is not modelled, or like a class or storage type of
    /// one, or else like one of `others`.
    fn unknown<'a>(
        &'a self,
        kind: &'static str,
        name: &str,
        others: impl Iterator<Item = &'a String> + Clone,
    ) -> CatalogueError {
        let Some(service) = self.services.values().find(|service| service.owns(name)) else {
            return CatalogueError::unknown(kind, name, others);
        };
        match &service.not_modelled {
            Some(why) => CatalogueError::NotModelled {
                kind,
                name: name.to_owned(),
                title: service.title.clone(),
                why: why.clone(),
            },
            None if kind == "machine" => {
                CatalogueError::unknown(kind, name, service.classes.keys()).of_service(service)
            }
            None => {
                let own = service.storage.iter().map(|storage| &storage.disk);
                CatalogueError::unknown(kind, name, own).of_service(service)
            }
        }
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

    pub(super) fn unaliased<'a>(&'a self, name: &'a str) -> &'a str {
        self.aliases.get(name).map_or(name, String::as_str)
    }
}
