//! Layouts on a managed service: which volumes it has together, and which limits they share.

use catalogue::{Service, ServiceStorage};
use reading::Role;

use super::{Layout, Layouts, PlannedVolume};
use crate::machine::Machine;
use crate::services::Kind;
use crate::simulate::Placed;

/// What an experiment calls the disks inside a class.
const LOCAL: &str = "local";

impl Layouts<'_> {
    /// Whether the service of its machine has its volumes together; every layout on a machine.
    pub(super) fn is_sold(&self, layout: &Layout) -> bool {
        let machine = self.machine_of(layout);
        machine.has_together(&self.volumes(layout))
    }

    /// Those of one kind alone, of which there may be none.
    pub(crate) fn only(&mut self, kind: Kind, all: &[Layout]) {
        let own = all.iter();
        let own = own.filter(|layout| self.machine_of(layout).kind() == kind);
        self.layouts = own.copied().collect();
    }

    /// All of them, by price; none is left.
    pub(crate) fn take(&mut self) -> Vec<Layout> {
        std::mem::take(&mut self.layouts)
    }

    /// Whether any is of this kind.
    pub(crate) fn has(&self, kind: Kind) -> bool {
        let mut layouts = self.layouts.iter();
        layouts.any(|layout| self.machine_of(layout).kind() == kind)
    }

    /// Whether one that is dearer than all that are here could be of this kind, of which none is here.
    pub(crate) fn lacks(&self, kind: Kind) -> bool {
        let mut machines = self.machines.iter();
        self.usd_max.is_finite()
            && machines.any(|machine| machine.kind() == kind)
            && !self.has(kind)
    }
}

impl Machine {
    /// Whether its service has these volumes together; `true` for a machine.
    fn has_together(&self, volumes: &[PlannedVolume<'_>]) -> bool {
        let Some(service) = &self.service else {
            return true;
        };
        let volume = |volume: &PlannedVolume<'_>| {
            let roles = volume.roles.iter().map(|role: &Role| role.name());
            (disk(volume).to_owned(), roles.collect::<Vec<&str>>())
        };
        let volumes: Vec<(String, Vec<&str>)> = volumes.iter().map(volume).collect();
        let volumes: Vec<(&str, Vec<&str>)> = volumes
            .iter()
            .map(|(disk, roles)| (disk.as_str(), roles.clone()))
            .collect();
        service.takes(&volumes)
    }

    /// A layout with these volumes, under the limits that they share.
    pub(super) fn shared(&self, mut placed: Placed, volumes: &[PlannedVolume<'_>]) -> Placed {
        if let Some(service) = &self.service {
            let rules = volumes
                .iter()
                .map(|volume| service.storage_of(disk(volume)));
            let rules: Vec<Option<&ServiceStorage>> = rules.collect();
            Service::share(&rules, &mut placed.machine, &mut placed.volumes);
        }
        placed
    }
}

fn disk<'v>(volume: &'v PlannedVolume<'_>) -> &'v str {
    volume.offer.map_or(LOCAL, |offer| offer.disk.as_str())
}
