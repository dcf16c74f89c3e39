//! What if? A layout of an answer, simulated again with other sizes, other IOPS, or another load.
//!
//! What stays the same is kept: machine, places, terms, today's time. A tenth of a simulation shows where a change leads while it
//! is being made; the whole one is what the search does first.

use analysis::report::advice::document::{self, Advice};
use catalogue::{Catalogue, CatalogueError, DiskEntry, Limit, Provision, SizeRule};
use model::{Bytes, Iops, Throughput, VolumeSpec};
use reading::Role;
use replay::{BackTest, Places, ReplayError};

use super::document::bill::{self, Bought, billed};
use super::document::changes::{is_expressible, striped};
use super::document::layouts::{measured, volume_of};
use super::error::AdviseError;
use super::load::Load;
use super::machine::Machine;
use super::need::Need;
use super::offer::Wanted;
use super::recorded::recorded_share;
use super::request::Request;
use super::simulate::{Effort, GLANCE, Placed, Ratio};
use super::tariff::Backup;

/// How many times its own value a slider goes up to: what is further away is another layout.
const REACH: u64 = 8;

/// Layouts that can be simulated again.
#[derive(Clone, Debug)]
pub struct WhatIf {
    need: Need,
    catalogue: Catalogue,
    today_load: Load,
    /// The growth that was asked for, which sizes and backups of `need` have.
    growth: f64,
    /// Today's time of an operation in seconds, in a tenth of a simulation and in a whole one.
    today_s: [f64; 2],
    layouts: Vec<Known>,
}

/// A layout whose machine and disks are of the catalogue.
#[derive(Clone, Debug)]
struct Known {
    layout: document::Layout,
    machine: Machine,
    places: Places,
}

/// What is to be different.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The layout, by its place in [`WhatIf::layouts`].
    pub layout: usize,
    /// Times today's sessions and space, above 0.
    pub growth: f64,
    /// For each of its volumes, what each disk has; as it is where nothing is given.
    pub volumes: Vec<Disks>,
}

/// What each disk of a volume has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Disks {
    /// Its size.
    pub size: Option<Bytes>,
    /// Its provisioned IOPS.
    pub iops: Option<Iops>,
}

/// From and to where something may be changed, and where it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// The smallest.
    pub least: u64,
    /// The largest, at most eight times what it is now.
    pub most: u64,
    /// What it is now.
    pub now: u64,
}

/// What of a volume can be changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reaches {
    /// Sizes of each disk, in GiB.
    pub size_gib: Option<Reach>,
    /// IOPS of each disk.
    pub iops: Option<Reach>,
}

/// A layout with a change.
#[derive(Clone, Debug, PartialEq)]
pub struct Changed {
    /// It, with its bill, its time and its limits.
    pub layout: document::Layout,
    /// Files that do not fit; a sentence each.
    pub lacking: Vec<String>,
    /// The share of a whole simulation that its time is from.
    pub simulated: f64,
}

/// Why a layout cannot be like this.
#[derive(Debug, thiserror::Error)]
pub enum WhatIfError {
    /// There are fewer layouts, or the growth is not a positive number.
    #[error("there is no such layout; choose another one")]
    Unknown,
    /// The vendor does not sell the disk like this.
    #[error("volume {volume}: {why}")]
    Disk {
        /// The volume.
        volume: String,
        /// The cause, with the remedy.
        why: Box<CatalogueError>,
    },
    /// Its price is not known.
    #[error("volume {0}: the price of such a disk is not known; give your own prices")]
    Price(String),
    /// It cannot be simulated.
    #[error("{0}")]
    Replay(#[from] ReplayError),
}

impl Request<'_> {
    /// What the layouts of `advice`, an answer to this request, can be tried with. Layouts with disks or machines that are not of
    /// the catalogue are left out, and those on managed services, whose volumes share limits and grow by rules.
    ///
    /// # Errors
    /// When an operation takes no time.
    pub fn what_if(&self, backtest: &BackTest, advice: &Advice) -> Result<WhatIf, AdviseError> {
        let share = recorded_share(backtest);
        let today = |effort| -> Result<f64, AdviseError> {
            let now = self.today.placed.simulate(&self.today_load, effort, 1);
            Ok(now.map_err(AdviseError::Today)?.operation_s * share)
        };
        let is_expressible = is_expressible(self.today.settings);
        let known = |layout: &document::Layout| Known::of(layout, &self.need, self.catalogue);
        let all = advice.every_layout().into_iter();
        let all = all.filter(|(_, layout)| is_expressible || *layout != &advice.today);
        Ok(WhatIf {
            need: self.need.clone(),
            catalogue: self.catalogue.clone(),
            today_load: self.today_load.clone(),
            growth: self.wishes.growth,
            today_s: [today(Effort::Glance)?, today(Effort::Short)?],
            layouts: all.filter_map(|(_, layout)| known(layout)).collect(),
        })
    }
}

impl WhatIf {
    /// The layouts, by price.
    pub fn layouts(&self) -> impl Iterator<Item = &document::Layout> {
        self.layouts.iter().map(|known| &known.layout)
    }

    /// What of the volumes of a layout can be changed; in their order.
    ///
    /// # Panics
    /// When there are fewer layouts.
    pub fn reaches(&self, layout: usize) -> Vec<Reaches> {
        let volumes = self.layouts[layout].layout.volumes.iter();
        volumes.map(|volume| self.reach(volume)).collect()
    }

    /// The growth that was asked for.
    pub fn growth(&self) -> f64 {
        self.growth
    }

    /// A layout with a change; from the `whole` simulation, or a tenth of it.
    ///
    /// # Errors
    /// When it is not sold like this, or cannot be simulated.
    pub fn changed(&self, change: &Change, whole: bool) -> Result<Changed, WhatIfError> {
        let known = self.layouts.get(change.layout);
        let known = known.filter(|_| change.growth > 0.0 && change.growth.is_finite());
        let known = known.ok_or(WhatIfError::Unknown)?;
        let load = self.today_load.grown(change.growth);
        let need = self.grown(change.growth);
        let own = &known.layout.volumes;
        let disks = |at: usize| change.volumes.get(at).copied().unwrap_or_default();
        let volumes = own
            .iter()
            .enumerate()
            .map(|(at, volume)| self.volume(volume, disks(at), (&need, &load), known));
        let volumes: Vec<(document::Volume, VolumeSpec)> = volumes.collect::<Result<_, _>>()?;
        let (volumes, specs): (Vec<_>, Vec<_>) = volumes.into_iter().unzip();
        let placed = Placed {
            machine: known.machine.spec.clone(),
            volumes: specs,
            places: known.places.clone(),
        };
        let (effort, [today_s, _]) = match whole {
            true => (Effort::Short, [self.today_s[1], 1.0]),
            false => (Effort::Glance, self.today_s),
        };
        let simulated = placed.simulate(&load, effort, 1)?;
        let time = Ratio::of(&[(simulated.operation_s, today_s)]);
        let names: Vec<String> = volumes.iter().map(|one| one.name.clone()).collect();
        let usd: Option<f64> = volumes.iter().map(|one| one.usd_per_month).sum();
        let machine_usd = self.machine_usd(&need, known);
        let lacking = lacking(&need, &volumes);
        let layout = document::Layout {
            volumes,
            usd_per_month: usd.zip(machine_usd).map(|(disks, machine)| disks + machine),
            ..measured(&simulated, time, today_s, &names)
        };
        let layout = Bought::of(&known.machine, &self.catalogue).under(layout);
        Ok(Changed {
            layout: billed(
                document::Layout {
                    machine_usd_per_month: machine_usd,
                    ..layout
                },
                &need,
                &self.catalogue,
            ),
            lacking,
            simulated: if whole { 1.0 } else { GLANCE },
        })
    }

    /// What is needed with so much growth.
    fn grown(&self, growth: f64) -> Need {
        let mut need = self.need.clone();
        let more = |size: Bytes| Bytes((size.0 as f64 * growth / self.growth) as u64);
        for holding in &mut need.holdings {
            holding.size = more(holding.size);
        }
        let backup = need.tariff.backup.take();
        need.tariff.backup = backup.map(|backup| Backup {
            size: more(backup.size),
            ..backup
        });
        need
    }

    fn machine_usd(&self, need: &Need, known: &Known) -> Option<f64> {
        let entry = self.catalogue.machine(&known.machine.name).ok()?;
        need.machines_usd(entry, known.machine.switched_on)
    }

    /// A volume with other disks, and the same for the model.
    fn volume(
        &self,
        volume: &document::Volume,
        disks: Disks,
        (need, load): (&Need, &Load),
        known: &Known,
    ) -> Result<(document::Volume, VolumeSpec), WhatIfError> {
        if volume.forgets {
            let local = known.machine.local.clone();
            let local = local.expect("a layout with local disks is on a machine that has them");
            let spec = VolumeSpec {
                name: volume.name.clone(),
                ..local
            };
            return Ok((volume.clone(), spec));
        }
        let refused = |why: CatalogueError| WhatIfError::Disk {
            volume: volume.name.clone(),
            why: Box::new(why),
        };
        let entry = self.catalogue.disk(&volume.disk).map_err(refused)?;
        let provision = provision(entry, volume, disks);
        entry.provision(&provision).map_err(refused)?;
        let wanted = Wanted {
            roles: &volume.roles,
            load,
            need,
        };
        let offer = wanted.offer(entry, volume.count, provision);
        let offer = offer.ok_or_else(|| WhatIfError::Price(volume.name.clone()))?;
        Ok((
            volume_of(&volume.name, &volume.roles, &offer),
            striped(&volume.name, &offer),
        ))
    }

    fn reach(&self, volume: &document::Volume) -> Reaches {
        let entry = self.catalogue.disk(&volume.disk).ok();
        let Some(entry) = entry.filter(|_| !volume.forgets) else {
            return Reaches::default();
        };
        let size_gib = match (&entry.size, volume.size) {
            (SizeRule::Choice { least, most, .. }, Some(now)) => {
                let gib = |size: Bytes| size.0 >> 30;
                Some(reach(gib(*least).max(1), gib(*most), gib(Bytes(now))))
            }
            (SizeRule::Choice { .. } | SizeRule::Fixed(_), _) => None,
        };
        let size = Bytes(volume.size.unwrap_or_default());
        let iops = match (&entry.limits_at(size).iops, volume.iops) {
            (Some(Limit::Provisioned { least, most, .. }), Some(now)) => {
                Some(reach(least.amount(size, 0).0, most.amount(size, 0).0, now))
            }
            (_, _) => None,
        };
        Reaches { size_gib, iops }
    }
}

impl Known {
    /// `None` where something of it is not in the catalogue, its price is not known, or it is on a managed service.
    fn of(layout: &document::Layout, need: &Need, catalogue: &Catalogue) -> Option<Known> {
        let entry = catalogue.machine(layout.machine.as_ref()?).ok()?;
        if entry.service.is_some() {
            return None;
        }
        let machine = Machine::of(entry, layout.switched_on.map(bill::option), need)?;
        let is_known = |volume: &document::Volume| match volume.forgets {
            true => machine.local.is_some(),
            false => catalogue.disk(&volume.disk).is_ok(),
        };
        if !layout.volumes.iter().all(is_known) {
            return None;
        }
        let on = |role: Role| -> Vec<usize> {
            let volumes = layout.volumes.iter().enumerate();
            let has = volumes.filter(|(_, volume)| volume.roles.contains(&role));
            has.map(|(at, _)| at).collect()
        };
        Some(Known {
            places: Places {
                data: on(Role::Data),
                temp: on(Role::Temp),
                log: *on(Role::Log).first()?,
            },
            layout: layout.clone(),
            machine,
        })
    }
}

/// What a disk of the volume has with the change; where the new IOPS allow another throughput, the nearest.
fn provision(entry: &DiskEntry, volume: &document::Volume, disks: Disks) -> Provision {
    let size = disks.size.or(volume.size.map(Bytes));
    let iops = disks.iops.or(volume.iops.map(Iops));
    let at = size.unwrap_or_default();
    let throughput = volume
        .throughput
        .map(|now| match &entry.limits_at(at).throughput {
            Some(Limit::Provisioned { least, most, .. }) => {
                let asked = iops.map_or(0, |iops| iops.0);
                let [least, most] = [least, most].map(|rule| rule.amount(at, asked));
                Throughput(now).min(most).max(least)
            }
            Some(_) | None => Throughput(now),
        });
    Provision {
        size,
        iops,
        throughput,
        bursting: false,
    }
}

fn reach(least: u64, most: u64, now: u64) -> Reach {
    Reach {
        least: least.min(now),
        most: most.min(now.saturating_mul(REACH)).max(now),
        now,
    }
}

/// Files that do not fit on their volume.
fn lacking(need: &Need, volumes: &[document::Volume]) -> Vec<String> {
    let of_volume = |volume: &document::Volume| {
        let there = Bytes(volume.size?.saturating_mul(volume.count.into()));
        let needed = need.capacity(&volume.roles);
        (needed > there).then(|| {
            let name = &volume.name;
            format!("Volume {name} has {there}, and its files take {needed}.")
        })
    };
    volumes.iter().filter_map(of_volume).collect()
}
