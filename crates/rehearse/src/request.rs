//! A request for a rehearsal, and what it resolves to.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{DirEntry, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::logged::{LogRequest, Logged, LoggedSession, StatementLog};
use engine::rehearsed::{BackupFacts, LogFile, RehearsalProvider, RehearsedProduct};
use engine::{EngineProvider, Engines, Options};
use experiment::plan::{Plan, digest_of};
use experiment::spec::{Amount, Arm, EngineName, ExperimentText, Idle, Mode, Spec, Temperature};
use lab::Prepared;
use lab::inventory::Inventory;
use lab::request::{RequestError, RunRequest};
use model::Bytes;

use super::error::RehearsalError;
use super::pace::Pace;
use super::schedule::{Order, Schedule};

/// Most sessions at a time: each has a thread, and a process of the server.
const SESSIONS_MAX: u32 = 1_000;

/// Most memory of a server and its page cache: more than machines have.
const MEMORY_MAX: Bytes = Bytes::gib(65_536);

/// Name and question of a rehearsal's experiment.
const NAME: &str = "rehearsal";
const QUESTION: &str = "How do these statements run on these layouts?";

/// Sections of an experiment that say where files are.
const OF_PLACES: [&str; 3] = ["machine", "volume", "placement"];

/// Sections of an experiment that say what runs there.
const OF_RUNS: [&str; 2] = ["engine", "workload"];

/// An engine whose servers are rehearsed.
#[derive(Clone, Copy)]
pub struct RehearsedEngine {
    /// The engine.
    pub provider: &'static dyn EngineProvider,
    /// How its servers are rehearsed.
    pub rehearsal: &'static dyn RehearsalProvider,
}

impl RehearsedEngine {
    /// The one that a backup is of, or the first one of a program; `None`: it has none.
    pub fn of(engines: Engines, source: &Source) -> Option<RehearsedEngine> {
        let all = || {
            engines.built.iter().filter_map(|provider| {
                Some(RehearsedEngine {
                    provider: *provider,
                    rehearsal: provider.rehearsed()?,
                })
            })
        };
        let copied = || all().filter(|engine| !engine.rehearsal.is_on_server());
        let known = match source {
            Source::OnServer(_) => return all().find(|engine| engine.rehearsal.is_on_server()),
            Source::Backup(backup) => copied().find(|engine| engine.rehearsal.recognises(backup)),
            Source::Dumps(_) => None,
        };
        known.or_else(|| copied().next())
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

/// Where the database comes from.
#[derive(Clone, Debug)]
pub enum Source {
    /// A copy of its server's files, in this directory.
    Backup(PathBuf),
    /// Dumps, each of one database.
    Dumps(Vec<PathBuf>),
    /// A backup that a server of the user's restores, to directories of its own: those of these options.
    OnServer(Box<Options>),
}

impl Source {
    /// The files, as the user named them.
    fn named(&self) -> String {
        match self {
            Source::Backup(path) => path.display().to_string(),
            Source::Dumps(dumps) => {
                let dumps = dumps.iter().map(|dump| dump.display().to_string());
                dumps.collect::<Vec<_>>().join(", ")
            }
            Source::OnServer(options) => options.backup.clone().unwrap_or_default(),
        }
    }

    /// Names, sizes and times of the entries of its directories: a copy that is made anew in a directory has others.
    fn stamps(&self, facts: &BackupFacts) -> Vec<String> {
        let own = match self {
            Source::Backup(backup) => std::slice::from_ref(backup),
            Source::Dumps(dumps) => dumps,
            // It is on the server; the facts have what its header says.
            Source::OnServer(_) => &[],
        };
        let directories = own.iter().chain(facts.elsewhere.values());
        let entries = directories.filter_map(|directory| std::fs::read_dir(directory).ok());
        let stamp = |entry: DirEntry| {
            let metadata = entry.metadata().ok()?;
            let (name, changed) = (entry.file_name(), metadata.modified().ok());
            Some(format!("{name:?} {} {changed:?}", metadata.len()))
        };
        let mut stamps: Vec<String> = entries.flatten().flatten().filter_map(stamp).collect();
        stamps.sort();
        stamps
    }
}

/// What is rehearsed, and how.
#[derive(Clone, Debug)]
pub struct RehearsalRequest {
    /// The layouts; the first is what the others are compared with.
    pub layouts: Vec<LayoutFile>,
    /// The database.
    pub source: Source,
    /// Directories of a backup that lie elsewhere, by its names for them.
    pub elsewhere: BTreeMap<String, PathBuf>,
    /// A file with settings of its server, which take precedence over those of a backup.
    pub settings: Option<PathBuf>,
    /// The log.
    pub statements: PathBuf,
    /// Which part of the log is played.
    pub log: LogRequest,
    /// How fast.
    pub pace: Pace,
    /// What is kept of the order of its transactions.
    pub order: Order,
    /// Whether the server logs statements as that of the log did.
    pub logs_statements: bool,
    /// How often on each layout.
    pub blocks: u32,
    /// Seed of latencies and of the order of trials.
    pub seed: u64,
    /// The share of statements that must end as recorded for a verdict.
    pub fidelity: f64,
    /// Whether a profile of the first layout is recorded.
    pub record: bool,
    /// Whether texts of statements are shown.
    pub with_text: bool,
    /// Files with disks and machines of the user's own.
    pub catalogues: Vec<PathBuf>,
}

/// The resolved request: nothing has been copied yet.
pub struct ResolvedRehearsal {
    pub(crate) request: RehearsalRequest,
    pub(crate) product: Arc<dyn RehearsedProduct>,
    /// The database: of dumps, as far as it is known before they are restored.
    pub facts: BackupFacts,
    /// The log, without its statements.
    pub log: StatementLog,
    /// Its sessions in all.
    pub(crate) sessions: u64,
    pub(crate) schedule: Arc<Schedule>,
    /// The trials.
    pub prepared: Prepared,
    /// Keys of the layouts without effect.
    pub idle: Vec<Idle>,
    /// What the machine that this runs on does to the answer.
    pub(crate) assumed: Vec<String>,
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
        let (mut spec, inventory, idle) = self.layouts(engines, engine)?;
        let facts = self.inspect(&*product)?;
        let mut log = self.read_log(&*product, &facts)?;
        if !self.logs_statements {
            log.logging.clear();
        }
        if let Some(databases) = &facts.databases {
            log.keep_databases(databases);
            if log.sessions.is_empty() {
                return Err(RehearsalError::NoDatabase {
                    file: self.statements.clone(),
                    databases: databases.join(", "),
                });
            }
        }
        let sessions = log.sessions.len() as u64;
        let logged = StatementLog {
            sessions: std::mem::take(&mut log.sessions),
            exact_us: log.exact_us,
            ..StatementLog::default()
        };
        let content = digest(&logged, &facts, &self.source.stamps(&facts));
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
        let mut place = BTreeMap::from([
            (self.source_name().to_owned(), self.source.named()),
            (
                "statements".to_owned(),
                self.statements.display().to_string(),
            ),
            ("pace".to_owned(), self.pace.to_string()),
            (
                "order".to_owned(),
                format!("{:?}", self.order).to_lowercase(),
            ),
            // Files of other content make another plan, and texts of errors are kept or are not.
            ("content".to_owned(), content),
            ("with-text".to_owned(), self.with_text.to_string()),
            ("statement log".to_owned(), format!("{:?}", log.logging)),
        ]);
        if let Source::OnServer(options) = &self.source {
            let facts = options.facts(engine.provider, &spec.arms);
            place.extend(facts.map_err(RequestError::CurrentDirectory)?);
        }
        let catalogues = self.catalogues.iter();
        let catalogues = catalogues.map(|file| file.display().to_string()).collect();
        let mut plan = Plan::new(&spec, false).at(place).reading(catalogues);
        let mut assumed = Vec::new();
        if !matches!(self.source, Source::OnServer(_)) {
            plan = in_memory_of_machines(plan, &inventory)?;
            assumed = limits_of_here(&plan);
        }
        let prepared = Prepared::new(&plan, &inventory, &self.options())?;
        Ok(ResolvedRehearsal {
            request: self,
            product,
            facts,
            log,
            sessions,
            schedule: Arc::new(schedule),
            prepared,
            idle,
            assumed,
        })
    }

    /// All layouts as arms of one experiment, what it is read with, and their keys without effect.
    fn layouts(
        &self,
        engines: Engines,
        engine: RehearsedEngine,
    ) -> Result<(Spec, Inventory, Vec<Idle>), RehearsalError> {
        let mut all: Option<(Spec, Inventory)> = None;
        let mut idle = BTreeSet::new();
        for LayoutFile { file, text } in &self.layouts {
            let (mut spec, inventory) = self.run_request(text.clone(), engine).spec(engines)?;
            idle.extend(of_runs(text));
            let own = spec.idle(&inventory).into_iter();
            // Whether a server moves its temporary space depends on the other layouts.
            let is_known = |idle: &Idle| {
                idle.section() != "placement" || !matches!(self.source, Source::OnServer(_))
            };
            let own = own.filter(|idle| OF_PLACES.contains(&idle.section()));
            idle.extend(own.filter(is_known));
            let arms = renamed(std::mem::take(&mut spec.arms), file);
            let (whole, _) = all.get_or_insert_with(|| (self.without_arms(spec, &arms), inventory));
            for arm in arms {
                if whole.arms.iter().any(|known| known.name == arm.name) {
                    return Err(RehearsalError::NameTwice {
                        file: file.clone(),
                        name: arm.name,
                    });
                }
                whole.arms.push(arm);
            }
        }
        let (spec, inventory) = all.expect("there is a layout");
        if let Source::OnServer(options) = &self.source {
            engine::check(
                &engines,
                options,
                engine.provider,
                Mode::Measure,
                &spec.arms,
            )
            .map_err(RequestError::from)?;
        }
        Ok((spec, inventory, idle.into_iter().collect()))
    }

    /// The experiment of the first layout, whose first arm is what others are compared with.
    fn without_arms(&self, spec: Spec, arms: &[Arm]) -> Spec {
        let mut spec = spec.without_published();
        NAME.clone_into(&mut spec.name);
        QUESTION.clone_into(&mut spec.question);
        spec.overrides = Vec::new();
        spec.sweeps = Vec::new();
        spec.protocol.baseline.clone_from(&arms[0].name);
        spec.protocol.metric = match self.pace {
            Pace::Closed => "operations_per_s",
            Pace::Original(_) => "operation_latency_mean_ms",
        }
        .to_owned();
        spec
    }

    fn run_request(&self, text: ExperimentText, engine: RehearsedEngine) -> RunRequest {
        RunRequest {
            mode: match self.source {
                Source::Backup(_) | Source::Dumps(_) => Mode::Emulate,
                Source::OnServer(_) => Mode::Measure,
            },
            options: Options {
                // Of all layouts; those of one may need fewer.
                volumes: BTreeMap::new(),
                backup: None,
                ..self.options()
            },
            engine: Some(EngineName::new(engine.provider.name())),
            catalogues: self.catalogues.clone(),
            blocks: Some(self.blocks),
            seed: Some(self.seed),
            ..RunRequest::placements(text)
        }
        .called(NAME, QUESTION)
    }

    /// The server, and directories on it.
    pub(crate) fn options(&self) -> Options {
        match &self.source {
            Source::Backup(_) | Source::Dumps(_) => Options::default(),
            Source::OnServer(options) => (**options).clone(),
        }
    }

    /// The option that names the database.
    fn source_name(&self) -> &'static str {
        match self.source {
            Source::Backup(_) | Source::OnServer(_) => "backup",
            Source::Dumps(_) => "dump",
        }
    }

    fn inspect(&self, product: &dyn RehearsedProduct) -> Result<BackupFacts, RehearsalError> {
        let mut facts = match &self.source {
            Source::Backup(backup) => product.inspect(backup),
            Source::Dumps(dumps) => product.inspect_dumps(dumps),
            Source::OnServer(_) => product.inspect(Path::new(&self.source.named())),
        }?;
        product.add_directories(&mut facts, &self.elsewhere)?;
        if let Some(file) = &self.settings {
            let text = files::input::named(file);
            let text = text.map_err(|source| RehearsalError::SettingsFile {
                file: file.clone(),
                source,
            })?;
            product.add_settings(&mut facts, &file.display().to_string(), &text)?;
        }
        Ok(facts)
    }

    fn read_log(
        &self,
        product: &dyn RehearsedProduct,
        facts: &BackupFacts,
    ) -> Result<StatementLog, RehearsalError> {
        let file = &self.statements;
        let opened = File::open(file).and_then(|opened| match opened.metadata()?.is_dir() {
            true => Err(std::io::ErrorKind::IsADirectory.into()),
            false => Ok(opened),
        });
        let opened = opened.map_err(|source| RehearsalError::LogFile {
            file: file.clone(),
            source,
        })?;
        let mut asked = self.log.clone();
        // Where the log names no database, it is that of the backup.
        if let (Source::OnServer(_), Some([database])) = (&self.source, facts.databases.as_deref())
        {
            asked.database.get_or_insert_with(|| database.clone());
        }
        let log = LogFile {
            path: file,
            file: &opened,
        };
        let read = product.read_log(log, &asked);
        read.map_err(|source| RehearsalError::Log {
            file: file.clone(),
            source,
        })
    }
}

/// A digest of what is played, and of what is known of the database.
fn digest(log: &StatementLog, facts: &BackupFacts, stamps: &[String]) -> String {
    let mut digest = digest_of(format!("{facts:?} {stamps:?}").as_bytes());
    for LoggedSession { login, statements } in &log.sessions {
        digest = digest_of(format!("{digest} {login:?}").as_bytes());
        for Logged {
            text,
            parameters,
            start_us,
            ..
        } in statements
        {
            digest = digest_of(format!("{digest} {start_us} {parameters:?} {text}").as_bytes());
        }
    }
    digest
}

/// The arms of a layout's file, without what others say of them; one alone is called as its file.
fn renamed(arms: Vec<Arm>, file: &str) -> Vec<Arm> {
    let stem = Path::new(file).file_stem();
    let stem = stem.unwrap_or_default().to_string_lossy().into_owned();
    let own = name_of(&stem).filter(|_| arms.len() == 1);
    let arms = arms.into_iter().map(|arm| Arm {
        name: own.clone().unwrap_or_else(|| arm.name.clone()),
        baseline: None,
        published: Default::default(),
        fitted: false,
        ..arm
    });
    arms.collect()
}

/// Sections of a layout's file that the log and the backup take the place of.
fn of_runs(text: &ExperimentText) -> impl Iterator<Item = Idle> {
    let sections = text.sections().unwrap_or_default().into_iter();
    let of_runs = sections.filter(|section| OF_RUNS.contains(&section.as_str()));
    of_runs.map(|key| Idle {
        key,
        why: "statements are those of the log, settings those of the backup, and memory is the machine's"
            .to_owned(),
    })
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

/// What this machine does to the answer: its processors, and its memory where a layout's machine has more.
fn limits_of_here(plan: &Plan) -> Vec<String> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut all = vec![format!(
        "processors are those of this machine ({cores}), also for the emulator, whatever the layouts' machines have"
    )];
    let here = lab::trial::memory();
    for arm in &plan.arms {
        let memory = arm.settings.engine.memory;
        if let Some(here) = here.filter(|here| *here < memory) {
            all.push(format!(
                "{}: its machine has {memory}, and this one {here}: less stays in memory here, so that more is read",
                arm.name
            ));
        }
    }
    all
}
