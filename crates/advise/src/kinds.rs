//! One search for machines and one for services, and both results as one.
//!
//! A service costs more than a machine that does as much, and includes more: within one search none would be left.

use replay::ReplayError;

use super::layout::{Layout, Layouts};
use super::prefer;
use super::search::{Found, Limits, Results, Search, Step};
use super::services::Kind;
use super::simulate::{Measured, Placed};
use crate::load::Load;

/// What is searched, and what with.
pub(crate) struct Searched<'a> {
    /// Today's layout.
    pub(crate) today: &'a Placed,
    /// A short simulation of it.
    pub(crate) now: Measured,
    /// Today's load.
    pub(crate) today_load: &'a Load,
    /// As [`Search::today_share`].
    pub(crate) today_share: f64,
    /// Name of today's machine.
    pub(crate) machine: Option<&'a str>,
    /// Target and limits.
    pub(crate) limits: Limits,
}

impl Searched<'_> {
    /// The results of all layouts. `go_on` is as for [`Search::run`].
    ///
    /// # Errors
    /// When an operation takes no time.
    pub(crate) fn results(
        &self,
        layouts: &mut Layouts<'_>,
        go_on: &mut dyn FnMut(Step) -> bool,
    ) -> Result<Results, ReplayError> {
        let kinds = [Kind::Machine, Kind::Service];
        if !kinds.iter().all(|kind| layouts.has(*kind)) {
            let is_cut = kinds.iter().any(|kind| layouts.lacks(*kind));
            let mut found = self.of_one_kind(layouts, go_on)?;
            found.counts.is_cut |= is_cut;
            return Ok(found);
        }
        let all = layouts.take();
        let machines = self.half(layouts, (Kind::Machine, 0.0), &all, go_on)?;
        let services = self.half(layouts, (Kind::Service, 0.5), &all, go_on)?;
        Ok(together(machines, services))
    }

    /// The results of one kind, whose progress begins at a share of all.
    fn half(
        &self,
        layouts: &mut Layouts<'_>,
        (kind, begun): (Kind, f64),
        all: &[Layout],
        go_on: &mut dyn FnMut(Step) -> bool,
    ) -> Result<Results, ReplayError> {
        layouts.only(kind, all);
        self.of_one_kind(layouts, &mut |step| {
            go_on(Step {
                done: begun + step.done / 2.0,
                ..step
            })
        })
    }

    fn of_one_kind(
        &self,
        layouts: &Layouts<'_>,
        go_on: &mut dyn FnMut(Step) -> bool,
    ) -> Result<Results, ReplayError> {
        let search = Search {
            layouts,
            today: self.today,
            today_load: self.today_load,
            today_share: self.today_share,
            limits: self.limits,
        };
        let found = search.beside(self.now.clone(), go_on)?;
        match self.limits.quick {
            // What is simpler is preferred among layouts that are fast enough, which a bound does not know.
            true => Ok(found),
            false => prefer::settled(&search, self.machine, found),
        }
    }
}

/// Both results as one: the answers are the better ones of both, and the frontier has that of each.
fn together(one: Results, other: Results) -> Results {
    let usd = |found: &Option<Found>| {
        let found = found.as_ref();
        found.map_or(f64::INFINITY, |found| found.layout.usd_per_month)
    };
    let (mut first, second) = match usd(&one.cheapest) <= usd(&other.cheapest) {
        true => (one, other),
        false => (other, one),
    };
    first.of_other_kind = second.cheapest;
    let best = |own: Option<Found>, other: Option<Found>, value: &dyn Fn(&Found) -> f64| {
        let both = own.into_iter().chain(other);
        both.min_by(|a, b| value(a).total_cmp(&value(b)))
    };
    first.fastest = best(first.fastest, second.fastest, &|found| found.time.mean);
    first.best_value = best(first.best_value, second.best_value, &|found| {
        found.time.mean * found.layout.usd_per_month
    });
    first.above_budget = match first.cheapest {
        Some(_) => None,
        None => best(first.above_budget, second.above_budget, &|found| {
            found.layout.usd_per_month
        }),
    };
    first.frontier.extend(second.frontier);
    let price = |found: &Found| found.layout.usd_per_month;
    first.frontier.sort_by(|a, b| price(a).total_cmp(&price(b)));
    let (counts, more) = (&mut first.counts, second.counts);
    counts.bounded = counts.bounded.saturating_sub(more.simulated);
    counts.simulated += more.simulated;
    counts.bounds += more.bounds;
    counts.simulated_to_usd = counts.simulated_to_usd.max(more.simulated_to_usd);
    counts.is_complete &= more.is_complete;
    counts.is_cut |= more.is_cut;
    first
}
