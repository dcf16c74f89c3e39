//! Managed services that layouts may be on: a class is a machine whose disks are the storage of its service.

use std::collections::BTreeMap;
use std::sync::Arc;

use catalogue::{Catalogue, DiskEntry, MachineEntry, Service};
use reading::Role;

/// Managed services that layouts may be on, and whether machines of one's own are beside them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Services {
    /// By name; empty: machines alone.
    pub(crate) offered: BTreeMap<String, Arc<Service>>,
    /// Whether machines are left out.
    pub(crate) alone: bool,
    /// Title of each that is asked for and cannot be modelled, and why.
    pub(crate) not_modelled: Vec<(String, String)>,
}

/// What a layout is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A machine of one's own.
    Machine,
    /// A managed service.
    Service,
}

impl Services {
    /// Classes of all of them.
    pub(crate) fn classes(&self) -> impl Iterator<Item = (&Arc<Service>, &str)> {
        let services = self.offered.values();
        services.flat_map(|service| {
            let classes = service.classes.keys();
            classes.map(move |class| (service, class.as_str()))
        })
    }

    /// Storage types that can hold files of these roles together, each with the services that have it for them; without disks inside
    /// a class.
    pub(crate) fn storage<'c>(
        &self,
        roles: &[Role],
        catalogue: &'c Catalogue,
    ) -> Vec<(&'c DiskEntry, Vec<String>)> {
        let mut found: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (name, service) in &self.offered {
            for storage in &service.storage {
                if !storage.is_local() && roles.iter().all(|role| storage.holds(role.name())) {
                    found.entry(&storage.disk).or_default().push(name.clone());
                }
            }
        }
        let found = found.into_iter();
        let entry = |(disk, services)| Some((catalogue.disk(disk).ok()?, services));
        found.filter_map(entry).collect()
    }

    /// Whether each file on this storage type has a disk of its own.
    pub(crate) fn has_file_each(&self, disk: &str) -> bool {
        let mut services = self.offered.values();
        services.any(|service| service.storage_of(disk).is_some_and(|one| one.file_each))
    }

    /// The service of a class; `None` for a machine, and a class of another.
    pub(crate) fn of_class(&self, machine: &MachineEntry) -> Option<&Arc<Service>> {
        self.offered.get(machine.service.as_ref()?)
    }
}
