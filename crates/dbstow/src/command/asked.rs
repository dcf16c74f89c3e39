//! The requested experiment, and the changes to it.

use crate::engines::ENGINES;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::ValueHint;

use super::choice::{self, MODES, one_of};
use super::mistaken::Kind;
use super::output::note;
use super::pair::{key_and_value, name_and_path};
use super::{RealTimeArgs, UsageError, listing, names};
use engine::EngineProvider;
use experiment::build;
use experiment::plan::{Plan, counted};
use experiment::spec::{
    Arm, EngineName, ExperimentText, Idle, Located, Mode, Role, Spec, SpecError, Variant,
    builtin_names, builtin_text, located,
};
use files::input::{self, Reach};
use lab::inventory::Inventory;
use lab::trial;

/// Keys that an experiment must have to run, with defaults for when only its placements count: section, key, value.
#[cfg(target_os = "linux")]
const NOT_RUN: [(&str, &str, &str); 3] = [
    ("workload", "name", "trade"),
    ("workload", "operations", "1"),
    ("engine", "memory", "64 MiB"),
];

/// Which experiment, and what of it is changed.
#[derive(Clone, Debug, clap::Args)]
pub struct Asked {
    /// Name of a built-in experiment, or path of an experiment file
    #[arg(add = names::experiment_or_file())]
    pub experiment: Option<String>,
    /// Set a key of the experiment, such as workload.sessions=4; several values, such as volume.d.iops=3000,6000, make an
    /// arm of each; may be given several times
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_and_value)]
    pub set: Vec<(String, String)>,
    /// Run this workload instead: a folder, an .sql file, or a settings file of SQLQueryStress (.json)
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub workload: Option<String>,
    /// Replay this profile instead: what a server did, as `dbstow record` and `dbstow import` write it (simulate;
    /// its requests by themselves: --engine raw)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "workload")]
    pub profile: Option<String>,
    /// Allow a workload to read scripts outside its folder
    #[arg(long)]
    pub allow_outside: bool,
    /// Use the experiment's own quick settings
    #[arg(long)]
    pub quick: bool,
    /// Start with all burst credits spent: what disks and machine sustain (simulate, emulate); short for --set
    /// machine.credits=0 and the same of every volume
    #[arg(long)]
    pub sustained: bool,
    /// How it runs
    #[arg(long, value_parser = one_of(MODES), default_value = "simulate")]
    pub mode: Mode,
    /// Engine that runs the workload [default: the experiment's, usually sqlite]
    #[arg(long, value_parser = choice::engine())]
    pub engine: Option<EngineName>,
    /// Number of times to run every arm
    #[arg(long)]
    pub blocks: Option<u32>,
    /// Seed of all randomness
    #[arg(long)]
    pub seed: Option<u64>,
    /// Run even if an arm may need more memory or temporary space than this machine has (simulate)
    #[arg(long)]
    pub allow_large: bool,
    /// Take the disk in a catalogue file, such as `dbstow calibrate` writes, for this volume (simulate,
    /// emulate); may be given several times
    #[arg(long, value_name = "VOLUME=FILE", value_parser = name_and_path, add = names::path_of_volume())]
    pub disk: Vec<(String, PathBuf)>,
    /// Also read this catalogue file, so that the experiment can name its disks and machines; may be given several
    /// times
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub catalogue: Vec<PathBuf>,
    /// Where it runs in real time
    #[command(flatten)]
    pub real_time: RealTimeArgs,
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

/// Reports the keys that have no effect, grouped by reason.
pub(super) fn tell_idle(idle: &[Idle]) {
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for Idle { key, why } in idle {
        by_reason.entry(why).or_default().push(key);
    }
    for (why, keys) in by_reason {
        note(&format!(
            "dbstow: without effect: {} ({why})",
            keys.join(", ")
        ));
    }
}

/// Keys of `set` that only matter for runs, except those that are `used`, with the reason.
pub(super) fn idle_without_run(set: &[(String, String)], used: &[&str], why: &str) -> Vec<Idle> {
    let of_runs = ["workload", "engine", "protocol"];
    let is_in = |key: &str, section: &str| {
        let rest = key.strip_prefix(section);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let keys = set.iter().map(|(key, _)| key);
    let idle = keys.filter(|key| {
        of_runs.iter().any(|section| is_in(key, section))
            && !used.iter().any(|used| is_in(key, used))
    });
    let idle = idle.map(|key| Idle {
        key: key.clone(),
        why: why.to_owned(),
    });
    idle.collect()
}

impl Asked {
    /// The default: simulated.
    pub(super) fn simulated() -> Asked {
        Asked {
            experiment: None,
            set: Vec::new(),
            workload: None,
            profile: None,
            allow_outside: false,
            quick: false,
            sustained: false,
            mode: Mode::Simulate,
            engine: None,
            blocks: None,
            seed: None,
            allow_large: false,
            disk: Vec::new(),
            catalogue: Vec::new(),
            real_time: RealTimeArgs::default(),
        }
    }

    /// Reads and checks the whole request; with `aa`, the baseline has a twin.
    ///
    /// # Errors
    /// When something cannot be read, has a mistake, or is inconsistent.
    pub fn understand(&self, aa: bool) -> Result<ResolvedRun> {
        let (file, text) = self.text()?;
        if let (Some(engine), Some(_), Mode::Simulate) = (&self.engine, &self.profile, self.mode) {
            let message = format!(
                "--engine {engine}: simulate replays a profile whatever the engine; leave it out, or add --mode emulate or \
                 --mode measure"
            );
            return Err(UsageError(message).into());
        }
        self.resolve(&file, &text, Vec::new(), aa)
    }

    /// The profile on the layout in the file `today`, or, without one, on the disks named in the profile.
    ///
    /// # Errors
    /// When there is no such layout, or it has a mistake.
    pub fn understand_today(&self, today: Option<&str>) -> Result<ResolvedRun> {
        let or_else = ", or name an experiment to run it in";
        let (file, text) = self.text_of_today(today, or_else)?;
        self.understand_layout(&file, &text)
    }

    /// The profile on the layout in `text` of `file`.
    ///
    /// # Errors
    /// When it has a mistake.
    pub(super) fn understand_layout(&self, file: &str, text: &str) -> Result<ResolvedRun> {
        let is_given = |key: &str| {
            let table: Option<toml::Table> = toml::from_str(text).ok();
            table.is_none_or(|table| table.contains_key(key))
        };
        let named = [
            ("name", "today"),
            (
                "question",
                "Does the profile fit the disks that its server has?",
            ),
        ];
        let named = named.into_iter().filter(|(key, _)| !is_given(key));
        let named = named.map(|(key, value)| (key.to_owned(), value.to_owned()));
        // A modified demand cannot be compared with the recorded one.
        let is_window = |(key, _): &&(String, String)| key == "workload.window";
        let of_demand = |(key, _): &&(String, String)| key.starts_with("workload.");
        let is_other = |set: &&(String, String)| of_demand(set) && !is_window(set);
        let other = self.set.iter().find(is_other);
        if let Some((key, value)) = other.filter(|_| self.experiment.is_none()) {
            let message = format!(
                "--set {key}={value}: a back-test replays what was recorded; leave it out, or name an experiment"
            );
            return Err(UsageError(message).into());
        }
        let simulated = Asked {
            mode: Mode::Simulate,
            engine: None,
            ..self.clone()
        };
        let layout = match self.experiment {
            // Keys that are set apply to the layout.
            None => simulated,
            Some(_) => Asked {
                set: self.set.iter().filter(is_window).cloned().collect(),
                disk: Vec::new(),
                ..simulated
            },
        };
        layout.resolve(file, text, named.collect(), false)
    }

    /// The placements in the experiment, or in `text` of `file`, without the need for a workload.
    ///
    /// # Errors
    /// When it has a mistake.
    #[cfg(target_os = "linux")]
    pub(super) fn understand_placements(&self, known: Option<(&str, &str)>) -> Result<ResolvedRun> {
        let (file, text) = match known {
            Some((file, text)) => (file.to_owned(), text.to_owned()),
            None => self.text()?,
        };
        let text = without_profile(text);
        let table: Option<toml::Table> = toml::from_str(&text).ok();
        let is_given = |section: &str| {
            table
                .as_ref()
                .is_none_or(|table| table.contains_key(section))
        };
        let added = NOT_RUN.iter().filter(|(section, _, _)| !is_given(section));
        let added =
            added.map(|(section, key, value)| (format!("{section}.{key}"), (*value).to_owned()));
        self.resolve(&file, &text, added.collect(), false)
    }

    /// The layout in the file `today`, or, without one, of the disks named in the profile: its file name, and its text.
    /// `or_else` is the remedy besides `--today`.
    ///
    /// # Errors
    /// When there is no such layout.
    pub(super) fn text_of_today(
        &self,
        today: Option<&str>,
        or_else: &str,
    ) -> Result<(String, String)> {
        let profile = self.profile.as_deref().unwrap_or_default();
        Ok(match today {
            Some(file) => (file.to_owned(), today_named(file)?),
            None => (profile.to_owned(), layout_of(profile, or_else)?),
        })
    }

    /// Reads and checks `text` of `file`, with `added` keys and those of the request.
    fn resolve(
        &self,
        file: &str,
        text: &str,
        added: Vec<(String, String)>,
        aa: bool,
    ) -> Result<ResolvedRun> {
        let variant = Variant {
            mode: self.mode,
            engine: match (&self.engine, &self.profile) {
                (Some(engine), _) => engine.clone(),
                (None, None) => EngineName::meant_by(text),
                // Its counters come from an engine elsewhere.
                (None, Some(_)) => EngineName::default(),
            },
            quick: self.quick,
        };
        let inventory = Inventory::with_engines(ENGINES).of_engine(&variant.engine);
        let mut inventory = inventory.reaching(reach(self.allow_outside));
        let mut read = BTreeMap::new();
        for file in &self.catalogue {
            let shown = file.display().to_string();
            let text =
                listing::catalogue_text(file).with_context(|| format!("--catalogue {shown}"))?;
            read.insert(file.as_path(), inventory.add_catalogue(&text, &shown)?);
        }
        let disks = self.add_disks(&mut inventory, read)?;
        let overrides = [added, self.overrides(text, &disks)?].concat();
        let experiment = ExperimentText::of_file(file, text);
        let spec = Spec::swept(&experiment, &overrides, &variant, &inventory);
        let spec = spec.map_err(|error| self.in_options(error))?;
        let spec = self.without_what_does_not_apply(spec);
        if variant.mode == Mode::Simulate && !self.allow_large {
            spec.arms.iter().try_for_each(check_memory)?;
        }
        let options = self.real_time.options();
        let engine = ENGINES.find(&variant.engine)?;
        self.check_simulated(&spec, engine)?;
        engine::check(&ENGINES, &options, engine, variant.mode, &spec.arms)?;
        let plan = Plan::new(&spec, aa).at(self.real_time.facts(engine, &spec.arms)?);
        let plan = plan.reading(self.catalogues());
        let mut idle = spec.idle(&inventory);
        // Applies to all disks with credits.
        let spent = self.without_credits(text)?;
        idle.retain(|idle| !spent.iter().any(|(key, _)| *key == idle.key));
        // A twin is compared with its arm.
        idle.retain(|idle| !aa || !idle.key.starts_with("protocol."));
        Ok(ResolvedRun {
            inventory,
            plan,
            idle,
        })
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

    /// The error rewritten for the given option, where that is a shorthand for `--set`.
    fn in_options(&self, error: SpecError) -> anyhow::Error {
        let SpecError::Override {
            key,
            value,
            message,
        } = &error
        else {
            return error.into();
        };
        let is_set = self.set.iter().any(|(set, to)| set == key && to == value);
        let volume = key.strip_prefix("volume.");
        let disk = (self.disk.iter()).find(|(name, _)| volume == Some(name.as_str()));
        let option = match (key.as_str(), disk) {
            _ if is_set => return error.into(),
            ("workload.folder", _) => format!("--workload {value}"),
            ("workload.profile", _) => match not_a_profile(value) {
                Some(message) => return UsageError(message).into(),
                None => format!("--profile {value}"),
            },
            ("protocol.blocks", _) => format!("--blocks {value}"),
            ("protocol.seed", _) => format!("--seed {value}"),
            (_, Some((volume, file))) => format!("--disk {volume}={}", file.display()),
            (_, None) => return error.into(),
        };
        UsageError(format!("{option}: {message}")).into()
    }

    /// The experiment's text and file name.
    fn text(&self) -> Result<(String, String)> {
        let Some(name) = &self.experiment else {
            let message = "no experiment is named; give one of `dbstow experiments`, or a file";
            return Err(UsageError(message.to_owned()).into());
        };
        if !is_path(name) {
            return Ok((
                format!("experiments/{name}.toml"),
                builtin_text(name)?.to_owned(),
            ));
        }
        Ok((name.clone(), named(name)?))
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

    /// All catalogue files, including those of `--disk`, whose disks the plan refers to by name.
    fn catalogues(&self) -> Vec<String> {
        let files = self
            .catalogue
            .iter()
            .chain(self.disk.iter().map(|(_, file)| file));
        let mut names: Vec<String> = Vec::new();
        for name in files.map(|file| file.display().to_string()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// Reads the user's own disks, except for files in `read`, with the names of the disks in them. Returns volumes and
    /// the names of their entries.
    fn add_disks<'a>(
        &'a self,
        inventory: &mut Inventory,
        mut read: BTreeMap<&'a Path, Vec<String>>,
    ) -> Result<Vec<(String, String)>> {
        if self.mode == Mode::Measure && !self.disk.is_empty() {
            let message = "--disk is about modelled disks, and measure has real ones; give their \
                 directories with --volume, or add --mode emulate";
            return Err(UsageError(message.to_owned()).into());
        }
        let mut disks = Vec::new();
        let mut volumes = BTreeSet::new();
        for (volume, file) in &self.disk {
            if !volumes.insert(volume) {
                let message = format!("--disk {volume}=..: this volume has a disk already");
                return Err(UsageError(message).into());
            }
            let at = || format!("--disk {volume}={}", file.display());
            if !read.contains_key(file.as_path()) {
                let text = listing::catalogue_text(file).with_context(at)?;
                let names = inventory.add_catalogue(&text, &file.display().to_string());
                read.insert(file, names.with_context(at)?);
            }
            let entry = only_one(&read[file.as_path()]).with_context(at)?;
            disks.push((volume.clone(), entry));
        }
        Ok(disks)
    }

    /// `--workload` or `--profile`, `--disk` and `--sustained`, then `--set` in order, so that it can set the workload's
    /// parameters and the volume's cache, then `--blocks` and `--seed`: all are shorthands for keys.
    fn overrides(&self, text: &str, disks: &[(String, String)]) -> Result<Vec<(String, String)>> {
        let blocks = self
            .blocks
            .map(|blocks| ("protocol.blocks", blocks.to_string()));
        let seed = self.seed.map(|seed| ("protocol.seed", seed.to_string()));
        let own = |(key, value): (&str, String)| (key.to_owned(), value);
        let workload = [
            ("workload.folder", &self.workload),
            ("workload.profile", &self.profile),
        ];
        let workload = workload
            .into_iter()
            .filter_map(|(key, path)| Some(own((key, path.clone()?))));
        let named = [blocks, seed].into_iter().flatten().map(own);
        let set = self.set.iter().cloned();
        let disk = |(volume, entry): &(String, String)| {
            let value = format!("{{ disk = {} }}", toml::Value::from(entry.as_str()));
            (format!("volume.{volume}"), value)
        };
        let disks = disks.iter().map(disk);
        let first = workload.chain(disks);
        let first = first.chain(self.without_credits(text)?);
        Ok(first.chain(set).chain(named).collect())
    }

    /// The keys that `--sustained` stands for, in an experiment with this text.
    fn without_credits(&self, text: &str) -> Result<Vec<(String, String)>, UsageError> {
        if !self.sustained {
            return Ok(Vec::new());
        }
        if self.mode == Mode::Measure {
            let message = "--sustained applies to modelled disks only, and measure has real ones; leave it out, or add \
                 --mode emulate";
            return Err(UsageError(message.to_owned()));
        }
        let spent = |key: String| (key, "0".to_owned());
        let volumes = Spec::volume_names(text).into_iter();
        let volumes = volumes.map(|volume| spent(format!("volume.{volume}.credits")));
        Ok([spent("machine.credits".to_owned())]
            .into_iter()
            .chain(volumes)
            .collect())
    }
}

/// The text of an experiment's file, with its paths relative to the current folder.
fn named(file: &str) -> Result<String> {
    let text = input::named(Path::new(file)).map_err(|error| SpecError::Unreadable {
        file: file.to_owned(),
        why: error.to_string(),
    })?;
    described(file, text)
}

/// The same for a server's current layout.
fn today_named(file: &str) -> Result<String> {
    let wanted = |why: &str| {
        UsageError(format!(
            "--today {file}: {why}; give a file with the server's machine, volumes and one placement"
        ))
    };
    let text = input::named(Path::new(file)).map_err(|error| wanted(&error.to_string()))?;
    match text.trim().is_empty() {
        true => Err(wanted("it is empty").into()),
        false => described(file, text),
    }
}

/// `text` of `file`, if it is an experiment or a layout, with its paths relative to the current folder.
fn described(file: &str, text: String) -> Result<String> {
    if let Some(message) = Kind::instead_of(Kind::Experiment, file, &text) {
        return Err(UsageError(message).into());
    }
    let Located { text, notes } = located(file, text)?;
    for text in notes {
        note(&format!("dbstow: {text}"));
    }
    Ok(text)
}

/// Why the file named by a user is no profile, where it is a file of another kind. A pipe was read already.
fn not_a_profile(file: &str) -> Option<String> {
    let text = input::regular(Path::new(file), input::BYTES_MAX).ok()?;
    Kind::instead_of(Kind::Profile, file, &text)
}

/// The layout named in a profile, in the form of an experiment's file; `or_else` is the remedy besides `--today`.
fn layout_of(file: &str, or_else: &str) -> Result<String> {
    let profile = super::profile::load(Path::new(file))?.in_common_roles();
    let disks = profile.volumes.iter().map(|volume| volume.disk.as_deref());
    let disks: Option<Vec<&str>> = disks.collect();
    let known = profile.machine.name.as_deref().zip(disks);
    let Some((machine, disks)) = known.filter(|(_, disks)| !disks.is_empty()) else {
        let message = format!(
            "{file}: it does not name the machine and the disks of its server; give them with --today FILE (machine, volumes \
             and one placement){or_else}"
        );
        return Err(UsageError(message).into());
    };
    let mut layout = build::Experiment::new("today", "Does the profile fit its server's disks?");
    layout = layout.machine(machine);
    let name = |number: usize| format!("v{}", number + 1);
    for (number, (volume, disk)) in profile.volumes.iter().zip(disks).enumerate() {
        let asked = build::Volume::of(disk);
        let asked = match volume.size {
            Some(size) => asked.set("size", size.to_string()),
            None => asked,
        };
        layout = layout.volume(&name(number), asked);
    }
    let holding = |role: Role| -> Vec<String> {
        let volumes = profile.volumes.iter().enumerate();
        let held = volumes.filter(|(_, volume)| volume.roles.contains(&role));
        held.map(|(number, _)| name(number)).collect()
    };
    let mut placement = build::Placement::on(&name(0));
    for role in Role::COMMON {
        let own = holding(role);
        // Files without recorded requests are placed with the data.
        let volumes = if own.is_empty() {
            holding(Role::Data)
        } else {
            own
        };
        let volumes: Vec<&str> = volumes.iter().map(String::as_str).collect();
        placement = placement.files(role.name(), &volumes, volumes.len() as u32);
    }
    let layout = layout.placement("today", placement);
    Ok(layout.workload(build::Workload::profile(file)).text())
}

/// Where a workload's files may be.
pub(super) fn reach(allow_outside: bool) -> Reach {
    match allow_outside {
        true => Reach::Anywhere,
        false => Reach::Beneath,
    }
}

/// Refuses an arm that may need more memory than available.
fn check_memory(arm: &Arm) -> Result<(), UsageError> {
    let needed = trial::memory_needed(&arm.settings);
    let Some(there) = trial::memory().filter(|there| needed > *there) else {
        return Ok(());
    };
    let settings = &arm.settings;
    let disks: u64 = settings.volumes.iter().map(|v| u64::from(v.count)).sum();
    Err(UsageError(format!(
        "arm \"{}\": {} sessions with {} of sort memory each and {} may take {needed} of memory, and this \
         machine has {there}; use fewer or smaller ones, or give --allow-large to try",
        arm.name,
        settings.workload.sessions,
        settings.engine.sort_memory,
        counted(disks, "disk")
    )))
}

/// The one disk of a user's catalogue file that has disks of these names.
fn only_one(names: &[String]) -> Result<String, UsageError> {
    match names {
        [name] => Ok(name.clone()),
        names => Err(UsageError(format!(
            "the file has {} disks, and one is to take the volume's place; keep one in it",
            names.len()
        ))),
    }
}

/// A built-in name is always that experiment, whatever the current folder contains.
pub(super) fn is_path(experiment: &str) -> bool {
    !builtin_names().contains(&experiment)
        && (experiment.contains(['/', '\\', '.']) || Path::new(experiment).exists())
}

/// Removes a workload that replays a profile, which no server runs: `advise` writes experiments with one.
#[cfg(target_os = "linux")]
fn without_profile(text: String) -> String {
    let Ok(mut document) = text.parse::<toml_edit::DocumentMut>() else {
        // Its mistakes are reported with their place later.
        return text;
    };
    let workload = document.get("workload");
    let workload = workload.and_then(toml_edit::Item::as_table_like);
    if !workload.is_some_and(|workload| workload.contains_key("profile")) {
        return text;
    }
    document.remove("workload");
    document.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_built_in_name_is_not_taken_for_a_path() {
        assert!(!is_path("tempdb-spill"));
        assert!(!is_path("tempdb-spil"));
        assert!(is_path("mine.toml"));
        assert!(is_path("experiments/tempdb-spill.toml"));
    }
}
