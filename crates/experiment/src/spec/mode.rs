//! How an experiment runs, and by which engine.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

/// How an experiment runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Modelled disks, virtual time, embedded SQLite
    #[default]
    Simulate,
    /// A real engine on modelled disks, in real time (Linux; SQLite anywhere)
    Emulate,
    /// A real engine on real directories, in real time
    Measure,
}

/// The engine that runs a workload, by its name in experiments, records and on the command line. `engine::Engines` lists the
/// existing ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EngineName(Cow<'static, str>);

/// Selects how an experiment's file is interpreted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    /// The mode; the file's `[real-time]` settings apply unless simulated.
    pub mode: Mode,
    /// The engine.
    pub engine: EngineName,
    /// Whether its `[quick]` settings apply, after those of `[real-time]`.
    pub quick: bool,
}

impl Variant {
    /// Simulated, with the `[quick]` settings.
    pub const QUICK: Variant = Variant {
        mode: Mode::Simulate,
        engine: EngineName::SQLITE,
        quick: true,
    };
}

impl Mode {
    /// The word in records and reports.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Simulate => "simulate",
            Mode::Emulate => "emulate",
            Mode::Measure => "measure",
        }
    }
}

impl EngineName {
    /// The embedded engine, which every build has.
    pub const SQLITE: EngineName = EngineName::new("sqlite");

    /// The engine with this name.
    pub const fn new(name: &'static str) -> EngineName {
        EngineName(Cow::Borrowed(name))
    }

    /// The engine that an experiment's `text` is written for: `engine.name`, or the default. Errors in it are left to
    /// [`super::Spec::parse`] and [`super::Spec::check`].
    pub fn meant_by(text: &str) -> EngineName {
        let asked: Option<EngineName> = toml::from_str::<toml::Table>(text)
            .ok()
            .and_then(|table| table.get("engine")?.get("name")?.clone().try_into().ok());
        asked.unwrap_or_default()
    }

    /// The word in records and reports.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for EngineName {
    fn default() -> EngineName {
        EngineName::SQLITE
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for EngineName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The engine without statements.
pub(super) const PLAIN_IO: &str = "raw";
