//! The question of an experiment, as needed by the findings.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use crate::spec::arm::{Published, Sweep, SweepValue};

use crate::plan::{self, Plan};
use crate::spec::bounds::TWIN_SUFFIX;
use crate::spec::{self, Arm};

/// The question that a set of records answers: one from a file is [checked](crate::results::Results::open) against its plan.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Question {
    /// Name of the experiment.
    pub experiment: String,
    /// What it asks, in a sentence.
    pub question: String,
    /// Where the published figures come from.
    pub source: Option<String>,
    /// `simulate`, `emulate` or `measure`: records of another mode are not pooled.
    pub mode: String,
    /// Seed of the plan.
    pub seed: u64,
    /// Blocks that were planned.
    pub blocks: u32,
    /// Differences up to this share are ignored.
    pub margin: f64,
    /// A trial with a greater share of failed operations does not count.
    pub errors_max: f64,
    /// The arm that all others are compared with; `None`: no comparison.
    pub baseline: Option<String>,
    /// The metric that decides, such as `elapsed_s`.
    pub metric: String,
    /// Its arms, in the order of the experiment file.
    pub arms: Vec<ArmQuestion>,
    /// Parameters that were fitted to published figures.
    pub fitted: Vec<Fitted>,
    /// Arms that also ran with a setting at its alternative value.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub variations: Vec<Variation>,
    /// Arms that differ in a single key, whose values were requested together.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sweeps: Vec<Sweep>,
    /// Changes to the experiment for this run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// Whether sessions write to a shared database on an engine that allows only one writer at a time.
    pub one_writer: bool,
    /// Whether the baseline also ran as its own twin, under the name from [`twin_of`].
    pub aa: bool,
}

impl Question {
    /// The question that records of `plan` answer, from the plan alone. Disk prices, whether disks lose their contents, and
    /// whether an engine allows only one writer are filled in by the caller, who resolves the names.
    pub fn of(plan: &Plan) -> Question {
        let protocol = &plan.protocol;
        let arms = plan.arms.iter();
        let arms = arms.filter(|arm| plan.twin.as_ref() != Some(&arm.name));
        Question {
            experiment: plan.experiment.clone(),
            question: plan.question.clone(),
            source: plan.source.as_ref().map(ToString::to_string),
            mode: plan.variant.mode.to_string(),
            seed: protocol.seed,
            blocks: protocol.blocks,
            margin: protocol.margin,
            errors_max: protocol.errors_max,
            baseline: Some(protocol.baseline.clone()),
            metric: protocol.metric.clone(),
            arms: arms.map(ArmQuestion::of).collect(),
            fitted: plan.fitted.iter().map(Fitted::of).collect(),
            variations: plan.variations.iter().map(Variation::of).collect(),
            sweeps: plan.sweeps.clone(),
            changed: plan.changed(),
            one_writer: false,
            aa: plan.twin.is_some(),
        }
    }
}

/// An arm that also ran with the alternative value of a setting that the experiment does not specify.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variation {
    /// The arm's name.
    pub of: String,
    /// Name of its variation in records.
    pub name: String,
    /// Key of the setting.
    pub key: String,
    /// Its value there.
    pub value: String,
}

impl Variation {
    fn of(variation: &plan::Variation) -> Variation {
        Variation {
            of: variation.of.clone(),
            name: variation.arm.name.clone(),
            key: variation.key.clone(),
            value: variation.value.clone(),
        }
    }
}

/// One arm of the question.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ArmQuestion {
    /// Its name.
    pub name: String,
    /// The arm it is compared with, if not the question's baseline.
    #[serde(default)]
    pub baseline: Option<String>,
    /// What was published elsewhere, by metric name.
    pub published: BTreeMap<String, Published>,
    /// Whether a parameter was fitted to this arm's published figures.
    pub fitted: bool,
    /// Monthly price of its disks in US dollars, if all are known; without `requests`.
    pub usd_per_month: Option<f64>,
    /// What requests to a volume cost beside that, by the volume's name; without those where they cost nothing.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub requests: BTreeMap<String, RequestPrice>,
    /// Whether the price includes its machine: where arms have different machines.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub with_machine: bool,
    /// Whether that is the machine's price with Windows in place of Linux.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub with_windows: bool,
    /// Vendor, region and date of the list prices; without duplicates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub price_lists: Vec<String>,
    /// Its volumes that are empty after a stop of the machine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forgets: Vec<String>,
}

impl ArmQuestion {
    fn of(arm: &Arm) -> ArmQuestion {
        ArmQuestion {
            name: arm.name.clone(),
            baseline: arm.baseline.clone(),
            published: arm.published.clone(),
            fitted: arm.fitted,
            usd_per_month: None,
            requests: BTreeMap::new(),
            with_machine: false,
            with_windows: false,
            price_lists: Vec::new(),
            forgets: Vec::new(),
        }
    }
}

/// What requests to each disk of a volume cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequestPrice {
    /// Dollars for 10,000 requests.
    pub usd_per_10000: f64,
    /// Requests of an hour that are charged at most; absent: all are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hourly_max: Option<u64>,
}

/// The arm name under which records of `baseline`'s identical twin are written (`--aa`).
pub fn twin_of(baseline: &str) -> String {
    format!("{baseline}{TWIN_SUFFIX}")
}

/// A parameter that was fitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fitted {
    /// Its key in the experiment file.
    pub parameter: String,
    /// Its value.
    pub value: String,
    /// The arms whose published figures were used.
    pub to: Vec<String>,
}

impl Fitted {
    fn of(fitted: &spec::Fitted) -> Fitted {
        Fitted {
            parameter: fitted.parameter.clone(),
            value: fitted.value.clone(),
            to: fitted.to.clone(),
        }
    }
}

/// A caveat about the result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// A stable name: `one-block`, `drift`, `two-humps`, `failed-trials`, `errors`, ..
    pub id: String,
    /// What was observed, why it matters and what to do.
    pub text: String,
}
