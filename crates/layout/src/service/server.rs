//! A server of a managed service, as an arm of an experiment has it.

use std::collections::{BTreeMap, BTreeSet};

use catalogue::{Catalogue, Limit, MachineEntry, Provision, Provisioned, Service, ServiceStorage};
use experiment::spec::{Disk, Role, Settings, Volume};
use model::{Bytes, Iops, Rate, Throughput};

/// A server.
#[derive(Clone, Debug)]
pub struct Server<'a> {
    /// Its service.
    pub service: &'a Service,
    /// Its class.
    pub class: &'a MachineEntry,
    /// Its volumes.
    pub volumes: Vec<Held<'a>>,
}

/// A volume of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Held<'a> {
    /// Its name in the experiment.
    pub name: String,
    /// What the service says of its storage.
    pub rule: &'a ServiceStorage,
    /// Its size; `None` inside the class.
    pub size: Option<Bytes>,
    /// Provisioned IOPS, where they are provisioned.
    pub iops: Option<Iops>,
    /// Provisioned throughput, where it is provisioned.
    pub throughput: Option<Throughput>,
    /// The roles whose files are on it.
    pub roles: BTreeSet<Role>,
}

impl<'a> Server<'a> {
    /// The server of an arm; `None` where its machine is not a class of a service.
    pub fn of(settings: &Settings, catalogue: &'a Catalogue) -> Option<Server<'a>> {
        let class = catalogue.machine(settings.machine.kind.as_ref()?).ok()?;
        let service = catalogue.service_of(&class.name)?;
        let held = |volume: &Volume| {
            let roles = Role::ALL.into_iter().filter(|role| {
                let mut files = settings.placement.files(*role).iter();
                files.any(|file| file.volume == volume.name)
            });
            Held::of(volume, roles.collect(), service, catalogue)
        };
        Some(Server {
            service,
            class,
            volumes: settings.volumes.iter().filter_map(held).collect(),
        })
    }

    /// Its class, as commands call it.
    pub(super) fn class_name(&self) -> &str {
        let rest = self.class.name.strip_prefix(self.service.types.as_str());
        rest.map_or(self.class.name.as_str(), |rest| {
            rest.trim_start_matches('.')
        })
    }

    /// Its volumes that the service counts, the one with the data first; those that are a file each are not among them.
    pub fn counted(&self) -> Vec<&Held<'a>> {
        let counted = self.volumes.iter();
        let counted = counted.filter(|held| held.rule.is_counted() && !held.rule.file_each);
        let mut counted: Vec<&Held<'a>> = counted.collect();
        counted.sort_by_key(|held| !held.roles.contains(&Role::Data));
        counted
    }

    /// Where the server sees its volumes, by their names; empty where the service has one.
    pub fn drives(&self) -> BTreeMap<String, String> {
        let change = self.service.change.as_ref();
        let Some(volumes) = change.and_then(|change| change.volumes.as_ref()) else {
            return BTreeMap::new();
        };
        let counted = self.counted().into_iter().zip(&volumes.places);
        let counted = counted.map(|(held, place)| (held.name.clone(), place.clone()));
        let local = self.volumes.iter().filter(|held| held.rule.is_local());
        let local = local.map(|held| (held.name.clone(), volumes.local.clone()));
        counted.chain(local).collect()
    }

    /// The storage that it has reserved: that of its first volume, or of all files that are volumes.
    pub(super) fn size(&self) -> Option<Bytes> {
        if let Some(first) = self.counted().first() {
            return first.size;
        }
        let each = self.volumes.iter().filter(|held| held.rule.file_each);
        let sizes: Option<Vec<u64>> = each.map(|held| Some(held.size?.0)).collect();
        let sizes = sizes.filter(|sizes| !sizes.is_empty())?;
        Some(Bytes(sizes.into_iter().fold(0, u64::saturating_add)))
    }

    /// Whether it has a volume that exists only beside others.
    pub(super) fn has_log_volume(&self) -> bool {
        self.volumes.iter().any(|held| !held.rule.beside.is_empty())
    }

    /// Whether its class has disks inside.
    pub(crate) fn has_local(&self) -> bool {
        self.class.local_disks.is_some_and(|disks| disks > 0)
    }

    /// Whether its temporary files are on these.
    pub(crate) fn has_temp_local(&self) -> bool {
        let mut volumes = self.volumes.iter();
        volumes.any(|held| held.rule.is_local() && held.roles.contains(&Role::Temp))
    }
}

impl<'a> Held<'a> {
    fn of(
        volume: &Volume,
        roles: BTreeSet<Role>,
        service: &'a Service,
        catalogue: &Catalogue,
    ) -> Option<Held<'a>> {
        let disk = match &volume.disk {
            Disk::Unlimited | Disk::Recorded => return None,
            Disk::Local | Disk::Catalogue(_) => volume.disk.to_string(),
        };
        let rule = service.storage_of(&disk)?;
        let entry = catalogue.disk(&disk).ok();
        let provisioned = entry.and_then(|entry| {
            let asked = Provision {
                size: volume.provision.size,
                iops: volume.provision.iops,
                throughput: volume.provision.throughput,
                bursting: false,
            };
            let provisioned = entry.provision(&asked).ok()?;
            Some((entry, provisioned))
        });
        let mut held = Held {
            name: volume.name.clone(),
            rule,
            size: None,
            iops: None,
            throughput: None,
            roles,
        };
        if let Some((entry, Provisioned { spec, .. })) = provisioned {
            held.size = Some(spec.size);
            let limits = entry.limits_at(spec.size);
            for limit in &spec.limits {
                match limit.rate {
                    Rate::Iops(iops) if matches!(limits.iops, Some(Limit::Provisioned { .. })) => {
                        held.iops = Some(iops);
                    }
                    Rate::Throughput(rate)
                        if matches!(limits.throughput, Some(Limit::Provisioned { .. })) =>
                    {
                        held.throughput = Some(rate);
                    }
                    Rate::Iops(_) | Rate::Throughput(_) => {}
                }
            }
        }
        Some(held)
    }
}
