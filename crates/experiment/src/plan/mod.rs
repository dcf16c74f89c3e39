//! A fully resolved run: arms, blocks, seeds and the order of trials.
//!
//! A plan is a value that can be stored beside its records, so an interrupted run can resume, and trials can be run one by one,
//! anywhere.

mod check;
mod command;
mod describe;
mod digest;
mod estimate;
mod unchecked;
mod variation;

pub use crate::spec::error::counted;
pub use digest::fnv_1a_text as digest_of;
pub use estimate::Estimate;
pub use unchecked::Unchecked;
pub use variation::Variation;

use std::collections::BTreeMap;

use model::{World, random};
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::spec::arm::Sweep;
use crate::spec::bounds::TWIN_SUFFIX;
use crate::spec::{Arm, Fitted, Protocol, Source, Spec, Variant};
use digest::Decisive;

/// The name and version of the format.
pub const SCHEMA: &str = "dbstow.plan/1";

/// A fully resolved experiment that follows the rules of experiments: one from a file is an [`Unchecked`] until it is checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plan {
    schema: String,
    /// Version of the program that made it.
    pub version: String,
    /// Name of the experiment.
    pub experiment: String,
    /// What it asks.
    pub question: String,
    /// Where the published figures come from.
    pub source: Option<Source>,
    /// Keys and values that override the experiment's file.
    pub overrides: Vec<(String, String)>,
    /// Mode, engine, and the settings of the file that apply.
    pub variant: Variant,
    /// How trials are repeated and compared.
    pub protocol: Protocol,
    /// What is compared, in the order of the file, the baseline's twin last.
    pub arms: Vec<Arm>,
    /// Name of the baseline's twin, if any.
    pub twin: Option<String>,
    /// Arms with a setting at its alternative value, run once each after the first block.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub variations: Vec<Variation>,
    /// Arms that differ in a single key, whose values were requested together.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sweeps: Vec<Sweep>,
    /// Parameters that were fitted to published figures.
    pub fitted: Vec<Fitted>,
    /// The user's own catalogue files used to resolve names, as the user named them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub catalogues: Vec<String>,
    /// Location of its files and other choices for real time, by name, as text.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub place: BTreeMap<String, String>,
    trials: Vec<Trial>,
    digest: String,
}

/// One run of one arm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trial {
    /// Position in the plan, from 0.
    pub index: u32,
    /// Name of the arm.
    pub arm: String,
    /// Its block, from 0.
    pub block: u32,
    /// Position in the shuffled order of its block, from 0.
    pub position: u32,
    /// Source of all its randomness. The arms of a block share it: they are compared under the same random choices.
    pub seed: u64,
}

/// A stored plan that cannot be used.
#[derive(Debug, Error)]
pub enum PlanError {
    /// It is not a complete plan.
    #[error("this is not a plan of dbstow: {0}")]
    Unreadable(#[from] serde_json::Error),
    /// It was written in another format.
    #[error("this plan has the format \"{0}\", and this program reads \"{SCHEMA}\"; plan it again")]
    Schema(String),
    /// Its content does not match its digest.
    #[error(
        "this plan was changed after it was made: its digest is {stored}, and should be {actual}; plan it again"
    )]
    Changed {
        /// The digest it carries.
        stored: String,
        /// The digest of its content.
        actual: String,
    },
    /// Its trials, which the digest does not cover, do not match its arms and blocks.
    #[error(
        "this plan was changed after it was made: its trials are not those of its arms in {0} blocks; plan it again"
    )]
    Trials(u32),
    /// It contains values that no experiment could produce.
    #[error(
        "this plan breaks a rule of experiments: {0}; change the experiment, and plan it again"
    )]
    Rule(String),
}

impl Plan {
    /// Resolves all that `spec` leaves open. With `twin`, the baseline runs a second time under another name
    /// (`--aa`): the spread between the two is the noise floor.
    pub fn new(spec: &Spec, twin: bool) -> Plan {
        let mut arms = spec.arms.clone();
        let twin = twin.then(|| twin_of(&arms, &spec.protocol.baseline));
        let twin_name = twin.as_ref().map(|arm| arm.name.clone());
        arms.extend(twin);
        let mut plan = Plan {
            schema: SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            experiment: spec.name.clone(),
            question: spec.question.clone(),
            source: spec.source.clone(),
            overrides: spec.overrides.clone(),
            variant: spec.variant.clone(),
            trials: Vec::new(),
            protocol: spec.protocol.clone(),
            arms,
            twin: twin_name,
            variations: variation::of(spec),
            sweeps: spec.sweeps.clone(),
            fitted: spec.fitted.clone(),
            catalogues: Vec::new(),
            place: BTreeMap::new(),
            digest: String::new(),
        };
        for block in 0..plan.protocol.blocks {
            let trials = plan.block(block);
            plan.trials.extend(trials);
        }
        plan.digest = plan.digest_of_content();
        plan
    }

    /// The plan, run at `place`: a different place makes a different plan.
    pub fn at(mut self, place: BTreeMap<String, String>) -> Plan {
        self.place = place;
        self.digest = self.digest_of_content();
        self
    }

    /// The plan, with names also resolved in these files. The digest covers their content, not their paths.
    pub fn reading(self, catalogues: Vec<String>) -> Plan {
        Plan { catalogues, ..self }
    }

    /// All trials, block by block, in the order in which they run.
    pub fn trials(&self) -> &[Trial] {
        &self.trials
    }

    /// The trial of `arm` in `block`, which may be after this plan's last; `None` for an arm that the plan does not have.
    pub fn trial(&self, arm: &str, block: u32) -> Option<Trial> {
        let mut trials = self.block(block).into_iter();
        trials.find(|trial| trial.arm == arm)
    }

    /// The world that the trials of a block have in common, the twin included; `None` if everything is at its typical value.
    pub fn world(&self, block: u32) -> Option<World> {
        let Protocol { nominal, seed, .. } = self.protocol;
        (!nominal).then(|| World {
            seed: random::derive(seed, "unknowns", 0),
            number: block,
        })
    }

    /// The arm called `name`, which may be a variation.
    pub fn arm(&self, name: &str) -> Option<&Arm> {
        self.all_arms().find(|arm| arm.name == name)
    }

    /// The arms that are compared, then the variations.
    pub fn all_arms(&self) -> impl Iterator<Item = &Arm> {
        let variations = self.variations.iter().map(|variation| &variation.arm);
        self.arms.iter().chain(variations)
    }

    /// The trials of one block, in their order; each block has its own seed and its own order, both drawn only from the
    /// protocol's seed and the block's number: a block does not depend on the number of blocks.
    fn block(&self, block: u32) -> Vec<Trial> {
        let protocol = &self.protocol;
        let seed = random::derive(protocol.seed, "trial", u64::from(block));
        let order_seed = random::derive(protocol.seed, "order", u64::from(block));
        // The twin shares the baseline's settings but not its seed, to show the effect of chance.
        let own = |arm: &Arm| match arm.name.ends_with(TWIN_SUFFIX) {
            true => random::derive(seed, "twin", 0),
            false => seed,
        };
        let mut order: Vec<&Arm> = self.arms.iter().collect();
        order.shuffle(&mut random::stream(order_seed, "order"));
        let variations = self.variations.iter().filter(|_| block == 0);
        order.extend(variations.map(|variation| &variation.arm));
        let before = match block {
            0 => 0,
            later => self.variations.len() + later as usize * self.arms.len(),
        };
        let trial = |(position, arm): (u32, &Arm)| Trial {
            index: u32::try_from(before + position as usize).unwrap_or(u32::MAX),
            arm: arm.name.clone(),
            block,
            position,
            seed: own(arm),
        };
        (0..).zip(order).map(trial).collect()
    }

    /// The digest that a record must have to belong to this plan: 16 hexadecimal digits, computed from the program's version and
    /// all that determines the outcome of a trial.
    ///
    /// It does not cover the number of blocks, so that more blocks continue a plan; nor published figures, texts, margin and
    /// metric, which affect reports, not records.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The digest of its content, whatever it carries.
    fn digest_of_content(&self) -> String {
        let arms = self.arms.iter();
        let decisive = Decisive {
            version: &self.version,
            experiment: &self.experiment,
            mode: self.variant.mode,
            engine: &self.variant.engine,
            seed: self.protocol.seed,
            nominal: self.protocol.nominal,
            arms: arms.map(|arm| (&*arm.name, &arm.settings)).collect(),
            place: &self.place,
        };
        decisive.digest()
    }

    /// The plan in its storage format.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a plan has text keys and finite numbers only")
    }
}

fn twin_of(arms: &[Arm], baseline: &str) -> Arm {
    let original = arms.iter().find(|arm| arm.name == baseline);
    let original = original.expect("a spec's baseline is one of its arms");
    Arm {
        name: format!("{baseline}{TWIN_SUFFIX}"),
        published: Default::default(),
        fitted: false,
        ..original.clone()
    }
}

#[cfg(test)]
mod tests;
