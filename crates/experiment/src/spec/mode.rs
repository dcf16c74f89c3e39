//! How an experiment runs, and by which engine.

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

/// Which engine runs the workload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EngineKind {
    /// Embedded SQLite
    #[default]
    Sqlite,
    /// PostgreSQL 15 to 18
    Postgres,
    /// A SQL Server that is there (--server); parse-checked and protocol-tested, not yet run on SQL Server
    SqlServer,
    /// Plain reads and writes without a database: fio, or the model in simulate
    Raw,
}

/// Which reading of an experiment's file is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    /// How it is to run; its `[real-time]` settings are in force unless simulated.
    pub mode: Mode,
    /// By which engine.
    pub engine: EngineKind,
    /// Whether its `[quick]` settings are in force; they come after those of `[real-time]`.
    pub quick: bool,
}

impl Variant {
    /// Simulated, with the `[quick]` settings.
    pub const QUICK: Variant = Variant {
        mode: Mode::Simulate,
        engine: EngineKind::Sqlite,
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

impl EngineKind {
    /// The engine that an experiment's `text` is meant for: `engine.name`, or the default. Mistakes in it are
    /// for [`super::Spec::parse`] to find.
    pub fn meant_by(text: &str) -> EngineKind {
        let asked: Option<EngineKind> = toml::from_str::<toml::Table>(text)
            .ok()
            .and_then(|table| table.get("engine")?.get("name")?.clone().try_into().ok());
        asked.unwrap_or_default()
    }

    /// The word in records and reports.
    pub fn name(self) -> &'static str {
        match self {
            EngineKind::Sqlite => "sqlite",
            EngineKind::Postgres => "postgres",
            EngineKind::SqlServer => "sqlserver",
            EngineKind::Raw => "raw",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for EngineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
