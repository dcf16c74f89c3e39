//! Lower bounds by simulation: no layout is faster than itself without some of its limits.
//!
//! The analytic bound leaves out that sessions wait for one another: for processors, for locks, for limits before they are used
//! up. A simulation has all of it, and one that keeps only the machine's limits, or only those of one volume, holds for every
//! layout with that machine or volume: the weakest part of a layout rules it out. As everywhere in this search, it is assumed
//! that what is faster in every part is not slower as a whole.

use std::collections::BTreeMap;

use replay::ReplayError;

use crate::layout::{Keep, Layout, Layouts, Relaxed};
use crate::simulate::{Effort, Measured, Ratio, SEEDS, Stepwise};

/// How far the times of two short simulations differ by chance at most, as a share.
pub(super) const CHANCE: f64 = 0.03;

/// How far the time of a glance may be below that of a short simulation, as a share of it. Where more is possible, the short one shows
/// it too late, and the layout is simulated: it is not left out.
const GLANCE_BELOW: f64 = 0.15;

/// What was simulated.
#[derive(Default)]
pub(super) struct Bounds {
    /// Simulations of relaxed layouts.
    relaxed: BTreeMap<Relaxed, Simulated>,
    /// Layouts by what is the same for all that perform alike.
    layouts: BTreeMap<Relaxed, Stepwise>,
    /// Number of simulations of relaxed layouts.
    pub(super) simulated: u64,
}

/// Simulations of a relaxed layout.
struct Simulated {
    /// A glance, which tells whether the others could rule out a layout.
    glance: Stepwise,
    /// That of the first seed, which ends where it shows that a layout is too slow.
    first: Stepwise,
    /// Times of an operation where all parts are done, in seconds, by seed.
    times: Vec<f64>,
}

/// A layout's bound, compared with what it would have to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Bound {
    /// It is too slow to be in the answer.
    TooSlow,
    /// It may be in the answer; an operation takes at least so many seconds.
    AtLeast(f64),
    /// The search was stopped.
    Stopped,
}

impl Bounds {
    /// The greatest lower bound of a layout, in seconds, for which `may_matter` has to hold; `go_on` is asked before each
    /// simulation, with their number.
    pub(super) fn of(
        &mut self,
        layouts: &Layouts<'_>,
        layout: &Layout,
        may_matter: &dyn Fn(f64) -> bool,
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Bound, ReplayError> {
        let mut bound_s = layout.least_s;
        if !may_matter(bound_s) {
            return Ok(Bound::TooSlow);
        }
        let whole = layouts.relaxed(layout, Keep::All);
        let is_known = self.layouts.contains_key(&whole);
        let volumes = layouts.volumes(layout).len();
        let all = [Keep::Latencies, Keep::Machine].into_iter();
        let all = all.chain((0..volumes).map(Keep::Volume));
        for keep in all.chain([Keep::MachineAndLog]).filter(|_| !is_known) {
            let relaxed = layouts.relaxed(layout, keep);
            if relaxed == whole {
                continue;
            }
            if !self.relaxed.contains_key(&relaxed) {
                if !go_on(self.simulated) {
                    return Ok(Bound::Stopped);
                }
                self.simulated += 1;
            }
            let simulated = self.relaxed.entry(relaxed).or_default();
            let placed = || layouts.placed_relaxed(&relaxed);
            if simulated.times.is_empty() {
                let is_open = |glance_s: f64| {
                    let most_s = glance_s * (1.0 + GLANCE_BELOW);
                    may_matter(bound_s.max(most_s))
                };
                let of_glance = (&placed(), layouts.load());
                if is_open(simulated.glance.go_on(of_glance, &is_open)?) {
                    continue;
                }
                let is_open = |at_least_s: f64| may_matter(bound_s.max(least(&[at_least_s])));
                let of_first = (&placed(), layouts.load());
                let first_s = simulated.first.go_on(of_first, &is_open)?;
                match simulated.first.is_done() {
                    true => simulated.times.push(first_s),
                    false => return Ok(Bound::TooSlow),
                }
            }
            // More seeds where these may decide.
            while let Some(seed) = simulated.next_seed(bound_s, may_matter) {
                if !go_on(self.simulated) {
                    return Ok(Bound::Stopped);
                }
                self.simulated += 1;
                let measured = placed().simulate(layouts.load(), Effort::Short, seed)?;
                simulated.times.push(measured.operation_s);
            }
            bound_s = bound_s.max(least(&simulated.times));
            if !may_matter(bound_s) {
                return Ok(Bound::TooSlow);
            }
        }
        match go_on(self.simulated) {
            true => Ok(Bound::AtLeast(bound_s)),
            false => Ok(Bound::Stopped),
        }
    }

    /// A short simulation of a layout, or of one that performs the same, and whether it is new; `None` where it ended, as `is_open`
    /// does not hold of the seconds that an operation takes at least.
    pub(super) fn short(
        &mut self,
        layouts: &Layouts<'_>,
        layout: &Layout,
        is_open: &dyn Fn(f64) -> bool,
    ) -> Result<(Option<Measured>, bool), ReplayError> {
        let key = layouts.relaxed(layout, Keep::All);
        let is_new = !self.layouts.contains_key(&key);
        let known = self.layouts.entry(key).or_insert_with(first);
        let placed = layouts.placed(layout);
        known.go_on((&placed, layouts.load()), is_open)?;
        Ok((known.measured(layouts.load()), is_new))
    }
}

impl Simulated {
    /// The next seed, if its simulation could show that the layout is too slow.
    fn next_seed(&self, bound_s: f64, may_matter: &dyn Fn(f64) -> bool) -> Option<u64> {
        let count = self.times.len() as u64;
        let mean = self.times.iter().sum::<f64>() / count as f64;
        let is_open = may_matter(least(&self.times).max(bound_s)) && !may_matter(mean);
        (is_open && count < SEEDS).then_some(count + 1)
    }
}

impl Default for Simulated {
    fn default() -> Simulated {
        Simulated {
            glance: Stepwise::new(Effort::Glance, 1),
            first: first(),
            times: Vec::new(),
        }
    }
}

/// The first simulation of a layout.
fn first() -> Stepwise {
    Stepwise::new(Effort::Short, 1)
}

/// The time of which these are samples, at least: the lower end of its 95 % confidence interval, once there are several.
fn least(times: &[f64]) -> f64 {
    let pairs: Vec<(f64, f64)> = times.iter().map(|time| (*time, 1.0)).collect();
    let Ratio { mean, half } = Ratio::of(&pairs);
    match (times.len() as u64) < SEEDS {
        true => mean * (1.0 - CHANCE),
        false => mean - half.min(CHANCE * mean),
    }
}
