//! The bill of a layout: a line for each thing that is paid for.

use std::borrow::Cow;

use analysis::report::advice::document::{Layout, Line, SwitchedOn};
use catalogue::{Catalogue, CpuOption, MachineEntry};

use crate::licence::Paid;
use crate::machine::Machine;
use crate::need::Need;
use crate::system::System;
use crate::tariff::MachineUsd;

/// The line of the licence.
pub(super) const LICENCE: &str = "licence";

/// `layout` with its bill, at the prices of `catalogue` and on the terms of `need`.
pub(crate) fn billed(layout: Layout, need: &Need, catalogue: &Catalogue) -> Layout {
    let bill = bill(&layout, need, catalogue);
    Layout { bill, ..layout }
}

/// Its lines sum to the layout's price, where both are known.
fn bill(layout: &Layout, need: &Need, catalogue: &Catalogue) -> Vec<Line> {
    let entry = layout.machine.as_ref();
    let entry = entry.and_then(|name| catalogue.machine(name).ok());
    let option = layout.switched_on.map(option);
    let usd = entry.and_then(|entry| need.machine_usd(entry, option));
    let of = |part: fn(&MachineUsd) -> Option<f64>| usd.as_ref().and_then(part);
    let shown = layout.machine_shown();
    let shown = shown.unwrap_or_else(|| "not known".to_owned());
    // The price of a service has its operating system, the licence and backups in it.
    let is_service = entry.is_some_and(|entry| entry.service.is_some());
    let included = || is_service.then_some(Cow::Borrowed("machine"));
    let commitment = need.tariff.commitment.as_ref();
    let commitment = commitment.filter(|_| !is_service);
    let commitment = commitment.map(|of| match of.years {
        1 => format!(", {} for 1 year", of.title),
        years => format!(", {} for {years} years", of.title),
    });
    let mut lines = vec![Line {
        what: "machine".to_owned(),
        detail: format!("{shown}{}", commitment.unwrap_or_default()),
        usd_per_month: of(|usd| Some(usd.machine)),
        included_in: None,
    }];
    let licence = need.tariff.licence.as_ref();
    if need.system == System::Windows && !is_service {
        let has_system = licence.is_some_and(|licence| licence.has_system());
        let system = of(|usd| usd.system);
        lines.push(Line {
            what: "Windows".to_owned(),
            detail: String::new(),
            usd_per_month: system,
            included_in: match (has_system, system) {
                (true, _) => Some(LICENCE.into()),
                (false, None) => Some("machine".into()),
                (false, Some(_)) => None,
            },
        });
    }
    if let Some(licence) = licence {
        let processors = option.map(CpuOption::processors);
        let processors = processors.or(entry.map(|entry| entry.spec.cores));
        let cores = processors.map(|processors| licence.cores(processors));
        let cores = cores.map_or_else(String::new, |cores| format!(", {cores} cores"));
        let paid = match licence.paid {
            Paid::Hourly(_) => "by the hour",
            Paid::Own { .. } => "of your own",
        };
        lines.push(Line {
            what: LICENCE.to_owned(),
            detail: format!("{}{cores}, {paid}", licence.name()),
            usd_per_month: of(|usd| usd.licence),
            included_in: included(),
        });
    }
    for volume in &layout.volumes {
        let servers = need.paid_volumes(&volume.disk).unwrap_or(1.0);
        let requests = volume.requests_usd_per_month;
        let disks = volume
            .usd_per_month
            .map(|usd| usd - requests.unwrap_or_default());
        lines.push(Line {
            what: volume.name.clone(),
            detail: volume.disks(),
            usd_per_month: disks.map(|usd| usd / servers),
            included_in: volume.forgets.then(|| "machine".into()),
        });
        lines.extend(requests.map(|usd| Line {
            what: "requests".to_owned(),
            detail: format!("to volume {}", volume.name),
            usd_per_month: Some(usd / servers),
            included_in: None,
        }));
    }
    lines.extend(match entry.filter(|_| is_service) {
        None => replicas(layout, need, usd),
        Some(class) => standby(layout, need, class),
    });
    lines.extend(need.tariff.backup.as_ref().map(|backup| Line {
        what: "backups".to_owned(),
        detail: format!("{} for {} days", backup.size, backup.days),
        usd_per_month: backup.usd().filter(|_| !is_service),
        included_in: included(),
    }));
    lines
}

/// The line for further servers of a service.
fn standby(layout: &Layout, need: &Need, class: &MachineEntry) -> Option<Line> {
    let count = need.tariff.replicas;
    if count == 0 {
        return None;
    }
    let of_class = need
        .machines_usd(class, None)
        .zip(need.machine_usd(class, None))
        .map(|(all, one)| all - one.both);
    let of_volumes = layout.volumes.iter().map(|volume| {
        let paid = need.paid_volumes(&volume.disk).unwrap_or(1.0);
        Some(volume.usd_per_month? * (1.0 - 1.0 / paid))
    });
    let of_volumes: Option<f64> = of_volumes.sum();
    Some(Line {
        what: "replicas".to_owned(),
        detail: match count {
            1 => "a standby in another zone".to_owned(),
            count => format!("a standby in another zone, and {} more", count - 1),
        },
        usd_per_month: of_class.zip(of_volumes).map(|(class, disks)| class + disks),
        included_in: None,
    })
}

/// The line for further servers.
fn replicas(layout: &Layout, need: &Need, usd: Option<MachineUsd>) -> Option<Line> {
    let tariff = &need.tariff;
    let count = tariff.replicas;
    if count == 0 {
        return None;
    }
    let disks: Option<f64> = layout.volumes.iter().map(|one| one.usd_per_month).sum();
    let further = usd.zip(disks).map(|(usd, disks)| {
        let count = f64::from(count);
        let licences = usd.licence.unwrap_or_default() * (tariff.licensed() - 1.0);
        usd.both * count + licences + disks * count / tariff.servers()
    });
    let passive = match &tariff.licence {
        Some(licence) if licence.passive_secondary => ", one of them passive and without a licence",
        Some(_) | None => "",
    };
    Some(Line {
        what: "replicas".to_owned(),
        detail: match count {
            1 => format!("1 more server{}", passive.replace("one of them ", "")),
            count => format!("{count} more servers{passive}"),
        },
        usd_per_month: further,
        included_in: None,
    })
}

/// The option that a document has.
pub(crate) fn option(on: SwitchedOn) -> CpuOption {
    CpuOption {
        cores: on.cores,
        threads: on.threads,
    }
}

/// The same for a document.
pub(super) fn switched_on(option: CpuOption) -> SwitchedOn {
    SwitchedOn {
        cores: option.cores,
        threads: option.threads,
    }
}

/// A machine that is bought, as a document has it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bought {
    pub(super) name: String,
    switched_on: Option<SwitchedOn>,
    processors_used: Option<u32>,
    /// Dollars a month, with operating system and licence, of all servers.
    pub(super) usd_per_month: f64,
}

impl Bought {
    /// A machine that layouts are made of.
    pub(crate) fn of(machine: &Machine, catalogue: &Catalogue) -> Bought {
        let entry = catalogue.machine(&machine.name);
        let all = entry.map_or(machine.spec.cores, |entry| entry.spec.cores);
        Bought {
            name: machine.name.clone(),
            switched_on: machine.switched_on.map(switched_on),
            processors_used: Some(machine.spec.cores).filter(|used| *used < all),
            usd_per_month: machine.usd_per_month,
        }
    }

    /// That of a layout; `None` where its name or its price is not known.
    pub(super) fn of_layout(layout: &Layout) -> Option<Bought> {
        Some(Bought {
            name: layout.machine.clone()?,
            switched_on: layout.switched_on,
            processors_used: layout.processors_used,
            usd_per_month: layout.machine_usd_per_month?,
        })
    }

    /// `layout` on it.
    pub(crate) fn under(self, layout: Layout) -> Layout {
        Layout {
            machine: Some(self.name),
            switched_on: self.switched_on,
            processors_used: self.processors_used,
            machine_usd_per_month: Some(self.usd_per_month),
            ..layout
        }
    }

    /// Its name, with the processors that are switched on.
    pub(super) fn shown(&self) -> String {
        SwitchedOn::shown(self.switched_on, &self.name)
    }

    /// Whether it is the same size, with the same processors switched on.
    pub(super) fn is_same_as(&self, other: &Bought) -> bool {
        (&self.name, self.switched_on) == (&other.name, other.switched_on)
    }
}

#[cfg(test)]
mod tests;
