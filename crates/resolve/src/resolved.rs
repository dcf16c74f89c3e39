//! A plan with all names resolved, before anything runs.

use std::collections::BTreeSet;

use experiment::plan::Plan;
use experiment::question::{ArmQuestion, Question};
use experiment::spec::{Arm, Arrival, Mode, Role, System};
use profile::Profile;
use workload::{Database, Workload};

use crate::inventory::Inventory;
use crate::stage::{Stage, StageError, written_back};
use crate::work::{Recording, Work};
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
pub struct Resolved {
    plan: Plan,
    engine: &'static dyn EngineProvider,
    /// One for each arm of the plan and each variation, in order.
    arms: Vec<Ready>,
}

/// An arm with all names resolved.
pub struct Ready {
    /// Its machine, volumes and files.
    pub stage: Stage,
    /// What its sessions do.
    pub work: Work,
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

impl Resolved {
    /// Resolves all names in `plan`; workloads are adapted to its engine under `options`.
    ///
    /// # Errors
    /// The first unknown name.
    pub fn new(
        plan: &Plan,
        inventory: &Inventory,
        options: &Options,
    ) -> Result<Resolved, PrepareError> {
        let engine = inventory.engines.find(&plan.variant.engine)?;
        let ready = |arm: &Arm| {
            let mut ready = Ready::new(arm, inventory, engine, options)?;
            ready.check(arm, plan.variant.mode, engine)?;
            let Ready { stage, work } = &mut ready;
            if let Some(data) = work.data_durability(&arm.settings, plan.variant.mode, engine) {
                stage.notes.extend(written_back(&arm.settings, data));
            }
            Ok::<_, PrepareError>(ready)
        };
        Ok(Resolved {
            engine,
            arms: plan.all_arms().map(ready).collect::<Result<_, _>>()?,
            plan: plan.clone(),
        })
    }

    /// The engine of its trials.
    pub fn engine(&self) -> &'static dyn EngineProvider {
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

    /// Assumptions about the arms' modelled disks that are not published for their machines.
    pub fn notes(&self) -> BTreeSet<&str> {
        let notes = self.arms.iter().flat_map(|ready| self.notes_of(ready));
        notes.map(String::as_str).collect()
    }

    /// Assumptions about the modelled disks of an arm.
    pub fn notes_of<'a>(&self, ready: &'a Ready) -> &'a [String] {
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

    /// An arm of the plan, with all names resolved.
    ///
    /// # Panics
    /// When the plan has no arm of this name.
    pub fn ready(&self, name: &str) -> (&Arm, &Ready) {
        let mut arms = self.plan.all_arms().zip(&self.arms);
        arms.find(|(arm, _)| arm.name == name)
            .expect("a plan's trials are of its arms")
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
        let stage = match &work {
            Work::Statements(workload) => stage.with_workload(workload),
            Work::Recording(_) => stage,
        };
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
            arm.requests = self.stage.requests.clone();
            arm.with_machine = with_machine;
            arm.with_windows = with_machine && self.stage.system == System::Windows;
            let mut lists = self.stage.price_lists.clone();
            let of_machine = self.stage.machine_price_list.iter();
            lists.extend(of_machine.filter(|_| with_machine).cloned());
            arm.price_lists = lists.into_iter().collect();
        }
    }
}
