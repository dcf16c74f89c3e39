//! Arms with an unspecified setting at its alternative value: run once each, to see whether a verdict depends on it.

use std::collections::BTreeMap;

use model::HostCacheMode;
use serde::{Deserialize, Serialize};

use crate::spec::bounds::{COLD_SUFFIX, WARM_SUFFIX};
use crate::spec::{Arm, Mode, Protocol, Role, Settings, Spec, Temperature};

/// An arm with the alternative value of a setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Variation {
    /// The arm, under its own name.
    pub arm: Arm,
    /// Name of the arm that it varies.
    pub of: String,
    /// Key of the setting.
    pub key: String,
    /// Its value here.
    pub value: String,
}

/// The variations of `spec`: initial state of the host cache, if an experiment does not specify it and compares arms that use the
/// cache differently. Only in virtual time, where another trial is cheap.
pub(super) fn of(spec: &Spec) -> Vec<Variation> {
    if spec.variant.mode != Mode::Simulate || spec.host_cache_start_given {
        return Vec::new();
    }
    let arms = spec.arms.iter();
    arms.filter(|arm| is_cached(&arm.settings) && decides(arm, &spec.arms, &spec.protocol))
        .map(varied)
        .collect()
}

/// Whether `arm` is compared with one that uses the host cache differently.
fn decides(arm: &Arm, arms: &[Arm], protocol: &Protocol) -> bool {
    let baseline = |arm: &Arm| arm.baseline.clone().unwrap_or(protocol.baseline.clone());
    let compared = |other: &&Arm| {
        baseline(other) == arm.name || (baseline(arm) == other.name && arm.name != other.name)
    };
    let mut others = arms.iter().filter(compared);
    others.any(|other| cached(&other.settings) != cached(&arm.settings))
}

fn is_cached(settings: &Settings) -> bool {
    let mut modes = cached(settings).into_values().flatten();
    modes.any(|mode| mode != HostCacheMode::None)
}

/// What the host cache does for each role's files.
fn cached(settings: &Settings) -> BTreeMap<&'static str, Vec<HostCacheMode>> {
    let mode = |volume: &str| settings.volume(volume).map(|volume| volume.host_cache);
    let roles = Role::ALL.into_iter();
    roles
        .map(|role| {
            let files = settings.placement.files(role).iter();
            let mut modes: Vec<_> = files.filter_map(|file| mode(&file.volume)).collect();
            modes.dedup();
            (role.name(), modes)
        })
        .collect()
}

/// `original` with the opposite initial temperature of the host cache.
pub(super) fn varied(original: &Arm) -> Variation {
    let start = &original.settings.engine.host_cache_start;
    let (other, value, suffix) = match start {
        Temperature::Cold => (Temperature::Warm, "warm", WARM_SUFFIX),
        Temperature::Warm => (Temperature::Cold, "cold", COLD_SUFFIX),
    };
    let mut arm = Arm {
        name: format!("{}{suffix}", original.name),
        published: BTreeMap::new(),
        fitted: false,
        ..original.clone()
    };
    arm.settings.engine.host_cache_start = other;
    Variation {
        arm,
        of: original.name.clone(),
        key: "engine.host_cache_start".to_owned(),
        value: value.to_owned(),
    }
}
