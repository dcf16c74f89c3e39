//! A request for a rehearsal, and what it resolves to.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::logged::{LogRequest, StatementLog};
use engine::rehearsed::{BackupFacts, RehearsalProvider, RehearsedProduct};
use engine::{EngineProvider, Engines, Options};
use experiment::plan::Plan;
use experiment::spec::{Amount, Arm, EngineName, ExperimentText, Mode, Spec, Temperature, Variant};
use lab::Prepared;
use lab::inventory::Inventory;
use lab::request::RunRequest;
use model::Bytes;

use super::error::RehearsalError;
use super::pace::Pace;
use super::schedule::{Order, Schedule};

/// Most sessions at a time: each has a thread, and a process of the server.
const SESSIONS_MAX: u32 = 1_000;

/// Most memory of a server and its page cache: more than machines have.
const MEMORY_MAX: Bytes = Bytes::gib(65_536);

/// An engine whose servers are rehearsed.
#[derive(Clone, Copy)]
pub struct RehearsedEngine {
    /// The engine.
    pub provider: &'static dyn EngineProvider,
    /// How its servers are rehearsed.
    pub rehearsal: &'static dyn RehearsalProvider,
}

impl RehearsedEngine {
    /// The first one of a program; `None`: it has none.
    pub fn first(engines: Engines) -> Option<RehearsedEngine> {
        engines.built.iter().find_map(|provider| {
            Some(RehearsedEngine {
                provider: *provider,
                rehearsal: provider.rehearsed()?,
            })
        })
    }
}

/// A layout.
#[derive(Clone, Debug)]
pub struct LayoutFile {
    /// The file, as the user named it.
    pub file: String,
    /// Its text.
    pub text: ExperimentText,
}

/// What is rehearsed, and how.
#[derive(Clone, Debug)]
pub struct RehearsalRequest {
    /// The layouts; the first is what the others are compared with.
    pub layouts: Vec<LayoutFile>,
    /// The backup.
    pub backup: PathBuf,
    /// The log.
    pub statements: PathBuf,
    /// Which part of the log is played.
    pub log: LogRequest,
    /// How fast.
    pub pace: Pace,
    /// What is kept of the order of its transactions.
    pub order: Order,
    /// How often on each layout.
    pub blocks: u32,
    /// Seed of latencies and of the order of trials.
    pub seed: u64,
    /// The share of statements that must end as recorded for a verdict.
    pub fidelity: f64,
    /// Whether texts of statements are shown.
    pub with_text: bool,
    /// Files with disks and machines of the user's own.
    pub catalogues: Vec<PathBuf>,
}

/// The resolved request: nothing has been copied yet.
pub struct ResolvedRehearsal {
    pub(crate) request: RehearsalRequest,
    pub(crate) product: Arc<dyn RehearsedProduct>,
    /// The backup.
    pub facts: BackupFacts,
    /// The log, without its statements.
    pub log: StatementLog,
    /// Its sessions in all.
    pub(crate) sessions: u64,
    pub(crate) schedule: Arc<Schedule>,
    /// The trials.
    pub prepared: Prepared,
}

impl RehearsalRequest {
    /// Reads and checks everything.
    ///
    /// # Errors
    /// What is wrong, with the remedy.
    pub fn resolve(
        self,
        engines: Engines,
        engine: RehearsedEngine,
        product: Arc<dyn RehearsedProduct>,
    ) -> Result<ResolvedRehearsal, RehearsalError> {
        // What is quick to check comes first.
        let mut spec = self.spec(engines, engine)?;
        let facts = product.inspect(&self.backup)?;
        let mut log = self.read_log(&*product)?;
        let sessions = log.sessions.len() as u64;
        let logged = StatementLog {
            sessions: std::mem::take(&mut log.sessions),
            ..StatementLog::default()
        };
        let schedule = Schedule::of(logged, self.order);
        if schedule.sessions() > SESSIONS_MAX {
            return Err(RehearsalError::Sessions {
                sessions: schedule.sessions(),
                most: SESSIONS_MAX,
            });
        }
        for arm in &mut spec.arms {
            let settings = &mut arm.settings;
            settings.workload.sessions = schedule.sessions().max(1);
            settings.workload.amount = Amount::Operations(u64::from(schedule.transactions.max(1)));
            settings.engine.start = Temperature::Cold;
            settings.engine.host_cache_start = Temperature::Cold;
        }
        let inventory = self.inventory(engines, engine)?;
        let place = BTreeMap::from([
            ("backup".to_owned(), self.backup.display().to_string()),
            (
                "statements".to_owned(),
                self.statements.display().to_string(),
            ),
            ("pace".to_owned(), self.pace.to_string()),
            (
                "order".to_owned(),
                format!("{:?}", self.order).to_lowercase(),
            ),
        ]);
        let catalogues = self.catalogues.iter();
        let catalogues = catalogues.map(|file| file.display().to_string()).collect();
        let plan = Plan::new(&spec, false).at(place).reading(catalogues);
        let plan = in_memory_of_machines(plan, &inventory)?;
        let prepared = Prepared::new(&plan, &inventory, &Options::default())?;
        Ok(ResolvedRehearsal {
            request: self,
            product,
            facts,
            log,
            sessions,
            schedule: Arc::new(schedule),
            prepared,
        })
    }

    /// All layouts as arms of one experiment.
    fn spec(&self, engines: Engines, engine: RehearsedEngine) -> Result<Spec, RehearsalError> {
        let mut all: Option<Spec> = None;
        for layout in &self.layouts {
            // The same checks and messages as for a run.
            let mut run = self.run_request(layout.text.clone(), engine);
            let stem = Path::new(&layout.file).file_stem();
            let stem = stem.unwrap_or_default().to_string_lossy().into_owned();
            run.defaults.extend([
                ("name".to_owned(), "rehearsal".to_owned()),
                (
                    "question".to_owned(),
                    "How do these statements run there?".to_owned(),
                ),
            ]);
            let arms: Vec<Arm> = run.resolve(engines)?.plan.arms;
            let is_one = arms.len() == 1;
            let arms = arms.into_iter().map(|arm| Arm {
                name: match is_one {
                    true => name_of(&stem).unwrap_or_else(|| arm.name.clone()),
                    false => arm.name.clone(),
                },
                baseline: None,
                published: Default::default(),
                fitted: false,
                ..arm
            });
            let arms: Vec<Arm> = arms.collect();
            let spec = match &mut all {
                Some(spec) => spec,
                none => none.insert(self.first_spec(&run, &arms, engines, engine)?),
            };
            for arm in arms {
                if spec.arms.iter().any(|known| known.name == arm.name) {
                    return Err(RehearsalError::NameTwice {
                        file: layout.file.clone(),
                        name: arm.name,
                    });
                }
                spec.arms.push(arm);
            }
        }
        Ok(all.expect("there is a layout"))
    }

    /// The experiment of the first layout, without arms.
    fn first_spec(
        &self,
        run: &RunRequest,
        arms: &[Arm],
        engines: Engines,
        engine: RehearsedEngine,
    ) -> Result<Spec, RehearsalError> {
        let metric = match self.pace {
            Pace::Closed => "operations_per_s",
            Pace::Original(_) => "operation_latency_mean_ms",
        };
        let sections = run.experiment.sections().unwrap_or_default();
        let is_missing = |(key, _): &&(String, String)| {
            let section = key.split('.').next().unwrap_or_default();
            !sections.iter().any(|given| given == section)
        };
        let mut overrides: Vec<(String, String)> =
            run.defaults.iter().filter(is_missing).cloned().collect();
        overrides.extend([
            ("protocol.blocks".to_owned(), self.blocks.to_string()),
            ("protocol.seed".to_owned(), self.seed.to_string()),
        ]);
        let variant = variant(engine);
        let inventory = self.inventory(engines, engine)?;
        let mut spec =
            Spec::swept(&run.experiment, &overrides, &variant, &inventory)?.without_published();
        spec.name = "rehearsal".to_owned();
        spec.question = "How do these statements run on these layouts?".to_owned();
        spec.overrides = Vec::new();
        spec.sweeps = Vec::new();
        spec.protocol.metric = metric.to_owned();
        spec.protocol.baseline = arms[0].name.clone();
        spec.arms = Vec::new();
        Ok(spec)
    }

    fn run_request(&self, text: ExperimentText, engine: RehearsedEngine) -> RunRequest {
        RunRequest {
            mode: Mode::Emulate,
            engine: Some(EngineName::new(engine.provider.name())),
            catalogues: self.catalogues.clone(),
            ..RunRequest::placements(text)
        }
    }

    fn inventory(
        &self,
        engines: Engines,
        engine: RehearsedEngine,
    ) -> Result<Inventory, RehearsalError> {
        let first = self.layouts.first().expect("there is a layout");
        let mut run = self.run_request(first.text.clone(), engine);
        run.defaults.extend([
            ("name".to_owned(), "rehearsal".to_owned()),
            (
                "question".to_owned(),
                "How do these statements run there?".to_owned(),
            ),
        ]);
        Ok(run.resolve(engines)?.inventory)
    }

    fn read_log(&self, product: &dyn RehearsedProduct) -> Result<StatementLog, RehearsalError> {
        let file = &self.statements;
        let opened = File::open(file).and_then(|opened| match opened.metadata()?.is_dir() {
            true => Err(std::io::ErrorKind::IsADirectory.into()),
            false => Ok(opened),
        });
        let mut opened = opened.map_err(|source| RehearsalError::LogFile {
            file: file.clone(),
            source,
        })?;
        let read = product.read_log(&mut opened, &self.log);
        read.map_err(|source| RehearsalError::Log {
            file: file.clone(),
            source,
        })
    }
}

fn variant(engine: RehearsedEngine) -> Variant {
    Variant {
        mode: Mode::Emulate,
        engine: EngineName::new(engine.provider.name()),
        quick: false,
    }
}

/// A file's name as that of an arm.
fn name_of(stem: &str) -> Option<String> {
    experiment::spec::check_name(stem).ok()?;
    Some(stem.to_owned())
}

/// The plan, where each server and its page cache have the memory of the arm's machine.
fn in_memory_of_machines(mut plan: Plan, inventory: &Inventory) -> Result<Plan, RehearsalError> {
    for arm in &mut plan.arms {
        let stage = lab::trial::Stage::new(&arm.settings, &inventory.catalogue);
        let stage = stage.map_err(|source| {
            let arm = arm.name.clone();
            lab::run::PrepareError::Stage { arm, source }
        })?;
        if stage.machine.memory > Bytes::ZERO {
            // A machine without limits has more than any.
            arm.settings.engine.memory = stage.machine.memory.min(MEMORY_MAX);
        }
    }
    // The digest covers it.
    let place = std::mem::take(&mut plan.place);
    Ok(plan.at(place))
}
