//! The search: by price, pruned by a lower bound.
//!
//! Successive halving (simulate all layouts briefly, drop the slower half, repeat) would need a simulation of every layout, and
//! could drop one by chance. A layout has two bounds instead: an analytic one, which needs no simulation, and simulations of what
//! it has in common with many others ([`bounds`]). About a hundred layouts are left to simulate.

mod bounds;
mod by_bound;

use replay::ReplayError;

use super::layout::{Considered, Layout, Layouts};
use super::load::Load;
use super::simulate::{Effort, Measured, Placed, Ratio};
use bounds::{Bound, Bounds};
pub(crate) use by_bound::by_bound_max;

/// Layouts whose times differ by a smaller share count as equal: simulations and prices are not that exact.
pub const TOLD_APART: f64 = 0.05;

/// Without a budget, layouts that cost up to so many times the cheapest are considered: what costs more answers another question, and a
/// chart with it shows nothing else.
const DEARER_MAX: f64 = 5.0;

/// How much dearer the layouts may be that are preferred to one of the results, at most.
const PREFERRED_MAX: f64 = 1.2;

/// Layouts that cost up to so many times the cheapest of a bound are combined first: the cheapest that is fast enough costs seldom more
/// than 1.1 times as much.
const COMBINED_MAX: f64 = 1.1 * DEARER_MAX * PREFERRED_MAX;

/// The search's target and its limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Share by which an operation may take longer than today.
    pub slower_max: f64,
    /// Maximum dollars a month.
    pub budget: Option<f64>,
    /// Maximum number of layout simulations.
    pub simulations_max: u64,
    /// Whether a bound answers alone, and no layout is simulated: the cheapest that may meet the target.
    pub quick: bool,
}

impl Limits {
    /// The most dollars a month of the layouts that are combined first, where the cheapest of a bound costs `least`.
    pub(crate) fn combined_to(&self, least: f64) -> f64 {
        let budget = self.budget.unwrap_or(0.0) * PREFERRED_MAX;
        budget.max(least * COMBINED_MAX)
    }

    /// Where no budget was given and a layout is fast enough: the most dollars a month of others that are considered.
    pub(crate) fn dearest(&self, found: &Results) -> Option<f64> {
        let cheapest = found.very_cheapest.as_ref().or(found.cheapest.as_ref());
        let usd = cheapest.filter(|_| self.budget.is_none())?;
        Some(usd.layout.usd_per_month * DEARER_MAX)
    }
}

/// A search.
pub struct Search<'a> {
    /// Purchasable layouts.
    pub layouts: &'a Layouts<'a>,
    /// Today's layout.
    pub today: &'a Placed,
    /// Today's load; the candidates may have to carry more.
    pub today_load: &'a Load,
    /// Today's time of an operation that others are compared with, as a share of the simulated one; above 0, and 1 where the
    /// simulation is taken as it is.
    pub today_share: f64,
    /// Target and limits.
    pub limits: Limits,
}

/// A layout that the search found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Which.
    pub layout: Layout,
    /// Operation time, as a share of today's.
    pub time: Ratio,
    /// Result of its simulation; the first of several.
    pub measured: Measured,
}

/// Results of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    /// Today's layout, from a short simulation; its time is that which others are compared with.
    pub today: Measured,
    /// Operation times of today's layout in the simulations that confirm an answer, in seconds, by seed.
    pub today_s: Vec<f64>,
    /// The cheapest within the budget that meets the target.
    pub cheapest: Option<Found>,
    /// The next more expensive one of another kind that also meets it.
    pub runner_up: Option<Found>,
    /// The very cheapest, where a simpler one is preferred to it.
    pub very_cheapest: Option<Found>,
    /// The fastest within the budget; the cheapest among ties.
    pub fastest: Option<Found>,
    /// Lowest product of time and price within the budget, of those that meet the target where one does.
    pub best_value: Option<Found>,
    /// If nothing within the budget meets the target: the cheapest that does.
    pub above_budget: Option<Found>,
    /// Layouts that are faster than every cheaper one of their kind, by price; from one seed.
    pub frontier: Vec<Found>,
    /// The cheapest that meets the target on the other kind, where layouts are both on machines and on services.
    pub of_other_kind: Option<Found>,
    /// Statistics of the search.
    pub counts: Counts,
}

/// Statistics of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    /// Purchasable machines.
    pub machines: u64,
    /// Machines without a known price; they are skipped.
    pub unpriced: u64,
    /// All combinations of these machines and volumes.
    pub considered: u64,
    /// Layouts that are dominated at their price.
    pub beaten: u64,
    /// Layouts that a bound or the budget ruled out, that perform as one that was simulated, or that the search did not reach.
    pub bounded: u64,
    /// Simulations of layouts without some of their limits, as bounds.
    pub bounds: u64,
    /// Layouts that were simulated.
    pub simulated: u64,
    /// Price of the dearest layout that was simulated, in dollars a month; bounds ruled out all dearer ones.
    pub simulated_to_usd: f64,
    /// Whether the search completed.
    pub is_complete: bool,
    /// Whether layouts that were left out, as they are dearer than the others, could be among the results.
    pub is_cut: bool,
}

impl Counts {
    /// Of a search that has not begun.
    fn of(considered: Considered) -> Counts {
        Counts {
            machines: considered.machines,
            unpriced: considered.unpriced,
            considered: considered.layouts,
            beaten: considered.layouts.saturating_sub(considered.unbeaten),
            ..Counts::default()
        }
    }
}

/// Progress of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Share of the layouts, 0 to 1.
    pub done: f64,
    /// Layouts that were simulated.
    pub simulated: u64,
    /// Simulations of layouts without some of their limits, as bounds.
    pub bounds: u64,
    /// The current price, in dollars a month.
    pub usd_per_month: f64,
}

/// State of a running search.
struct Under<'a, 'b> {
    search: &'b Search<'a>,
    /// Operation times of today's layout, by seed.
    today_s: Vec<f64>,
    short_today_s: f64,
    counts: Counts,
    bounds: Bounds,
    /// Layouts that were confirmed.
    confirmed: Vec<Found>,
    frontier: Vec<Found>,
    cheapest: Option<Found>,
    runner_up: Option<Found>,
    above_budget: Option<Found>,
}

impl Search<'_> {
    /// Runs the search. `go_on` receives the progress and stops the search by returning `false`; the results so far are returned.
    ///
    /// # Errors
    /// When an operation takes zero time.
    pub fn run(&self, go_on: &mut dyn FnMut(Step) -> bool) -> Result<Results, ReplayError> {
        let today = self.today.simulate(self.today_load, Effort::Short, 1)?;
        self.beside(today, go_on)
    }

    /// The same, beside a short simulation of today's layout.
    ///
    /// # Errors
    /// When an operation takes zero time.
    pub(crate) fn beside(
        &self,
        mut today: Measured,
        go_on: &mut dyn FnMut(Step) -> bool,
    ) -> Result<Results, ReplayError> {
        today.operation_s *= self.today_share;
        if self.limits.quick {
            return Ok(self.by_bound(today));
        }
        let today_s = self.today.long(self.today_load)?;
        let today_s = today_s
            .iter()
            .map(|measured| measured.operation_s * self.today_share);
        let considered = self.layouts.considered();
        let mut under = Under {
            search: self,
            today_s: today_s.collect(),
            short_today_s: today.operation_s,
            counts: Counts::of(considered),
            bounds: Bounds::default(),
            confirmed: Vec::new(),
            frontier: Vec::new(),
            cheapest: None,
            runner_up: None,
            above_budget: None,
        };
        under.walk(go_on)?;
        under.counts.bounds = under.bounds.simulated;
        under.counts.bounded = considered.unbeaten.saturating_sub(under.counts.simulated);
        let fastest = under.frontier.last().cloned();
        let value = |found: &&Found| found.time.mean * found.layout.usd_per_month;
        let best_value = under.frontier.iter().chain(&under.cheapest);
        // A layout that misses the target is left out where another meets it.
        let is_open = |found: &&Found| {
            under.cheapest.is_none() || found.time.mean <= 1.0 + self.limits.slower_max
        };
        let best_value = best_value.filter(is_open);
        let best_value = best_value
            .min_by(|a, b| value(a).total_cmp(&value(b)))
            .cloned();
        Ok(Results {
            fastest: fastest
                .map(|found| under.confirmed(&found.layout))
                .transpose()?,
            best_value: best_value
                .map(|found| under.confirmed(&found.layout))
                .transpose()?,
            today,
            today_s: under.today_s,
            cheapest: under.cheapest,
            runner_up: under.runner_up,
            very_cheapest: None,
            above_budget: under.above_budget,
            frontier: under.frontier,
            of_other_kind: None,
            counts: under.counts,
        })
    }
}

impl Under<'_, '_> {
    /// Visits every layout, cheapest first.
    fn walk(&mut self, go_on: &mut dyn FnMut(Step) -> bool) -> Result<(), ReplayError> {
        let limits = self.search.limits;
        let layouts = self.search.layouts;
        for (at, layout) in layouts.iter().enumerate() {
            let cheapest = self.cheapest.as_ref();
            let most = cheapest.map(|cheapest| cheapest.layout.usd_per_month * DEARER_MAX);
            let is_within =
                (limits.budget.or(most)).is_none_or(|most| layout.usd_per_month <= most);
            if !is_within && (self.cheapest.is_some() || self.above_budget.is_some()) {
                // More expensive ones cannot improve the result.
                break;
            }
            let simulated = self.counts.simulated;
            let mut go_on = |bounds: u64| {
                simulated + bounds < limits.simulations_max
                    && go_on(Step {
                        done: at as f64 / layouts.len().max(1) as f64,
                        simulated,
                        bounds,
                        usd_per_month: layout.usd_per_month,
                    })
            };
            match self.bound(layout, is_within, &mut go_on)? {
                Bound::TooSlow => {}
                Bound::AtLeast(bound_s) => self.look_at(layout, is_within, bound_s)?,
                Bound::Stopped => return Ok(()),
            }
        }
        self.counts.is_complete = true;
        self.counts.is_cut = self.is_cut();
        Ok(())
    }

    /// Whether the walk would go on with dearer layouts, or these could be preferred to what it found.
    fn is_cut(&self) -> bool {
        let usd_max = self.search.layouts.usd_max();
        let cheapest = self.cheapest.as_ref();
        let most = cheapest.map(|cheapest| cheapest.layout.usd_per_month * DEARER_MAX);
        let most = self.search.limits.budget.or(most);
        let has_answer = self.cheapest.is_some() || self.above_budget.is_some();
        let is_within = most.is_some_and(|most| most * PREFERRED_MAX <= usd_max);
        usd_max.is_finite() && !(has_answer && is_within)
    }

    /// The bound of a layout, compared with what is known so far.
    fn bound(
        &mut self,
        layout: &Layout,
        is_within: bool,
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Bound, ReplayError> {
        let mut bounds = std::mem::take(&mut self.bounds);
        let may_matter = |bound_s: f64| self.may_matter(layout, is_within, bound_s);
        let bound = bounds.of(self.search.layouts, layout, &may_matter, go_on);
        self.bounds = bounds;
        bound
    }

    /// Whether a layout can be faster than every cheaper one, or can be one of the results.
    fn may_matter(&self, layout: &Layout, is_within: bool, bound_s: f64) -> bool {
        // Relative to the slowest of today's simulations, so that chance does not rule out a layout.
        let today_s = self
            .today_s
            .iter()
            .copied()
            .fold(self.short_today_s, f64::max);
        let least = bound_s / today_s;
        let is_fast_enough = least <= self.target();
        let is_faster = self.is_faster(least);
        match &self.cheapest {
            _ if !is_within => is_fast_enough,
            None => is_faster || is_fast_enough,
            Some(_) => is_faster || (is_fast_enough && self.may_be_runner_up(layout)),
        }
    }

    fn may_be_runner_up(&self, layout: &Layout) -> bool {
        let kind = |layout: &Layout| self.search.layouts.kind(layout);
        let cheapest = self.cheapest.as_ref();
        self.runner_up.is_none()
            && cheapest.is_some_and(|cheapest| kind(&cheapest.layout) != kind(layout))
    }

    fn target(&self) -> f64 {
        1.0 + self.search.limits.slower_max
    }

    /// Whether `time` is less than that of every cheaper layout.
    fn is_faster(&self, time: f64) -> bool {
        let best = self.frontier.last();
        best.is_none_or(|best| time < best.time.mean * (1.0 - TOLD_APART))
    }

    /// Whether a layout costs the same as the cheapest, and is faster with this time.
    fn is_better_tie(&self, layout: &Layout, time: f64) -> bool {
        self.cheapest.as_ref().is_some_and(|cheapest| {
            costs_the_same(&cheapest.layout, layout)
                && time < cheapest.time.mean * (1.0 - TOLD_APART)
        })
    }

    /// Whether a layout that took `time` in a short simulation may meet the target, and be one of the results that are missing.
    fn may_meet(&self, layout: &Layout, is_within: bool, time: f64) -> bool {
        // A short simulation may be some percent off.
        let is_near = time <= self.target() * (1.0 + TOLD_APART);
        is_near
            && match is_within {
                true => {
                    self.cheapest.is_none()
                        || self.is_better_tie(layout, time)
                        || self.may_be_runner_up(layout)
                }
                false => true,
            }
    }

    fn look_at(
        &mut self,
        layout: &Layout,
        is_within: bool,
        bound_s: f64,
    ) -> Result<(), ReplayError> {
        let today_s = self.short_today_s;
        let mut bounds = std::mem::take(&mut self.bounds);
        let is_open = |at_least_s: f64| {
            let time = at_least_s / today_s;
            self.may_meet(layout, is_within, time) || (is_within && self.is_faster(time))
        };
        let simulated = bounds.short(self.search.layouts, layout, &is_open);
        self.bounds = bounds;
        let (measured, is_new) = simulated?;
        self.counts.simulated += u64::from(is_new);
        self.counts.simulated_to_usd = layout.usd_per_month;
        let Some(measured) = measured else {
            return Ok(());
        };
        let time = Ratio::of(&[(measured.operation_s, today_s)]);
        let is_better_tie = self.is_better_tie(layout, time.mean);
        if self.may_meet(layout, is_within, time.mean)
            && let Some(confirmed) = self.on_target(layout, bound_s)?
        {
            match (is_within, &self.cheapest) {
                (true, None) => self.cheapest = Some(confirmed),
                (true, Some(cheapest)) if is_better_tie => {
                    if confirmed.time.mean < cheapest.time.mean {
                        self.replace_cheapest(confirmed);
                    }
                }
                (true, Some(_)) => self.runner_up = Some(confirmed),
                (false, _) => self.above_budget = Some(confirmed),
            }
        }
        if is_within && self.is_faster(time.mean) {
            // One that costs as much, and takes longer, is not a choice.
            self.frontier
                .pop_if(|last| costs_the_same(&last.layout, layout));
            self.frontier.push(Found {
                layout: *layout,
                time,
                measured,
            });
        }
        Ok(())
    }

    /// Replaces the cheapest layout with a faster one; the former may become the runner-up.
    fn replace_cheapest(&mut self, faster: Found) {
        let kind = |found: &Found| self.search.layouts.kind(&found.layout);
        let own = kind(&faster);
        let others = self.cheapest.replace(faster).into_iter();
        let mut others = others.chain(self.runner_up.take());
        self.runner_up = others.find(|other| kind(other) != own);
    }

    /// The layout, confirmed by several longer simulations.
    fn confirmed(&mut self, layout: &Layout) -> Result<Found, ReplayError> {
        let known = self.confirmed.iter().find(|found| found.layout == *layout);
        if let Some(found) = known {
            return Ok(found.clone());
        }
        let found = self.simulated_long(layout, 0.0, f64::INFINITY)?;
        let found = found.expect("there is no target");
        self.confirmed.push(found.clone());
        Ok(found)
    }

    /// The layout, if longer simulations confirm that it meets the target. An operation takes at least `bound_s` seconds.
    fn on_target(&mut self, layout: &Layout, bound_s: f64) -> Result<Option<Found>, ReplayError> {
        let target = self.target();
        let found = self.simulated_long(layout, bound_s, target)?;
        self.confirmed.extend(found.clone());
        Ok(found)
    }

    /// The layout after several longer simulations; `None` as soon as the upper end of its time's interval cannot be at most
    /// `most`.
    fn simulated_long(
        &self,
        layout: &Layout,
        bound_s: f64,
        most: f64,
    ) -> Result<Option<Found>, ReplayError> {
        let placed = self.search.layouts.placed(layout);
        let load = self.search.layouts.load();
        let confirmed = placed.confirmed_within(load, &self.today_s, (bound_s, most))?;
        Ok(confirmed.map(|(time, measured)| Found {
            layout: *layout,
            time,
            measured,
        }))
    }
}

/// Whether two layouts cost the same, to the cent.
fn costs_the_same(one: &Layout, other: &Layout) -> bool {
    (one.usd_per_month - other.usd_per_month).abs() < 0.005
}

#[cfg(test)]
mod tests;
