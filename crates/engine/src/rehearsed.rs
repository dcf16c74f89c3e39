//! The interface of a product to a rehearsal: a backup of a server, and a log of its statements.
//!
//! ```text
//! backup ─inspect─► BackupFacts ─stage─► volumes with its files ─open─► Engine ─log_session─► LogSession
//! log    ─read_log─► StatementLog: sessions with their statements, and what cannot be replayed
//! ```

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use host::orphans::Registration;
use host::site::Site;
use model::Bytes;

use crate::logged::{LogError, LogRequest, Login, StatementLog};
use crate::{Engine, EngineError, ProductOptions};
use experiment::spec::Settings;

/// How a product's servers are rehearsed.
pub trait RehearsalProvider: Sync {
    /// Whether a backup is of this product, by the names in it. By default none is, and the first product says what it expects.
    fn recognises(&self, _backup: &Path) -> bool {
        false
    }

    /// The product of one rehearsal, with the user's options; what it creates is noted in `registration`.
    ///
    /// # Errors
    /// When a program is missing, with the remedy.
    fn product(
        &self,
        options: &ProductOptions,
        registration: &Arc<Registration>,
    ) -> Result<Arc<dyn RehearsedProduct>, EngineError>;
}

/// A product whose servers are rehearsed.
pub trait RehearsedProduct: Send + Sync {
    /// Its name, as it writes it.
    fn name(&self) -> &'static str;

    /// User and group of its server; `None`: dbstow's own.
    fn owner(&self) -> Option<(u32, u32)>;

    /// Checks a backup before anything is copied. It is only read.
    ///
    /// # Errors
    /// What it lacks, or why this machine's programs cannot start it, with the remedy.
    fn inspect(&self, backup: &Path) -> Result<BackupFacts, EngineError>;

    /// Copies a backup to volumes, and starts and stops a server there, so that it is consistent.
    ///
    /// # Errors
    /// When it cannot be copied, or the server does not start on it.
    fn stage(
        &self,
        backup: &Path,
        facts: &BackupFacts,
        volumes: &CopyVolumes<'_>,
    ) -> Result<(), EngineError>;

    /// Starts the server of a trial on a staged copy; `moved` has the old and new mount points of its volumes.
    ///
    /// # Errors
    /// When it does not start.
    fn open(
        &self,
        trial: &Rehearsed<'_>,
        moved: &[(PathBuf, PathBuf)],
        volumes: &CopyVolumes<'_>,
    ) -> Result<Box<dyn Engine>, EngineError>;

    /// Reads a log of statements.
    ///
    /// # Errors
    /// When it has a mistake, with the line and the remedy.
    fn read_log(&self, log: &mut dyn Read, asked: &LogRequest) -> Result<StatementLog, LogError>;
}

/// Volumes for a copy.
pub struct CopyVolumes<'a> {
    /// The volumes, which only dbstow can reach.
    pub site: &'a dyn Site,
    /// Which files go where; `engine.memory` is all that the server and its page cache may take.
    pub settings: &'a Settings,
    /// Gives the server's user access to them.
    pub let_in: &'a dyn Fn() -> io::Result<()>,
}

/// What the server of a trial has to know of its rehearsal.
#[derive(Clone, Copy, Debug)]
pub struct Rehearsed<'a> {
    /// The backup.
    pub facts: &'a BackupFacts,
    /// Its logins, which may connect.
    pub logins: &'a [Login],
    /// Sessions at a time.
    pub sessions: u32,
    /// Whether its sessions may only read.
    pub reads_only: bool,
}

/// What a backup is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BackupFacts {
    /// The server's version, as the backup has it.
    pub version: String,
    /// What kind of copy it is, as text.
    pub kind: String,
    /// The size of its files.
    pub size: Bytes,
    /// Memory of the server's buffers.
    pub memory: Bytes,
    /// Settings from its own configuration, which the rehearsal keeps.
    pub settings: BTreeMap<String, String>,
    /// What a private server changes, as sentences without a full stop.
    pub changed: Vec<String>,
    /// What is assumed of the server because the backup does not say it; likewise.
    pub assumed: Vec<String>,
}
