//! A plan as read from a file: only its shape is verified.
//!
//! ```text
//! file ──read──> Unchecked<Plan> ──check──> Plan ──> trials, staging, reports
//! ```
//!
//! A file is untrusted. Nothing here runs, stages or describes its content: [`Unchecked`] only gives access through
//! [`Unchecked::check`], and [`Plan`] itself cannot be deserialized.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};

use super::{Plan, PlanError, SCHEMA, Trial, Variation, check};
use crate::record::strict;
use crate::spec::arm::Sweep;
use crate::spec::{Arm, Fitted, Protocol, Source, Variant};

/// Content of a file before validation.
#[derive(Clone, Debug)]
pub struct Unchecked<T>(T);

/// Maximum number of trials of a forged plan: more would be rejected by their number.
#[cfg(any(test, feature = "examples"))]
const FORGED_TRIALS_MAX: usize = 10_000;

/// The wire form of a [`Plan`] for deserialization: the same fields.
#[derive(Deserialize)]
#[serde(remote = "Plan")]
struct Shape {
    schema: String,
    version: String,
    experiment: String,
    question: String,
    source: Option<Source>,
    overrides: Vec<(String, String)>,
    variant: Variant,
    protocol: Protocol,
    arms: Vec<Arm>,
    twin: Option<String>,
    #[serde(default)]
    variations: Vec<Variation>,
    #[serde(default)]
    sweeps: Vec<Sweep>,
    fitted: Vec<Fitted>,
    #[serde(default)]
    catalogues: Vec<String>,
    #[serde(default)]
    place: BTreeMap<String, String>,
    trials: Vec<Trial>,
    digest: String,
}

impl<'de> Deserialize<'de> for Unchecked<Plan> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Shape::deserialize(deserializer).map(Unchecked)
    }
}

impl Plan {
    /// [Reads](Unchecked::read) and [checks](Unchecked::check) a stored plan.
    ///
    /// # Errors
    /// When the text is not a complete plan of this format, was modified, or breaks a rule of experiments.
    pub fn from_json(text: &str) -> Result<Plan, PlanError> {
        Unchecked::read(text)?.check()
    }
}

impl Unchecked<Plan> {
    /// Reads the document of a plan; other keys are ignored.
    ///
    /// # Errors
    /// When the text is not a complete plan of this format, or has a duplicate key.
    pub fn read(text: &str) -> Result<Unchecked<Plan>, PlanError> {
        let document = strict::parse(text)?;
        match document["schema"].as_str() {
            Some(SCHEMA) => Ok(serde_json::from_str(text)?),
            Some(other) => Err(PlanError::Schema(other.to_owned())),
            None => Err(PlanError::Schema("none".to_owned())),
        }
    }

    /// The plan, if an experiment can produce it and it was not modified since.
    ///
    /// The rules apply to plans of all versions, since reports are made from them. Other versions may differ only in the order of
    /// trials.
    ///
    /// # Errors
    /// When it was modified, or breaks a rule of experiments.
    pub fn check(self) -> Result<Plan, PlanError> {
        let Unchecked(plan) = self;
        let actual = plan.digest_of_content();
        if plan.digest != actual {
            return Err(PlanError::Changed {
                stored: plan.digest,
                actual,
            });
        }
        if !check::has_its_trials(&plan) {
            return Err(PlanError::Trials(plan.protocol.blocks));
        }
        check::rules(&plan)?;
        Ok(plan)
    }

    /// The plan with digest and trials recomputed to match its content, as an attacker would forge it.
    #[cfg(any(test, feature = "examples"))]
    pub fn forged(self) -> Unchecked<Plan> {
        let Unchecked(mut plan) = self;
        plan.digest = plan.digest_of_content();
        let trials = plan
            .arms
            .len()
            .saturating_mul(plan.protocol.blocks as usize);
        if trials < FORGED_TRIALS_MAX {
            let blocks = 0..plan.protocol.blocks;
            plan.trials = blocks.flat_map(|block| plan.block(block)).collect();
        }
        Unchecked(plan)
    }

    /// The document, as [`Plan::to_json`] has it.
    #[cfg(any(test, feature = "examples"))]
    pub fn to_json(&self) -> String {
        self.0.to_json()
    }
}
