//! Arguments that name an experiment and what is changed of it, for `run`, `plan` and `check`.

use std::path::PathBuf;

use anyhow::Result;
use clap::ValueHint;

use super::choice::{self, MODES, one_of};
use super::pair::{key_and_value, name_and_path};
use super::request::{experiment_named, layout_of_today, resolved};
use super::{RealTimeArgs, UsageError};
use experiment::spec::{EngineName, ExperimentText, Mode};
use files::input::Reach;
use lab::request::{RequestError, ResolvedRun, RunRequest};

/// The key with the part of a profile that is replayed.
const WINDOW: &str = "workload.window";

/// Which experiment, and what of it is changed.
#[derive(Clone, Debug, clap::Args)]
pub struct ExperimentArgs {
    /// Name of a built-in experiment, or path of an experiment file
    #[cfg_attr(feature = "shell", arg(add = super::names::experiment_or_file()))]
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
    /// Keep uncertain values, such as the latency of a kind of disk, at their typical ones instead of drawing them in each block:
    /// intervals then show chance alone (simulate)
    #[arg(long)]
    pub nominal: bool,
    /// Run even if an arm may need more memory or temporary space than this machine has (simulate)
    #[arg(long)]
    pub allow_large: bool,
    /// Take the disk in a catalogue file, such as `dbstow calibrate` writes, for this volume (simulate,
    /// emulate); may be given several times
    #[arg(long, value_name = "VOLUME=FILE", value_parser = name_and_path)]
    #[cfg_attr(feature = "shell", arg(add = super::names::path_of_volume()))]
    pub disk: Vec<(String, PathBuf)>,
    /// Also read this catalogue file, so that the experiment can name its disks and machines; may be given several
    /// times
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub catalogue: Vec<PathBuf>,
    /// Where it runs in real time
    #[command(flatten)]
    pub real_time: RealTimeArgs,
}

impl ExperimentArgs {
    /// Reads and checks the whole request; with `aa`, the baseline has a twin.
    ///
    /// # Errors
    /// When something cannot be read, is invalid, or is inconsistent.
    pub fn resolve(&self, aa: bool) -> Result<ResolvedRun> {
        self.resolve_with(Vec::new(), aa)
    }

    /// The same with the keys `before`, which those that were given may refine.
    ///
    /// # Errors
    /// As [`ExperimentArgs::resolve`].
    pub fn resolve_with(&self, before: Vec<(String, String)>, aa: bool) -> Result<ResolvedRun> {
        let Some(name) = &self.experiment else {
            let message = "no experiment is named; give one of `dbstow experiments`, or a file";
            return Err(UsageError(message.to_owned()).into());
        };
        let request = self.request(RunRequest::new(experiment_named(name)?));
        resolved(&RunRequest {
            twin: aa,
            set: before.into_iter().chain(request.set).collect(),
            ..request
        })
    }

    /// The profile on the layout in the file `today`, or, without one, on the disks named in the profile.
    ///
    /// # Errors
    /// When there is no such layout, or it is invalid.
    pub fn resolve_today(&self, today: Option<&str>) -> Result<ResolvedRun> {
        let profile = self.profile.as_deref().unwrap_or_default();
        let window = (self.set.iter().rev()).find(|(key, _)| key == WINDOW);
        let window = window.map(|(_, window)| window.as_str());
        // With an experiment, the others are its own.
        let set = match self.experiment {
            None => self.set.as_slice(),
            Some(_) => &[],
        };
        let layout = layout_of_today(profile, today, window, set);
        let layout = layout.map_err(|error| match error.downcast_ref() {
            Some(RequestError::DisksUnknown { .. }) => {
                UsageError(format!("{error}, or name an experiment to run it in")).into()
            }
            Some(_) | None => error,
        })?;
        self.resolve_layout(layout, profile)
    }

    /// The profile on `layout`.
    ///
    /// # Errors
    /// When it is invalid.
    fn resolve_layout(&self, layout: ExperimentText, profile: &str) -> Result<ResolvedRun> {
        // A modified demand cannot be compared with the recorded one.
        let is_window = |(key, _): &&(String, String)| key == WINDOW;
        let is_other = |set: &&(String, String)| set.0.starts_with("workload.") && !is_window(set);
        let other = self.set.iter().find(is_other);
        if let Some((key, value)) = other.filter(|_| self.experiment.is_none()) {
            let message = format!(
                "--set {key}={value}: a back-test replays what was recorded; leave it out, or name an experiment"
            );
            return Err(UsageError(message).into());
        }
        let request = RunRequest {
            mode: Mode::Simulate,
            engine: None,
            ..self.request(RunRequest::back_test(layout, profile.to_owned()))
        };
        resolved(&match self.experiment {
            // Keys that are set apply to the layout.
            None => request,
            Some(_) => RunRequest {
                set: self.set.iter().filter(is_window).cloned().collect(),
                disks: Vec::new(),
                ..request
            },
        })
    }

    /// `request` with all that is given.
    fn request(&self, request: RunRequest) -> RunRequest {
        RunRequest {
            workload: self.workload.clone(),
            profile: self.profile.clone(),
            disks: self.disk.clone(),
            sustained: self.sustained,
            set: self.set.clone(),
            blocks: self.blocks,
            seed: self.seed,
            nominal: self.nominal,
            mode: self.mode,
            engine: self.engine.clone(),
            quick: self.quick,
            catalogues: self.catalogue.clone(),
            reach: reach(self.allow_outside),
            allow_large: self.allow_large,
            options: self.real_time.options(),
            ..request
        }
    }
}

/// Where a workload's files may be.
pub(super) fn reach(allow_outside: bool) -> Reach {
    match allow_outside {
        true => Reach::Anywhere,
        false => Reach::Beneath,
    }
}
