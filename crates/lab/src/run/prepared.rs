//! A plan with all names resolved, before anything runs.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use experiment::plan::{Plan, Trial};
use experiment::question::{ArmQuestion, Question};
use experiment::record::{Note, Record};
use experiment::spec::{Arm, Arrival, Disk, Mode, Role, System};
use model::{Duration, VolumeSpec};
use profile::Profile;
use replay::{BackTest, ReplayError, start_with_recorded_credits};
use workload::{Database, Workload};

use crate::inventory::Inventory;
use crate::trial::real::{VolumesError, preflight};
use crate::trial::{
    self, Cancel, Cancelled, Forecast, Images, Loads, Moment, Recording, RehearsalError, Replayed,
    Stage, StageError, Subject, Tell, TrialId, Work, rehearse,
};
use engine::{EngineProvider, Options, Simulated, UnknownEngine};

/// Why a load cannot be part of a simulated run.
const MEASURED_SHARED: &str = "simulate loads a database that several sessions share before they begin: leave out \
                               load.measured, or give each session a database (database = \"per-session\")";

/// Why a profile cannot be part of a run of a server in real time.
const REPLAY_PLAIN: &str = "a profile has no statements for a server: simulate replays its operations (leave out --mode), \
                            and plain I/O its requests (--engine raw)";

/// Why plain I/O cannot follow a rate of operations.
const REPLAY_CLOSED: &str = "plain I/O makes the requests of a profile at the rates at which they were recorded: leave out \
                             workload.rate and workload.demand";

/// A plan and what its names refer to.
pub struct Prepared {
    plan: Plan,
    engine: &'static dyn EngineProvider,
    /// One for each arm of the plan and each variation, in order.
    arms: Vec<Ready>,
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

/// An arm with all names resolved.
struct Ready {
    stage: Stage,
    work: Work,
}

/// Why a plan cannot run.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// An arm names a disk or machine that does not exist, or is not sold like this.
    #[error("arm \"{arm}\"")]
    Stage {
        /// The arm.
        arm: String,
        /// The cause.
        source: StageError,
    },
    /// A workload cannot be read.
    #[error("{0}")]
    Workload(String),
    /// This build does not have the engine.
    #[error(transparent)]
    Engine(#[from] UnknownEngine),
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
        let engine = inventory.engines.find(&plan.variant.engine)?;
        let ready = |arm: &Arm| {
            let mut ready = Ready::new(arm, inventory, engine, options)?;
            ready.check(arm, plan.variant.mode, engine)?;
            let Ready { stage, work } = &mut ready;
            if let Some(data) = work.data_durability(&arm.settings, plan.variant.mode, engine) {
                stage.notes.extend(trial::written_back(&arm.settings, data));
            }
            Ok::<_, PrepareError>(ready)
        };
        Ok(Prepared {
            engine,
            arms: plan.all_arms().map(ready).collect::<Result<_, _>>()?,
            plan: plan.clone(),
            images: Images::for_seeds(plan.trials().iter().map(|trial| trial.seed)),
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

    /// The question that the plan's records answer.
    pub fn question(&self) -> Question {
        let mut question = Question::of(&self.plan);
        // Arms on different machines differ in the price of these too; who says with which operating system, asks for it.
        let machines = self.plan.arms.iter().map(|arm| &arm.settings.machine);
        let kinds: BTreeSet<_> = machines.clone().map(|machine| &machine.kind).collect();
        let with_machine =
            kinds.len() > 1 || machines.clone().any(|machine| machine.system.is_some());
        // The twin, which is implicit, is the plan's last arm.
        for (arm, ready) in question.arms.iter_mut().zip(&self.arms) {
            ready.price(arm, self.plan.variant.mode, with_machine);
            arm.forgets = ready.stage.forgets.iter().cloned().collect();
        }
        question.one_writer = self.has_one_writer();
        question
    }

    /// Checks this machine for what a run in real time needs, before anything is created.
    ///
    /// # Errors
    /// What is missing, with the remedy.
    pub fn preflight(&self, options: &Options) -> Result<(), VolumesError> {
        match self.plan.variant.mode {
            Mode::Simulate => Ok(()),
            Mode::Emulate | Mode::Measure => preflight(&self.plan, self.engine, options),
        }
    }

    /// Executes every script that `trials` of the plan run on few rows, before anything is measured; simulate only.
    /// Returns what a trial of each of their arms needs on this machine.
    ///
    /// # Errors
    /// The first script that fails.
    pub fn rehearse(&self, trials: &[Trial]) -> Result<Vec<Rehearsed<'_>>, RehearsalError> {
        let mut all: Vec<Rehearsed<'_>> = Vec::new();
        if self.plan.variant.mode != Mode::Simulate {
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

    /// Whether sessions of some arm write to one database together, on an engine that supports only one writer at a
    /// time. Simulated sessions lock rows, not databases.
    pub fn has_one_writer(&self) -> bool {
        let mut arms = self.plan.all_arms().zip(&self.arms);
        self.plan.variant.mode != Mode::Simulate
            && self.engine.has_one_writer()
            && arms.any(|(arm, ready)| {
                let workload = ready.work.statements();
                arm.settings.workload.sessions > 1
                    && workload.is_some_and(Workload::is_written_together)
            })
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
        tell: &Tell<'_>,
    ) -> Result<Record, Cancelled> {
        let (arm, ready) = self.of(id);
        let (stage, drawn) = match self.plan.unknowns_seed(id.block) {
            None => (Cow::Borrowed(&ready.stage), BTreeMap::new()),
            Some(seed) => {
                let (stage, drawn) = ready.stage.drawn(seed);
                (Cow::Owned(stage), drawn)
            }
        };
        let record = match &ready.work {
            Work::Statements(_) => {
                let subject = Subject {
                    stage: &stage,
                    ..self.subject(id)
                };
                trial::simulate(&subject, &self.images, cancelled, tell)
            }
            Work::Recording(recording) => {
                let replayed = Replayed {
                    stage: &stage,
                    ..replayed(id, arm, ready, recording)
                };
                trial::replay(&replayed, cancelled, tell)
            }
        }?;
        let mut record = self.noted(id, Record { drawn, ..record });
        if !self.plan.protocol.nominal {
            let assumed = ready.stage.assumed_spreads().into_iter();
            record.notes.extend(assumed.map(Note::Other));
        }
        Ok(record)
    }

    /// The record, with the assumptions about its modelled disks.
    pub(super) fn noted(&self, id: &TrialId, mut record: Record) -> Record {
        let notes = self.notes_of(self.of(id).1).iter().cloned();
        record.notes.extend(notes.map(Note::Other));
        record
    }

    /// Assumptions about the arms' modelled disks that are not published for their machines.
    pub fn notes(&self) -> BTreeSet<&str> {
        let notes = self.arms.iter().flat_map(|ready| self.notes_of(ready));
        notes.map(String::as_str).collect()
    }

    fn notes_of<'a>(&self, ready: &'a Ready) -> &'a [String] {
        match self.plan.variant.mode {
            Mode::Simulate | Mode::Emulate => &ready.stage.notes,
            Mode::Measure => &[],
        }
    }

    /// The first arm, its machine and volumes, and the profile that it replays, if any.
    pub fn first(&self) -> (&Arm, &Stage, Option<&Recording>) {
        let ready = &self.arms[0];
        (&self.plan.arms[0], &ready.stage, ready.work.recording())
    }

    /// Replays the profile of the plan's only arm once per block, and compares the result with the profile. `tell`
    /// receives the progress, from 0 to 1.
    ///
    /// # Errors
    /// When a replay does not end, or `cancelled` returns true.
    ///
    /// # Panics
    /// When the arm replays no profile.
    pub fn backtest(
        &self,
        cancelled: &Cancel,
        tell: &dyn Fn(f64),
    ) -> Result<BackTest, ReplayError> {
        let Ready { stage, work } = &self.arms[0];
        let recording = work.recording().expect("the arm replays a profile");
        let settings = &self.plan.arms[0].settings;
        let places = stage.replay_places(&settings.placement);
        let mut volumes = stage.volumes.clone();
        // What the layout says about credits holds.
        let is_given = settings
            .volumes
            .iter()
            .any(|volume| volume.credits.is_some());
        let credits = match is_given {
            true => Vec::new(),
            false => start_with_recorded_credits(&recording.profile, &places, &mut volumes),
        };
        let declared =
            self.backtest_on(&volumes, recording, cancelled, &|done| tell(done / 2.0))?;
        let latencies = declared.latencies_of_disks(&places);
        let of_disks = |backtest: BackTest| {
            let mut all = settings.volumes.iter();
            match all.any(|volume| volume.disk == Disk::Recorded) {
                true => backtest.on_recorded_disks(),
                false => backtest,
            }
        };
        if latencies.is_empty() {
            return Ok(of_disks(declared.with_own_disks(latencies, credits)));
        }
        for latency in &latencies {
            latency.apply(&mut volumes);
        }
        let own = self.backtest_on(&volumes, recording, cancelled, &|done| {
            tell((1.0 + done) / 2.0)
        })?;
        Ok(of_disks(own.with_own_disks(latencies, credits)))
    }

    /// The same on `volumes`, which are the arm's with other latencies or credits.
    fn backtest_on(
        &self,
        volumes: &[VolumeSpec],
        recording: &Recording,
        cancelled: &Cancel,
        tell: &dyn Fn(f64),
    ) -> Result<BackTest, ReplayError> {
        let all = self.plan.trials().len() as f64;
        let of_trial = |(number, trial): (usize, &Trial)| {
            let id = self.id(trial);
            let (arm, ready) = self.of(&id);
            let tell = |moment| match moment {
                Moment::Loading => tell(number as f64 / all),
                Moment::Running { done, .. } => tell((number as f64 + done) / all),
            };
            let outcome = replayed(&id, arm, ready, recording).run(volumes, cancelled, &tell)?;
            Ok(replay::Replayed::of(&outcome))
        };
        let trials = self.plan.trials().iter().enumerate();
        let replays: Vec<replay::Replayed> = trials.map(of_trial).collect::<Result<_, _>>()?;
        Ok(BackTest::of(
            &recording.profile,
            recording.demand(),
            &replays,
            (&self.arms[0].stage.machine, volumes),
        ))
    }

    /// The subject of a trial of the plan.
    pub(crate) fn subject<'a>(&'a self, id: &'a TrialId) -> Subject<'a> {
        let (arm, ready) = self.of(id);
        Subject {
            id,
            mode: self.plan.variant.mode,
            engine: self.engine,
            settings: &arm.settings,
            stage: &ready.stage,
            work: &ready.work,
        }
    }

    fn of(&self, id: &TrialId) -> (&Arm, &Ready) {
        let mut arms = self.plan.all_arms().zip(&self.arms);
        arms.find(|(arm, _)| arm.name == id.arm)
            .expect("a plan's trials are of its arms")
    }

    pub(crate) fn id(&self, trial: &Trial) -> TrialId {
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

/// Why a profile cannot predict the effect of this arm's placement: it separates files whose requests were counted together.
fn separates(profile: &Profile, arm: &Arm) -> Option<String> {
    let Arm { name, settings, .. } = arm;
    let placement = &settings.placement;
    let volumes = |role: Role| -> BTreeSet<&str> {
        let files = placement.files(role).iter();
        files.map(|file| file.volume.as_str()).collect()
    };
    let (separate, merged) = (profile.roles(), profile.merged_roles());
    // Temp I/O that was not recorded is missing wherever it would go; a server without a recorded log has none.
    let is_unknown = |role: &Role| match role {
        Role::Log => !separate.contains(role),
        Role::Data | Role::Temp | Role::Binlog | Role::Undo | Role::Doublewrite => {
            merged.contains(role)
        }
    };
    let is_apart = |role: &Role| volumes(*role) != volumes(Role::Data);
    let mut roles = [Role::Log, Role::Temp].into_iter();
    let role = roles.find(|role| is_unknown(role) && is_apart(role))?;
    let how = match merged.contains(&role) {
        true => "are among those for data",
        false => "were not recorded",
    };
    Some(format!(
        "arm \"{name}\" has {role} and data on different volumes, and the profile cannot show what that does: requests for \
         {role} {how}; record the server itself (`dbstow record`), or import with `--device {role}=..`"
    ))
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
        let work = inventory.work(&arm.settings.workload);
        let work = work.and_then(|work| match work {
            Work::Statements(workload) => {
                let adapted = engine.adapt(*workload, options)?;
                Ok(Work::Statements(Box::new(adapted)))
            }
            Work::Recording(_) => Ok(work),
        });
        let work = work.map_err(PrepareError::Workload)?;
        Ok(Ready { stage, work })
    }

    /// Refuses what `engine` cannot run in `mode`.
    fn check(
        &self,
        arm: &Arm,
        mode: Mode,
        engine: &dyn EngineProvider,
    ) -> Result<(), PrepareError> {
        let refused = match &self.work {
            Work::Statements(workload) => {
                let loads_together = arm.settings.workload.sessions > 1
                    && workload.load.measured
                    && workload.database == Database::Shared;
                let is_possible = mode != Mode::Simulate || !loads_together;
                (!is_possible).then(|| MEASURED_SHARED.to_owned())
            }
            Work::Recording(recording) => {
                let is_plain = engine.simulated() == Some(Simulated::PlainIo);
                let asked = &arm.settings.workload;
                let is_open = matches!(asked.arrival, Arrival::Open { .. });
                let refused = match (mode, &recording.demand) {
                    (Mode::Simulate, Err(error)) => Some(format!("{}: {error}", asked.script)),
                    (Mode::Simulate, Ok(_)) => None,
                    (Mode::Emulate | Mode::Measure, _) if !is_plain => {
                        Some(REPLAY_PLAIN.to_owned())
                    }
                    (Mode::Emulate | Mode::Measure, _) => is_open.then(|| REPLAY_CLOSED.to_owned()),
                };
                refused.or_else(|| separates(&recording.profile, arm))
            }
        };
        refused.map_or(Ok(()), |message| Err(PrepareError::Workload(message)))
    }

    /// What the disks of `arm` cost, and its machine if that is included, and by which price lists.
    fn price(&self, arm: &mut ArmQuestion, mode: Mode, with_machine: bool) {
        // Real directories have no list price.
        let price = self.stage.price(with_machine);
        arm.usd_per_month = price.filter(|_| mode != Mode::Measure);
        if arm.usd_per_month.is_some() {
            arm.with_machine = with_machine;
            arm.with_windows = with_machine && self.stage.system == System::Windows;
            let mut lists = self.stage.price_lists.clone();
            let of_machine = self.stage.machine_price_list.iter();
            lists.extend(of_machine.filter(|_| with_machine).cloned());
            arm.price_lists = lists.into_iter().collect();
        }
    }
}
