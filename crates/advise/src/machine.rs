//! Purchasable machines.

use std::sync::Arc;

use catalogue::{Catalogue, CpuOption, Generation, MachineEntry, Service};
use model::{DiskSpec, LimitSpec, MachineSpec, Rate, VolumeSpec};

use super::need::Need;
use super::offer::{Offer, sustained};
use super::services::Kind;

/// Maximum number of attached disks that a layout could use.
const PLACES_OF_USE: u32 = 48;

/// Share that a layout on an earlier generation has to save to be in an answer in place of a later one of its series, which is sold
/// for more years: that is not in the model.
const EARLIER_SAVES: f64 = 0.10;

/// How much more a later generation may cost, as a share, to be preferred to an earlier one.
pub(crate) fn newer_may_cost(any_generation: bool) -> f64 {
    match any_generation {
        true => 0.0,
        false => 1.0 / (1.0 - EARLIER_SAVES) - 1.0,
    }
}

/// A purchasable machine.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    /// Its name in the catalogue.
    pub(crate) name: String,
    /// The processors that are switched on, where not all are.
    pub(crate) switched_on: Option<CpuOption>,
    /// Its sustained performance: without burst credits, and with the processors that the database uses, as fast as they are beside
    /// today's.
    pub(crate) spec: MachineSpec,
    /// All its local disks, striped.
    pub(crate) local: Option<VolumeSpec>,
    /// The service that it is a class of.
    pub(crate) service: Option<Arc<Service>>,
    /// Disks that can be attached.
    pub(crate) disks_max: Option<u32>,
    /// Dollars a month, with operating system and licence, of all servers.
    pub(crate) usd_per_month: f64,
    /// Of its series, where the name of its family says.
    pub(crate) generation: Option<Generation>,
    /// Dollars a month that its volumes may cost at most, for the whole to save enough beside a later generation; below 0 where
    /// the machine alone does not.
    volumes_usd_max: f64,
}

/// Purchasable machines; `unpriced` counts those without a known price.
pub(crate) fn machines(catalogue: &Catalogue, need: &Need) -> (Vec<Machine>, usize) {
    let classes = need.services.classes();
    let classes = classes.filter_map(|(_, class)| catalogue.machine(class).ok());
    let all = catalogue.machines().chain(classes);
    let allowed = all.filter(|machine| need.allows_machine(machine));
    let (mut machines, mut unpriced) = (Vec::new(), 0);
    for entry in allowed {
        if need.machines_usd(entry, None).is_none() {
            unpriced += 1;
        }
        let fewer = need.cpu_options(entry).into_iter().map(Some);
        let all = [None].into_iter().chain(fewer);
        machines.extend(all.filter_map(|option| Machine::of(entry, option, need)));
    }
    (machines, unpriced)
}

impl Machine {
    /// A machine with these of its processors; `None` where its price is not known.
    pub(crate) fn of(
        entry: &MachineEntry,
        switched_on: Option<CpuOption>,
        need: &Need,
    ) -> Option<Machine> {
        let usd_per_month = need.machines_usd(entry, switched_on)?;
        let mut spec = entry.spec.clone();
        spec.cores = need.cores_used(switched_on.map_or(spec.cores, CpuOption::processors));
        spec.speed = need.speed(entry);
        let limits = spec.limits.values_mut().flatten();
        limits.for_each(|limit| limit.burst = None);
        let local = spec.local_disk.clone().map(|disk| VolumeSpec {
            disks: vec![sustained(disk); entry.local_disks.unwrap_or(1).max(1) as usize],
            ..VolumeSpec::of("local", DiskSpec::unlimited())
        });
        Some(Machine {
            name: entry.name.clone(),
            switched_on,
            spec,
            local,
            disks_max: entry.disks_max,
            usd_per_month,
            service: need.services.of_class(entry).cloned(),
            generation: Generation::of(&entry.family),
            volumes_usd_max: f64::INFINITY,
        })
    }

    /// Today's machine, where it is one of the catalogue that has a price.
    pub(crate) fn of_today(catalogue: &Catalogue, need: &Need) -> Option<Machine> {
        let entry = catalogue.machine(need.today.as_ref()?).ok()?;
        Machine::of(entry, None, need)
    }

    /// Whether it saves enough beside a later generation with volumes of so many dollars a month.
    pub(crate) fn saves_with(&self, volumes_usd: f64) -> bool {
        volumes_usd <= self.volumes_usd_max
    }

    /// Whether there is a later generation beside which it has to save.
    pub(crate) fn has_to_save(&self) -> bool {
        self.volumes_usd_max.is_finite()
    }

    /// What volumes may cost for the whole to save enough beside `later`, with the same volumes.
    fn volumes_usd_beside(&self, later: &Machine) -> f64 {
        ((1.0 - EARLIER_SAVES) * later.usd_per_month - self.usd_per_month) / EARLIER_SAVES
    }

    /// Whether it has one of the limits that govern a disk: without any, it is unknown whether the disk can be attached and how
    /// it would perform.
    pub(crate) fn governs(&self, disk: &DiskSpec) -> bool {
        let mut limits = disk.machine_limits.iter();
        limits.any(|name| self.spec.limits.contains_key(name))
    }

    /// Whether it takes the disks of a volume: a class those of its service, and a machine those that one of its limits governs.
    pub(crate) fn takes(&self, offer: &Offer) -> bool {
        match &self.service {
            Some(service) => offer.services.contains(&service.name),
            None => offer.services.is_empty() && self.governs(&offer.spec),
        }
    }

    /// What it is.
    pub(crate) fn kind(&self) -> Kind {
        match self.service {
            Some(_) => Kind::Service,
            None => Kind::Machine,
        }
    }

    /// Whether both are of the same service, or none is of any.
    pub(crate) fn is_of_same_service(&self, other: &Machine) -> bool {
        let name = |machine: &Machine| machine.service.as_ref().map(|one| one.name.clone());
        name(self) == name(other)
    }

    /// Whether it is a later generation of the same series.
    pub(crate) fn is_newer_than(&self, other: &Machine) -> bool {
        let generations = self.generation.zip(other.generation);
        let is_newer = generations.is_some_and(|(own, other)| own.is_newer_than(&other));
        is_newer && self.is_of_same_service(other)
    }

    /// Whether it does all that `other` does, within what the load could use.
    fn does_all_of(&self, other: &Machine, of_use: &OfUse) -> bool {
        let cores = |machine: &Machine| f64::from(machine.spec.cores).min(of_use.cores);
        let places = |machine: &Machine| {
            machine
                .disks_max
                .map_or(PLACES_OF_USE, |most| most.min(PLACES_OF_USE))
        };
        let governs = |machine: &'_ Machine, names: &[String]| {
            let mut names = names.iter();
            names.find_map(|name| machine.spec.limits.get(name).cloned())
        };
        let limits =
            of_use.limits.iter().all(
                |names| match (governs(self, names), governs(other, names)) {
                    (_, None) => true,
                    (None, Some(_)) => false,
                    (Some(own), Some(others)) => allow(&own, &others, of_use.rates),
                },
            );
        let local = match (&self.local, &other.local) {
            _ if !of_use.local => true,
            (_, None) => true,
            (Some(own), Some(others)) => does_all(own, others),
            (None, Some(_)) => false,
        };
        self.is_of_same_service(other)
            && cores(self) >= cores(other)
            && self.spec.speed >= other.spec.speed
            && places(self) >= places(other)
            && limits
            && local
    }
}

/// The machine resources that the load could use.
pub(crate) struct OfUse {
    /// Maximum number of processors that the sessions could use.
    pub(crate) cores: f64,
    /// Names of the limits that govern purchasable disks, in order of preference.
    pub(crate) limits: Vec<Vec<String>>,
    /// Maximum requests and bytes per second that the sessions could use.
    pub(crate) rates: [f64; 2],
    /// Whether files may be placed on the machine's local disks.
    pub(crate) local: bool,
    /// Whether an earlier generation of a machine is as good as a later one.
    pub(crate) any_generation: bool,
}

/// Whether limits allow as much as others, up to these rates of requests and bytes.
fn allow(own: &[LimitSpec], others: &[LimitSpec], rates: [f64; 2]) -> bool {
    let parts = |limit: &LimitSpec| match limit.rate {
        Rate::Iops(rate) => (true, limit.counts, (rate.0 as f64).min(rates[0])),
        Rate::Throughput(rate) => (false, limit.counts, (rate.0 as f64).min(rates[1])),
    };
    // Each of its limits is no tighter than one of the other's that counts the same.
    own.iter().map(parts).all(|(is_iops, counts, rate)| {
        others
            .iter()
            .map(parts)
            .any(|(other_iops, other_counts, other)| {
                (is_iops, counts) == (other_iops, other_counts) && rate >= other
            })
    })
}

fn does_all(own: &VolumeSpec, others: &VolumeSpec) -> bool {
    let (first, other) = (&own.disks[0], &others.disks[0]);
    let same = DiskSpec {
        size: other.size,
        limits: other.limits.clone(),
        ..first.clone()
    };
    same == *other
        && own.disks.len() == others.disks.len()
        && first.size >= other.size
        && allow(&first.limits, &other.limits, [f64::INFINITY; 2])
}

/// Bounds what volumes of earlier generations may cost, and removes those that save too little without any: a layout on one has to
/// cost 10 % less than the same volumes on the latest generation that does as much, and than on today's machine if that is of a
/// later one. Today's machine stays as it is.
pub(crate) fn without_early(
    mut machines: Vec<Machine>,
    of_use: &OfUse,
    today: Option<&Machine>,
) -> Vec<Machine> {
    if of_use.any_generation {
        return machines;
    }
    let most = |machine: &Machine| {
        let later = machines
            .iter()
            .filter(|later| later.is_newer_than(machine) && later.does_all_of(machine, of_use));
        // The cheapest of the latest generation.
        let latest = later.reduce(|best, other| {
            let is_as_late = !best.is_newer_than(other);
            let is_cheaper = other.usd_per_month < best.usd_per_month;
            match other.is_newer_than(best) || (is_as_late && is_cheaper) {
                true => other,
                false => best,
            }
        });
        let today = today.filter(|today| today.is_newer_than(machine));
        let both = latest.into_iter().chain(today);
        let both = both.map(|later| machine.volumes_usd_beside(later));
        both.fold(f64::INFINITY, f64::min)
    };
    let is_today = |machine: &Machine| today.is_some_and(|today| today.name == machine.name);
    let all_most: Vec<f64> = machines
        .iter()
        .map(|machine| match is_today(machine) {
            true => f64::INFINITY,
            false => most(machine),
        })
        .collect();
    for (machine, most) in machines.iter_mut().zip(all_most) {
        machine.volumes_usd_max = most;
    }
    machines.retain(|machine| machine.saves_with(0.0));
    machines
}

/// Removes dominated machines: another one costs no more and offers as much of what the load could use, whatever its volumes cost.
/// Today's machine stays.
pub(crate) fn without_beaten(
    mut machines: Vec<Machine>,
    of_use: &OfUse,
    today: Option<&str>,
) -> Vec<Machine> {
    machines.sort_by(|a, b| {
        let by_price = a.usd_per_month.total_cmp(&b.usd_per_month);
        // Of the same price, the larger one beats the smaller.
        let by_size = b
            .spec
            .cores
            .cmp(&a.spec.cores)
            .then(b.disks_max.cmp(&a.disks_max));
        by_price.then(by_size).then(a.name.cmp(&b.name))
    });
    let mut kept: Vec<Machine> = Vec::new();
    for machine in machines {
        let is_today = today == Some(machine.name.as_str());
        let beats = |kept: &Machine| {
            kept.volumes_usd_max >= machine.volumes_usd_max && kept.does_all_of(&machine, of_use)
        };
        if is_today || !kept.iter().any(beats) {
            kept.push(machine);
        }
    }
    kept
}
