//! Every machine with every choice of volumes, as far as a bound on the time of an operation allows.

use std::cell::Cell;

use catalogue::Catalogue;
use reading::Role;

use super::{Layout, Layouts, NoLayout};
use crate::bound::{OnVolume, governing, least_s};
use crate::group::{Grouping, On};
use crate::load::{Load, Part};
use crate::machine::Machine;
use crate::need::Need;

/// Prices that differ by less are the same, in dollars.
const CENT: f64 = 0.01;

/// Which combinations are wanted.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Combined {
    /// All that cost at most so many dollars a month.
    UpTo(f64),
    /// The cheapest, and some that are dearer.
    Cheapest,
}

impl<'a> Layouts<'a> {
    /// The cheapest layout whose lower bound on operation time is within `slowest_s`, and some that are dearer.
    ///
    /// # Errors
    /// When no layout exists.
    pub(crate) fn cheapest(
        catalogue: &Catalogue,
        need: &Need,
        load: &'a Load,
        slowest_s: f64,
    ) -> Result<Layouts<'a>, NoLayout> {
        let all = Layouts::offered(catalogue, need, load, false)?;
        all.with(need, slowest_s, Combined::Cheapest)
    }

    /// With all layouts whose lower bound on operation time is within `slowest_s`, and that cost `usd_max` dollars a month at most; by
    /// price.
    ///
    /// # Errors
    /// When there are none.
    pub(crate) fn combined(
        mut self,
        need: &Need,
        slowest_s: f64,
        usd_max: f64,
    ) -> Result<Layouts<'a>, NoLayout> {
        self.usd_max = usd_max;
        self.with(need, slowest_s, Combined::UpTo(usd_max))
    }

    fn with(
        mut self,
        need: &Need,
        slowest_s: f64,
        wanted: Combined,
    ) -> Result<Layouts<'a>, NoLayout> {
        let mut layouts = self.combinations(need, slowest_s, wanted);
        if layouts.is_empty() {
            let is_early = self.machines.iter().all(Machine::has_to_save);
            return Err(match is_early {
                true => NoLayout::Early,
                false => NoLayout::Slow,
            });
        }
        // In the order in which they were combined where prices are the same; a stable sort would take half as much memory again.
        layouts.sort_unstable_by(|a, b| {
            let (by_price, place) = (a.usd_per_month.total_cmp(&b.usd_per_month), Layout::place);
            by_price.then_with(|| place(a).cmp(&place(b)))
        });
        self.layouts = layouts;
        Ok(self)
    }

    /// All machines with all volumes for all groups, except those on which an operation takes longer than `slowest_s`, and those of an
    /// earlier generation that save too little.
    fn combinations(&self, need: &Need, slowest_s: f64, wanted: Combined) -> Vec<Layout> {
        let usd_max = Cell::new(match wanted {
            Combined::UpTo(usd) => usd,
            Combined::Cheapest => f64::INFINITY,
        });
        let mut machines: Vec<(usize, &Machine)> = self.machines.iter().enumerate().collect();
        if wanted == Combined::Cheapest {
            machines.sort_by(|(_, a), (_, b)| a.usd_per_month.total_cmp(&b.usd_per_month));
        }
        let mut all = Vec::new();
        for (machine_at, machine) in machines {
            let local = local(machine, self.load);
            let places = [need.disks_max, machine.disks_max];
            for (grouping_at, grouping) in self.groupings.iter().enumerate() {
                let is_local = grouping.iter().any(|group| group.on == On::Local);
                if is_local && !self.holds_temp(machine, need) {
                    continue;
                }
                let chosen = Chosen {
                    places_left: places.into_iter().flatten().min().unwrap_or(u32::MAX),
                    volumes: Vec::new(),
                    layout: Layout {
                        machine: machine_at as u16,
                        grouping: grouping_at as u8,
                        offers: [0; 3],
                        usd_per_month: machine.usd_per_month,
                        least_s: 0.0,
                    },
                };
                let combination = Combination {
                    layouts: self,
                    machine,
                    local: local.as_ref(),
                    grouping,
                    slowest_s,
                    wanted,
                    usd_max: &usd_max,
                };
                combination.extend(&mut all, &chosen);
            }
        }
        all
    }
}

impl Layout {
    /// What tells it apart from all others.
    fn place(&self) -> (u16, u8, [u32; 3]) {
        (self.machine, self.grouping, self.offers)
    }
}

/// Volumes of one machine for one grouping.
struct Combination<'b> {
    layouts: &'b Layouts<'b>,
    machine: &'b Machine,
    local: Option<&'b OnLimit<Vec<OnVolume>>>,
    grouping: Grouping,
    slowest_s: f64,
    wanted: Combined,
    /// Dollars a month above which none is wanted.
    usd_max: &'b Cell<f64>,
}

/// Demand on a volume, and the machine limit that governs it.
type OnLimit<T> = (T, Option<usize>);

/// A partial layout: some volumes are chosen.
#[derive(Clone)]
struct Chosen<'b> {
    /// Disks that can still be attached.
    places_left: u32,
    volumes: Vec<OnLimit<&'b [OnVolume]>>,
    layout: Layout,
}

impl<'b> Combination<'b> {
    /// Adds all completions of `chosen`, with every volume for each group that still lacks one.
    fn extend(&self, all: &mut Vec<Layout>, chosen: &Chosen<'b>) {
        let usd = chosen.layout.usd_per_month;
        if usd > self.usd_max.get() {
            return;
        }
        let least_s = self.least_s(&chosen.volumes);
        if least_s > self.slowest_s {
            return;
        }
        let at = chosen.volumes.len();
        let Some(group) = self.grouping.get(at) else {
            if !self.layouts.is_sold(&chosen.layout) {
                return;
            }
            if self.wanted == Combined::Cheapest {
                self.usd_max.set(self.usd_max.get().min(usd + CENT));
            }
            all.push(Layout {
                least_s,
                ..chosen.layout
            });
            return;
        };
        if let (On::Local, Some((asked, limit))) = (group.on, self.local) {
            let mut next = chosen.clone();
            next.volumes.push((asked, *limit));
            return self.extend(all, &next);
        }
        for (place, offer) in self.layouts.offers_for(group.roles).iter().enumerate() {
            if usd + offer.usd_per_month > self.usd_max.get() {
                // Dearer ones follow.
                break;
            }
            if offer.count > chosen.places_left || !self.machine.takes(offer) {
                continue;
            }
            let mut next = chosen.clone();
            next.places_left -= offer.count;
            let limit = governing(&offer.spec, &self.machine.spec);
            next.volumes.push((&offer.asked, limit));
            next.layout.offers[at] = place as u32;
            next.layout.usd_per_month += offer.usd_per_month;
            let volumes_usd = next.layout.usd_per_month - self.machine.usd_per_month;
            if self.machine.saves_with(volumes_usd) {
                self.extend(all, &next);
            }
        }
    }

    /// Lower bound on the time of an operation with these volumes, over all parts of the load.
    fn least_s(&self, volumes: &[OnLimit<&[OnVolume]>]) -> f64 {
        let of_part = |(at, part): (usize, &Part)| {
            let volumes = volumes.iter().map(|(asked, limit)| (&asked[at], *limit));
            part.share * least_s(&part.demand, &self.machine.spec, volumes)
        };
        self.layouts
            .load
            .parts
            .iter()
            .enumerate()
            .map(of_part)
            .sum()
    }
}

/// Demand of temporary files on the machine's local disks, by part, and the limit that governs these.
fn local(machine: &Machine, load: &Load) -> Option<(Vec<OnVolume>, Option<usize>)> {
    let disks = &machine.local.as_ref()?.disks;
    let of_part =
        |part: &Part| OnVolume::of(&part.demand, &[Role::Temp], &disks[0], disks.len() as u32);
    let asked = load.parts.iter().map(of_part).collect();
    Some((asked, governing(&disks[0], &machine.spec)))
}
