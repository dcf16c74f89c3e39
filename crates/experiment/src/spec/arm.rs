//! An arm, what was published for it, and arms that a sweep made.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::placement::Role;
use super::settings::Settings;

/// Sections whose keys an arm may set; the others are common to all arms.
pub(super) const SETTABLE: [&str; 5] = ["machine", "volume", "placement", "workload", "engine"];

/// A placement with settings: the subject of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Arm {
    /// Its name.
    pub name: String,
    /// The arm it is compared with, if not the experiment's baseline.
    #[serde(default)]
    pub baseline: Option<String>,
    /// All that a trial needs.
    pub settings: Settings,
    /// What was published for it, by metric.
    pub published: BTreeMap<String, Published>,
    /// Whether a parameter was fitted to its published figures.
    pub fitted: bool,
}

/// A published figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Published {
    /// A number in the metric's unit.
    Number(f64),
    /// Text instead of a number: `"<1"`, `"over a minute"`.
    Words(String),
}

impl Published {
    /// Deviation of `ours`, as a share of the published number; `None` for text or a published 0.
    pub fn deviation(&self, ours: f64) -> Option<f64> {
        match self {
            Published::Number(published) if *published != 0.0 => Some(ours / published - 1.0),
            Published::Number(_) | Published::Words(_) => None,
        }
    }
}

/// Arms that differ in a single key, whose values were requested together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sweep {
    /// The arm's name in the experiment, with the values of other swept keys if any.
    pub of: String,
    /// The key.
    pub key: String,
    /// Its values, in ascending order.
    pub values: Vec<SweepValue>,
}

/// A value of a key, and the arm that has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SweepValue {
    /// The value, as requested.
    pub value: String,
    /// The arm's name.
    pub arm: String,
}

/// Whether the arms differ in location, number or size of the files of `role`.
pub fn differ_in(arms: &[Arm], role: Role) -> bool {
    let mut files = arms.iter().map(|arm| arm.settings.placement.files(role));
    let first = files.next();
    files.any(|other| Some(other) != first)
}
