//! A request: an experiment, what is changed of it, and how it runs; resolved to a plan before anything runs.
//!
//! ```
//! use engine::Engines;
//! use experiment::spec::ExperimentText;
//! use resolve::request::RunRequest;
//! use model::Bytes;
//!
//! let request = RunRequest {
//!     set: vec![("engine.memory".to_owned(), "8 MiB".to_owned())],
//!     blocks: Some(5),
//!     ..RunRequest::new(ExperimentText::builtin("files-times-disks")?)
//! };
//! let engines = Engines { built: &[&sqlite::Provider], left_out: &[] };
//! let plan = request.resolve(engines)?.plan;
//! assert_eq!(plan.arms[0].settings.engine.memory, Bytes::mib(8));
//! assert_eq!(plan.protocol.blocks, 5);
//! # Ok::<(), resolve::request::RequestError>(())
//! ```

mod error;
pub mod inputs;
mod recorded;
mod today;

pub use error::{CatalogueFileError, DiskFileError, RecordedError, RequestError};
pub use recorded::{RecordedLayout, recorded_layout, with_disks_of, with_recorded_disks};
pub use today::layout_of;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::carried::Inputs;
use crate::inventory::Inventory;
use crate::memory;
use engine::{EngineProvider, Engines, Options};
use experiment::plan::Plan;
use experiment::spec::{
    Arm, EngineName, ExperimentText, Idle, Mode, Role, Settings, Spec, SpecError, Variant, Volume,
};
use files::input::Reach;

/// Which experiment, what of it is changed, and how it runs.
///
/// Keys are set in this order, so that later ones may refine earlier ones: `defaults`, `workload` or `profile`, `disks`,
/// `sustained`, `set`, `blocks`, `seed`, `nominal`.
#[derive(Clone, Debug)]
pub struct RunRequest {
    /// The experiment.
    pub experiment: ExperimentText,
    /// Keys and values that apply where the experiment has nothing in their section.
    pub defaults: Vec<(String, String)>,
    /// Runs this workload instead: a folder, an .sql file, or a settings file of SQLQueryStress.
    pub workload: Option<String>,
    /// Replays this profile instead.
    pub profile: Option<String>,
    /// The volumes that have the disk in a catalogue file instead (simulate, emulate).
    pub disks: Vec<(String, PathBuf)>,
    /// Starts with all burst credits spent (simulate, emulate).
    pub sustained: bool,
    /// Dotted keys and their values, in order; several values, separated by commas, make an arm of each.
    pub set: Vec<(String, String)>,
    /// Number of times to run every arm.
    pub blocks: Option<u32>,
    /// Seed of all randomness.
    pub seed: Option<u64>,
    /// Keeps uncertain values at their typical ones, instead of drawing them in each block (simulate).
    pub nominal: bool,
    /// How it runs.
    pub mode: Mode,
    /// The engine; `None`: the experiment's.
    pub engine: Option<EngineName>,
    /// Uses the experiment's own quick settings.
    pub quick: bool,
    /// Compares the baseline with itself, too.
    pub twin: bool,
    /// Catalogue files whose disks and machines the experiment can name.
    pub catalogues: Vec<PathBuf>,
    /// Where the files of a workload may be.
    pub reach: Reach,
    /// Workloads and profiles by the names used above, where these are not files of this machine.
    pub inputs: Option<Inputs>,
    /// Accepts arms that may need more memory than this machine has (simulate).
    pub allow_large: bool,
    /// Where it runs in real time.
    pub options: Options,
}

/// The resolved request: nothing has run yet.
pub struct ResolvedRun {
    /// The inventory that its names refer to.
    pub inventory: Inventory,
    /// The plan.
    pub plan: Plan,
    /// Given keys that have no effect.
    pub idle: Vec<Idle>,
}

impl ResolvedRun {
    /// A sentence on the arms with data or log on a modelled disk that is empty after a stop, where there are some.
    pub fn local_data(&self) -> Option<String> {
        let (plan, catalogue) = (&self.plan, &self.inventory.catalogue);
        if plan.variant.mode == Mode::Measure {
            return None;
        }
        let is_kept = |settings: &Settings| {
            let machine = settings.machine.kind.as_deref();
            let forgets = |volume: &&Volume| {
                catalogue
                    .after_stop(&volume.disk.to_string(), machine)
                    .forgets()
            };
            let lasting = Role::ALL.into_iter().filter(|role| *role != Role::Temp);
            let mut files = lasting.flat_map(|role| settings.placement.files(role));
            files.any(|file| {
                let mut volumes = settings.volumes.iter().filter(forgets);
                volumes.any(|volume| volume.name == file.volume)
            })
        };
        let arms = plan.all_arms().filter(|arm| is_kept(&arm.settings));
        let arms: Vec<&str> = arms.map(|arm| arm.name.as_str()).collect();
        (!arms.is_empty()).then(|| {
            format!(
                "{}: data or log is on a disk that is empty after its machine was stopped, moved or failed",
                arms.join(", ")
            )
        })
    }
}

/// A catalogue file, and the names of its disks.
type Read<'a> = BTreeMap<&'a Path, Vec<String>>;

fn owned((key, value): (&str, &str)) -> (String, String) {
    (key.to_owned(), value.to_owned())
}

impl RunRequest {
    /// The experiment as it is, simulated.
    pub fn new(experiment: ExperimentText) -> RunRequest {
        RunRequest {
            experiment,
            defaults: Vec::new(),
            workload: None,
            profile: None,
            disks: Vec::new(),
            sustained: false,
            set: Vec::new(),
            blocks: None,
            seed: None,
            nominal: false,
            mode: Mode::Simulate,
            engine: None,
            quick: false,
            twin: false,
            catalogues: Vec::new(),
            reach: Reach::Beneath,
            inputs: None,
            allow_large: false,
            options: Options::default(),
        }
    }

    /// The profile in the file `profile`, replayed on its server's `layout`, which needs no name and no question.
    pub fn back_test(layout: ExperimentText, profile: String) -> RunRequest {
        RunRequest {
            profile: Some(profile),
            ..RunRequest::new(layout)
        }
        .called(
            "today",
            "Does the profile fit the disks that its server has?",
        )
    }

    /// The same, with this name and question where the experiment has none, as a layout.
    #[must_use]
    pub fn called(mut self, name: &str, question: &str) -> RunRequest {
        let own = [("name", name), ("question", question)];
        self.defaults.extend(own.map(owned));
        self
    }

    /// The placements of an experiment alone, which needs no workload; one that replays a profile is removed, as no server runs
    /// it.
    pub fn placements(experiment: ExperimentText) -> RunRequest {
        let to_run = [
            ("workload.name", "trade"),
            ("workload.operations", "1"),
            ("engine.memory", "64 MiB"),
        ];
        RunRequest {
            defaults: to_run.map(owned).into(),
            ..RunRequest::new(experiment.without_profile())
        }
    }

    /// Reads and checks the whole request, for a program with these engines.
    ///
    /// # Errors
    /// When something cannot be read, has a mistake, or is inconsistent.
    pub fn resolve(&self, engines: Engines) -> Result<ResolvedRun, RequestError> {
        let (spec, inventory) = self.spec(engines)?;
        let engine = engines.find(&spec.variant.engine)?;
        let place = self.options.facts(engine, &spec.arms);
        let place = place.map_err(RequestError::CurrentDirectory)?;
        let plan = Plan::new(&spec, self.twin).at(place);
        let plan = plan.reading(self.catalogue_files());
        let mut idle = spec.idle(&inventory);
        // Applies to all disks with credits.
        let spent = self.without_credits()?;
        idle.retain(|idle| !spent.iter().any(|(key, _)| *key == idle.key));
        // A twin is compared with its arm.
        idle.retain(|idle| !self.twin || !idle.key.starts_with("protocol."));
        Ok(ResolvedRun {
            inventory,
            plan,
            idle,
        })
    }

    /// Reads and checks the experiment, for programs that make a plan of it themselves; and what it is read with.
    ///
    /// # Errors
    /// As [`RunRequest::resolve`].
    pub fn spec(&self, engines: Engines) -> Result<(Spec, Inventory), RequestError> {
        let variant = self.variant()?;
        let inventory = Inventory::with_engines(engines).of_engine(&variant.engine);
        let mut inventory = inventory.reaching(self.reach);
        if let Some(inputs) = &self.inputs {
            inventory = inventory.carrying(inputs.clone());
        }
        let disks = self.add_catalogues(&mut inventory)?;
        let overrides = self.overrides(&disks)?;
        let spec = Spec::swept(&self.experiment, &overrides, &variant, &inventory)?;
        let spec = self.without_what_does_not_apply(spec);
        if self.mode == Mode::Simulate && !self.allow_large {
            spec.arms.iter().try_for_each(check_memory)?;
        }
        let engine = engines.find(&variant.engine)?;
        self.check_simulated(&spec, engine)?;
        engine::check(&engines, &self.options, engine, self.mode, &spec.arms)?;
        Ok((spec, inventory))
    }

    fn variant(&self) -> Result<Variant, RequestError> {
        let engine = match (&self.engine, &self.profile, self.mode) {
            (Some(engine), Some(_), Mode::Simulate) => {
                return Err(RequestError::EngineOfProfile(engine.clone()));
            }
            (Some(engine), _, _) => engine.clone(),
            (None, None, _) => EngineName::meant_by(self.experiment.text()),
            // Its counters come from an engine elsewhere.
            (None, Some(_), _) => EngineName::default(),
        };
        Ok(Variant {
            mode: self.mode,
            engine,
            quick: self.quick,
        })
    }

    /// Reads the catalogue files and those of the volumes' disks, each once. Returns volumes and the names of their disks.
    fn add_catalogues(
        &self,
        inventory: &mut Inventory,
    ) -> Result<Vec<(String, String)>, RequestError> {
        let mut read = Read::new();
        for file in &self.catalogues {
            let shown = file.display().to_string();
            let text = inputs::catalogue(file);
            let text = text.map_err(|why| RequestError::CatalogueFile {
                file: shown.clone(),
                why,
            })?;
            read.insert(file.as_path(), inventory.add_catalogue(&text, &shown)?);
        }
        if self.mode == Mode::Measure && !self.disks.is_empty() {
            return Err(RequestError::DisksMeasured);
        }
        let mut disks = Vec::new();
        let mut volumes = BTreeSet::new();
        for (volume, file) in &self.disks {
            if !volumes.insert(volume) {
                return Err(RequestError::DiskTwice(volume.clone()));
            }
            let disk = only_disk(file, inventory, &mut read);
            let disk = disk.map_err(|why| RequestError::Disk {
                volume: volume.clone(),
                file: file.display().to_string(),
                why: Box::new(why),
            })?;
            disks.push((volume.clone(), disk));
        }
        Ok(disks)
    }

    /// All catalogue files, including those of disks, to which the plan refers by name.
    fn catalogue_files(&self) -> Vec<String> {
        let of_disks = self.disks.iter().map(|(_, file)| file);
        let mut names: Vec<String> = Vec::new();
        for file in self.catalogues.iter().chain(of_disks) {
            let name = file.display().to_string();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// All of the changes, as keys and values in order.
    fn overrides(&self, disks: &[(String, String)]) -> Result<Vec<(String, String)>, RequestError> {
        let workload = [
            ("workload.folder", self.workload.clone()),
            ("workload.profile", self.profile.clone()),
        ];
        let protocol = [
            ("protocol.blocks", self.blocks.map(|it| it.to_string())),
            ("protocol.seed", self.seed.map(|it| it.to_string())),
            ("protocol.nominal", self.nominal.then(|| "true".to_owned())),
        ];
        let given = |(key, value): (&str, Option<String>)| Some((key.to_owned(), value?));
        let disks = disks.iter().map(|(volume, disk)| {
            let disk = toml_edit::Value::from(disk.as_str());
            (format!("volume.{volume}"), format!("{{ disk = {disk} }}"))
        });
        let overrides = self.missing_defaults();
        let overrides = overrides.chain(workload.into_iter().filter_map(given));
        let overrides = overrides.chain(disks).chain(self.without_credits()?);
        let overrides = overrides.chain(self.set.iter().cloned());
        let overrides = overrides.chain(protocol.into_iter().filter_map(given));
        Ok(overrides.collect())
    }

    /// The defaults whose section the experiment lacks. Errors in its text are left to [`Spec::swept`].
    fn missing_defaults(&self) -> impl Iterator<Item = (String, String)> {
        let sections = self.experiment.sections();
        let is_missing = move |(key, _): &&(String, String)| {
            let section = key.split('.').next().unwrap_or_default();
            let sections = sections.as_ref();
            sections.is_some_and(|sections| !sections.iter().any(|given| given == section))
        };
        self.defaults.iter().filter(is_missing).cloned()
    }

    /// The keys that `sustained` stands for.
    fn without_credits(&self) -> Result<Vec<(String, String)>, RequestError> {
        if !self.sustained {
            return Ok(Vec::new());
        }
        if self.mode == Mode::Measure {
            return Err(RequestError::SustainedMeasured);
        }
        let spent = |key: String| (key, "0".to_owned());
        let volumes = Spec::volume_names(self.experiment.text()).into_iter();
        let volumes = volumes.map(|volume| spent(format!("volume.{volume}.credits")));
        Ok([spent("machine.credits".to_owned())]
            .into_iter()
            .chain(volumes)
            .collect())
    }

    /// Removed, as there are no published figures for the user's own workload, and nothing was fitted to real disks.
    fn without_what_does_not_apply(&self, spec: Spec) -> Spec {
        let spec = match self.workload.as_ref().or(self.profile.as_ref()) {
            None => spec,
            Some(_) => spec.without_published(),
        };
        match self.mode {
            Mode::Simulate | Mode::Emulate => spec,
            Mode::Measure => spec.on_real_disks(),
        }
    }

    /// Refuses to simulate an engine named in the file, with an error about the file.
    fn check_simulated(&self, spec: &Spec, engine: &dyn EngineProvider) -> Result<(), SpecError> {
        let is_possible = self.mode != Mode::Simulate || engine.simulated().is_some();
        let is_possible = is_possible || self.profile.is_some();
        if is_possible || self.engine.is_some() {
            return Ok(());
        }
        let message = format!(
            "engine.name is \"{}\", and simulate executes SQL itself, in virtual time; add --mode emulate (modelled disks) \
             or --mode measure (real ones), or change or remove engine.name",
            engine.name()
        );
        Err(spec.mistake(&["engine", "name"], message))
    }
}

/// The name of the one disk in a catalogue file.
fn only_disk<'a>(
    file: &'a Path,
    inventory: &mut Inventory,
    read: &mut Read<'a>,
) -> Result<String, DiskFileError> {
    if !read.contains_key(file) {
        let text = inputs::catalogue(file)?;
        let names = inventory.add_catalogue(&text, &file.display().to_string())?;
        read.insert(file, names);
    }
    match &read[file][..] {
        [name] => Ok(name.clone()),
        names => Err(DiskFileError::NotOne(names.len())),
    }
}

/// Refuses an arm that may need more memory than available.
fn check_memory(arm: &Arm) -> Result<(), RequestError> {
    let settings = &arm.settings;
    let needed = memory::memory_needed(settings);
    match memory::memory().filter(|there| needed > *there) {
        None => Ok(()),
        Some(there) => Err(RequestError::Memory {
            arm: arm.name.clone(),
            sessions: settings.workload.sessions,
            sort_memory: settings.engine.sort_memory,
            disks: settings.volumes.iter().map(|v| u64::from(v.count)).sum(),
            needed,
            there,
        }),
    }
}

#[cfg(test)]
mod tests;
