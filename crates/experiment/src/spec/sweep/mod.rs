//! Several values of a key: one arm for each value, if the value affects the arm.
//!
//! The experiment is read once for each combination of values, as if requested alone, and the differing arms are combined in one
//! experiment.
//!
//! Every arm is executed. Replaying one recorded run on other disks would be faster, but is exact only if the order of page
//! references does not depend on time: not with locks, shared files, or a run that ends by the clock.

mod arms;
mod keys;

use arms::Combinations;
use keys::Key;

use super::bounds::TRIALS_MAX;
use super::known::Known;
use super::origin::Origin;
use super::{ExperimentText, Mode, Spec, SpecError, Variant};

/// Maximum number of combinations of values.
const COMBINATIONS_MAX: usize = 1_000;

impl Spec {
    /// Reads and checks an experiment as [`Spec::parse`] and [`Spec::check`] do, with `overrides` that may have several
    /// comma-separated values.
    ///
    /// Each arm that is affected by a value occurs once per value, named after it (`gp3-iops-3000`).
    /// Values of `machine`, `volume` and `placement` are choices: all are compared with the baseline at
    /// the first of them. Values of `workload` and `engine` are conditions: arms are compared at the same ones.
    ///
    /// # Errors
    /// The first error, with its line or override; values that do not affect any arm; more arms than a plan can have.
    pub fn swept(
        experiment: &ExperimentText,
        overrides: &[(String, String)],
        variant: &Variant,
        known: &dyn Known,
    ) -> Result<Spec, SpecError> {
        let keys = keys::of(overrides)?;
        let read = || Origin::read(experiment, variant.clone());
        let Some(last) = keys.last().cloned() else {
            return read()?.with(overrides)?.check(known);
        };
        let fault = |key: &Key, message: String| SpecError::Override {
            key: key.key.clone(),
            value: key.values.join(","),
            message,
        };
        for key in &keys {
            check_effect(key, variant).map_err(|message| fault(key, message))?;
        }
        let combined = keys.iter().map(|key| key.values.len());
        let combined = combined.fold(1_usize, usize::saturating_mul);
        if combined > COMBINATIONS_MAX {
            let message = format!(
                "{combined} combinations of values are more than {COMBINATIONS_MAX}; give fewer values"
            );
            return Err(fault(&last, message));
        }
        let origin = read()?;
        let combinations = Combinations::read(keys, |chosen| {
            let mut alone = overrides.to_vec();
            for (position, value) in chosen {
                alone[*position].1 = (*value).to_owned();
            }
            origin.with(&alone)?.check(known)
        })?;
        if let Some(key) = combinations.without_effect() {
            let message = "all of these give the same arms; sweep a key that the arms use and that no later --set replaces, \
                 with values that differ";
            return Err(fault(key, message.to_owned()));
        }
        let mut spec = combinations.into_spec();
        spec.overrides = overrides.to_vec();
        // One more for the twin of `--aa`.
        let trials = (spec.arms.len() + 1).saturating_mul(spec.protocol.blocks as usize);
        if trials > TRIALS_MAX {
            let message = format!(
                "{} arms in {} blocks are more than the {TRIALS_MAX} trials that a plan can have; give fewer values, or \
                 run fewer blocks",
                spec.arms.len(),
                spec.protocol.blocks
            );
            return Err(fault(&last, message));
        }
        Ok(spec)
    }
}

/// Keys of `engine` that are passed to servers that have such a setting, besides products' own. The others apply to the simulated
/// store.
const OF_SERVERS: [&str; 7] = [
    "memory",
    "sort_memory",
    "read_ahead",
    "checkpoint",
    "commit",
    "start",
    "host_cache_start",
];

/// Rejects keys that have no effect in real time: all of their values would be equivalent.
fn check_effect(key: &Key, variant: &Variant) -> Result<(), String> {
    let remedy = "so that all of these would be the same; sweep it in simulate";
    let of_server = |key: &str| OF_SERVERS.contains(&key) || products::find(key).is_some();
    match (variant.mode, key.section()) {
        (Mode::Measure, "machine" | "volume") => Err(format!(
            "measure has real disks on a real machine, {remedy} or emulate"
        )),
        (Mode::Emulate | Mode::Measure, "engine")
            if !key.key.split('.').nth(1).is_some_and(of_server) =>
        {
            Err(format!("it is of the simulated store, {remedy}"))
        }
        (Mode::Simulate | Mode::Emulate | Mode::Measure, _) => Ok(()),
    }
}

#[cfg(test)]
mod tests;
