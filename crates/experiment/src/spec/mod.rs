//! An experiment as specified: parsed and checked, but open choices are not decided yet.
//!
//! ```text
//! text ──document──> wire ──resolve, distribute, protocol──> Spec ──check──> Spec ──> crate::plan
//!        --quick, --set                                       catalogue, workloads
//! ```
//!
//! The file format is documented key by key in the wire types and in FORMAT.md.

mod amount;
pub(crate) mod arm;
mod arms;
pub(crate) mod bounds;
mod builtin;
mod check;
mod distribute;
mod document;
pub(crate) mod error;
mod experiment_text;
mod given;
mod idle;
mod keys;
mod known;
mod metric;
mod mode;
mod origin;
mod own;
mod parse;
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

use std::collections::BTreeMap;

pub use arm::{Arm, differ_in};
pub use bounds::check_name;
pub use builtin::{builtin_names, builtin_text, drill_names, drill_text};
pub use document::line_at;
pub use error::SpecError;
pub use error::{near, plain_words, remedy};
pub use experiment_text::ExperimentText;
pub use given::Idle;
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

use arm::Sweep;
use error::Fault;
use given::Given;
use origin::Origin;

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
    given: BTreeMap<String, Given>,
    /// Volumes and placements that no arm uses.
    unused: Vec<Idle>,
    origin: Origin,
}

impl Spec {
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

#[cfg(test)]
mod tests;
