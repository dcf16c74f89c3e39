//! All purchasable layouts, by price.

mod alike;
mod combine;
mod on_service;
mod relaxed;

use std::collections::BTreeSet;

use catalogue::Catalogue;
use model::cores::Speed;
use model::{Bytes, VolumeSpec};
use reading::Role;
use replay::Places;

use super::group::{self, GROUPINGS, Group, Grouping, On};
use super::load::{Load, Part};
use super::machine::{self, Machine, OfUse};
use super::need::{Need, TempOn};
use super::offer::{self, Offer, USEFUL, Wanted, operations_max};
use super::simulate::Placed;
use alike::Alike;
pub(crate) use relaxed::{Keep, Relaxed};

/// All purchasable layouts, by price.
pub struct Layouts<'a> {
    load: &'a Load,
    /// The load on the fastest processors that there are.
    fastest: Load,
    machines: Vec<Machine>,
    /// Purchasable volumes, for each set of roles that shares one.
    offers: Vec<(&'static [Role], Vec<Offer>)>,
    groupings: Vec<Grouping>,
    layouts: Vec<Layout>,
    /// Dollars a month above which they are left out; infinite where all are there.
    usd_max: f64,
    alike: Alike,
    /// Number of processors from which on more make no difference.
    cores_of_use: f64,
    counts: Considered,
    temp_needed: Bytes,
    /// How much more a later generation of a machine may cost, as a share, to be preferred to an earlier one.
    pub(crate) newer_may_cost: f64,
}

/// Number of layouts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Considered {
    pub(crate) machines: u64,
    pub(crate) unpriced: u64,
    /// Layouts of all machines and volumes.
    pub(crate) layouts: u64,
    /// Of these, layouts that are not dominated at their price.
    pub(crate) unbeaten: u64,
}

/// A machine, and a volume for each group of files.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layout {
    machine: u16,
    grouping: u8,
    /// Index of each group's offer; unused for a local volume.
    offers: [u32; 3],
    /// Dollars a month.
    pub usd_per_month: f64,
    /// Lower bound on the time of an operation, in seconds.
    pub(crate) least_s: f64,
}

/// A volume of a layout.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedVolume<'a> {
    /// `data`, `data-log`, ..
    pub name: String,
    /// Roles of the files on it.
    pub roles: &'static [Role],
    /// The offer to buy; `None`: all local disks of the machine.
    pub offer: Option<&'a Offer>,
}

/// Why no layout exists.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoLayout {
    /// No machine qualifies.
    #[error(
        "no machine of the catalogue is like this ({0} without a price); ask for another region, or allow more (--cloud, --machine, --arm); it needs at least today's \
         memory, and the processors that today's machine is said to have"
    )]
    Machines(u64),
    /// No disk qualifies for these files.
    #[error(
        "no disk of the catalogue holds {size} for {roles}; give another --capacity, --cloud, or --disk"
    )]
    Disks {
        /// The roles that need a disk.
        roles: String,
        /// Required capacity.
        size: Bytes,
    },
    /// Temporary files cannot be placed separately.
    #[error(
        "temporary files cannot be on a disk of their own: their requests were not counted separately; record the server \
         itself (`dbstow record`), or leave --temp out"
    )]
    Temp,
    /// There are machines and disks, but no valid combination.
    #[error(
        "no machine takes these disks and holds these files; allow other machines (--machine), more disks (--disks-max), or \
         other places for temporary files (--temp)"
    )]
    Together,
    /// All are of earlier generations, and save too little.
    #[error(
        "every machine like this is of an earlier generation than today's, and saves less than 10 % beside that; allow it \
         (--any-generation), or other machines (--machine)"
    )]
    Early,
    /// All are too slow.
    #[error(
        "on every layout operations take more than twice today's time; allow other machines and disks (--machine, --disk, \
         --cloud), or ask for less (--growth)"
    )]
    Slow,
}

impl<'a> Layouts<'a> {
    /// All layouts of the catalogue that meet the need and whose lower bound on operation time is within `slowest_s`; `every`
    /// also keeps dominated ones, for tests.
    ///
    /// # Errors
    /// When no layout exists.
    pub fn new(
        catalogue: &Catalogue,
        need: &Need,
        load: &'a Load,
        slowest_s: f64,
        every: bool,
    ) -> Result<Layouts<'a>, NoLayout> {
        let all = Layouts::offered(catalogue, need, load, every)?;
        all.combined(need, slowest_s, f64::INFINITY)
    }

    /// Machines and volumes that meet the need, not combined yet.
    ///
    /// # Errors
    /// When none can be combined.
    pub(crate) fn offered(
        catalogue: &Catalogue,
        need: &Need,
        load: &'a Load,
        every: bool,
    ) -> Result<Layouts<'a>, NoLayout> {
        let groupings = groupings(need)?;
        let (machines, unpriced) = machine::machines(catalogue, need);
        if machines.is_empty() {
            return Err(NoLayout::Machines(unpriced as u64));
        }
        let mut roles: Vec<&'static [Role]> = Vec::new();
        for group in groupings.iter().copied().flatten() {
            if group.on == On::Attached && !roles.contains(&group.roles) {
                roles.push(group.roles);
            }
        }
        // As many requests as the fastest of them could ask for are of use.
        let fastest = machines.iter().map(|machine| machine.spec.speed).max();
        let fastest = load.on(fastest.unwrap_or(Speed::SAME));
        let wanted = |roles| Wanted {
            roles,
            load: &fastest,
            need,
        };
        let offers = roles
            .into_iter()
            .map(|roles| (roles, wanted(roles).offers(catalogue)));
        let offers: Vec<(&'static [Role], Vec<Offer>)> = offers.collect();
        let lacking = |roles: &[Role]| {
            let own = offers.iter().find(|(own, _)| *own == roles);
            own.is_some_and(|(_, offers)| offers.is_empty())
        };
        // Without a volume for the data no layout is possible.
        if let Some(group) = groupings
            .iter()
            .map(|grouping| &grouping[0])
            .find(|group| lacking(group.roles))
            && groupings.iter().all(|grouping| lacking(grouping[0].roles))
        {
            return Err(NoLayout::Disks {
                roles: group::name(group.roles),
                size: need.capacity(group.roles),
            });
        }
        let mut all = Layouts {
            load,
            fastest,
            machines,
            offers,
            groupings,
            layouts: Vec::new(),
            usd_max: f64::INFINITY,
            alike: Alike::default(),
            cores_of_use: 0.0,
            counts: Considered::default(),
            temp_needed: need.capacity(&[Role::Temp]),
            newer_may_cost: machine::newer_may_cost(need.any_generation),
        };
        all.counts.machines = all.machines.len() as u64;
        all.counts.unpriced = unpriced as u64;
        all.counts.layouts = all.count(need);
        let of_use = all.of_use(need);
        let machines = std::mem::take(&mut all.machines);
        let today = Machine::of_today(catalogue, need);
        all.machines = machine::without_early(machines, &of_use, today.as_ref());
        if all.machines.is_empty() {
            return Err(NoLayout::Early);
        }
        if !every {
            let machines = std::mem::take(&mut all.machines);
            let today = need.today.as_deref();
            all.machines = machine::without_beaten(machines, &of_use, today);
            for (_, offers) in &mut all.offers {
                *offers = offer::without_beaten(std::mem::take(offers), &all.fastest);
            }
        }
        all.counts.unbeaten = all.count(need);
        all.cores_of_use = all.of_use(need).cores;
        all.alike = Alike::of(&all.machines, &all.offers);
        match all.counts.unbeaten {
            0 => Err(NoLayout::Together),
            _ => Ok(all),
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.layouts.len()
    }

    /// Dollars a month above which they are left out; infinite where all are there.
    pub(crate) fn usd_max(&self) -> f64 {
        self.usd_max
    }

    /// By price.
    pub fn iter(&self) -> impl Iterator<Item = &Layout> {
        self.layouts.iter()
    }

    /// The load that they must carry.
    pub fn load(&self) -> &'a Load {
        self.load
    }

    pub(crate) fn considered(&self) -> Considered {
        self.counts
    }

    /// Name of the machine of a layout, and its price a month, with operating system and licence, of all servers.
    pub fn machine(&self, layout: &Layout) -> (&str, f64) {
        let machine = self.machine_of(layout);
        (&machine.name, machine.usd_per_month)
    }

    /// Purchasable machines.
    pub(crate) fn machines(&self) -> &[Machine] {
        &self.machines
    }

    /// Number of local disks of a layout's machine.
    pub fn local_disks(&self, layout: &Layout) -> u32 {
        let local = self.machine_of(layout).local.as_ref();
        local.map_or(0, |local| local.disks.len() as u32)
    }

    /// The volumes of a layout.
    pub fn volumes(&self, layout: &Layout) -> Vec<PlannedVolume<'_>> {
        let groups = self.groups(layout);
        let volume = |(at, group): (usize, &Group)| PlannedVolume {
            name: group::name(group.roles),
            roles: group.roles,
            offer: match group.on {
                On::Attached => Some(&self.offers_for(group.roles)[layout.offers[at] as usize]),
                On::Local => None,
            },
        };
        groups.iter().enumerate().map(volume).collect()
    }

    /// The layout in the model's terms.
    pub fn placed(&self, layout: &Layout) -> Placed {
        let machine = self.machine_of(layout);
        let volumes = self.volumes(layout);
        let spec = |volume: &PlannedVolume<'_>| match volume.offer {
            Some(offer) => VolumeSpec {
                name: volume.name.clone(),
                disks: vec![offer.spec.clone(); offer.count as usize],
                ..VolumeSpec::of("", offer.spec.clone())
            },
            None => VolumeSpec {
                name: volume.name.clone(),
                ..machine
                    .local
                    .clone()
                    .expect("a local volume is on a machine with local disks")
            },
        };
        let placed = Placed {
            machine: machine.spec.clone(),
            volumes: volumes.iter().map(spec).collect(),
            places: places(self.groups(layout)),
        };
        machine.shared(placed, &volumes)
    }

    /// What distinguishes layouts that are not variants of each other: machine and kinds of disks.
    pub(crate) fn kind(&self, layout: &Layout) -> (&str, BTreeSet<&str>) {
        let volumes = self.volumes(layout).into_iter();
        let disks =
            volumes.map(|volume| volume.offer.map_or("local", |offer| product(&offer.disk)));
        (&self.machine_of(layout).name, disks.collect())
    }

    pub(crate) fn machine_of(&self, layout: &Layout) -> &Machine {
        &self.machines[layout.machine as usize]
    }

    fn groups(&self, layout: &Layout) -> Grouping {
        self.groupings[layout.grouping as usize]
    }

    /// Purchasable volumes for files of these roles, by price.
    pub(crate) fn offers_for(&self, roles: &[Role]) -> &[Offer] {
        let found = self.offers.iter().find(|(own, _)| *own == roles);
        found.map_or(&[], |(_, offers)| offers)
    }

    /// The machine resources that the load could use.
    fn of_use(&self, need: &Need) -> OfUse {
        let offers = || self.offers.iter().flat_map(|(_, offers)| offers);
        let mut limits: Vec<Vec<String>> = Vec::new();
        for offer in offers() {
            if !limits.contains(&offer.spec.machine_limits) {
                limits.push(offer.spec.machine_limits.clone());
            }
        }
        // The slowest processors need the most time for what the fastest complete.
        let speeds = self.machines.iter().map(|machine| machine.spec.speed);
        let slowest = speeds.min().unwrap_or(Speed::SAME);
        let of_part = |(at, part): (usize, &Part)| {
            // Minimum wait for any choice of volumes.
            let of_group = |group: &Group| match group.on {
                On::Attached => {
                    let offers = self.offers_for(group.roles).iter();
                    let waits = offers.map(|offer| offer.asked[at].wait_s);
                    waits.fold(f64::INFINITY, f64::min)
                }
                On::Local => 0.0,
            };
            let groupings = self.groupings.iter();
            let waits = groupings.map(|groups| groups.iter().map(of_group).sum());
            let wait_s = waits.fold(f64::INFINITY, f64::min);
            let per_s = USEFUL * operations_max(&part.demand, wait_s);
            // Maximum that any of them counts for the same requests.
            let most = |roles: &[Role]| {
                let offers = self.offers_for(roles).iter();
                let all =
                    offers.map(|offer| offer.asked[at].most.reads + offer.asked[at].most.writes);
                all.fold((0.0_f64, 0.0_f64), |(requests, bytes), one| {
                    (requests.max(one.requests), bytes.max(one.bytes))
                })
            };
            let groupings = self.groupings.iter();
            let counted = groupings.map(|groups| {
                let attached = groups.iter().filter(|group| group.on == On::Attached);
                let each = attached.map(|group| most(group.roles));
                each.fold((0.0, 0.0), |(a, b), (c, d)| (a + c, b + d))
            });
            let (requests, bytes) =
                counted.fold((0.0_f64, 0.0_f64), |(a, b), (c, d)| (a.max(c), b.max(d)));
            let busy_s = slowest.time(self.load.parts[at].demand.processor);
            [busy_s.as_secs_f64(), requests, bytes].map(|each| each * per_s)
        };
        let parts = self.fastest.parts.iter().enumerate().map(of_part);
        let most = parts.fold([1.0; 3], |[a, b, c]: [f64; 3], [d, e, f]| {
            [a.max(d), b.max(e), c.max(f)]
        });
        let [cores, requests, bytes] = most;
        let local = need.temp != TempOn::Remote
            && self
                .groupings
                .iter()
                .copied()
                .flatten()
                .any(|group| group.on == On::Local);
        if local {
            for disk in self
                .machines
                .iter()
                .filter_map(|machine| machine.local.as_ref())
            {
                let names = &disk.disks[0].machine_limits;
                if !limits.contains(names) {
                    limits.push(names.clone());
                }
            }
        }
        OfUse {
            cores,
            limits,
            rates: [requests, bytes],
            local,
            any_generation: need.any_generation,
        }
    }

    /// Number of combinations before pruning.
    fn count(&self, need: &Need) -> u64 {
        let of_machine = |machine: &Machine| -> u64 {
            let governed = |group: &Group| -> u64 {
                let offers = self.offers_for(group.roles).iter();
                offers.filter(|offer| machine.takes(offer)).count() as u64
            };
            let of_grouping = |grouping: &Grouping| -> u64 {
                let counts = grouping.iter().map(|group| match group.on {
                    On::Attached => governed(group),
                    On::Local => u64::from(self.holds_temp(machine, need)),
                });
                counts.product()
            };
            self.groupings.iter().map(of_grouping).sum()
        };
        self.machines.iter().map(of_machine).sum()
    }

    /// Whether the machine's own disks hold the temporary files.
    fn holds_temp(&self, machine: &Machine, need: &Need) -> bool {
        let size =
            |volume: &VolumeSpec| -> u64 { volume.disks.iter().map(|disk| disk.size.0).sum() };
        let local = machine.local.as_ref();
        need.temp != TempOn::Remote && local.is_some_and(|local| size(local) >= self.temp_needed.0)
    }
}

/// Which volume of a grouping has the files of each role.
fn places(grouping: Grouping) -> Places {
    let place = |role: Role| {
        let found = grouping
            .iter()
            .position(|group| group.roles.contains(&role));
        found.expect("a grouping has a volume for each role")
    };
    Places {
        data: vec![place(Role::Data)],
        temp: vec![place(Role::Temp)],
        log: place(Role::Log),
    }
}

/// A disk's product: `azure.premium` for `azure.premium.p30`.
fn product(disk: &str) -> &str {
    match disk.match_indices('.').nth(1) {
        Some((at, _)) => &disk[..at],
        None => disk,
    }
}

/// Groupings that the need allows.
fn groupings(need: &Need) -> Result<Vec<Grouping>, NoLayout> {
    let shares_with_data = |grouping: Grouping, role: Role| grouping[0].roles.contains(&role);
    let is_allowed = |grouping: &Grouping| {
        let is_local = grouping.iter().any(|group| group.on == On::Local);
        let mut others = [Role::Temp, Role::Log].into_iter();
        let separable =
            others.all(|role| need.separate.contains(&role) || shares_with_data(grouping, role));
        separable
            && match need.temp {
                TempOn::Any => true,
                TempOn::Local => is_local,
                TempOn::Remote => !is_local,
            }
    };
    let allowed: Vec<Grouping> = GROUPINGS.into_iter().filter(is_allowed).collect();
    match allowed.is_empty() {
        true => Err(NoLayout::Temp),
        false => Ok(allowed),
    }
}
