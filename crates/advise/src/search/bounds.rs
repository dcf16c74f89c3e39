//! Lower bounds by simulation: no layout is faster than itself without some of its limits.
//!
//! The analytic bound leaves out that sessions wait for one another: for processors, for locks, for limits before they are used
//! up. A simulation has all of it, and one that keeps only the machine's limits, or only those of one volume, holds for every
//! layout with that machine or volume: the weakest part of a layout rules it out. As everywhere in this search, it is assumed
//! that what is faster in every part is not slower as a whole.

use std::collections::BTreeMap;

use replay::ReplayError;

use crate::layout::{Keep, Layout, Layouts, Relaxed};
use crate::simulate::{Effort, Measured, Ratio, SEEDS};

/// How far the times of two short simulations differ by chance at most, as a share.
pub(super) const CHANCE: f64 = 0.03;

/// What was simulated.
#[derive(Default)]
pub(super) struct Bounds {
    /// Times of relaxed layouts, in seconds, by seed.
    relaxed: BTreeMap<Relaxed, Vec<f64>>,
    /// Layouts by what is the same for all that perform alike.
    layouts: BTreeMap<Relaxed, Measured>,
    /// Number of simulations of relaxed layouts.
    pub(super) simulated: u64,
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
            // More seeds where these may decide.
            while let Some(seed) = self.next_seed(&relaxed, bound_s, may_matter) {
                if !go_on(self.simulated) {
                    return Ok(Bound::Stopped);
                }
                self.simulated += 1;
                let placed = layouts.placed_relaxed(&relaxed);
                let measured = placed.simulate(layouts.load(), Effort::Short, seed)?;
                self.relaxed
                    .entry(relaxed)
                    .or_default()
                    .push(measured.operation_s);
            }
            bound_s = bound_s.max(least(&self.relaxed[&relaxed]));
            if !may_matter(bound_s) {
                return Ok(Bound::TooSlow);
            }
        }
        match go_on(self.simulated) {
            true => Ok(Bound::AtLeast(bound_s)),
            false => Ok(Bound::Stopped),
        }
    }

    /// The next seed, if its simulation could show that the layout is too slow.
    fn next_seed(
        &self,
        relaxed: &Relaxed,
        bound_s: f64,
        may_matter: &dyn Fn(f64) -> bool,
    ) -> Option<u64> {
        let Some(times) = self.relaxed.get(relaxed) else {
            return Some(1);
        };
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        let is_open = may_matter(least(times).max(bound_s)) && !may_matter(mean);
        (is_open && (times.len() as u64) < SEEDS).then_some(times.len() as u64 + 1)
    }

    /// A short simulation of a layout, or of one that performs the same; and whether it is new.
    pub(super) fn short(
        &mut self,
        layouts: &Layouts<'_>,
        layout: &Layout,
    ) -> Result<(Measured, bool), ReplayError> {
        let key = layouts.relaxed(layout, Keep::All);
        if let Some(known) = self.layouts.get(&key) {
            return Ok((known.clone(), false));
        }
        let placed = layouts.placed(layout);
        let measured = placed.simulate(layouts.load(), Effort::Short, 1)?;
        self.layouts.insert(key, measured.clone());
        Ok((measured, true))
    }
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
