//! An experiment as specified: parsed and checked, but open choices are not decided yet.
//!
//! ```text
//! text ──document──> wire ──resolve, distribute, protocol──> Spec ──check──> Spec ──> crate::plan
//!        --quick, --set                                       catalogue, workloads
//! ```
//!
//! The file format is documented key by key in the wire types and in FORMAT.md.

mod amount;
mod arms;
pub(crate) mod bounds;
mod builtin;
mod check;
mod distribute;
mod document;
pub(crate) mod error;
mod experiment_text;
mod idle;
mod keys;
mod known;
mod metric;
mod mode;
mod own;
mod paths;
mod percentage;
mod placement;
pub(crate) mod protocol;
mod requests;
mod resolve;
pub(crate) mod rules;
mod settings;
mod sweep;
mod volumes;
mod wire;
mod without_run;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use bounds::check_name;
pub use builtin::{builtin_names, builtin_text, drill_names, drill_text};
pub use document::line_at;
pub use error::SpecError;
pub use error::{near, plain_words, remedy};
pub use experiment_text::ExperimentText;
pub use idle::Idle;
pub use known::{Decides, Known, KnownWorkload, Recorded};
pub use metric::METRICS;
pub use mode::{EngineName, Mode, Variant};
pub use paths::{Located, located};
pub use percentage::percentage;
pub use placement::{File, Placement, Role};
pub(crate) use protocol::errors_max_default;
pub use protocol::{Fitted, Protocol, Source};
pub use resolve::profile_window;
pub use settings::{
    Amount, Arrival, Burst, Commit, Cpu, Disk, Engine, HostCache, Machine, Override, Parameter,
    Provision, ReadUnit, Script, Settings, System, Temperature, Versions, Volume, Workload,
};
pub use volumes::Volumes;

use crate::question::{Published, Sweep};
use document::{Text, typed};
use error::{Fault, touches};
use experiment_text::TextSource;

/// A valid experiment.
#[derive(Clone, Debug)]
pub struct Spec {
    /// Its name.
    pub name: String,
    /// What it asks.
    pub question: String,
    /// Where the published figures come from.
    pub source: Option<Source>,
    /// How trials are repeated and compared.
    pub protocol: Protocol,
    /// What is compared, in the order of the file; at least one.
    pub arms: Vec<Arm>,
    /// Parameters that were fitted to published figures.
    pub fitted: Vec<Fitted>,
    /// Keys and values that override the file.
    pub overrides: Vec<(String, String)>,
    /// The variant of the file: mode, engine, quick.
    pub variant: Variant,
    /// Arms that differ in a single key, whose values were requested together.
    pub sweeps: Vec<Sweep>,
    /// Whether it specifies the initial state of the host cache.
    pub host_cache_start_given: bool,
    /// The given keys, by arm.
    given: BTreeMap<String, idle::Given>,
    /// Volumes and placements that no arm uses.
    unused: Vec<Idle>,
    origin: Origin,
}

/// A placement with settings: the subject of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Arm {
    /// Its name.
    pub name: String,
    /// The arm it is compared with, if not the experiment's baseline.
    #[serde(default)]
    pub baseline: Option<String>,
    /// All that a trial needs.
    pub settings: Settings,
    /// What was published for it, by metric.
    pub published: BTreeMap<String, Published>,
    /// Whether a parameter was fitted to its published figures.
    pub fitted: bool,
}

/// Origin of the text: turns a fault into an error with its location.
#[derive(Clone, Debug)]
struct Origin {
    source: TextSource,
    /// The text as in its file.
    text: Arc<Text>,
    /// The text with the settings that the variant selects.
    start: Arc<Text>,
    overrides: Vec<(String, String)>,
    variant: Variant,
}

impl Spec {
    /// Reads an experiment: `text` of `file`, with the settings that `variant` selects, and then with `overrides`, dotted keys
    /// and values, in order.
    ///
    /// Names of disks, machines and workloads are not resolved; [`Spec::check`] does that. Paths are relative to the current
    /// folder: [`located`] converts those of a file.
    ///
    /// # Errors
    /// The first error, with its line or override.
    pub fn parse(
        file: &str,
        text: &str,
        overrides: &[(String, String)],
        variant: Variant,
    ) -> Result<Spec, SpecError> {
        Origin::read(&ExperimentText::of_file(file, text), variant)?.with(overrides)
    }

    /// The experiment that code built.
    pub(crate) fn built(experiment: &ExperimentText, variant: Variant) -> Result<Spec, SpecError> {
        Origin::read(experiment, variant)?.with(&[])
    }

    /// Drops published figures of arms that differ from those in the file, `own`.
    fn without_figures_of_other_settings(mut self, own: &[Arm]) -> Spec {
        for arm in &mut self.arms {
            let original = own.iter().find(|original| original.name == arm.name);
            if original.is_some_and(|original| original.settings == arm.settings) {
                continue;
            }
            arm.fitted = false;
            if !std::mem::take(&mut arm.published).is_empty()
                && let Some(source) = &mut self.source
            {
                source.figures_left_out = true;
            }
        }
        self
    }

    /// Drops published totals, such as an elapsed time, of arms whose work differs from that of `published`.
    fn without_totals_of_other_work(mut self, published: &[Arm]) -> Spec {
        for arm in &mut self.arms {
            let work = |arm: &Arm| {
                let workload = &arm.settings.workload;
                (workload.amount, workload.parameters.clone())
            };
            let mut originals = published.iter();
            let original = originals.find(|original| original.name == arm.name);
            if original.is_none_or(|original| work(original) != work(arm)) {
                arm.published.retain(|name, _| !metric::is_total(name));
            }
        }
        self
    }

    /// Reads the built-in experiment `name`.
    ///
    /// # Errors
    /// When it does not exist, or an override is invalid.
    pub fn builtin(
        name: &str,
        overrides: &[(String, String)],
        variant: Variant,
    ) -> Result<Spec, SpecError> {
        Origin::read(&ExperimentText::builtin(name)?, variant)?.with(overrides)
    }

    /// Names of the volumes in a file's text. Errors in it are left to [`Spec::parse`].
    pub fn volume_names(text: &str) -> Vec<String> {
        let table: toml::Table = toml::from_str(text).unwrap_or_default();
        let volumes = table.get("volume").and_then(toml::Value::as_table);
        volumes.map_or(Vec::new(), |volumes| volumes.keys().cloned().collect())
    }

    /// An error at a key of its file, found by a caller with more information than the file.
    pub fn mistake(&self, key: &[&str], message: impl Into<String>) -> SpecError {
        self.origin.in_file(Fault::at(key, message))
    }

    /// Drops published figures and fitted parameters: for another workload than the published one.
    pub fn without_published(mut self) -> Spec {
        self.source = None;
        for arm in &mut self.arms {
            arm.published.clear();
        }
        self.without_fitted()
    }

    /// Adapts it to real disks: they have no published figures, and parameters of the model do not apply.
    pub fn on_real_disks(mut self) -> Spec {
        let own = Vec::new();
        self = self.without_figures_of_other_settings(&own);
        self.without_fitted()
    }

    fn without_fitted(mut self) -> Spec {
        self.fitted.clear();
        for arm in &mut self.arms {
            arm.fitted = false;
        }
        self
    }
}

/// The sections that set keys of others, in order, and whether they apply.
fn sections<'a>(
    asked: &'a wire::Experiment,
    variant: &Variant,
) -> [(&'static str, &'a BTreeMap<String, toml::Value>, bool); 3] {
    let is_real = variant.mode != Mode::Simulate;
    let of_engine = wire::REAL_TIME_OF_ENGINE.strip_prefix("real-time-");
    let is_of_engine = of_engine == Some(variant.engine.as_str());
    [
        (wire::REAL_TIME, &asked.real_time, is_real),
        (
            wire::REAL_TIME_OF_ENGINE,
            &asked.real_time_of_engine,
            // Loading the amount of data that a server needs is not quick.
            is_real && is_of_engine && !variant.quick,
        ),
        (wire::QUICK, &asked.quick, variant.quick),
    ]
}

impl Origin {
    /// Reads `experiment`, without overrides.
    ///
    /// # Errors
    /// The first error in its shape, or in a section that sets keys of others, with its line.
    fn read(experiment: &ExperimentText, variant: Variant) -> Result<Origin, SpecError> {
        let ExperimentText { source, text } = experiment;
        let (text, asked) =
            Text::read(text).map_err(|(line, message)| source.error(text, line, &[], message))?;
        let text = Arc::new(text);
        let mut origin = Origin {
            source: source.clone(),
            text: Arc::clone(&text),
            start: text,
            overrides: Vec::new(),
            variant,
        };
        for (section, keys, in_force) in sections(&asked, &origin.variant) {
            // Those that do not apply are checked anyway.
            let with = arms::with_all(&origin.start, keys, &[section]);
            let with = with.map_err(|fault| origin.in_file(fault))?;
            if in_force {
                origin.start = Arc::new(with);
            }
        }
        Ok(origin)
    }

    /// The experiment with `overrides`, dotted keys and values, in order.
    ///
    /// # Errors
    /// The first error, with its line or override.
    fn with(&self, overrides: &[(String, String)]) -> Result<Spec, SpecError> {
        let origin = Origin {
            overrides: overrides.to_vec(),
            ..self.clone()
        };
        let edited = origin.overridden()?;
        let spec = arms::spec(&edited, &origin).map_err(|fault| {
            origin.error(fault, |origin| {
                let edited = origin.overridden().ok()?;
                arms::spec(&edited, origin).err()
            })
        })?;
        // An error in the file may have been fixed by an override.
        let arms = |text: &Text| arms::spec(text, &origin).map_or(Vec::new(), |spec| spec.arms);
        let spec = spec.without_figures_of_other_settings(&arms(&origin.start));
        Ok(spec.without_totals_of_other_work(&arms(&origin.text)))
    }

    fn overridden(&self) -> Result<Text, SpecError> {
        let edits = self.overrides.iter();
        let edits = edits.map(|(key, value)| (key.as_str(), typed(value)));
        let edited = self.start.edited(&edits.collect::<Vec<_>>());
        edited.map_err(|(at, message)| {
            let (key, value) = self.overrides[at].clone();
            SpecError::Override {
                key,
                value,
                message,
            }
        })
    }

    /// Locates a fault: at the override that introduced it, or at its line.
    ///
    /// `found` looks for a fault with other overrides. The override to blame is the last one without which the fault disappears:
    /// the fault's key does not determine it, since a conflict involves two keys. The key decides only if another fault appears
    /// instead.
    fn error(&self, fault: Fault, found: impl Fn(&Origin) -> Option<Fault>) -> SpecError {
        let brings_in = |at: &usize| {
            let without = Origin {
                overrides: self.overrides[..*at].to_vec(),
                ..self.clone()
            };
            match found(&without) {
                None => true,
                Some(other) if other.message == fault.message => false,
                Some(_) => touches(&self.overrides[*at].0, &fault.key),
            }
        };
        let brought_in = (0..self.overrides.len()).rev().find(brings_in);
        match brought_in {
            None => self.in_file(fault),
            Some(at) => {
                let (key, value) = self.overrides[at].clone();
                SpecError::Override {
                    key,
                    value,
                    message: fault.message,
                }
            }
        }
    }

    /// Locates a fault in the file: at its line, or at the line of the section that sets its key.
    fn in_file(&self, fault: Fault) -> SpecError {
        let Fault { key, message } = fault;
        let wire = self.text.wire();
        let set_by = sections(&wire, &self.variant)
            .into_iter()
            .rev()
            .filter(|(_, _, in_force)| *in_force)
            .find_map(|(section, keys, _)| {
                let set = keys.keys().find(|set| touches(set, &key))?;
                Some(self.text.line(&[section.to_owned(), set.clone()]))
            });
        let line = set_by.unwrap_or_else(|| self.text.line(&key));
        self.source.error("", line, &key, message)
    }
}

/// Whether the arms differ in location, number or size of the files of `role`.
pub fn differ_in(arms: &[Arm], role: Role) -> bool {
    let mut files = arms.iter().map(|arm| arm.settings.placement.files(role));
    let first = files.next();
    files.any(|other| Some(other) != first)
}

#[cfg(test)]
mod tests;
