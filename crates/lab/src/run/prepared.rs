//! A plan with everything looked up, before anything runs.

use experiment::plan::{self, Plan, Trial};
use experiment::question::{ArmQuestion, Fitted, Question, Variation};
use experiment::spec::{Arm, Mode};
use workload::{Database, Workload};

use crate::engine::{EngineProvider, Options, UnknownEngine, provider};
use crate::inventory::Inventory;
use crate::trial::real::{VolumesError, preflight};
use crate::trial::{Forecast, RehearsalError, Stage, StageError, Subject, TrialId, rehearse};

/// Why a load cannot be part of a simulated run.
const MEASURED_SHARED: &str = "simulate loads a database that several sessions share before they begin: leave out \
                               load.measured, or give each session a database (database = \"per-session\")";

/// A plan and what its names stand for.
pub struct Prepared {
    plan: Plan,
    engine: &'static dyn EngineProvider,
    /// One for each arm of the plan and each variation, in their order.
    arms: Vec<Ready>,
}

/// What trials of an arm take of this machine.
pub struct Rehearsed<'a> {
    /// The arm.
    pub arm: &'a Arm,
    /// How many trials of it were asked about.
    pub trials: u32,
    /// What one of them takes.
    pub forecast: Forecast,
}

/// An arm with everything looked up.
struct Ready {
    stage: Stage,
    workload: Workload,
}

/// Why a plan cannot run.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// An arm names a disk or machine that is not there, or not sold like this.
    #[error("arm \"{arm}\"")]
    Stage {
        /// Which arm.
        arm: String,
        /// Why.
        source: StageError,
    },
    /// A workload cannot be read.
    #[error("{0}")]
    Workload(String),
    /// This build has no such engine.
    #[error(transparent)]
    Engine(#[from] UnknownEngine),
}

impl Prepared {
    /// Looks everything up that `plan` names, workloads as its engine runs them under `options`.
    ///
    /// # Errors
    /// The first name that stands for nothing.
    pub fn new(
        plan: &Plan,
        inventory: &Inventory,
        options: &Options,
    ) -> Result<Prepared, PrepareError> {
        let engine = provider(&plan.variant.engine)?;
        let ready = |arm: &Arm| {
            let ready = Ready::new(arm, inventory, engine, options)?;
            let sessions = arm.settings.workload.sessions;
            match plan.variant.mode == Mode::Simulate && ready.loads_together(sessions) {
                true => Err(PrepareError::Workload(MEASURED_SHARED.to_owned())),
                false => Ok(ready),
            }
        };
        Ok(Prepared {
            engine,
            arms: plan.all_arms().map(ready).collect::<Result<_, _>>()?,
            plan: plan.clone(),
        })
    }

    /// The engine of its trials.
    pub(super) fn engine(&self) -> &'static dyn EngineProvider {
        self.engine
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What the plan's records answer.
    pub fn question(&self) -> Question {
        let plan = &self.plan;
        let asked = plan.arms.iter().zip(&self.arms);
        let asked = asked.filter(|(arm, _)| plan.twin.as_ref() != Some(&arm.name));
        let fitted = plan.fitted.iter().map(|fitted| Fitted {
            parameter: fitted.parameter.clone(),
            value: fitted.value.clone(),
            to: fitted.to.clone(),
        });
        Question {
            experiment: plan.experiment.clone(),
            question: plan.question.clone(),
            source: plan.source.as_ref().map(ToString::to_string),
            mode: plan.variant.mode.to_string(),
            seed: plan.protocol.seed,
            blocks: plan.protocol.blocks,
            margin: plan.protocol.margin,
            errors_max: plan.protocol.errors_max,
            baseline: Some(plan.protocol.baseline.clone()),
            metric: plan.protocol.metric.clone(),
            arms: asked
                .map(|(arm, ready)| ready.question(arm, plan.variant.mode))
                .collect(),
            fitted: fitted.collect(),
            variations: plan.variations.iter().map(variation).collect(),
            sweeps: plan.sweeps.clone(),
            changed: plan.changed(),
            one_writer: self.has_one_writer(),
            aa: plan.twin.is_some(),
        }
    }

    /// Looks for what a run in real time needs of this machine, before anything is made.
    ///
    /// # Errors
    /// What is missing, with the remedy.
    pub fn preflight(&self, options: &Options) -> Result<(), VolumesError> {
        match self.plan.variant.mode {
            Mode::Simulate => Ok(()),
            Mode::Emulate | Mode::Measure => preflight(&self.plan, self.engine, options),
        }
    }

    /// Executes every script that `trials` of the plan run on few rows, before anything is measured; simulate only. Gives
    /// what a trial of each of their arms takes of this machine.
    ///
    /// # Errors
    /// The first script that fails.
    pub fn rehearse(&self, trials: &[Trial]) -> Result<Vec<Rehearsed<'_>>, RehearsalError> {
        let mut all: Vec<Rehearsed<'_>> = Vec::new();
        if self.plan.variant.mode != Mode::Simulate {
            return Ok(all);
        }
        for trial in trials {
            if let Some(known) = all.iter_mut().find(|known| known.arm.name == trial.arm) {
                known.trials += 1;
                continue;
            }
            let arm = self
                .plan
                .arm(&trial.arm)
                .expect("a plan's trials are of its arms");
            // Arms mostly differ in where their files are, which loading takes no account of.
            let same = |known: &&Rehearsed<'_>| {
                let (known, settings) = (&known.arm.settings, &arm.settings);
                known.workload == settings.workload
                    && known.engine.page_size == settings.engine.page_size
            };
            let forecast = match all.iter().find(same) {
                Some(known) => known.forecast,
                None => rehearse(&self.subject(&self.id(trial)))?,
            };
            all.push(Rehearsed {
                arm,
                trials: 1,
                forecast,
            });
        }
        Ok(all)
    }

    /// Whether sessions of some arm write to one database together, on an engine that lets them do so one at a time only.
    /// Simulated sessions hold rows, not databases.
    pub fn has_one_writer(&self) -> bool {
        let mut arms = self.plan.all_arms().zip(&self.arms);
        self.plan.variant.mode != Mode::Simulate
            && self.engine.has_one_writer()
            && arms.any(|(arm, ready)| {
                arm.settings.workload.sessions > 1 && ready.workload.is_written_together()
            })
    }

    /// What a trial of the plan is of.
    pub(super) fn subject<'a>(&'a self, id: &'a TrialId) -> Subject<'a> {
        let mut arms = self.plan.all_arms().zip(&self.arms);
        let (arm, ready) = arms
            .find(|(arm, _)| arm.name == id.arm)
            .expect("a plan's trials are of its arms");
        Subject {
            id,
            mode: self.plan.variant.mode,
            engine: self.engine,
            settings: &arm.settings,
            stage: &ready.stage,
            workload: &ready.workload,
        }
    }

    pub(super) fn id(&self, trial: &Trial) -> TrialId {
        TrialId {
            experiment: self.plan.experiment.clone(),
            plan: self.plan.digest().to_owned(),
            arm: trial.arm.clone(),
            block: trial.block,
            position: trial.position,
            seed: trial.seed,
        }
    }
}

fn variation(variation: &plan::Variation) -> Variation {
    Variation {
        of: variation.of.clone(),
        name: variation.arm.name.clone(),
        key: variation.key.clone(),
        value: variation.value.clone(),
    }
}

impl Ready {
    fn new(
        arm: &Arm,
        inventory: &Inventory,
        engine: &dyn EngineProvider,
        options: &Options,
    ) -> Result<Ready, PrepareError> {
        let stage = Stage::new(&arm.settings, &inventory.catalogue);
        let stage = stage.map_err(|source| PrepareError::Stage {
            arm: arm.name.clone(),
            source,
        })?;
        let workload = inventory.workload(&arm.settings.workload);
        let workload = workload.and_then(|workload| engine.adapt(workload, options));
        let workload = workload.map_err(PrepareError::Workload)?;
        Ok(Ready { stage, workload })
    }

    /// Whether several sessions would load one database as a part of the run.
    fn loads_together(&self, sessions: u32) -> bool {
        let workload = &self.workload;
        sessions > 1 && workload.load.measured && workload.database == Database::Shared
    }

    fn question(&self, arm: &Arm, mode: Mode) -> ArmQuestion {
        // Real directories have no list price.
        let price = self.stage.usd_per_month.filter(|_| mode != Mode::Measure);
        let lists = self.stage.price_lists.iter().filter(|_| price.is_some());
        ArmQuestion {
            name: arm.name.clone(),
            baseline: arm.baseline.clone(),
            published: arm.published.clone(),
            fitted: arm.fitted,
            usd_per_month: price,
            price_lists: lists.cloned().collect(),
        }
    }
}
