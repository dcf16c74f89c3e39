//! Volumes of a managed service: what it has, and which limits they share.

use catalogue::{Catalogue, MachineEntry, Service, ServiceStorage};
use experiment::spec::{self, Disk, Role};
use model::{MachineSpec, VolumeSpec};

/// Why a managed service does not have a placement.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// Its storage has no such type.
    #[error(
        "volume \"{volume}\": {title} has no {disk}; its storage is {known} (`dbstow services {service}`)"
    )]
    NoSuchStorage {
        /// The volume.
        volume: String,
        /// The disk.
        disk: String,
        /// The service.
        service: String,
        /// What it is.
        title: String,
        /// Its storage types.
        known: String,
    },
    /// A machine has storage of a service.
    #[error(
        "volume \"{volume}\": {disk} is storage of {services}, and {machine} is not a class of it; name a class (`dbstow services \
         {first} --classes`), or another disk (`dbstow disks`)"
    )]
    NoService {
        /// The volume.
        volume: String,
        /// The disk.
        disk: String,
        /// The services that have it.
        services: String,
        /// The first of them.
        first: String,
        /// The machine.
        machine: String,
    },
    /// Files of this role cannot be there.
    #[error(
        "placement \"{placement}\" puts {role} on volume \"{volume}\" ({disk}), where {title} does not have it; it can be on {where_else}"
    )]
    NotThere {
        /// The placement.
        placement: String,
        /// The role.
        role: Role,
        /// The volume.
        volume: String,
        /// Its disk.
        disk: String,
        /// The service.
        title: String,
        /// Storage types that can hold it.
        where_else: String,
    },
    /// It exists only beside others.
    #[error(
        "volume \"{volume}\": {title} has {disk} only beside {beside}, and the data is on {data}; use one of these for the data, or leave the volume out"
    )]
    OnlyBeside {
        /// The volume.
        volume: String,
        /// Its disk.
        disk: String,
        /// The service.
        title: String,
        /// What it can be beside.
        beside: String,
        /// What there is.
        data: String,
    },
    /// More volumes than it has.
    #[error(
        "volume \"{volume}\": {title} has at most {most} {what}, and this is number {count}; place its files on another"
    )]
    TooMany {
        /// The first volume that exceeds the number.
        volume: String,
        /// The service.
        title: String,
        /// What is limited.
        what: String,
        /// The number up to this volume.
        count: u32,
        /// The most.
        most: u32,
    },
    /// It stripes by itself.
    #[error(
        "volume \"{volume}\": {title} stripes by itself, so that count = {count} cannot be asked for; leave count out, and give the size of all"
    )]
    Striped {
        /// The volume.
        volume: String,
        /// The service.
        title: String,
        /// What was asked.
        count: u32,
    },
    /// Each file has a disk of its own.
    #[error(
        "placement \"{placement}\" has {files} files on volume \"{volume}\", and in {title} every file has a disk of its own; give each a volume of {disk}"
    )]
    FileEach {
        /// The placement.
        placement: String,
        /// The volume.
        volume: String,
        /// The files on it.
        files: usize,
        /// The service.
        title: String,
        /// Its disk.
        disk: String,
    },
    /// A service has no operating system to choose.
    #[error("machine: {title} has no operating system to choose; leave machine.system out")]
    System {
        /// The service.
        title: String,
    },
}

/// Volumes on a class of a service, each with its rule; `None` for what no service has, such as disks without limits.
pub(super) struct Placed<'a> {
    service: &'a Service,
    class: &'a MachineEntry,
    volumes: Vec<(&'a spec::Volume, Option<&'a ServiceStorage>)>,
}

impl<'a> Placed<'a> {
    /// The volumes of a service; `None` where the machine is not a class of one.
    ///
    /// # Errors
    /// When the service does not have one of them, or a machine has one of a service.
    pub(super) fn of(
        machine: &spec::Machine,
        volumes: &[&'a spec::Volume],
        catalogue: &'a Catalogue,
    ) -> Result<Option<Placed<'a>>, Box<ServiceError>> {
        // Without a type, a machine stands for any: only the limits of its disks are modelled.
        let Some(kind) = &machine.kind else {
            return Ok(None);
        };
        let Some(service) = catalogue.service_of(kind) else {
            check_machine(kind, volumes, catalogue)?;
            return Ok(None);
        };
        let placed = Placed {
            service,
            class: &service.classes[kind],
            volumes: volumes
                .iter()
                .map(|volume| Ok((*volume, rule(service, volume)?)))
                .collect::<Result<_, Box<ServiceError>>>()?,
        };
        if machine.system.is_some() {
            return Err(Box::new(ServiceError::System {
                title: service.title.clone(),
            }));
        }
        placed.check_counts()?;
        placed.check_beside()?;
        Ok(Some(placed))
    }

    fn ruled(&self) -> impl Iterator<Item = (&'a spec::Volume, &'a ServiceStorage)> {
        let volumes = self.volumes.iter();
        volumes.filter_map(|(volume, rule)| Some((*volume, (*rule)?)))
    }

    /// Refuses more volumes than a server has.
    fn check_counts(&self) -> Result<(), Box<ServiceError>> {
        let mut counted = 0;
        let too_many = |volume: &spec::Volume, what: String, count, most| {
            Err(Box::new(ServiceError::TooMany {
                volume: volume.name.clone(),
                title: self.service.title.clone(),
                what,
                count,
                most,
            }))
        };
        for (at, (volume, rule)) in self.ruled().enumerate() {
            if volume.count > 1 && !rule.is_local() {
                return Err(Box::new(ServiceError::Striped {
                    volume: volume.name.clone(),
                    title: self.service.title.clone(),
                    count: volume.count,
                }));
            }
            let same = self.ruled().take(at + 1);
            let same = same.filter(|(_, other)| other.disk == rule.disk).count();
            let same = u32::try_from(same).unwrap_or(u32::MAX);
            // Those that are not counted exist once, as the limit that they share is modelled for one volume.
            let most = rule.volumes_max.or((!rule.is_counted()).then_some(1));
            if let Some(most) = most.filter(|most| same > *most && !rule.file_each) {
                return too_many(volume, rule.disk.clone(), same, most);
            }
            counted += u32::from(rule.is_counted());
            if let Some(most) = self.service.volumes_max.filter(|most| counted > *most) {
                let volumes = if most == 1 { "volume" } else { "volumes" };
                return too_many(volume, volumes.to_owned(), counted, most);
            }
        }
        Ok(())
    }

    /// Refuses what exists only beside other storage, where that is missing.
    fn check_beside(&self) -> Result<(), Box<ServiceError>> {
        for (volume, rule) in self.ruled() {
            let is_beside = |other: &ServiceStorage| rule.beside.contains(&other.disk);
            if rule.beside.is_empty() || self.ruled().any(|(_, other)| is_beside(other)) {
                continue;
            }
            let mut main = self.ruled().filter(|(_, other)| other.is_counted());
            let data = main.next().map(|(_, other)| other.disk.clone());
            return Err(Box::new(ServiceError::OnlyBeside {
                volume: volume.name.clone(),
                disk: rule.disk.clone(),
                title: self.service.title.clone(),
                beside: rule.beside.join(" or "),
                data: data.unwrap_or_else(|| "no storage of the service".to_owned()),
            }));
        }
        Ok(())
    }

    /// Refuses files where the service does not have them.
    ///
    /// # Errors
    /// The first such file.
    pub(super) fn check_files(&self, placement: &spec::Placement) -> Result<(), Box<ServiceError>> {
        for (volume, rule) in self.ruled() {
            let on = |role: Role| {
                let files = placement.files(role).iter();
                files.filter(|file| file.volume == volume.name).count()
            };
            let mut roles = Role::ALL.into_iter();
            if let Some(role) = roles.find(|role| on(*role) > 0 && !rule.holds(role.name())) {
                let can = self.service.storage_for(role.name());
                let can: Vec<&str> = can.map(|storage| storage.disk.as_str()).collect();
                return Err(Box::new(ServiceError::NotThere {
                    placement: placement.name.clone(),
                    role,
                    volume: volume.name.clone(),
                    disk: rule.disk.clone(),
                    title: self.service.title.clone(),
                    where_else: match can.as_slice() {
                        [] => "no storage of its own: leave it out".to_owned(),
                        some => some.join(", "),
                    },
                }));
            }
            let files: usize = Role::ALL.into_iter().map(on).sum();
            if rule.file_each && files > 1 {
                return Err(Box::new(ServiceError::FileEach {
                    placement: placement.name.clone(),
                    volume: volume.name.clone(),
                    files,
                    title: self.service.title.clone(),
                    disk: rule.disk.clone(),
                }));
            }
        }
        Ok(())
    }

    /// What is not known of it, or assumed; sentences without a full stop.
    pub(super) fn notes(&self) -> Vec<String> {
        let class = self.class;
        let mut notes = Vec::new();
        if class.price.is_none() {
            notes.push(format!(
                "the catalogue has no price of {}, so that reports have none; `dbstow services {} --classes` shows which have one",
                class.name, self.service.name
            ));
        }
        notes
    }

    /// Lets volumes share what the service limits for all of them: a pool becomes the class's limit, and capped storage has the
    /// cap beside that.
    pub(super) fn share(&self, machine: &mut MachineSpec, volumes: &mut [VolumeSpec]) {
        let rules: Vec<Option<&ServiceStorage>> =
            self.volumes.iter().map(|(_, rule)| *rule).collect();
        Service::share(&rules, machine, volumes);
    }
}

/// The rule of a volume; `None` for a disk that no vendor has.
fn rule<'a>(
    service: &'a Service,
    volume: &spec::Volume,
) -> Result<Option<&'a ServiceStorage>, Box<ServiceError>> {
    let name = match &volume.disk {
        Disk::Unlimited | Disk::Recorded => return Ok(None),
        Disk::Local | Disk::Catalogue(_) => volume.disk.to_string(),
    };
    if let Some(rule) = service.storage_of(&name) {
        return Ok(Some(rule));
    }
    let known: Vec<&str> = service
        .storage
        .iter()
        .map(|one| one.disk.as_str())
        .collect();
    Err(Box::new(ServiceError::NoSuchStorage {
        volume: volume.name.clone(),
        disk: name,
        service: service.name.clone(),
        title: service.title.clone(),
        known: known.join(", "),
    }))
}

/// Refuses storage of a service on a machine.
fn check_machine(
    kind: &str,
    volumes: &[&spec::Volume],
    catalogue: &Catalogue,
) -> Result<(), Box<ServiceError>> {
    for volume in volumes {
        let Disk::Catalogue(name) = &volume.disk else {
            continue;
        };
        let services: Vec<&Service> = catalogue.services_with(name).collect();
        if let Some(first) = services.first() {
            let names: Vec<&str> = services.iter().map(|one| one.name.as_str()).collect();
            return Err(Box::new(ServiceError::NoService {
                volume: volume.name.clone(),
                disk: name.clone(),
                services: names.join(", "),
                first: first.name.clone(),
                machine: kind.to_owned(),
            }));
        }
    }
    Ok(())
}
