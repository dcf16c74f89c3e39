//! A simulation that ends once its layout is too slow to matter, and goes on where that turns out to be wrong.
//!
//! Parts of a load are simulated apart. What those that are done take, and the bound of the others, is a bound of the whole: with the
//! slowest parts first, few of them show that a layout is not fast enough.

use replay::ReplayError;

use super::{Done, Effort, Measured, Placed, in_parallel, threads, together};
use crate::load::{Load, Part};

/// A simulation of a load on a layout, of which some parts may be done.
#[derive(Clone, Debug)]
pub(crate) struct Stepwise {
    effort: Effort,
    seed: u64,
    /// By part; `None`: not simulated yet.
    done: Vec<Option<Done>>,
}

impl Stepwise {
    /// A simulation that has not begun.
    pub(crate) fn new(effort: Effort, seed: u64) -> Stepwise {
        Stepwise {
            effort,
            seed,
            done: Vec::new(),
        }
    }

    /// Simulates parts of `load` on `placed`, which are the same each time, while `is_open` holds of the seconds that an operation takes
    /// at least. Returns these: the time itself, once all parts are done.
    ///
    /// # Errors
    /// When an operation takes no time.
    pub(crate) fn go_on(
        &mut self,
        (placed, load): (&Placed, &Load),
        is_open: &dyn Fn(f64) -> bool,
    ) -> Result<f64, ReplayError> {
        self.done.resize_with(load.parts.len(), || None);
        let least_s: Vec<f64> = load
            .parts
            .iter()
            .map(|part| placed.at_least_s(part))
            .collect();
        let mut left: Vec<usize> = (0..least_s.len())
            .filter(|part| self.done[*part].is_none())
            .collect();
        let weight = |part: &usize| load.parts[*part].share * least_s[*part];
        left.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
        let mut left = left.chunks(threads());
        loop {
            let parts = load.parts.iter().zip(&self.done).zip(&least_s);
            let seconds = parts.map(|((part, done), least_s)| {
                part.share * done.as_ref().map_or(*least_s, |done| done.operation_s)
            });
            let at_least_s = seconds.sum();
            let Some(next) = left.next().filter(|_| is_open(at_least_s)) else {
                return Ok(at_least_s);
            };
            let parts: Vec<&Part> = next.iter().map(|part| &load.parts[*part]).collect();
            let one = |part: &&Part| placed.part(part, self.effort, self.seed);
            for (part, done) in next.iter().zip(in_parallel(&parts, one)?) {
                self.done[*part] = Some(done);
            }
        }
    }

    /// Whether all parts are done.
    pub(crate) fn is_done(&self) -> bool {
        !self.done.is_empty() && self.done.iter().all(Option::is_some)
    }

    /// The result, once all parts of `load` are done.
    pub(crate) fn measured(&self, load: &Load) -> Option<Measured> {
        let done: Vec<&Done> = self.done.iter().flatten().collect();
        self.is_done().then(|| together(load, &done))
    }
}
