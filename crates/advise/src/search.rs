//! The search: by price, pruned by a lower bound.
//!
//! Successive halving (simulate all layouts briefly, drop the slower half, repeat) would need a simulation of every layout, and
//! could drop one by chance. The bound needs no simulation, never drops a possible answer, and leaves about a hundred layouts
//! to simulate.

use replay::ReplayError;

use super::layout::{Considered, Layout, Layouts};
use super::load::Load;
use super::simulate::{Effort, Measured, Placed, Ratio, SEEDS};

/// Layouts whose times differ by a smaller share count as equal: simulations and prices are not that exact.
pub const TOLD_APART: f64 = 0.05;

/// The search's target and its limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Share by which an operation may take longer than today.
    pub slower_max: f64,
    /// Maximum dollars a month.
    pub budget: Option<f64>,
    /// Maximum number of layout simulations.
    pub simulations_max: u64,
}

/// A search.
pub struct Search<'a> {
    /// Purchasable layouts.
    pub layouts: &'a Layouts<'a>,
    /// Today's layout.
    pub today: &'a Placed,
    /// Today's load; the candidates may have to carry more.
    pub today_load: &'a Load,
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
    /// Today's layout.
    pub today: Measured,
    /// The cheapest within the budget that meets the target.
    pub cheapest: Option<Found>,
    /// The next more expensive one of another kind that also meets it.
    pub runner_up: Option<Found>,
    /// The fastest within the budget; the cheapest among ties.
    pub fastest: Option<Found>,
    /// Lowest product of time and price within the budget.
    pub best_value: Option<Found>,
    /// If nothing within the budget meets the target: the cheapest that does.
    pub above_budget: Option<Found>,
    /// Layouts that are faster than every cheaper one, by price; from one seed.
    pub frontier: Vec<Found>,
    /// Statistics of the search.
    pub counts: Counts,
}

/// Statistics of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Purchasable machines.
    pub machines: u64,
    /// Machines without a known price; they are skipped.
    pub unpriced: u64,
    /// All combinations of these machines and volumes.
    pub considered: u64,
    /// Layouts that are dominated at their price.
    pub beaten: u64,
    /// Layouts that a bound or the budget ruled out, or that the search did not reach.
    pub bounded: u64,
    /// Layouts that were simulated.
    pub simulated: u64,
    /// Whether the search completed.
    pub is_complete: bool,
}

/// Progress of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Share of the layouts, 0 to 1.
    pub done: f64,
    /// Layouts that were simulated.
    pub simulated: u64,
    /// The current price, in dollars a month.
    pub usd_per_month: f64,
}

/// State of a running search.
struct Under<'a, 'b> {
    search: &'b Search<'a>,
    /// Operation times of today's layout, by seed; the first is from the short simulation.
    today_s: Vec<f64>,
    short_today_s: f64,
    counts: Counts,
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
        let load = self.today_load;
        let today = self.today.simulate(load, Effort::Short, 1)?;
        let seeds = 1..=SEEDS;
        let today_s =
            seeds.map(|seed| Ok(self.today.simulate(load, Effort::Long, seed)?.operation_s));
        let Considered {
            machines,
            unpriced,
            layouts,
            unbeaten,
        } = self.layouts.considered();
        let mut under = Under {
            search: self,
            today_s: today_s.collect::<Result<_, ReplayError>>()?,
            short_today_s: today.operation_s,
            counts: Counts {
                machines,
                unpriced,
                considered: layouts,
                beaten: layouts.saturating_sub(unbeaten),
                ..Counts::default()
            },
            frontier: Vec::new(),
            cheapest: None,
            runner_up: None,
            above_budget: None,
        };
        under.walk(go_on)?;
        under.counts.bounded = unbeaten.saturating_sub(under.counts.simulated);
        let fastest = under.frontier.last().cloned();
        let value = |found: &&Found| found.time.mean * found.layout.usd_per_month;
        let best_value = under.frontier.iter().chain(&under.cheapest);
        let best_value = best_value
            .min_by(|a, b| value(a).total_cmp(&value(b)))
            .cloned();
        Ok(Results {
            fastest: fastest
                .map(|found| under.confirmed(found.layout))
                .transpose()?,
            best_value: best_value
                .map(|found| under.confirmed(found.layout))
                .transpose()?,
            today,
            cheapest: under.cheapest,
            runner_up: under.runner_up,
            above_budget: under.above_budget,
            frontier: under.frontier,
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
            let is_within = limits
                .budget
                .is_none_or(|budget| layout.usd_per_month <= budget);
            if !is_within && (self.cheapest.is_some() || self.above_budget.is_some()) {
                // More expensive ones cannot improve the result.
                break;
            }
            if !self.may_matter(layout, is_within) {
                continue;
            }
            let step = Step {
                done: at as f64 / layouts.len().max(1) as f64,
                simulated: self.counts.simulated,
                usd_per_month: layout.usd_per_month,
            };
            if self.counts.simulated >= limits.simulations_max || !go_on(step) {
                return Ok(());
            }
            self.look_at(layout, is_within)?;
        }
        self.counts.is_complete = true;
        Ok(())
    }

    /// Whether a layout can be faster than every cheaper one, or can be one of the results.
    fn may_matter(&self, layout: &Layout, is_within: bool) -> bool {
        // Relative to the slowest of today's simulations, so that chance does not rule out a layout.
        let today_s = self
            .today_s
            .iter()
            .copied()
            .fold(self.short_today_s, f64::max);
        let least = layout.least_s / today_s;
        let is_fast_enough = least <= self.target();
        let is_faster = match self.frontier.last() {
            Some(best) => least < best.time.mean * (1.0 - TOLD_APART),
            None => true,
        };
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

    fn look_at(&mut self, layout: &Layout, is_within: bool) -> Result<(), ReplayError> {
        self.counts.simulated += 1;
        let placed = self.search.layouts.placed(layout);
        let measured = placed.simulate(self.search.layouts.load(), Effort::Short, 1)?;
        let time = Ratio::of(&[(measured.operation_s, self.short_today_s)]);
        // A short simulation may be some percent off.
        let is_near = time.mean <= self.target() * (1.0 + TOLD_APART);
        let is_better_tie = self.cheapest.as_ref().is_some_and(|cheapest| {
            costs_the_same(&cheapest.layout, layout)
                && time.mean < cheapest.time.mean * (1.0 - TOLD_APART)
        });
        let is_open = match is_within {
            true => self.cheapest.is_none() || is_better_tie || self.may_be_runner_up(layout),
            false => true,
        };
        if is_near && is_open {
            let confirmed = self.confirmed(*layout)?;
            if confirmed.time.high() <= self.target() {
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
        }
        let is_faster = self
            .frontier
            .last()
            .is_none_or(|best| time.mean < best.time.mean * (1.0 - TOLD_APART));
        if is_within && is_faster {
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
    fn confirmed(&self, layout: Layout) -> Result<Found, ReplayError> {
        let placed = self.search.layouts.placed(&layout);
        let load = self.search.layouts.load();
        let seeds = 1..=SEEDS;
        let all = seeds.map(|seed| placed.simulate(load, Effort::Long, seed));
        let all: Vec<Measured> = all.collect::<Result<_, _>>()?;
        let own = all.iter().map(|measured| measured.operation_s);
        let pairs: Vec<(f64, f64)> = own.zip(self.today_s.iter().copied()).collect();
        let measured = all.into_iter().next();
        Ok(Found {
            layout,
            time: Ratio::of(&pairs),
            measured: measured.expect("there are several seeds"),
        })
    }
}

/// Whether two layouts cost the same, to the cent.
fn costs_the_same(one: &Layout, other: &Layout) -> bool {
    (one.usd_per_month - other.usd_per_month).abs() < 0.005
}

#[cfg(test)]
mod tests;
