//! The answer of a bound alone: below which price nothing can be fast enough.

use super::bounds::CHANCE;
use super::{Counts, Found, Results, Search, costs_the_same};
use crate::layout::Layout;
use crate::simulate::{Measured, Ratio};

/// The share of today's time, from one short simulation, that a bound may have where operations may take `slower_max` longer: chance in
/// that time rules out no layout.
pub(crate) fn by_bound_max(slower_max: f64) -> f64 {
    (1.0 + slower_max) * (1.0 + CHANCE)
}

impl Search<'_> {
    /// The cheapest layout whose bound allows it to meet the target, beside `today`. No layout is simulated: the one that is found may
    /// be too slow, but none that meets the target is cheaper.
    pub(super) fn by_bound(&self, today: Measured) -> Results {
        let most_s = today.operation_s * by_bound_max(self.limits.slower_max);
        let open = || self.layouts.iter().filter(|one| one.least_s <= most_s);
        let first = open().next();
        let tied = first.into_iter().flat_map(|first| {
            let as_dear = |other: &&Layout| costs_the_same(first, other);
            open().take_while(as_dear)
        });
        let quickest = tied.min_by(|a, b| a.least_s.total_cmp(&b.least_s));
        let found = quickest.map(|layout| Found {
            layout: *layout,
            time: Ratio {
                mean: layout.least_s / today.operation_s,
                half: 0.0,
            },
            measured: Measured::least(layout.least_s),
        });
        let considered = self.layouts.considered();
        let budget = self.limits.budget.unwrap_or(f64::INFINITY);
        let (cheapest, above_budget) = match found {
            Some(found) if found.layout.usd_per_month > budget => (None, Some(found)),
            found => (found, None),
        };
        Results {
            today_s: vec![today.operation_s],
            today,
            cheapest,
            runner_up: None,
            very_cheapest: None,
            fastest: None,
            best_value: None,
            above_budget,
            frontier: Vec::new(),
            of_other_kind: None,
            counts: Counts {
                bounded: considered.unbeaten,
                is_complete: true,
                ..Counts::of(considered)
            },
        }
    }
}
