//! A plan with all names resolved, and what its trials begin with.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Deref;

use experiment::plan::{Plan, Trial};
use experiment::record::{LimitRecord, Note, Record};
use experiment::spec::{Arm, Mode};
use model::{Duration, Rate, VolumeSpec};
use reading::cause::{Measure, Owner};
use resolve::{PrepareError, Ready, Recording, Resolved, Stage};

use crate::inventory::Inventory;
use crate::trial::real::{VolumesError, preflight};
use crate::trial::{
    self, Cancel, Cancelled, Forecast, Images, Loads, RehearsalError, Replayed, Reporter, Subject,
    TrialId, Work, rehearse,
};
use engine::Options;

/// A plan whose trials can be run.
pub struct Prepared {
    resolved: Resolved,
    /// The databases that trials in virtual time begin with.
    images: Images,
}

/// What trials of an arm need on this machine.
pub struct Rehearsed<'a> {
    /// The arm.
    pub arm: &'a Arm,
    /// How many of its trials were requested.
    pub trials: u32,
    /// What one of them needs.
    pub forecast: Forecast,
    /// Processor time of all of them: a database that trials begin with alike is loaded once.
    pub time: Duration,
}

impl Deref for Prepared {
    type Target = Resolved;

    fn deref(&self) -> &Resolved {
        &self.resolved
    }
}

impl Prepared {
    /// Resolves all names in `plan`; workloads are adapted to its engine under `options`.
    ///
    /// # Errors
    /// The first unknown name.
    pub fn new(
        plan: &Plan,
        inventory: &Inventory,
        options: &Options,
    ) -> Result<Prepared, PrepareError> {
        Ok(Prepared {
            resolved: Resolved::new(plan, inventory, options)?,
            images: Images::for_seeds(plan.trials().iter().map(|trial| trial.seed)),
        })
    }

    /// Checks this machine for what a run in real time needs, before anything is created.
    ///
    /// # Errors
    /// What is missing, with the remedy.
    pub fn preflight(&self, options: &Options) -> Result<(), VolumesError> {
        match self.plan().variant.mode {
            Mode::Simulate => Ok(()),
            Mode::Emulate | Mode::Measure => preflight(self.plan(), self.engine(), options),
        }
    }

    /// Executes every script that `trials` of the plan run on few rows, before anything is measured; simulate only.
    /// Returns what a trial of each of their arms needs on this machine.
    ///
    /// # Errors
    /// The first script that fails.
    pub fn rehearse(&self, trials: &[Trial]) -> Result<Vec<Rehearsed<'_>>, RehearsalError> {
        let mut all: Vec<Rehearsed<'_>> = Vec::new();
        if self.plan().variant.mode != Mode::Simulate {
            return Ok(all);
        }
        let mut loads = Loads::default();
        for trial in trials {
            let id = self.id(trial);
            let (arm, ready) = self.of(&id);
            let workload = ready.work.statements();
            let loaded = workload.map_or(0, |workload| loads.count(&id, &arm.settings, workload));
            let time =
                |forecast: &Forecast| forecast.operations + forecast.load * u64::from(loaded);
            if let Some(known) = all.iter_mut().find(|known| known.arm.name == trial.arm) {
                known.trials += 1;
                known.time += time(&known.forecast);
                continue;
            }
            // Arms mostly differ in where their files are, which does not affect loading.
            let same = |known: &&Rehearsed<'_>| {
                let (known, settings) = (&known.arm.settings, &arm.settings);
                known.workload == settings.workload
                    && known.engine.page_size == settings.engine.page_size
            };
            let forecast = match all.iter().find(same) {
                Some(known) => known.forecast,
                None => self.forecast(&id)?,
            };
            all.push(Rehearsed {
                arm,
                trials: 1,
                time: time(&forecast),
                forecast,
            });
        }
        Ok(all)
    }

    /// What a trial in virtual time needs on this machine; next to nothing if it replays a profile.
    fn forecast(&self, id: &TrialId) -> Result<Forecast, RehearsalError> {
        match self.of(id).1.work {
            Work::Statements(_) => rehearse(&self.subject(id)),
            Work::Recording(_) => Ok(Forecast::default()),
        }
    }

    /// Runs a trial in virtual time.
    pub(super) fn simulate(
        &self,
        id: &TrialId,
        cancelled: &Cancel,
        report: &Reporter<'_>,
    ) -> Result<Record, Cancelled> {
        let (arm, ready) = self.of(id);
        let (stage, drawn) = match self.plan().world(id.block) {
            None => (Cow::Borrowed(&ready.stage), BTreeMap::new()),
            Some(world) => {
                let (stage, drawn) = ready.stage.drawn(world);
                (Cow::Owned(stage), drawn)
            }
        };
        let record = match &ready.work {
            Work::Statements(_) => {
                let subject = Subject {
                    stage: &stage,
                    ..self.subject(id)
                };
                trial::simulate(&subject, &self.images, cancelled, report)
            }
            Work::Recording(recording) => {
                let replayed = Replayed {
                    stage: &stage,
                    ..replayed(id, arm, ready, recording)
                };
                trial::replay(&replayed, cancelled, report)
            }
        }?;
        let mut record = self.noted(id, Record { drawn, ..record });
        if !record.drawn.is_empty() {
            for limit in &mut record.limits {
                // One that was not drawn is as documented.
                let documented = documented(&ready.stage, limit);
                limit.documented = documented.filter(|rate| *rate != limit.rate);
            }
        }
        if !self.plan().protocol.nominal {
            let assumed = ready.stage.assumed_spreads().into_iter();
            record.notes.extend(assumed.map(Note::Other));
        }
        Ok(record)
    }

    /// The record, with the assumptions about its modelled disks.
    pub fn noted(&self, id: &TrialId, mut record: Record) -> Record {
        let notes = self.notes_of(self.of(id).1).iter().cloned();
        record.notes.extend(notes.map(Note::Other));
        record
    }

    /// The subject of a trial of the plan.
    pub fn subject<'a>(&'a self, id: &'a TrialId) -> Subject<'a> {
        let (arm, ready) = self.of(id);
        Subject {
            id,
            mode: self.plan().variant.mode,
            engine: self.engine(),
            settings: &arm.settings,
            stage: &ready.stage,
            work: &ready.work,
        }
    }

    fn of(&self, id: &TrialId) -> (&Arm, &Ready) {
        self.ready(&id.arm)
    }

    /// The identity of a trial of the plan.
    pub fn id(&self, trial: &Trial) -> TrialId {
        TrialId {
            experiment: self.plan().experiment.clone(),
            plan: self.plan().digest().to_owned(),
            arm: trial.arm.clone(),
            block: trial.block,
            position: trial.position,
            seed: trial.seed,
        }
    }
}

/// The sustained rate of a limit in an arm of which nothing was drawn.
fn documented(stage: &Stage, limit: &LimitRecord) -> Option<f64> {
    let volume_of = |disk: &str| {
        let is_its = |volume: &&VolumeSpec| {
            let number = disk.strip_prefix(volume.name.as_str());
            number.is_some_and(|number| number.starts_with('.'))
        };
        stage.volumes.iter().find(is_its)
    };
    let limits = match &limit.name.owner {
        Owner::Machine(name) => stage.machine.limits.get(name.as_str())?,
        Owner::Disk(disk) => &volume_of(disk)?.disks.first()?.limits,
        Owner::Disks => return None,
    };
    let mut rates = limits.iter().filter(|spec| spec.counts == limit.counts);
    rates.find_map(|spec| match (spec.rate, limit.name.measure) {
        (Rate::Iops(rate), Some(Measure::Iops)) => Some(rate.0 as f64),
        (Rate::Throughput(rate), Some(Measure::Throughput)) => Some(rate.0 as f64),
        _ => None,
    })
}

fn replayed<'a>(
    id: &'a TrialId,
    arm: &'a Arm,
    ready: &'a Ready,
    recording: &'a Recording,
) -> Replayed<'a> {
    Replayed {
        id,
        settings: &arm.settings,
        stage: &ready.stage,
        demand: recording.demand(),
    }
}
