//! Requirements on a layout.

use std::collections::BTreeSet;

use catalogue::{CpuOption, DiskEntry, MachineEntry, Processor};
use model::Bytes;
use model::cores::Speed;
use reading::Role;

use super::services::Services;
use super::system::System;
use super::tariff::{MachineUsd, Tariff};

/// Requirements on a layout.
#[derive(Clone, Debug, PartialEq)]
pub struct Need {
    /// Files that must fit.
    pub holdings: Vec<Holding>,
    /// Roles whose requests were counted separately, so they can have their own volume; the others stay with the data.
    pub separate: BTreeSet<Role>,
    /// Minimum main memory.
    pub memory: Bytes,
    /// Minimum number of processors.
    pub cores: u32,
    /// Prefix of the names of machines and disks, such as `azure`.
    pub cloud: Option<String>,
    /// Part of the name of price lists, such as `eastus`.
    pub region: Option<String>,
    /// Only the machine of this name.
    pub machine: Option<String>,
    /// Today's machine, which is considered although another one may do as much for no more.
    pub today: Option<String>,
    /// The processor of today's machine, if it is known.
    pub processor: Option<Processor>,
    /// Only machines whose name contains this, ignoring case.
    pub machine_pattern: Option<String>,
    /// Whether to include machines with Arm processors.
    pub arm: bool,
    /// Whether an earlier generation of a machine is as good as a later one.
    pub any_generation: bool,
    /// Only these disks of the catalogue, including hard disks and superseded rules; empty: all that are sold except hard disks.
    pub disks: BTreeSet<String>,
    /// Maximum number of attached disks.
    pub disks_max: Option<u32>,
    /// Where temporary files may be.
    pub temp: TempOn,
    /// Managed services that layouts may be on.
    pub services: Services,
    /// The operating system, which affects the machine's price.
    pub system: System,
    /// What is paid besides list prices.
    pub tariff: Tariff,
}

/// Files and their size on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holding {
    /// What they are for.
    pub roles: BTreeSet<Role>,
    /// Their total size.
    pub size: Bytes,
}

/// Where temporary files may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TempOn {
    /// Wherever it is best.
    #[default]
    Any,
    /// On local disks of the machine, which lose their contents when it stops.
    Local,
    /// On attached disks.
    Remote,
}

impl Need {
    /// Total size of the files of these roles.
    pub(crate) fn capacity(&self, roles: &[Role]) -> Bytes {
        let held = self.holdings.iter();
        let held = held.filter(|holding| roles.iter().any(|role| holding.roles.contains(role)));
        held.map(|holding| holding.size)
            .fold(Bytes::ZERO, |sum, size| Bytes(sum.0.saturating_add(size.0)))
    }

    /// Whether this disk may be bought.
    pub(crate) fn allows_disk(&self, disk: &DiskEntry) -> bool {
        !self.services.alone && is_attached(disk) && self.allows_storage(disk)
    }

    /// Whether this storage type may be bought, where a service that is offered has it.
    pub(crate) fn allows_storage(&self, disk: &DiskEntry) -> bool {
        let is_wanted = match self.disks.is_empty() {
            true => !disk.class.hard_disk && disk.superseded_by.is_none(),
            false => self.disks.contains(&disk.name),
        };
        is_wanted && self.is_of_cloud(&disk.name) && self.is_of_region(disk.price_list())
    }

    /// Whether this machine may be bought.
    pub(crate) fn allows_machine(&self, machine: &MachineEntry) -> bool {
        let pattern = self.machine_pattern.as_ref();
        let name = machine.name.to_lowercase();
        let is_named = self
            .machine
            .as_ref()
            .is_none_or(|only| *only == machine.name)
            && pattern.is_none_or(|pattern| name.contains(&pattern.to_lowercase()));
        // No product with a licence by processor runs on Arm.
        let takes_arm = self.arm && self.tariff.licence.is_none();
        // Fewer processors at the same price are of use where they save a licence.
        let is_today = self.today.as_ref() == Some(&machine.name);
        let is_asked = match machine.service {
            Some(_) => self.services.of_class(machine).is_some(),
            // Tiers of managed services that are machines of the catalogue do not take disks: they limit the number of files.
            None => !self.services.alone && machine.files_max.is_none(),
        };
        let is_of_use = machine.base.is_none() || is_today || self.tariff.is_by_processor();
        is_named
            && is_asked
            && (takes_arm || self.machine.is_some() || !machine.arm)
            && (is_of_use || self.machine.is_some())
            && machine.spec.memory >= self.memory
            && machine.spec.cores >= self.cores
            && self.is_of_cloud(&machine.name)
            && self.is_of_region(machine.price_list())
    }

    /// Dollars a month for one such machine with these of its processors (`None`: all), if known.
    pub(crate) fn machine_usd(
        &self,
        machine: &MachineEntry,
        option: Option<CpuOption>,
    ) -> Option<MachineUsd> {
        match machine.service {
            Some(_) => self.tariff.class(machine),
            None => self.tariff.machine(machine, option, self.system),
        }
    }

    /// Dollars a month for all servers with such machines, if known.
    pub(crate) fn machines_usd(
        &self,
        machine: &MachineEntry,
        option: Option<CpuOption>,
    ) -> Option<f64> {
        let one = self.machine_usd(machine, option)?;
        match self.services.of_class(machine) {
            None if machine.service.is_some() => (self.tariff.replicas == 0).then_some(one.both),
            None => Some(self.tariff.machines_usd(one)),
            Some(service) => Some(one.both * self.tariff.servers_of(service.multi_zone.class)?),
        }
    }

    /// How many times the volumes of one server are paid for, of a service or of machines; `None` where that is not known.
    pub(crate) fn paid_volumes(&self, disk: &str) -> Option<f64> {
        let mut services = self.services.offered.values();
        match services.find(|service| service.storage_of(disk).is_some()) {
            None => Some(self.tariff.servers()),
            Some(service) => self.tariff.servers_of(service.multi_zone.storage),
        }
    }

    /// Which processors of a machine may be left off: those options that have enough, where that saves a licence.
    pub(crate) fn cpu_options(&self, machine: &MachineEntry) -> Vec<CpuOption> {
        let options = machine.cpu_options.as_ref();
        let options = options.filter(|_| self.tariff.is_by_processor());
        let fewer = options.map(|options| options.below(machine.spec.cores));
        let fewer = fewer.unwrap_or_default();
        let numbers = fewer.iter().map(|option| option.processors());
        let more: Vec<u32> = numbers.skip(1).chain([machine.spec.cores]).collect();
        let licence = self.tariff.licence.as_ref();
        let charged = |processors| licence.map(|licence| licence.cores(processors));
        // What is charged all the same is not left off.
        let saves = |(option, more): (&CpuOption, &u32)| {
            option.processors() >= self.cores && charged(option.processors()) < charged(*more)
        };
        let kept = fewer.iter().zip(&more).filter(|pair| saves(*pair));
        kept.map(|(option, _)| *option).collect()
    }

    /// How fast a processor of `machine` is beside one of today's, in the long run; the same where that is not known.
    pub(crate) fn speed(&self, machine: &MachineEntry) -> Speed {
        speed(self.processor.as_ref(), machine)
    }

    /// Processors that the database uses of so many.
    pub(crate) fn cores_used(&self, processors: u32) -> u32 {
        let licence = self.tariff.licence.as_ref();
        licence.map_or(processors, |licence| licence.edition.cores_of(processors))
    }

    fn is_of_cloud(&self, name: &str) -> bool {
        let Some(cloud) = &self.cloud else {
            return true;
        };
        let begins = name.split_once('.').map_or(name, |(begins, _)| begins);
        begins.eq_ignore_ascii_case(cloud)
    }

    /// The user's own prices apply to the user's region.
    fn is_of_region(&self, list: Option<String>) -> bool {
        let Some(region) = &self.region else {
            return true;
        };
        list.is_none_or(|list| {
            let names_a_region = list.split_whitespace().count() > 1 && list.contains(", ");
            !names_a_region || list.contains(region.as_str())
        })
    }
}

/// How fast a processor of `machine` is beside one of `today`, in the long run; the same where that is not known.
pub(crate) fn speed(today: Option<&Processor>, machine: &MachineEntry) -> Speed {
    let beside = today.zip(machine.processor.as_ref());
    let beside = beside.map_or(1.0, |(today, own)| own.beside(today));
    Speed::of(beside * machine.baseline.unwrap_or(1.0))
}

/// Whether a disk can be attached to machines: its requests pass one of their limits, it does not belong to a managed service,
/// and it is not local to a machine, where it would lose data and log.
fn is_attached(disk: &DiskEntry) -> bool {
    let is_local = |limit: &String| limit == "cached" || limit == "data";
    !disk.class.after_stop.forgets()
        && !disk.class.machine_limits.is_empty()
        && !disk.class.machine_limits.iter().any(is_local)
}

#[cfg(test)]
pub(crate) mod tests {
    use catalogue::Catalogue;

    use super::*;
    use crate::licence::{Licence, Paid};

    /// No requirement.
    pub(crate) fn nothing() -> Need {
        Need {
            holdings: Vec::new(),
            separate: BTreeSet::new(),
            memory: Bytes::ZERO,
            cores: 0,
            cloud: None,
            region: None,
            machine: None,
            today: None,
            machine_pattern: None,
            arm: false,
            any_generation: false,
            processor: None,
            disks: BTreeSet::new(),
            disks_max: None,
            temp: TempOn::Any,
            services: Services::default(),
            system: System::Linux,
            tariff: Tariff::default(),
        }
    }

    #[test]
    fn a_burstable_machine_is_proposed_with_its_baseline() {
        let catalogue = Catalogue::builtin();
        let entry = |name| catalogue.machine(name).expect("it is there");
        let today = entry("azure.E8s_v5").processor.as_ref();
        let of = |name| speed(today, entry(name));
        assert_eq!(of("azure.E8s_v5"), Speed::of(1.0));
        // 40 % of 1.01, 30 % of 0.54, 50 % of 0.52.
        assert_eq!(of("azure.B2s_v2"), Speed::of(0.4 * 1.01));
        assert_eq!(of("aws.t3.large"), Speed::of(0.3 * 0.54));
        assert_eq!(of("gcp.e2-medium"), Speed::of(0.5 * 0.52));
    }

    #[test]
    fn a_machine_that_shows_fewer_cores_is_searched_where_the_licence_is_known_to_fall_with_them() {
        let catalogue = Catalogue::builtin();
        let numbers = |paid: Option<Paid>| {
            let edition = catalogue
                .editions("SQL Server")
                .find(|one| one.name == "standard");
            let edition = edition.expect("it is one");
            let rate = catalogue.licence(edition, "gcp", true).cloned();
            let licence = Licence {
                edition: edition.clone(),
                paid: paid.unwrap_or(Paid::Hourly(rate)),
                passive_secondary: false,
                smaller_than: None,
                version_known: true,
            };
            let tariff = Tariff {
                licence: Some(licence),
                ..Tariff::default()
            };
            let need = Need {
                tariff,
                ..nothing()
            };
            let machine = catalogue.machine("gcp.n2-highmem-8").expect("it is there");
            let options = need.cpu_options(machine).into_iter();
            options.map(CpuOption::processors).collect::<Vec<u32>>()
        };
        let own = Paid::Own {
            usd_core_year: 1_000.0,
        };
        assert_eq!(numbers(Some(own)), [4, 6]);
        assert_eq!(numbers(None), [0; 0]);
    }
}
