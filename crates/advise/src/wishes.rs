//! What is wished for, and the requirements on a layout that follow from it and from today's.

use std::collections::{BTreeMap, BTreeSet};

use catalogue::{Catalogue, CpuOptions, MachineEntry};
use model::{Bytes, MachineSpec};
use profile::Profile;
use reading::Role;

use super::error::AdviseError;
use super::licence::LicenceWish;
use super::need::{Holding, Need, TempOn};
use super::search::Limits;
use super::service_wish::ServiceWish;
use super::services::Services;
use super::system::System;
use super::tariff::{Backup, Tariff};
use super::today::Today;

/// What layouts may be bought, and what they have to keep.
#[derive(Clone, Debug, PartialEq)]
pub struct Wishes {
    /// Only machines and disks of this cloud, such as `azure`; `None`: today's.
    pub cloud: Option<String>,
    /// Only prices of this region, such as `eastus`.
    pub region: Option<String>,
    /// Only machines whose name contains this, ignoring case.
    pub machine_pattern: Option<String>,
    /// Only the machine of today.
    pub keep_machine: bool,
    /// Whether to include machines with Arm processors.
    pub arm: bool,
    /// Whether an earlier generation of a machine is as good as a later one.
    pub any_generation: bool,
    /// The operating system, which affects the machine's price.
    pub system: System,
    /// Only these disks of the catalogue; empty: all that are sold.
    pub disks: Vec<String>,
    /// Maximum number of attached disks.
    pub disks_max: Option<u32>,
    /// Where temporary files may be.
    pub temp: TempOn,
    /// Space that files need today, above zero; of roles without an entry, the size of today's volumes.
    pub capacity: BTreeMap<Role, Bytes>,
    /// The load and space that a layout has to take, as a multiple of today's.
    pub growth: f64,
    /// The licence of the database.
    pub licence: LicenceWish,
    /// Further servers with the same machine and disks.
    pub replicas: u32,
    /// Years that machines are committed to; `None`: on demand.
    pub commitment_years: Option<u32>,
    /// Days for which backups are kept; 0: none are paid.
    pub backup_days: u32,
    /// Managed services that layouts may be on.
    pub services: ServiceWish,
    /// Whether latencies of disks are as published exactly: intervals are of chance alone.
    pub nominal: bool,
    /// Target and limits of the search.
    pub limits: Limits,
}

impl Wishes {
    /// The requirements on a layout.
    ///
    /// # Errors
    /// A requirement that cannot be met, with the remedy.
    pub(crate) fn need(
        &self,
        today: &Today<'_>,
        catalogue: &Catalogue,
    ) -> Result<Need, AdviseError> {
        let cloud = self.cloud(today, catalogue)?;
        let services = self.services.services(today, &cloud, catalogue)?;
        self.check_disks(&services, catalogue)?;
        self.check_region(&cloud, &services, catalogue)?;
        self.check_pattern(&cloud, &services, catalogue)?;
        let machine = match self.keep_machine {
            false => None,
            true => Some(kept(today, catalogue)?),
        };
        let mut disks = BTreeSet::new();
        for name in &self.disks {
            let disk = match catalogue.disks_meant(name).as_slice() {
                [one] => one.name.clone(),
                _ => {
                    let disk = catalogue.disk(name);
                    let disk = disk.map_err(|why| AdviseError::Disk {
                        name: name.clone(),
                        why: Box::new(why),
                    })?;
                    disk.name.clone()
                }
            };
            disks.insert(disk);
        }
        let separate = today.profile.roles();
        if self.temp == TempOn::Local && !separate.contains(&Role::Temp) {
            return Err(AdviseError::TempNotCounted);
        }
        let origin = &today.profile.origin;
        let (of, replicas) = ((cloud.as_str(), self.system), self.replicas);
        let licence = self.licence.licence(origin, catalogue, of, replicas);
        let licence = licence.map_err(AdviseError::Licence)?;
        let commitment = self.commitment_years.map(|years| {
            let known = catalogue.commitment(&cloud, years).cloned();
            known.ok_or_else(|| AdviseError::Commitment {
                years,
                cloud: cloud.clone(),
            })
        });
        let holdings = self.holdings(today)?;
        let backup = (self.backup_days > 0).then(|| Backup {
            days: self.backup_days,
            size: backup_size(&holdings, today.profile, self.backup_days, self.growth),
            price: catalogue.backup(&cloud).cloned(),
        });
        let now = today
            .machine()
            .and_then(|name| catalogue.machine(name).ok());
        if let Some(machine) = now.filter(|_| licence.is_some()) {
            check_cores(today, machine)?;
        }
        Ok(Need {
            holdings,
            separate,
            memory: memory(today),
            cores: cores(today),
            cloud: Some(cloud),
            region: self.region.clone(),
            machine,
            today: now.map(|machine| machine.name.clone()),
            processor: now.and_then(|machine| machine.processor.clone()),
            machine_pattern: self.machine_pattern.clone(),
            arm: self.arm,
            any_generation: self.any_generation,
            disks,
            disks_max: self.disks_max,
            temp: self.temp,
            services,
            system: self.system,
            tariff: Tariff {
                licence,
                replicas,
                commitment: commitment.transpose()?,
                backup,
            },
        })
    }

    /// Refuses storage of services that are not asked for.
    fn check_disks(&self, services: &Services, catalogue: &Catalogue) -> Result<(), AdviseError> {
        for disk in &self.disks {
            let mut having = catalogue.services_with(disk).peekable();
            let Some(first) = having.peek().copied() else {
                continue;
            };
            if !having.any(|service| services.offered.contains_key(&service.name)) {
                return Err(AdviseError::ServiceDisk {
                    disk: disk.clone(),
                    title: first.title.clone(),
                    family: first.family.clone(),
                });
            }
        }
        Ok(())
    }

    /// The requested cloud, or else today's.
    fn cloud(&self, today: &Today<'_>, catalogue: &Catalogue) -> Result<String, AdviseError> {
        let begins = |name: &str| {
            name.split_once('.')
                .map_or(name, |(begins, _)| begins)
                .to_owned()
        };
        let known: BTreeSet<String> = catalogue
            .machines()
            .map(|machine| begins(&machine.name))
            .collect();
        let shown = || known.iter().cloned().collect::<Vec<_>>().join(", ");
        let wanted = self.cloud.clone().or(today.machine().map(begins));
        let Some(wanted) = wanted else {
            return Err(AdviseError::NoCloud { known: shown() });
        };
        let found = known.iter().find(|name| name.eq_ignore_ascii_case(&wanted));
        found.cloned().ok_or_else(|| AdviseError::Cloud {
            name: wanted,
            known: shown(),
        })
    }

    /// Refuses a pattern that no machine of the cloud has in its name.
    fn check_pattern(
        &self,
        cloud: &str,
        services: &Services,
        catalogue: &Catalogue,
    ) -> Result<(), AdviseError> {
        let Some(pattern) = &self.machine_pattern else {
            return Ok(());
        };
        let wanted = pattern.to_lowercase();
        let has = |machine: &MachineEntry| {
            let name = machine.name.to_lowercase();
            name.split_once('.')
                .is_some_and(|(begins, _)| begins == cloud)
                && name.contains(&wanted)
        };
        let mut classes = services.classes();
        let of_class = |(_, name): (_, &str)| name.to_lowercase().contains(&wanted);
        if catalogue.machines().any(has) || classes.any(of_class) {
            return Ok(());
        }
        let why = match catalogue.machine(&format!("{cloud}.{pattern}")) {
            // Known by another name; what does not qualify is refused with the reason.
            Ok(_) => return Ok(()),
            Err(why) => why,
        };
        Err(AdviseError::Pattern {
            pattern: pattern.clone(),
            why: Box::new(why),
        })
    }

    fn check_region(
        &self,
        cloud: &str,
        services: &Services,
        catalogue: &Catalogue,
    ) -> Result<(), AdviseError> {
        let Some(region) = &self.region else {
            return Ok(());
        };
        let of_cloud = |name: &str| {
            name.split_once('.')
                .is_some_and(|(begins, _)| begins == cloud)
        };
        let machines = catalogue
            .machines()
            .filter(|machine| of_cloud(&machine.name));
        let classes = services.offered.values();
        let classes = classes.flat_map(|service| service.classes.values());
        let all = machines.chain(classes);
        let lists: BTreeSet<String> = all.filter_map(MachineEntry::price_list).collect();
        if lists.iter().any(|list| list.contains(region.as_str())) {
            return Ok(());
        }
        let lists: Vec<String> = lists.into_iter().collect();
        Err(AdviseError::Region {
            region: region.clone(),
            known: lists.join("; "),
        })
    }

    /// The required space: as requested, or the size of today's volumes.
    fn holdings(&self, today: &Today<'_>) -> Result<Vec<Holding>, AdviseError> {
        let separate = today.profile.roles();
        let mut holdings: Vec<Holding> = Vec::new();
        let (mut without_size, mut lacking) = (Vec::new(), BTreeSet::new());
        for volume in &today.placed.volumes {
            let roles = Role::COMMON.into_iter().filter(|role| {
                let mut files = today.settings.placement.files(*role).iter();
                // Files that stay with the data are included in the space requested for it.
                let is_in_data =
                    self.capacity.contains_key(&Role::Data) && !separate.contains(role);
                let is_left = !self.capacity.contains_key(role) && !is_in_data;
                is_left && files.any(|file| file.volume == volume.name)
            });
            let roles: BTreeSet<Role> = roles.collect();
            let sizes = volume.disks.iter().map(|disk| disk.size.0);
            let size = sizes.fold(0_u64, u64::saturating_add);
            if roles.is_empty() {
                continue;
            }
            if size == u64::MAX {
                without_size.push(format!("\"{}\"", volume.name));
                lacking.extend(roles);
                continue;
            }
            holdings.push(Holding {
                roles,
                size: Bytes(size),
            });
        }
        if !lacking.is_empty() {
            let volumes = without_size.join(" and ");
            return Err(AdviseError::NoSize {
                volumes: match without_size.len() {
                    1 => format!("volume {volumes} has"),
                    _ => format!("volumes {volumes} have"),
                },
                roles: Role::joined(&lacking, "=SIZE --capacity "),
            });
        }
        holdings.extend(self.capacity.iter().map(|(role, size)| Holding {
            roles: [*role].into(),
            size: *size,
        }));
        for holding in &mut holdings {
            let grown = holding.size.0 as f64 * self.growth;
            if grown >= u64::MAX as f64 {
                return Err(AdviseError::Growth {
                    growth: self.growth,
                    size: holding.size,
                });
            }
            holding.size = Bytes(grown as u64);
        }
        Ok(holdings)
    }
}

/// What backups of so many days take: a copy of the data, what is written to it on a day but for the first (a copy at most), and the
/// log of all days; as if the recorded load, `growth` times, went on all day.
fn backup_size(holdings: &[Holding], profile: &Profile, days: u32, growth: f64) -> Bytes {
    let of_data = holdings
        .iter()
        .filter(|holding| holding.roles.contains(&Role::Data));
    let data: f64 = of_data.map(|holding| holding.size.0 as f64).sum();
    let length_s = profile.intervals.iter();
    let length_s: f64 = length_s.map(|interval| interval.length.as_secs_f64()).sum();
    let written_a_day = |role: Role| {
        let of_role = profile.intervals.iter();
        let of_role = of_role.filter_map(|interval| interval.roles.get(&role)?.writes.bytes);
        of_role.sum::<f64>() / length_s.max(1e-9) * 86_400.0 * growth
    };
    let days = f64::from(days);
    let changed = written_a_day(Role::Data).min(data) * (days - 1.0);
    Bytes((data + changed + written_a_day(Role::Log) * days) as u64)
}

/// Refuses a number of processors that today's machine cannot have: a licence is paid for each.
fn check_cores(today: &Today<'_>, machine: &MachineEntry) -> Result<(), AdviseError> {
    let Some(cores) = today.settings.machine.cores else {
        return Ok(());
    };
    let options = machine.cpu_options.as_ref().map(CpuOptions::processors);
    let mut can = options.unwrap_or_default();
    can.insert(machine.spec.cores);
    if can.contains(&cores) {
        return Ok(());
    }
    let can: Vec<String> = can.iter().map(u32::to_string).collect();
    Err(AdviseError::Cores {
        cores,
        machine: machine.name.clone(),
        can: can.join(", "),
    })
}

/// Today's machine, which is to stay.
fn kept(today: &Today<'_>, catalogue: &Catalogue) -> Result<String, AdviseError> {
    let name = today.machine().ok_or(AdviseError::NoMachine)?;
    let machine = catalogue
        .machine(name)
        .map_err(|why| AdviseError::Machine(Box::new(why)))?;
    Ok(machine.name.clone())
}

/// The processors that a machine must have: where today's is not of the catalogue, those that it is said to have.
fn cores(today: &Today<'_>) -> u32 {
    match today.machine() {
        Some(_) => 0,
        None => today.settings.machine.cores.unwrap_or(0),
    }
}

/// The server's current main memory, where known: with less it would read more.
fn memory(today: &Today<'_>) -> Bytes {
    let of_machine = Some(today.placed.machine.memory);
    let unlimited = MachineSpec::unlimited().memory;
    let memory = of_machine.filter(|memory| *memory != unlimited);
    memory
        .or(today.profile.machine.memory)
        .unwrap_or(Bytes::ZERO)
}
