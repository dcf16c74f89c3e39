//! A request for a drill, and what it resolves to.

use std::fmt;

use catalogue::Catalogue;
use engine::drilled::DrillProvider;
use engine::{EngineProvider, Engines, Users};
use experiment::spec::{Arm, Disk, EngineName, ExperimentText, Idle, Mode, remedy};
use model::{Bytes, VolumeSpec};

use super::{DrillError, DrillSpec, Placed};
use lab::request::{RequestError, ResolvedRun, RunRequest};
use lab::trial::{Stage, StageError};

/// An engine whose servers are drilled.
#[derive(Clone, Copy)]
pub struct DrilledEngine {
    /// The engine.
    pub provider: &'static dyn EngineProvider,
    /// How its servers are drilled.
    pub drill: &'static dyn DrillProvider,
}

/// Which placements are drilled, and how.
#[derive(Clone, Debug)]
pub struct DrillRequest {
    /// The experiment with the placements, and what of it is changed.
    pub run: RunRequest,
    /// What is drilled.
    pub engine: DrilledEngine,
    /// Names of the placements that are drilled; empty: all.
    pub arms: Vec<String>,
    /// Settings of the server, in the product's syntax: name and value. They override those of the experiment.
    pub settings: Vec<(String, String)>,
    /// The parameters.
    pub spec: DrillSpec,
}

/// The resolved request: nothing has run yet.
#[derive(Clone, Debug)]
pub struct ResolvedDrill {
    /// Name of the experiment.
    pub experiment: String,
    /// What is drilled.
    pub engine: DrilledEngine,
    /// The placements.
    pub placements: Vec<Placed>,
    /// Settings of the server, as requested.
    pub settings: Vec<(String, String)>,
    /// The parameters.
    pub spec: DrillSpec,
    /// Given keys that have no effect.
    pub idle: Vec<Idle>,
}

/// A request that cannot be resolved, with the remedy.
#[derive(Debug, thiserror::Error)]
pub enum DrillRequestError {
    /// The experiment is invalid, or something cannot be read.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// Its disks or machine are invalid.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// A placement is requested that the experiment does not have.
    #[error("--arm {name}: there is no such arm{remedy}")]
    NoArm {
        /// The requested name.
        name: String,
        /// The near or all names.
        remedy: String,
    },
}

impl DrilledEngine {
    /// Those of a program.
    pub fn all(engines: Engines) -> impl Iterator<Item = DrilledEngine> {
        engines.built.iter().filter_map(|provider| {
            Some(DrilledEngine {
                provider: *provider,
                drill: provider.drilled()?,
            })
        })
    }

    /// The one of this name.
    pub fn named(engines: Engines, name: &str) -> Option<DrilledEngine> {
        DrilledEngine::all(engines).find(|engine| engine.name() == name)
    }

    /// The one that an experiment's text names; else a server, where the program has one; `None`: nothing is drilled.
    pub fn of(engines: Engines, text: &str) -> Option<DrilledEngine> {
        let of_text = || {
            let table: toml_edit::DocumentMut = text.parse().ok()?;
            let name = table.get("engine")?.get("name")?.as_str()?;
            DrilledEngine::named(engines, name)
        };
        let is_server = |engine: &DrilledEngine| engine.provider.users() == Users::Server;
        let server = || DrilledEngine::all(engines).find(is_server);
        of_text()
            .or_else(server)
            .or_else(|| DrilledEngine::all(engines).next())
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.provider.name()
    }
}

impl fmt::Debug for DrilledEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl DrillRequest {
    /// All placements of an experiment.
    pub fn new(experiment: ExperimentText, engine: DrilledEngine) -> DrillRequest {
        DrillRequest {
            run: RunRequest {
                mode: Mode::Emulate,
                engine: Some(EngineName::new(engine.name())),
                ..RunRequest::placements(experiment)
            },
            engine,
            arms: Vec::new(),
            settings: Vec::new(),
            spec: DrillSpec::DEFAULT,
        }
    }

    /// Resolves the request for the engines of a program.
    ///
    /// # Errors
    /// When something cannot be read, is invalid, or does not exist.
    pub fn resolve(&self, engines: Engines) -> Result<ResolvedDrill, DrillRequestError> {
        let resolved = self.run.resolve(engines)?;
        let mut placements = self.placements(&resolved)?;
        let known = placements.iter().map(|placed| placed.name.as_str());
        let known: Vec<&str> = known.collect();
        if let Some(name) = (self.arms.iter()).find(|name| !known.contains(&name.as_str())) {
            return Err(DrillRequestError::NoArm {
                name: name.clone(),
                remedy: remedy(name, "arms", known),
            });
        }
        placements.retain(|placed| self.arms.is_empty() || self.arms.contains(&placed.name));
        let why = "a drill has clients and settings of its own; --setting sets the server's";
        let idle = Idle::without_run(&self.run.set, self.engine.drill.keys(), why);
        Ok(ResolvedDrill {
            experiment: resolved.plan.experiment,
            engine: self.engine,
            placements,
            settings: self.settings.clone(),
            spec: self.spec.clone(),
            idle: [resolved.idle, idle].concat(),
        })
    }

    /// The placements of all arms, each once for every mode of the engine.
    fn placements(&self, resolved: &ResolvedRun) -> Result<Vec<Placed>, StageError> {
        let catalogue = &resolved.inventory.catalogue;
        let mut placements = Vec::new();
        for arm in &resolved.plan.arms {
            let stage = Stage::new(&arm.settings, catalogue)?;
            let atomic = stage.volumes.iter();
            let atomic: Vec<Bytes> = atomic
                .map(|volume| promised(volume, arm, catalogue).unwrap_or(Placed::ATOMIC_DEFAULT))
                .collect();
            let of = |name: String, mode: &[(&str, &str)]| Placed {
                name,
                settings: arm.settings.clone(),
                machine: stage.machine.clone(),
                volumes: stage.volumes.clone(),
                atomic: atomic.clone(),
                forgets: stage.forgets.clone(),
                server: mode
                    .iter()
                    .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                    .chain(self.settings.iter().cloned())
                    .collect(),
            };
            match self.engine.drill.modes() {
                [] => placements.push(of(arm.name.clone(), &[])),
                modes => placements.extend(modes.iter().map(|mode| {
                    let values: Vec<&str> = mode.iter().map(|(_, value)| *value).collect();
                    of(format!("{}, {}", arm.name, values.join(", ")), mode)
                })),
            }
        }
        Ok(placements)
    }
}

/// The bytes that the disks of an arm's volume write atomically, where their vendor guarantees it.
fn promised(volume: &VolumeSpec, arm: &Arm, catalogue: &Catalogue) -> Option<Bytes> {
    let mut volumes = arm.settings.volumes.iter();
    match &volumes.find(|known| known.name == volume.name)?.disk {
        Disk::Catalogue(name) => catalogue.disk(name).ok()?.class.atomic_write,
        Disk::Local | Disk::Unlimited | Disk::Recorded => None,
    }
}

/// Checks that this machine can have modelled disks with file systems, as a drill needs them.
///
/// # Errors
/// When it cannot.
pub fn check_machine() -> Result<(), DrillError> {
    match nix::unistd::geteuid().is_root() && host::loop_device::exist() {
        true => Ok(()),
        false => Err(DrillError::NoDisks),
    }
}
