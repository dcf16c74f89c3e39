//! A managed service: classes that are machines, and rules for what its storage holds.

use std::collections::BTreeMap;

use model::{LimitSpec, MachineSpec, Rate, VolumeSpec};

use super::change::{Change, Switch};
use super::machine::MachineEntry;
use super::source::{Confidence, Source};

/// What an experiment calls the disks inside a machine.
pub(super) const LOCAL: &str = "local";

/// A managed service, with what is known of its storage and classes.
#[derive(Clone, Debug, PartialEq)]
pub struct Service {
    /// Vendor and product, such as `azure-sql-mi-gp`.
    pub name: String,
    /// What it is.
    pub title: String,
    /// How the names of its classes begin, without the last dot.
    pub types: String,
    /// The database product, as profiles name it; `None`: of several.
    pub product: Option<String>,
    /// What it is asked for by, with others of its kind, such as `managed-instance`.
    pub family: String,
    /// What its price includes besides machine and storage, in a few words.
    pub includes: String,
    /// What a server of one's own has and it has not, in a few words.
    pub leaves: String,
    /// Where what its price includes and leaves out comes from.
    pub includes_sources: Vec<Source>,
    /// How a server is changed in place; `None` where that is not known.
    pub change: Option<Change>,
    /// Options of its commands that make a server this tier.
    pub tier: String,
    /// Temporary files on the disk inside the class, where that is chosen apart from the class; as it is for a new server.
    pub temp_local: Option<Switch>,
    /// Why it cannot be modelled, if so; it then has no classes.
    pub not_modelled: Option<String>,
    /// What files can be placed on.
    pub storage: Vec<ServiceStorage>,
    /// How the figures of its classes are known.
    pub confidence: Confidence,
    /// Name of the limit that all rates of its classes' rows are of.
    pub(super) limit: Option<String>,
    /// Class of the disks inside its classes, where those are of no machine.
    pub(super) local_class: Option<String>,
    /// The most files of a server.
    pub(super) files_max: Option<u32>,
    /// The most volumes that a server has, without those that are beside or inside others; `None`: any number.
    pub volumes_max: Option<u32>,
    /// Where files are, in a few words.
    pub lies: Lies,
    /// What a second server in another zone makes of the price.
    pub multi_zone: MultiZone,
    /// Its classes, by their full names.
    pub classes: BTreeMap<String, MachineEntry>,
    /// Where what is known of it comes from.
    pub sources: Vec<Source>,
    /// Assumptions in place of unpublished figures, with the reason.
    pub assumed: Vec<String>,
    /// Remarks for the user.
    pub notes: Vec<String>,
}

/// Where a service keeps files of each role, in a few words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lies {
    /// Data.
    pub data: String,
    /// The log.
    pub log: String,
    /// Temporary objects.
    pub temp: String,
}

/// Factors of the list price of a server that has a standby in another zone; `None` where that is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MultiZone {
    /// Of the class.
    pub class: Option<f64>,
    /// Of its storage.
    pub storage: Option<f64>,
}

/// One type of storage of a service, and what it may hold.
#[derive(Clone, Debug, PartialEq)]
pub struct ServiceStorage {
    /// Name of its entry, or `local`: the disks inside the class.
    pub disk: String,
    /// What commands of the vendor's client call it, where they name it.
    pub code: Option<String>,
    /// Roles of files that can be on it, as in experiments; empty: all.
    pub roles: Vec<String>,
    /// It exists only beside a volume of one of these.
    pub beside: Vec<String>,
    /// Whether its space is part of another volume's.
    pub inside: bool,
    /// The most volumes of it; `None`: as many as the service has.
    pub volumes_max: Option<u32>,
    /// Whether every file has a disk of its own.
    pub file_each: bool,
    /// Whether its limits are shared by all volumes that name the class's limit, and bounded by that.
    pub pool: bool,
    /// The class's limit that it has beside the one that its disk names, such as the cap of a log.
    pub capped: Option<String>,
}

impl Service {
    /// How experiments give one of its storage types for a role: the first that can hold it.
    pub fn storage_for(&self, role: &str) -> impl Iterator<Item = &ServiceStorage> {
        let holds = move |storage: &&ServiceStorage| storage.holds(role);
        self.storage.iter().filter(holds)
    }

    /// The rule of a disk, by its name in experiments.
    pub fn storage_of(&self, disk: &str) -> Option<&ServiceStorage> {
        self.storage.iter().find(|storage| storage.disk == disk)
    }

    /// Whether a server of it becomes one of another in place.
    pub fn becomes(&self, other: &Service) -> bool {
        let name = |service: &Service| service.change.as_ref().map(|change| change.name.clone());
        let is_same = name(self).is_some() && name(self) == name(other);
        is_same && self.product == other.product
    }

    /// Whether a server can have these volumes together: each of a storage type, with files of these roles.
    pub fn takes(&self, volumes: &[(&str, Vec<&str>)]) -> bool {
        let ruled = volumes.iter().map(|(disk, roles)| {
            let storage = self.storage_of(disk)?;
            roles
                .iter()
                .all(|role| storage.holds(role))
                .then_some(storage)
        });
        let Some(ruled) = ruled.collect::<Option<Vec<&ServiceStorage>>>() else {
            return false;
        };
        let count = |of: &dyn Fn(&ServiceStorage) -> bool| {
            let all = ruled.iter().filter(|storage| of(storage)).count();
            u32::try_from(all).unwrap_or(u32::MAX)
        };
        let is_beside = |storage: &ServiceStorage| {
            let others = &storage.beside;
            others.is_empty() || ruled.iter().any(|other| others.contains(&other.disk))
        };
        let is_within = |storage: &ServiceStorage| {
            let same = count(&|other| other.disk == storage.disk);
            let most = storage.volumes_max.or((!storage.is_counted()).then_some(1));
            storage.file_each || most.is_none_or(|most| same <= most)
        };
        let counted = count(&|storage| storage.is_counted() && !storage.file_each);
        self.volumes_max.is_none_or(|most| counted <= most)
            && ruled
                .iter()
                .all(|storage| is_beside(storage) && is_within(storage))
    }

    /// Lets volumes share what the service limits for all of them, each with its rule: a pool becomes the class's limit, and capped
    /// storage has the cap beside that.
    pub fn share(
        rules: &[Option<&ServiceStorage>],
        machine: &mut MachineSpec,
        volumes: &mut [VolumeSpec],
    ) {
        for (volume, rule) in volumes.iter_mut().zip(rules) {
            let Some(rule) = rule else { continue };
            for disk in &mut volume.disks {
                let of_class = disk.machine_limits.first();
                if let Some(limit) = of_class.and_then(|name| machine.limits.get_mut(name))
                    && rule.pool
                {
                    *limit = bounded(std::mem::take(&mut disk.limits), limit);
                }
                let cap = rule
                    .capped
                    .as_ref()
                    .and_then(|name| machine.limits.get(name));
                disk.limits.extend(cap.into_iter().flatten().copied());
            }
        }
    }

    /// Whether a name could be that of one of its classes or storage types.
    pub(super) fn owns(&self, name: &str) -> bool {
        let rest = name.strip_prefix(self.types.as_str());
        rest.is_some_and(|rest| rest.starts_with('.'))
    }
}

impl ServiceStorage {
    /// Whether files of a role can be on it.
    pub fn holds(&self, role: &str) -> bool {
        self.roles.is_empty() || self.roles.iter().any(|known| known == role)
    }

    /// Whether it is inside the class, and not a disk of its own.
    pub fn is_local(&self) -> bool {
        self.disk == LOCAL
    }

    /// Whether it counts among the volumes of which a server has so many.
    pub fn is_counted(&self) -> bool {
        !self.inside && !self.is_local() && self.beside.is_empty()
    }
}

/// What a pool was given, where the class allows as much.
fn bounded(mut own: Vec<LimitSpec>, most: &[LimitSpec]) -> Vec<LimitSpec> {
    for limit in &mut own {
        for bound in most {
            limit.rate = match (limit.rate, bound.rate) {
                (Rate::Iops(own), Rate::Iops(most)) => Rate::Iops(own.min(most)),
                (Rate::Throughput(own), Rate::Throughput(most)) => Rate::Throughput(own.min(most)),
                (own, Rate::Iops(_) | Rate::Throughput(_)) => own,
            };
        }
    }
    own
}
