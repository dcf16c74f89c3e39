//! The smallest changes from today's layout: one volume, the place of one kind of files, or the machine.
//!
//! Of each such change, three variants are of interest: the cheapest that keeps the goal, the fastest, and the one with the least
//! product of price and time. A bound chooses them, and a short simulation shows what they do.

use std::collections::BTreeMap;

use analysis::report::advice::document::{self, Change};
use catalogue::MachineEntry;
use experiment::spec::{Disk, Override, Settings};
use model::{Bytes, HostCacheMode, MachineSpec, VolumeSpec};
use reading::Role;

use super::DocumentBuilder;
use super::bill::{Bought, billed};
use super::layouts::{measured, volume_of};
use crate::bound::governing;
use crate::error::AdviseError;
use crate::headroom::headroom;
use crate::need::TempOn;
use crate::offer::Offer;
use crate::search::TOLD_APART;
use crate::simulate::{Effort, Placed, Ratio, Stepwise};

/// Without a budget, changes up to this multiple of today's price are considered.
const PRICE_MAX: f64 = 2.0;

/// Maximum number of simulations for the cheapest variant of a change.
const TRIES_MAX: usize = 3;

/// A change, ready to be simulated.
#[derive(Clone)]
pub(super) struct Changed {
    what: String,
    machine: Bought,
    volumes: Vec<document::Volume>,
    placed: Placed,
    usd_per_month: f64,
}

/// A change that was simulated.
pub(super) struct Tried {
    pub(super) change: Change,
    changed: Changed,
}

/// Today's layout, where everything has a price.
struct Priced<'a> {
    today: &'a document::Layout,
    machine: Bought,
    usd_per_month: f64,
}

impl DocumentBuilder<'_> {
    /// The changes of interest, by price; none where the price of today's layout is not known.
    pub(super) fn changes(&self, today: &document::Layout) -> Result<Vec<Tried>, AdviseError> {
        let priced = || {
            Some(Priced {
                today,
                machine: Bought::of_layout(today)?,
                usd_per_month: today.usd_per_month?,
            })
        };
        let Some(priced) = priced().filter(|_| !self.shares_limits()) else {
            return Ok(Vec::new());
        };
        let mut all = Vec::new();
        for variants in self.variants(&priced) {
            for (changed, begun) in self.of_interest(&priced, variants)? {
                all.extend(self.tried(&priced, changed, begun)?);
            }
        }
        all.sort_by(|a, b| {
            let usd = |tried: &Tried| tried.change.usd_more_per_month;
            usd(a).total_cmp(&usd(b))
        });
        Ok(all)
    }

    /// The change as an answer, confirmed by longer simulations, and with the load that it can take; `None` where it does not
    /// keep the goal after all.
    pub(super) fn confirmed_change(
        &self,
        tried: &Tried,
    ) -> Result<Option<document::Layout>, AdviseError> {
        let request = self.request;
        let placed = &tried.changed.placed;
        let most = 1.0 + request.wishes.limits.slower_max;
        let confirmed = placed.confirmed_within(&request.load, &self.found.today_s, (0.0, most));
        let Some((time, own)) = confirmed.map_err(AdviseError::Headroom)? else {
            return Ok(None);
        };
        let room = headroom(placed, &request.load, self.found.today.operation_s * most);
        let (factor, is_least) = room.map_err(AdviseError::Headroom)?.factor();
        Ok(Some(document::Layout {
            headroom: Some(factor),
            headroom_is_least: is_least,
            ..self.changed_layout(&tried.changed, &own, time)?
        }))
    }

    /// The variants of each change.
    fn variants(&self, priced: &Priced<'_>) -> Vec<Vec<Changed>> {
        let mut all = Vec::new();
        for (at, volume) in priced.today.volumes.iter().enumerate() {
            if volume.forgets {
                continue;
            }
            all.push(self.other_disks(priced, at));
            for role in [Role::Log, Role::Temp] {
                let is_counted = self.request.need.separate.contains(&role);
                if is_counted && volume.roles.len() > 1 && volume.roles.contains(&role) {
                    all.push(self.apart(priced, at, role));
                }
            }
            all.push(self.merged(priced, at));
        }
        all.push(self.other_machines(priced));
        all
    }

    /// A volume of other disks.
    fn other_disks(&self, priced: &Priced<'_>, at: usize) -> Vec<Changed> {
        let volume = &priced.today.volumes[at];
        let changed = |offer: &Offer| {
            let mut changed = self.unchanged(priced);
            let new = volume_of(&volume.name, &volume.roles, offer);
            changed.what = format!(
                "volume {}: {} instead of {}",
                volume.name,
                new.disks(),
                volume.disks()
            );
            changed.placed.volumes[at] = striped(&volume.name, offer);
            changed.volumes[at] = new;
            changed
        };
        let offers = self.layouts.offers_for(&volume.roles).iter();
        let machine = &self.request.today.placed.machine;
        let offers = offers.filter(|offer| self.is_attachable(priced, offer, machine, Some(at)));
        offers.map(changed).collect()
    }

    /// Files of one kind moved to a new volume.
    fn apart(&self, priced: &Priced<'_>, at: usize, role: Role) -> Vec<Changed> {
        let machine = &self.request.today.placed.machine;
        let changed = |offer: &Offer| {
            let mut changed = self.unchanged(priced);
            let new = volume_of(role.name(), &[role], offer);
            changed.what = format!("{role} on a volume of its own: {}", new.disks());
            changed.volumes[at].roles.retain(|other| *other != role);
            let index = changed.placed.volumes.len();
            match role {
                Role::Log => changed.placed.places.log = index,
                _ => changed.placed.places.temp = vec![index],
            }
            changed.placed.volumes.push(striped(role.name(), offer));
            changed.volumes.push(new);
            changed
        };
        let holding = priced.today.volumes.iter();
        let is_spread = holding.filter(|one| one.roles.contains(&role)).count() > 1;
        let is_named = priced
            .today
            .volumes
            .iter()
            .any(|one| one.name == role.name());
        let is_free = !is_spread && !is_named;
        let offers = self.layouts.offers_for(&[role]).iter();
        let offers =
            offers.filter(|offer| is_free && self.is_attachable(priced, offer, machine, None));
        offers.map(changed).collect()
    }

    /// The files of a volume on each of the others that has the space.
    fn merged(&self, priced: &Priced<'_>, at: usize) -> Vec<Changed> {
        let gone = &priced.today.volumes[at];
        let mut all = Vec::new();
        for (to, kept) in priced.today.volumes.iter().enumerate() {
            let mut roles = kept.roles.clone();
            roles.extend(&gone.roles);
            let disks = self.request.today.placed.volumes[to].disks.iter();
            let space = disks.fold(0_u64, |sum, disk| sum.saturating_add(disk.size.0));
            if to == at || kept.forgets || self.request.need.capacity(&roles) > Bytes(space) {
                continue;
            }
            let mut changed = self.unchanged(priced);
            changed.what = format!(
                "{} on volume {}, without volume {}",
                Role::joined(&gone.roles, ", "),
                kept.name,
                gone.name
            );
            roles.sort();
            roles.dedup();
            changed.volumes[to].roles = roles;
            changed.volumes.remove(at);
            changed.placed.volumes.remove(at);
            let moved = |volume: usize| {
                let volume = if volume == at { to } else { volume };
                if volume > at { volume - 1 } else { volume }
            };
            let places = &mut changed.placed.places;
            places.log = moved(places.log);
            for files in [&mut places.data, &mut places.temp] {
                files.iter_mut().for_each(|volume| *volume = moved(*volume));
            }
            all.push(changed);
        }
        all
    }

    /// Another machine, with the volumes of today.
    fn other_machines(&self, priced: &Priced<'_>) -> Vec<Changed> {
        let volumes = &self.request.today.placed.volumes;
        if priced.today.volumes.iter().any(|volume| volume.forgets) {
            return Vec::new();
        }
        let disks: u32 = priced.today.volumes.iter().map(|volume| volume.count).sum();
        let catalogue = self.request.catalogue;
        let volumes_usd = priced.usd_per_month - priced.machine.usd_per_month;
        let machines = self.layouts.machines().iter().filter(|machine| {
            let governs =
                |volume: &VolumeSpec| governing(&volume.disks[0], &machine.spec).is_some();
            !Bought::of(machine, catalogue).is_same_as(&priced.machine)
                && machine.disks_max.is_none_or(|most| disks <= most)
                && machine.saves_with(volumes_usd)
                && volumes.iter().all(governs)
        });
        let changed = machines.map(|machine| {
            let mut changed = self.unchanged(priced);
            let bought = Bought::of(machine, catalogue);
            changed.what = format!(
                "machine {} instead of {}",
                bought.shown(),
                priced.machine.shown()
            );
            changed.machine = bought;
            changed.placed.machine = machine.spec.clone();
            changed
        });
        changed.collect()
    }

    /// Today's layout in the long run, without burst credits, as all that is compared with it.
    fn unchanged(&self, priced: &Priced<'_>) -> Changed {
        let mut placed = self.request.today.placed.clone();
        let of_machine = placed.machine.limits.values_mut().flatten();
        let disks = placed
            .volumes
            .iter_mut()
            .flat_map(|volume| &mut volume.disks);
        let of_disks = disks.flat_map(|disk| &mut disk.limits);
        of_machine
            .chain(of_disks)
            .for_each(|limit| limit.burst = None);
        Changed {
            what: String::new(),
            machine: priced.machine.clone(),
            volumes: priced.today.volumes.clone(),
            placed,
            usd_per_month: priced.usd_per_month,
        }
    }

    /// Whether a change keeps to what was asked of machines, disks and temporary files. (How many disks was checked with the offer.)
    fn is_wanted(&self, changed: &Changed) -> bool {
        let need = &self.request.need;
        let machine = self.request.catalogue.machine(&changed.machine.name).ok();
        let is_asked = |volume: &document::Volume| {
            volume.forgets || need.disks.is_empty() || need.disks.contains(&volume.disk)
        };
        let mut of_temp = changed
            .volumes
            .iter()
            .filter(|volume| volume.roles.contains(&Role::Temp));
        machine.is_some_and(|machine| {
            need.allows_machine(machine) && self.is_sold_on(machine, &changed.volumes)
        }) && changed.volumes.iter().all(is_asked)
            && match need.temp {
                TempOn::Any => true,
                TempOn::Local => of_temp.all(|volume| volume.forgets),
                TempOn::Remote => of_temp.all(|volume| !volume.forgets),
            }
    }

    /// Whether the service of a class has these volumes together, or a machine none that are of a service.
    fn is_sold_on(&self, machine: &MachineEntry, volumes: &[document::Volume]) -> bool {
        let catalogue = self.request.catalogue;
        let Some(service) = self.request.need.services.of_class(machine) else {
            let mut disks = volumes.iter();
            return machine.service.is_none()
                && disks.all(|volume| catalogue.services_with(&volume.disk).next().is_none());
        };
        let roles =
            |volume: &document::Volume| volume.roles.iter().map(|role| role.name()).collect();
        let volumes = volumes.iter();
        let volumes: Vec<(&str, Vec<&str>)> = volumes
            .map(|volume| (volume.disk.as_str(), roles(volume)))
            .collect();
        service.takes(&volumes)
    }

    /// Whether volumes of today's service share limits, so that none changes by itself.
    fn shares_limits(&self) -> bool {
        let machine = self.request.today.machine();
        let service = machine.and_then(|name| self.request.catalogue.service_of(name));
        service.is_some_and(|service| {
            let mut storage = service.storage.iter();
            storage.any(|one| one.pool || one.capped.is_some())
        })
    }

    /// Whether the machine takes these disks, beside or in place of those of a volume.
    fn is_attachable(
        &self,
        priced: &Priced<'_>,
        offer: &Offer,
        machine: &MachineSpec,
        instead: Option<usize>,
    ) -> bool {
        let others = priced.today.volumes.iter().enumerate();
        let others = others.filter(|(at, volume)| Some(*at) != instead && !volume.forgets);
        let disks = others.map(|(_, volume)| volume.count).sum::<u32>() + offer.count;
        let entry = self.request.catalogue.machine(&priced.machine.name).ok();
        let places = [
            entry.and_then(|entry| entry.disks_max),
            self.request.need.disks_max,
        ];
        governing(&offer.spec, machine).is_some()
            && places.into_iter().flatten().all(|most| disks <= most)
    }

    /// Of the variants of a change: the cheapest that keeps the goal, if that saves something, the fastest within the budget, and
    /// the one with the least product of price and time; each with its simulation, as far as that went.
    fn of_interest(
        &self,
        priced: &Priced<'_>,
        mut variants: Vec<Changed>,
    ) -> Result<Vec<(Changed, Stepwise)>, AdviseError> {
        for changed in &mut variants {
            let disks: Option<f64> = changed.volumes.iter().map(|one| one.usd_per_month).sum();
            changed.usd_per_month = changed.machine.usd_per_month + disks.unwrap_or(f64::INFINITY);
        }
        let budget = self.request.wishes.limits.budget;
        let most = budget.unwrap_or(priced.usd_per_month * PRICE_MAX);
        variants.retain(|changed| changed.usd_per_month <= most && self.is_wanted(changed));
        variants.sort_by(|a, b| a.usd_per_month.total_cmp(&b.usd_per_month));
        let bounds: Vec<f64> = variants.iter().map(|changed| self.least(changed)).collect();
        let goal = 1.0 + self.request.wishes.limits.slower_max;
        let mut chosen: BTreeMap<usize, Stepwise> = BTreeMap::new();
        let cheaper = variants.iter().zip(&bounds).enumerate();
        let cheaper = cheaper
            .take_while(|(_, (changed, _))| changed.usd_per_month <= priced.usd_per_month - 1.0)
            .filter(|(_, (_, least))| **least <= goal);
        for (at, (changed, _)) in cheaper.take(TRIES_MAX) {
            let most_s = goal * self.found.today.operation_s;
            let is_open = |at_least_s: f64| at_least_s <= most_s;
            let of = (&changed.placed, &self.request.load);
            let mut simulation = Stepwise::new(Effort::Short, 1);
            let operation_s = simulation.go_on(of, &is_open);
            if is_open(operation_s.map_err(AdviseError::Headroom)?) {
                chosen.insert(at, simulation);
                break;
            }
        }
        let least = bounds.iter().copied().fold(f64::INFINITY, f64::min);
        let as_fast = |bound: &f64| *bound <= least * (1.0 + TOLD_APART);
        let fastest = bounds.iter().position(as_fast);
        let values = variants.iter().zip(&bounds).enumerate();
        let value = values.min_by(|(_, (a, own)), (_, (b, other))| {
            (a.usd_per_month * **own).total_cmp(&(b.usd_per_month * **other))
        });
        for at in fastest.into_iter().chain(value.map(|(at, _)| at)) {
            let begun = chosen.entry(at);
            begun.or_insert_with(|| Stepwise::new(Effort::Short, 1));
        }
        let chosen = chosen.into_iter();
        Ok(chosen
            .map(|(at, begun)| (variants[at].clone(), begun))
            .collect())
    }

    /// Lower bound on the time of an operation, as a share of today's.
    fn least(&self, changed: &Changed) -> f64 {
        let parts = self.request.load.parts.iter();
        let least = parts.map(|part| part.share * changed.placed.least_s(part));
        least.sum::<f64>() / self.found.today.operation_s
    }

    /// A change with its time; `None` where it saves nothing and brings nothing, which ends its simulation.
    fn tried(
        &self,
        priced: &Priced<'_>,
        changed: Changed,
        mut begun: Stepwise,
    ) -> Result<Option<Tried>, AdviseError> {
        let load = &self.request.load;
        let today_s = self.found.today.operation_s;
        let usd_more_per_month = changed.usd_per_month - priced.usd_per_month;
        let is_open =
            |at_least_s: f64| usd_more_per_month <= -1.0 || at_least_s / today_s < 1.0 - TOLD_APART;
        let operation_s = begun.go_on((&changed.placed, load), &is_open);
        let operation_s = operation_s.map_err(AdviseError::Headroom)?;
        let Some(own) = begun.measured(load).filter(|_| is_open(operation_s)) else {
            return Ok(None);
        };
        let time = Ratio::of(&[(own.operation_s, today_s)]);
        Ok(Some(Tried {
            change: Change {
                what: changed.what.clone(),
                usd_more_per_month,
                layout: self.changed_layout(&changed, &own, time)?,
            },
            changed,
        }))
    }

    fn changed_layout(
        &self,
        changed: &Changed,
        own: &crate::simulate::Measured,
        time: Ratio,
    ) -> Result<document::Layout, AdviseError> {
        let names: Vec<String> = changed.volumes.iter().map(|one| one.name.clone()).collect();
        let layout = document::Layout {
            volumes: changed.volumes.clone(),
            usd_per_month: Some(changed.usd_per_month),
            ..measured(own, time, self.today_s(), &names)
        };
        let layout = changed.machine.clone().under(layout);
        let layout = billed(layout, &self.request.need, self.request.catalogue);
        self.ranged(layout, &changed.placed)
    }
}

/// Whether an experiment can express the volumes of `settings` by what a document has of them.
pub(crate) fn is_expressible(settings: &Settings) -> bool {
    settings.volumes.iter().all(|volume| {
        volume.disk != Disk::Unlimited
            && volume.host_cache == HostCacheMode::None
            && volume.credits.is_none()
            && volume.replaced == Override::default()
    })
}

/// A volume of disks that are bought, for the model.
pub(crate) fn striped(name: &str, offer: &Offer) -> VolumeSpec {
    VolumeSpec {
        name: name.to_owned(),
        disks: vec![offer.spec.clone(); offer.count as usize],
        ..VolumeSpec::of("", offer.spec.clone())
    }
}
