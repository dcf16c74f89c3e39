//! Of layouts that differ by less than the model's error, the simpler one.
//!
//! The search finds the cheapest to the cent. Seven disks for $99 are not better advice than one for $101, and neither is an earlier
//! generation of a machine for a dollar less, nor a disk that is full for five less than one that has room.

use std::cell::Cell;
use std::collections::BTreeMap;

use replay::{OFF_MAX, ReplayError};

use super::layout::{Layout, Layouts};
use super::search::{Found, Results, Search, TOLD_APART};
use super::simulate::{Effort, Measured, Stepwise};

/// Prices that differ by a smaller share count as the same where a simpler layout is preferred.
pub const SAME_PRICE: f64 = 0.05;

/// Maximum number of simpler layouts that are simulated for each answer.
const TRIES_MAX: u32 = 8;

/// Share of a limit that is used at the busiest time from which on a layout has no room: what else happens then waits.
const FULL: f64 = 0.95;

/// What makes a layout simple, most important first: number of disks, kinds of disks, whether the machine is another than today's.
type Rank = (u32, usize, bool);

/// The results, each answer replaced by a simpler layout of about the same price and speed where there is one. `today` is the
/// name of today's machine.
///
/// # Errors
/// When an operation takes no time.
pub(crate) fn settled(
    search: &Search<'_>,
    today: Option<&str>,
    mut results: Results,
) -> Result<Results, ReplayError> {
    let preference = Preference {
        search,
        today,
        short_today_s: results.today.operation_s,
        today_s: results.today_s.clone(),
        simulated: Cell::new(0),
    };
    if let Some(cheapest) = results.cheapest.take() {
        let goal = 1.0 + search.limits.slower_max;
        let simpler = preference.simpler(&cheapest, goal)?;
        let roomier = preference.with_room(simpler.as_ref().unwrap_or(&cheapest), goal)?;
        let simpler = roomier.or(simpler);
        results.cheapest = Some(match simpler {
            None => cheapest,
            Some(simpler) => {
                let kind = |found: &Found| search.layouts.kind(&found.layout);
                results.very_cheapest = Some(cheapest.clone());
                let others = results.runner_up.take().into_iter().chain([cheapest]);
                let mut others = others.filter(|other| kind(other) != kind(&simpler));
                results.runner_up = others.next();
                simpler
            }
        });
    }
    for answer in [&mut results.fastest, &mut results.best_value] {
        if let Some(found) = answer.as_ref().filter(|_| results.counts.is_complete) {
            let as_fast = found.time.mean * (1.0 + TOLD_APART);
            if let Some(simpler) = preference.simpler(found, as_fast)? {
                *answer = Some(simpler);
            }
        }
    }
    results.counts.simulated += preference.simulated.get();
    results.counts.bounded = results
        .counts
        .bounded
        .saturating_sub(preference.simulated.get());
    Ok(results)
}

struct Preference<'a, 'b> {
    search: &'b Search<'a>,
    /// Name of today's machine.
    today: Option<&'b str>,
    /// Operation time of today's layout, of one short simulation.
    short_today_s: f64,
    /// Operation times of today's layout, by seed.
    today_s: Vec<f64>,
    simulated: Cell<u64>,
}

impl Preference<'_, '_> {
    /// The simplest layout that costs about the same, and on which an operation takes `most` of today's time at most; `None`
    /// where `found` is that.
    fn simpler(&self, found: &Found, most: f64) -> Result<Option<Found>, ReplayError> {
        let own = self.rank(&found.layout);
        let mut tries = TRIES_MAX;
        let mut best = None;
        for (_, group) in self.candidates(found, SAME_PRICE, most, |rank, _| *rank < own) {
            best = self.cheapest_of(&group, most, &mut tries)?;
            if best.is_some() || tries == 0 {
                break;
            }
        }
        let simpler = best.as_ref().unwrap_or(found);
        // A later generation of the machine, if it is not today's anyway.
        let rank = self.rank(&simpler.layout);
        if rank.2 {
            let machine = self.layouts().machine_of(&simpler.layout);
            let is_newer = |own: &Rank, layout: &Layout| {
                *own == rank && self.layouts().machine_of(layout).is_newer_than(machine)
            };
            let more = self.layouts().newer_may_cost;
            let newer = self.candidates(simpler, more, most, is_newer);
            for (_, group) in newer {
                if let Some(newer) = self.cheapest_of(&group, most, &mut tries)? {
                    return Ok(Some(newer));
                }
            }
        }
        Ok(best)
    }

    /// Where a limit of `found` is full at the busiest time: the simplest layout that costs about the same, is as fast as asked, and
    /// has room, or is faster by more than the model's error. Of those that are as simple, that of the lowest bound is tried.
    fn with_room(&self, found: &Found, most: f64) -> Result<Option<Found>, ReplayError> {
        if !is_full(&found.measured) {
            return Ok(None);
        }
        let much_faster = found.time.mean * (1.0 - OFF_MAX);
        let others = |_: &Rank, layout: &Layout| *layout != found.layout;
        let groups = self.candidates(found, SAME_PRICE, most, others);
        for group in groups.values().take(TRIES_MAX as usize) {
            let quickest = group.iter().min_by(|a, b| a.least_s.total_cmp(&b.least_s));
            let quickest = quickest.expect("no group is empty");
            let short = self.short(quickest)?;
            if is_full(&short) && short.operation_s / self.short_today_s > much_faster {
                continue;
            }
            let Some(confirmed) = self.confirmed(*quickest, most)? else {
                continue;
            };
            if !is_full(&confirmed.measured) || confirmed.time.high() <= much_faster {
                return Ok(Some(confirmed));
            }
        }
        Ok(None)
    }

    fn layouts(&self) -> &Layouts<'_> {
        self.search.layouts
    }

    /// Layouts that cost up to a share more than `found`, within the budget, and could be fast enough; by rank, then by price.
    fn candidates(
        &self,
        found: &Found,
        more: f64,
        most: f64,
        is_wanted: impl Fn(&Rank, &Layout) -> bool,
    ) -> BTreeMap<Rank, Vec<Layout>> {
        let usd = found.layout.usd_per_month;
        let budget = self.search.limits.budget.unwrap_or(f64::INFINITY);
        let usd_max = (usd * (1.0 + more)).min(budget);
        let machine = self.layouts().machine_of(&found.layout);
        let mut all: BTreeMap<Rank, Vec<Layout>> = BTreeMap::new();
        for layout in self.layouts().iter() {
            let is_near = layout.usd_per_month > usd - 0.005 && layout.usd_per_month <= usd_max;
            let is_open = is_near && layout.least_s <= most * self.short_today_s;
            // Never an earlier generation for it.
            if !is_open || machine.is_newer_than(self.layouts().machine_of(layout)) {
                continue;
            }
            let rank = self.rank(layout);
            if is_wanted(&rank, layout) {
                all.entry(rank).or_default().push(*layout);
            }
        }
        all
    }

    fn rank(&self, layout: &Layout) -> Rank {
        let volumes = self.layouts().volumes(layout);
        let offers = volumes.iter().filter_map(|volume| volume.offer);
        let disks = offers.map(|offer| offer.count).sum();
        let (_, kinds) = self.layouts().kind(layout);
        let (machine, _) = self.layouts().machine(layout);
        (disks, kinds.len(), self.today != Some(machine))
    }

    /// The cheapest of these on which an operation takes `most` of today's time at most: the one of the lowest bound is tried
    /// first, and speaks for all.
    fn cheapest_of(
        &self,
        group: &[Layout],
        most: f64,
        tries: &mut u32,
    ) -> Result<Option<Found>, ReplayError> {
        let quickest = group.iter().min_by(|a, b| a.least_s.total_cmp(&b.least_s));
        let Some(quickest) = quickest.filter(|_| *tries > 0) else {
            return Ok(None);
        };
        *tries -= 1;
        if !self.is_within(quickest, most)? {
            return Ok(None);
        }
        let cheaper = group
            .iter()
            .take_while(|layout| layout.usd_per_month < quickest.usd_per_month);
        for layout in cheaper {
            if *tries == 0 {
                break;
            }
            *tries -= 1;
            if self.is_within(layout, most)?
                && let Some(confirmed) = self.confirmed(*layout, most)?
            {
                return Ok(Some(confirmed));
            }
        }
        self.confirmed(*quickest, most)
    }

    /// Whether an operation takes `most` of today's time at most in one short simulation, which ends once it cannot.
    fn is_within(&self, layout: &Layout, most: f64) -> Result<bool, ReplayError> {
        self.simulated.set(self.simulated.get() + 1);
        let is_open = |at_least_s: f64| at_least_s / self.short_today_s <= most;
        let of = (&self.layouts().placed(layout), self.layouts().load());
        let operation_s = Stepwise::new(Effort::Short, 1).go_on(of, &is_open)?;
        Ok(is_open(operation_s))
    }

    /// One short simulation.
    fn short(&self, layout: &Layout) -> Result<Measured, ReplayError> {
        self.simulated.set(self.simulated.get() + 1);
        let placed = self.layouts().placed(layout);
        placed.simulate(self.layouts().load(), Effort::Short, 1)
    }

    /// The layout, if several longer simulations confirm that an operation takes `most` of today's time at most.
    fn confirmed(&self, layout: Layout, most: f64) -> Result<Option<Found>, ReplayError> {
        let placed = self.layouts().placed(&layout);
        let load = self.layouts().load();
        let confirmed = placed.confirmed_within(load, &self.today_s, (layout.least_s, most))?;
        Ok(confirmed.map(|(time, measured)| Found {
            layout,
            time,
            measured,
        }))
    }
}

/// Whether a limit is used up at the busiest time.
fn is_full(measured: &Measured) -> bool {
    measured.used.first().is_some_and(|used| used.share >= FULL)
}

#[cfg(test)]
mod tests;
