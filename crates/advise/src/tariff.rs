//! What a machine costs a month: itself, its operating system, the licence of the database, and the same for replicas.

use catalogue::{BackupPrice, Commitment, CpuOption, HOURS, MachineEntry};
use model::Bytes;

use super::licence::{Licence, Paid};
use super::system::System;

/// Terms on which a layout is paid for, besides list prices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tariff {
    /// The licence of the database, where it needs one and its edition is known.
    pub licence: Option<Licence>,
    /// Further servers with the same machine and disks.
    pub replicas: u32,
    /// The commitment under which machines are paid; `None`: on demand.
    pub commitment: Option<Commitment>,
    /// Backups, of one server.
    pub backup: Option<Backup>,
}

/// What backups take and cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Backup {
    /// For how many days they are kept.
    pub days: u32,
    /// What they take: a copy of the data, what changes in these days, and their log.
    pub size: Bytes,
    /// What that costs; `None` where it is not known.
    pub price: Option<BackupPrice>,
}

impl Backup {
    /// Dollars a month, if known.
    pub(crate) fn usd(&self) -> Option<f64> {
        let gib = self.size.0 as f64 / (1_u64 << 30) as f64;
        Some(self.price.as_ref()?.usd_gib_month * gib)
    }
}

/// Cores of the user's own licences that a virtual machine needs at least, and the number that they are sold in.
///
/// Source: <https://aws.amazon.com/es/windows/resources/licensemobility/sql/>, and the vendor's rules as Azure quotes them (read
/// 2026-11-26).
const OWN_CORES_MIN: u32 = 4;
const OWN_CORES_PACK: u32 = 2;

/// Processors from which on Windows that is paid with the machine is charged by those that are switched on.
///
/// Source: <https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/optimize-cpu.html> (read 2026-11-26).
const WINDOWS_CORES_MIN: u32 = 4;

/// Dollars a month for one machine, by what they are for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MachineUsd {
    /// The machine, without what its operating system costs where that is known.
    pub(crate) machine: f64,
    /// The operating system; `None` where it costs nothing, or is in the price of the machine or the licence.
    pub(crate) system: Option<f64>,
    /// Machine and operating system together.
    pub(crate) both: f64,
    /// The licence of the database; `None` where there is none or its price is not known.
    pub(crate) licence: Option<f64>,
}

impl Tariff {
    /// Servers in all.
    pub(crate) fn servers(&self) -> f64 {
        f64::from(self.replicas) + 1.0
    }

    /// Servers with a licence.
    pub(crate) fn licensed(&self) -> f64 {
        let licence = self.licence.as_ref();
        let is_passive = licence.is_some_and(|licence| licence.passive_secondary);
        self.servers() - f64::from(u8::from(is_passive))
    }

    /// Whether fewer processors cost less.
    pub(crate) fn is_by_processor(&self) -> bool {
        self.licence.as_ref().is_some_and(|licence| {
            licence.counts_switched_on() && licence.usd(OWN_CORES_MIN) > Some(0.0)
        })
    }

    /// How many times one server of a service is paid for, where a standby in another zone makes it `standby` times; `None` where that is
    /// not known. Further replicas are a server each.
    pub(crate) fn servers_of(&self, standby: Option<f64>) -> Option<f64> {
        match self.replicas {
            0 => Some(1.0),
            more => Some(standby? + f64::from(more - 1)),
        }
    }

    /// What one class of a service costs, with its operating system and what else is in its price; `None` where that is not known, as
    /// where a licence is charged beside it. Commitments to machines do not hold for it.
    pub(crate) fn class(&self, entry: &MachineEntry) -> Option<MachineUsd> {
        let usd = entry.price.filter(|_| !entry.licence_apart)?;
        let usd = usd.linux_per_month()?;
        Some(MachineUsd {
            machine: usd,
            system: None,
            both: usd,
            licence: None,
        })
    }

    /// What one machine costs with these of its processors (`None`: all); `None` where that is not known.
    pub(crate) fn machine(
        &self,
        entry: &MachineEntry,
        option: Option<CpuOption>,
        system: System,
    ) -> Option<MachineUsd> {
        let price = entry.price?;
        let processors = option.map_or(entry.spec.cores, CpuOption::processors);
        let licence = self.licence.as_ref();
        let has_system = licence.is_some_and(Licence::has_system);
        let linux = price.linux_per_month();
        // Windows is paid in full.
        let saved = self
            .commitment
            .as_ref()
            .map_or(0.0, |commitment| 1.0 - commitment.share);
        let saved = linux.map_or(0.0, |linux| linux * saved);
        let (machine, both) = match system {
            System::Windows if !has_system => {
                let windows = price.windows_per_month()?;
                let machine = linux.unwrap_or(windows);
                let options = entry.cpu_options.as_ref();
                let is_lower = options.is_some_and(|options| options.lowers_system);
                match option.filter(|_| is_lower && processors >= WINDOWS_CORES_MIN) {
                    None => (machine, windows),
                    Some(_) => {
                        let share = f64::from(processors) / f64::from(entry.spec.cores);
                        (machine, machine + (windows - machine) * share)
                    }
                }
            }
            System::Windows | System::Linux => (linux?, linux?),
        };
        Some(MachineUsd {
            machine: machine - saved,
            system: (both > machine).then_some(both - machine),
            both: both - saved,
            licence: licence.and_then(|licence| licence.usd(processors)),
        })
    }

    /// What the machines of all servers cost, with the backups, which cost the same whatever is bought.
    pub(crate) fn machines_usd(&self, one: MachineUsd) -> f64 {
        let machines =
            one.both * self.servers() + one.licence.unwrap_or_default() * self.licensed();
        machines
            + self
                .backup
                .as_ref()
                .and_then(Backup::usd)
                .unwrap_or_default()
    }
}

impl Licence {
    /// Dollars a month for a machine with so many processors switched on; `None` where the price is not known.
    pub(crate) fn usd(&self, processors: u32) -> Option<f64> {
        let cores = f64::from(self.cores(processors));
        match &self.paid {
            Paid::Hourly(rate) => Some(rate.as_ref()?.usd_hour_core * cores * HOURS),
            Paid::Own { usd_core_year } => Some(usd_core_year * cores / 12.0),
        }
    }

    /// Cores that are charged for so many processors.
    pub(crate) fn cores(&self, processors: u32) -> u32 {
        match &self.paid {
            Paid::Hourly(rate) => processors.max(rate.as_ref().map_or(0, |rate| rate.cores_min)),
            Paid::Own { .. } => processors
                .max(OWN_CORES_MIN)
                .next_multiple_of(OWN_CORES_PACK),
        }
    }

    /// Whether it is known to cost less for fewer processors that are switched on.
    fn counts_switched_on(&self) -> bool {
        match &self.paid {
            Paid::Own { .. } => true,
            Paid::Hourly(rate) => rate.as_ref().is_some_and(|rate| rate.counts_switched_on),
        }
    }

    /// Whether the price of the operating system is in that of the licence.
    pub(crate) fn has_system(&self) -> bool {
        matches!(&self.paid, Paid::Hourly(Some(rate)) if rate.with_system)
    }
}

#[cfg(test)]
mod tests;
