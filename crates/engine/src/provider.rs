//! What dbstow must know about an engine before it runs. An engine is an [`EngineProvider`]; a program hands its own to
//! [`crate::Engines`].

use std::path::{Path, PathBuf};
use std::sync::Arc;

use host::orphans::Registration;
use host::site::Site;
use paced::Pacer;

#[cfg(target_os = "linux")]
use crate::drilled::DrillProvider;
use crate::error::EngineError;
use crate::home::home;
use crate::hooks::HostHooks;
use crate::options::{FrontKind, Options};
use crate::patience::Patience;
use crate::product_options::{OptionSpec, ProductOptions};
use crate::real::Engine;
use crate::recorder::RecordedServers;
#[cfg(target_os = "linux")]
use crate::rehearsed::RehearsalProvider;
use experiment::spec::{Arm, Mode, Role, Settings};
use rules::Captured;
use workload::{Dialect, Workload};

/// A kind of engine: its name, its options, and how a run opens it.
pub trait EngineProvider: Sync {
    /// The name that experiments, records and the command line use.
    fn name(&self) -> &'static str;

    /// A line of help.
    fn about(&self) -> &'static str {
        self.name()
    }

    /// The SQL dialect of its workloads; by default the one in which built-in workloads are written.
    fn dialect(&self) -> Dialect {
        Dialect::SQLITE
    }

    /// What simulate runs instead of it; `None` if it needs the real engine.
    fn simulated(&self) -> Option<Simulated> {
        None
    }

    /// How it uses modelled disks; by default it has directories on them, and reads through the page cache.
    fn modelled(&self) -> Modelled {
        Modelled::Mounted {
            front: FrontKind::Block,
            owner: None,
        }
    }

    /// What creates its files on real disks.
    fn measured(&self, _arms: &[Arm]) -> Measured {
        Measured::Directories
    }

    /// Who needs access to the files of a run.
    fn users(&self) -> Users {
        Users::Own
    }

    /// Keys of an experiment's `[engine]` that it uses in a mode, by default none; `None`: all.
    fn keys(&self, _mode: Mode) -> Option<&'static [&'static str]> {
        Some(&[])
    }

    /// Roles whose files it has in a mode; a placement for other roles is refused.
    fn roles(&self, _mode: Mode) -> &'static [Role] {
        &Role::COMMON
    }

    /// Workload parameters that it runs by, instead of scripts; `None`: scripts.
    fn parameters(&self) -> Option<&'static [&'static str]> {
        None
    }

    /// Roles whose files it creates with the size given in a placement (`file_size`), on real disks.
    fn sized(&self) -> &'static [Role] {
        &Role::ALL
    }

    /// Whether latencies on real disks are sums of whole milliseconds, each rounded by the server.
    fn counts_whole_ms(&self) -> bool {
        false
    }

    /// Whether it allows only one session at a time to write to a database.
    fn has_one_writer(&self) -> bool {
        false
    }

    /// Whether it can use an existing server (`--server`).
    fn takes_server(&self) -> bool {
        false
    }

    /// Options of this engine only.
    fn options(&self) -> &'static [OptionSpec] {
        &[]
    }

    /// How its servers are recorded; `None`: not supported.
    fn recorded(&self) -> Option<&'static RecordedServers> {
        None
    }

    /// Captures a server of its [`rules::CapturedProduct`]. It changes nothing there.
    ///
    /// # Errors
    /// When the address or the login is invalid, with the remedy, or the server does not answer.
    fn capture(
        &self,
        _server: &str,
        _options: &ProductOptions,
        _patience: Patience,
    ) -> Result<Box<dyn Captured>, EngineError> {
        Err(EngineError::Missing(format!(
            "{} has no servers that can be captured",
            self.name()
        )))
    }

    /// How it is drilled; `None`: not supported.
    #[cfg(target_os = "linux")]
    fn drilled(&self) -> Option<&'static dyn DrillProvider> {
        None
    }

    /// How its servers are rehearsed; `None`: not supported.
    #[cfg(target_os = "linux")]
    fn rehearsed(&self) -> Option<&'static dyn RehearsalProvider> {
        None
    }

    /// Refuses options with which this engine cannot run `arms`.
    ///
    /// # Errors
    /// What is missing or incompatible, with the remedy.
    fn check(&self, _options: &Options, _arms: &[Arm]) -> Result<(), String> {
        Ok(())
    }

    /// Checks this machine for what a run needs: programs, users.
    ///
    /// # Errors
    /// What is missing, with the remedy.
    fn look(&self, _options: &Options, _mode: Mode) -> Result<(), EngineError> {
        Ok(())
    }

    /// The workload, adapted to this engine under `options`.
    ///
    /// # Errors
    /// When it cannot be run this way, with the remedy.
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
    /// The user's options.
    pub options: &'a Options,
    /// Emulate or measure.
    pub mode: Mode,
    /// All arms of the run.
    pub arms: &'a [Arm],
    /// Services of the calling program.
    pub hooks: &'a HostHooks,
    /// Registers processes and directories before they are created.
    pub registration: &'a Arc<Registration>,
}

impl Opening<'_> {
    /// How long an existing server may take.
    pub fn patience(&self) -> Patience {
        let limit = self.options.timeout.unwrap_or(Patience::DEFAULT);
        Patience::new(limit, Arc::clone(&self.hooks.interrupted))
    }
}

/// An engine for the duration of a run: what its trials share, such as the login to a server.
pub trait EngineRun: Send + Sync {
    /// Starts the engine, empty, on the volumes of one trial.
    ///
    /// # Errors
    /// When it does not start, with the remedy.
    fn start(&self, trial: TrialVolumes<'_>) -> Result<Started, EngineError>;

    /// The volumes of a trial as the server sees them, one directory for each, empty if the user named none; `None` if
    /// dbstow creates the files' directories itself.
    fn site(
        &self,
        _settings: &Settings,
        _directories: Vec<PathBuf>,
    ) -> Option<Box<dyn Site + Send + Sync>> {
        None
    }

    /// Whether the server still has files on the volumes of a finished trial, so that they must stay.
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
    /// All settings of the arm.
    pub settings: &'a Settings,
    /// The work of its sessions; `None` if plain I/O issues the requests of a profile.
    pub statements: Option<&'a Workload>,
    /// Its volumes.
    pub site: &'a dyn Site,
    /// The pacer of an engine inside this process; modelled disks only.
    pub pacer: Option<Arc<Pacer>>,
}

impl<'a> TrialVolumes<'a> {
    /// The work of its sessions.
    ///
    /// # Panics
    /// When the requests of a profile are issued, which only plain I/O does.
    pub fn workload(&self) -> &'a Workload {
        self.statements.expect("a profile has no statements")
    }

    /// The directory of a role's first file.
    ///
    /// # Panics
    /// When the placement has none; each has data and a log.
    pub fn directory(&self, role: Role) -> &'a Path {
        let file = self.settings.placement.files(role).first();
        let file = file.expect("each placement has data and a log");
        home(self.site, self.settings, file)
    }
}

/// What a trial runs on its volumes.
pub enum Started {
    /// Statements, in this engine.
    Engine(Box<dyn Engine>),
    /// Plain reads and writes, without an engine.
    PlainIo,
}

/// What is left after a run has closed its engine; human-readable.
#[derive(Debug, Default)]
pub struct Closed {
    /// Changes on a server that could not be restored.
    pub not_put_back: Vec<String>,
    /// What the user must delete.
    pub left_behind: Option<String>,
}

/// What simulate runs instead of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Simulated {
    /// The workload's statements, in embedded SQLite.
    Statements,
    /// Plain reads and writes.
    PlainIo,
}

/// Who needs access to the files of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Users {
    /// The user that dbstow runs as: directories are closed to all others.
    Own,
    /// A server, which may run as another user: it traverses dbstow's directories to reach its own.
    Server,
}

/// How an engine uses modelled disks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modelled {
    /// It runs in this process, and paces its requests itself.
    Paced,
    /// It has files on mounted volumes.
    Mounted {
        /// The front that suits it if both are possible: block for engines that read through the page cache.
        front: FrontKind,
        /// The system user that owns its files; `None` if it gets its own directories on the volumes.
        owner: Option<&'static str>,
    },
}

/// What creates an engine's files on real disks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Measured {
    /// dbstow creates directories, one for each volume, named by the user.
    Directories,
    /// The server creates its files itself; the user may specify where, as the server sees it, for these
    /// roles. Its [`EngineRun::site`] returns the volumes.
    Server(Vec<Role>),
}
