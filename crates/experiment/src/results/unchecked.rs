//! The question of a results folder as read from its file: only its shape is verified.
//!
//! Findings are computed from it without further checks, and the file is untrusted. It must agree with its plan, which was
//! checked. Only texts, prices, which volumes lose their contents, and whether an engine has one writer are not in the plan.

use serde::{Deserialize, Deserializer, Serialize};

use crate::plan::Plan;
use crate::question::{ArmQuestion, Fitted, Question, Sweep, Variation};
use crate::spec::error::Fault;
use crate::spec::errors_max_default;

/// Maximum dollars a month for an arm's disks: the maximum unit price of a catalogue (10^9), times more units than the disks of a
/// plan have together (2^50 a second, 2^16 disks). Twelve times this is still finite.
const USD_MAX: f64 = 1e30;

/// A question not yet checked against its plan.
pub(super) struct UncheckedQuestion(Question);

/// The wire form of a [`Question`] for deserialization: the same fields.
#[derive(Deserialize)]
#[serde(remote = "Question")]
struct Shape {
    experiment: String,
    question: String,
    source: Option<String>,
    mode: String,
    seed: u64,
    blocks: u32,
    margin: f64,
    #[serde(default = "errors_max_default")]
    errors_max: f64,
    baseline: Option<String>,
    metric: String,
    arms: Vec<ArmQuestion>,
    fitted: Vec<Fitted>,
    #[serde(default)]
    variations: Vec<Variation>,
    #[serde(default)]
    sweeps: Vec<Sweep>,
    #[serde(default)]
    changed: Vec<String>,
    #[serde(default)]
    one_writer: bool,
    aa: bool,
}

impl<'de> Deserialize<'de> for UncheckedQuestion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Shape::deserialize(deserializer).map(UncheckedQuestion)
    }
}

impl UncheckedQuestion {
    /// The question, if it matches `plan`.
    ///
    /// # Errors
    /// The first key that differs, with both values, or an invalid price.
    pub(super) fn check(self, plan: &Plan) -> Result<Question, String> {
        let UncheckedQuestion(asked) = self;
        check(&asked, plan).map_err(|fault| fault.message())?;
        Ok(asked)
    }
}

fn check(asked: &Question, plan: &Plan) -> Result<(), Fault> {
    let planned = Question::of(plan);
    let Question {
        experiment,
        question,
        source: _,
        mode,
        seed,
        blocks,
        margin,
        errors_max,
        baseline,
        metric,
        arms,
        fitted,
        variations,
        sweeps,
        changed: _,
        one_writer: _,
        aa,
    } = asked;
    same(&["experiment"], experiment, &planned.experiment)?;
    same(&["question"], question, &planned.question)?;
    same(&["mode"], mode, &planned.mode)?;
    same(&["seed"], seed, &planned.seed)?;
    same(&["blocks"], blocks, &planned.blocks)?;
    same(&["margin"], margin, &planned.margin)?;
    same(&["errors_max"], errors_max, &planned.errors_max)?;
    same(&["baseline"], baseline, &planned.baseline)?;
    same(&["metric"], metric, &planned.metric)?;
    same(&["fitted"], fitted, &planned.fitted)?;
    same(&["variations"], variations, &planned.variations)?;
    same(&["sweeps"], sweeps, &planned.sweeps)?;
    same(&["aa"], aa, &planned.aa)?;
    same(&["arms"], &names(arms), &names(&planned.arms))?;
    let mut arms = arms.iter().zip(&planned.arms);
    arms.try_for_each(|(arm, planned)| check_arm(arm, planned))
}

fn names(arms: &[ArmQuestion]) -> Vec<&str> {
    arms.iter().map(|arm| arm.name.as_str()).collect()
}

/// Checks an arm against the planned one of the same name.
fn check_arm(arm: &ArmQuestion, planned: &ArmQuestion) -> Result<(), Fault> {
    let ArmQuestion {
        name,
        baseline,
        published,
        fitted,
        usd_per_month,
        requests,
        with_machine: _,
        with_windows: _,
        price_lists: _,
        forgets: _,
    } = arm;
    same(&["arms", name, "baseline"], baseline, &planned.baseline)?;
    same(&["arms", name, "published"], published, &planned.published)?;
    same(&["arms", name, "fitted"], fitted, &planned.fitted)?;
    let check = |usd: f64, key: &str| match (0.0..=USD_MAX).contains(&usd) {
        true => Ok(()),
        false => {
            let message = format!("{usd:?} is not a price; it is from 0 to {USD_MAX:e} dollars");
            Err(Fault::at(&["question", "arms", name, key], message))
        }
    };
    let mut requests = requests.values();
    requests.try_for_each(|price| check(price.usd_per_10000, "requests"))?;
    usd_per_month.map_or(Ok(()), |usd| check(usd, "usd_per_month"))
}

fn same<T: PartialEq + Serialize>(key: &[&str], said: &T, planned: &T) -> Result<(), Fault> {
    if said == planned {
        return Ok(());
    }
    let shown = |value: &T| serde_json::to_string(value).expect("its keys are texts");
    let message = format!(
        "{} is not what the plan beside it has ({})",
        shown(said),
        shown(planned)
    );
    Err(Fault::at(&[&["question"][..], key].concat(), message))
}
