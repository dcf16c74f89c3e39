//! What dbstow has to know of an engine before any of it runs. An engine is an [`EngineProvider`]; `engine/registry.rs`
//! lists them.

use std::path::PathBuf;
use std::sync::Arc;

use volume::orphans::Registration;
use volume::real_time::Pacer;
use volume::site::Site;

use crate::hooks::HostHooks;
use crate::options::{FrontKind, Options};
use crate::patience::Patience;
use crate::product_options::{OptionSpec, ProductOptions};
use crate::real::{Engine, EngineError};
use crate::recorder::{RecordedServers, Recorder};
use experiment::spec::{Arm, Mode, Role, Settings};
use workload::{Dialect, Workload};

/// A kind of engine: its name, what it takes, and how a run opens it.
pub trait EngineProvider: Sync {
    /// The name that experiments, records and the command line use.
    fn name(&self) -> &'static str;

    /// A line of help.
    fn about(&self) -> &'static str;

    /// The SQL that its workloads are written in.
    fn dialect(&self) -> Dialect;

    /// What simulate runs for it; `None` where it has to be there for real.
    fn simulated(&self) -> Option<Simulated>;

    /// How it uses modelled disks.
    fn modelled(&self) -> Modelled;

    /// Who makes its files on real disks.
    fn measured(&self, arms: &[Arm]) -> Measured;

    /// Who has to get to the files of a run.
    fn users(&self) -> Users;

    /// Keys of an experiment's `[engine]` that it is given in a mode; `None`: all.
    fn keys(&self, mode: Mode) -> Option<&'static [&'static str]>;

    /// Roles whose files it has in a mode; a placement that says where others live is refused.
    fn roles(&self, _mode: Mode) -> &'static [Role] {
        &Role::COMMON
    }

    /// Parameters of a workload that it runs by, instead of its scripts; `None`: scripts.
    fn parameters(&self) -> Option<&'static [&'static str]> {
        None
    }

    /// Roles whose files it makes in the size that a placement asks for (`file_size`), on real disks.
    fn sized(&self) -> &'static [Role] {
        &Role::ALL
    }

    /// Whether latencies on real disks are sums of whole milliseconds, each rounded by the server.
    fn counts_whole_ms(&self) -> bool {
        false
    }

    /// Whether it lets one session at a time write to a database.
    fn has_one_writer(&self) -> bool {
        false
    }

    /// Whether it can use a server that is there (`--server`).
    fn takes_server(&self) -> bool {
        false
    }

    /// Options that it alone takes.
    fn options(&self) -> &'static [OptionSpec] {
        &[]
    }

    /// Servers of it that can be recorded; `None`: it has none.
    fn recorded(&self) -> Option<&'static RecordedServers> {
        None
    }

    /// What records the server of a URL with one of [`EngineProvider::recorded`]'s schemes.
    ///
    /// # Errors
    /// When the URL or the login cannot be understood, with the remedy.
    fn recorder(
        &self,
        _url: &str,
        _options: &ProductOptions,
    ) -> Result<Box<dyn Recorder>, EngineError> {
        Err(EngineError::Missing(format!(
            "{} has no servers that can be recorded",
            self.name()
        )))
    }

    /// Refuses options that this engine cannot run `arms` with.
    ///
    /// # Errors
    /// What is missing or does not go together, with the remedy.
    fn check(&self, _options: &Options, _arms: &[Arm]) -> Result<(), String> {
        Ok(())
    }

    /// Samples for what a run needs on this machine: programs, users.
    ///
    /// # Errors
    /// What is missing, with the remedy.
    fn look(&self, _options: &Options, _mode: Mode) -> Result<(), EngineError> {
        Ok(())
    }

    /// The workload as this engine runs it under `options`.
    ///
    /// # Errors
    /// When it cannot be run so, with the remedy.
    fn adapt(&self, workload: Workload, _options: &Options) -> Result<Workload, String> {
        Ok(workload)
    }

    /// Opens the engine for all trials of a run.
    ///
    /// # Errors
    /// When it is not usable, with the remedy.
    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn EngineRun>, EngineError>;
}

/// What a run opens its engine with.
pub struct Opening<'a> {
    /// What the user said.
    pub options: &'a Options,
    /// Emulate or measure.
    pub mode: Mode,
    /// All arms of the run.
    pub arms: &'a [Arm],
    /// What only the program around can do.
    pub hooks: &'a HostHooks,
    /// Where processes and directories are noted before they are made.
    pub registration: &'a Arc<Registration>,
}

impl Opening<'_> {
    /// How long a given server may take.
    pub fn patience(&self) -> Patience {
        let limit = self.options.timeout.unwrap_or(Patience::DEFAULT);
        Patience::new(limit, Arc::clone(&self.hooks.interrupted))
    }
}

/// An engine for the length of a run: what its trials share, such as the login to a server.
pub trait EngineRun: Send + Sync {
    /// Starts the engine, empty, on the volumes of one trial.
    ///
    /// # Errors
    /// When it does not start, with the remedy.
    fn start(&self, trial: TrialVolumes<'_>) -> Result<Started, EngineError>;

    /// The volumes of a trial as the server sees them, one directory for each, empty where the user named none; `None` where dbstow makes the files'
    /// directories itself.
    fn site(
        &self,
        _settings: &Settings,
        _directories: Vec<PathBuf>,
    ) -> Option<Box<dyn Site + Send + Sync>> {
        None
    }

    /// Whether the server still has files on the volumes of a trial that ended, so that they have to stay.
    fn holds_volumes(&self) -> bool {
        false
    }

    /// Ends the run, and restores what it changed.
    fn close(&self) -> Closed {
        Closed::default()
    }
}

/// What one trial's engine is started on.
pub struct TrialVolumes<'a> {
    /// All that the arm sets.
    pub settings: &'a Settings,
    /// What its sessions do; `None` where the requests of a profile are made, as plain I/O.
    pub statements: Option<&'a Workload>,
    /// Its volumes.
    pub site: &'a dyn Site,
    /// What an engine inside this process is paced by; modelled disks only.
    pub pacer: Option<Arc<Pacer>>,
}

impl<'a> TrialVolumes<'a> {
    /// What its sessions do.
    ///
    /// # Panics
    /// When the requests of a profile are made, which only plain I/O does.
    pub fn workload(&self) -> &'a Workload {
        self.statements.expect("a profile has no statements")
    }
}

/// What a trial runs on its volumes.
pub enum Started {
    /// Statements, in this engine.
    Engine(Box<dyn Engine>),
    /// Plain reads and writes: there is no engine.
    PlainIo,
}

/// What is left once a run has closed its engine; for people.
#[derive(Debug, Default)]
pub struct Closed {
    /// What was changed on a server and could not be restored.
    pub not_put_back: Vec<String>,
    /// What somebody has to delete.
    pub left_behind: Option<String>,
}

/// What simulate runs for an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Simulated {
    /// The workload's statements, in embedded SQLite.
    Statements,
    /// Plain reads and writes.
    PlainIo,
}

/// Who has to get to the files of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Users {
    /// The user that dbstow runs as: directories are closed to all others.
    Own,
    /// A server, which may run as another user: it passes through dbstow's directories to its own.
    Server,
}

/// How an engine uses modelled disks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modelled {
    /// It runs in this process, and paces its requests itself.
    Paced,
    /// It has files on mounted volumes.
    Mounted {
        /// What suits it where both are possible: block for engines that read through the page cache.
        front: FrontKind,
        /// The system's user that its files belong to; `None` where it gets directories of its own on the volumes.
        owner: Option<&'static str>,
    },
}

/// Who makes an engine's files on real disks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Measured {
    /// dbstow makes directories, one for each volume, which the user names.
    Directories,
    /// The server makes its files itself; the user may say where, as the server sees it, for these roles. Its
    /// [`EngineRun::site`] gives the volumes.
    Server(Vec<Role>),
}
