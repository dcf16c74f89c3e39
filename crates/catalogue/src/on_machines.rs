//! The machines on which a disk reaches its limits, if not all, and how many of its kind a machine can have.

use serde::Serialize;

use super::machine::MachineEntry;
use super::wire::{MachinesWire, MissedWire};

/// Properties of a disk that depend on its machine, besides the machine's own limits.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct OnMachines {
    /// Machines that the vendor publishes its limits for; empty: all machines.
    published: Vec<Machines>,
    /// Machines on which less than these was measured.
    missed: Vec<Missed>,
    /// Maximum number of disks of the entry on a machine, or the number that have its limits each, where more share them.
    pub count_max: Option<u32>,
    /// Entries with the same group describe the same disks: the limits of each apply to all of them on a machine, and do not add
    /// up.
    pub group: Option<String>,
}

/// Machines of these series or names, with a minimum number of processors.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Machines {
    families: Vec<String>,
    types: Vec<String>,
    cores: u32,
    /// They have one such disk for so many processors.
    #[serde(skip_serializing_if = "Option::is_none")]
    cores_each: Option<u32>,
}

/// What was measured on machines of these series with fewer processors.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Missed {
    families: Vec<String>,
    cores_below: Option<u32>,
    measured: String,
}

/// Whether a disk's limits are published for a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Published {
    /// The vendor says so.
    Yes,
    /// The vendor states a requirement that the machine does not meet.
    TooSmall,
    /// The vendor says nothing about this machine.
    Unknown,
}

impl OnMachines {
    pub(super) fn read(
        published: &[MachinesWire],
        missed: &[MissedWire],
        count_max: Option<u32>,
        group: Option<String>,
    ) -> Result<OnMachines, String> {
        if count_max == Some(0) {
            return Err("`count_max` has to be above zero".to_owned());
        }
        if published.iter().any(|wire| wire.cores_each == Some(0)) {
            return Err("`cores_each` has to be above zero".to_owned());
        }
        let machines = |wire: &MachinesWire| Machines {
            families: wire.families.clone(),
            types: wire.types.clone(),
            cores: wire.cores,
            cores_each: wire.cores_each,
        };
        let less = |wire: &MissedWire| Missed {
            families: wire.families.clone(),
            cores_below: wire.cores_below,
            measured: wire.measured.clone(),
        };
        Ok(OnMachines {
            published: published.iter().map(machines).collect(),
            missed: missed.iter().map(less).collect(),
            count_max,
            group,
        })
    }

    /// Whether the limits are published for `machine` with this many `cores`.
    pub fn on(&self, machine: &MachineEntry, cores: u32) -> Published {
        if self.published.is_empty() {
            return Published::Yes;
        }
        match self.published_of(machine) {
            None => Published::Unknown,
            Some(machines) if cores < machines.cores => Published::TooSmall,
            Some(_) => Published::Yes,
        }
    }

    /// How many of the disk the machine has, if that follows from its processors.
    pub fn count_on(&self, machine: &MachineEntry) -> Option<u32> {
        let cores_each = self.published_of(machine)?.cores_each?;
        Some(machine.spec.cores / cores_each)
    }

    fn published_of(&self, machine: &MachineEntry) -> Option<&Machines> {
        let is_of = |machines: &&Machines| {
            machines.families.contains(&machine.family) || machines.types.contains(&machine.name)
        };
        self.published.iter().find(is_of)
    }

    /// Whether its limits depend on the number of processors.
    pub fn needs_cores(&self) -> bool {
        let published = self.published.iter().any(|machines| machines.cores > 0);
        published
            || self
                .missed
                .iter()
                .any(|missed| missed.cores_below.is_some())
    }

    /// What was measured on such machines, if less than the limits.
    pub fn missed_on(&self, machine: &MachineEntry, cores: u32) -> Option<&str> {
        let mut missed = self.missed.iter();
        let found = missed.find(|missed| {
            missed.families.contains(&machine.family)
                && missed.cores_below.is_none_or(|below| cores < below)
        });
        found.map(|missed| missed.measured.as_str())
    }

    /// Measurements that fell short of the limits.
    pub fn missed(&self) -> impl Iterator<Item = &str> {
        self.missed.iter().map(|missed| missed.measured.as_str())
    }

    /// The machines that the limits are published for; empty: all.
    pub fn shown(&self) -> String {
        let shown = |machines: &Machines| {
            let names: Vec<&str> = machines
                .families
                .iter()
                .chain(&machines.types)
                .map(String::as_str)
                .collect();
            let names = names.join(" or ");
            match machines.cores {
                0 => names,
                cores => format!("{names} with {cores} cores or more"),
            }
        };
        let all: Vec<String> = self.published.iter().map(shown).collect();
        all.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::super::Catalogue;
    use super::*;

    /// An unknown name would match nothing, and a limit would apply nowhere.
    #[test]
    fn the_machines_that_disks_name_are_in_the_catalogue() {
        let catalogue = Catalogue::builtin();
        for disk in catalogue.disks() {
            let on = &disk.on_machines;
            let families = on.published.iter().flat_map(|machines| &machines.families);
            let missed = on.missed.iter().flat_map(|missed| &missed.families);
            for family in families.chain(missed) {
                let mut machines = catalogue.machines();
                assert!(
                    machines.any(|machine| machine.family == *family),
                    "{}: there is no series {family}",
                    disk.name
                );
            }
            for name in on.published.iter().flat_map(|machines| &machines.types) {
                assert!(catalogue.machine(name).is_ok(), "{}: {name}", disk.name);
            }
        }
    }

    #[test]
    fn local_ssds_of_google_need_the_processors_that_it_names() {
        let catalogue = Catalogue::builtin();
        let disk = catalogue
            .disk("gcp.local_ssd_nvme.24")
            .expect("it is there");
        let on = |name: &str| {
            let machine = catalogue.machine(name).expect("it is there");
            let cores = machine.spec.cores;
            let on = &disk.on_machines;
            (on.on(machine, cores), on.missed_on(machine, cores))
        };
        // Page of about 2022: N1 needs 32 cores or more, N2 and N2D 24.
        assert_eq!(on("gcp.n2-highmem-16").0, Published::TooSmall);
        assert_eq!(on("gcp.n1-highmem-16").0, Published::TooSmall);
        assert_eq!(on("gcp.n1-highmem-32"), (Published::Yes, None));
        assert_eq!(on("gcp.n2-highmem-64"), (Published::Yes, None));
        assert_eq!(on("gcp.c3-standard-44").0, Published::Unknown);
        // Enough by the page, and 65 % of the limit when it was measured.
        let (published, missed) = on("gcp.n2-highmem-32");
        assert_eq!(published, Published::Yes);
        assert!(
            missed.is_some_and(|missed| missed.contains("6,372 MB/s")),
            "{missed:?}"
        );
        assert_eq!(
            disk.on_machines.shown(),
            "n2 or n2d with 24 cores or more, n1 with 32 cores or more"
        );
    }
}
