//! The interface of a product to a rehearsal: a backup of a server, and a log of its statements.
//!
//! ```text
//! backup ─inspect─► BackupFacts ─stage─► volumes with its files ─open─► Engine ─log_session─► LogSession
//! dumps  ─inspect_dumps─► BackupFacts ─restore─► a backup
//! archives ─inspect─► BackupFacts ─unpack─► a backup
//! log    ─read_log─► StatementLog: sessions with their statements, and what cannot be replayed
//! ```
//!
//! A product may be rehearsed on a server of the user's instead: that restores the backup itself for each trial
//! ([`Options::backup`](crate::Options::backup)), and only `inspect` and `read_log` are asked of it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use host::orphans::Registration;
use host::site::Site;
use model::Bytes;
use serde::{Deserialize, Serialize};

use crate::logged::{LogError, LogRequest, Login, StatementLog};
use crate::{Engine, EngineError, Options, Patience, ProductOptions};
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

    /// Whether its rehearsals are on a server of the user's.
    fn is_on_server(&self) -> bool {
        false
    }

    /// The product of a rehearsal on the server that `options` name.
    ///
    /// # Errors
    /// When they do not fit it, or it is not rehearsed so.
    fn on_server(
        &self,
        _options: &Options,
        _patience: &Patience,
    ) -> Result<Arc<dyn RehearsedProduct>, EngineError> {
        Err(EngineError::Missing(
            "--server: servers of this product are not rehearsed where they are; leave it out"
                .to_owned(),
        ))
    }
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

    /// Checks dumps of databases before anything is made. They are only read; their size is that of their database, estimated.
    ///
    /// # Errors
    /// What they lack, or why this machine's programs cannot restore them, with the remedy.
    fn inspect_dumps(&self, _dumps: &[PathBuf]) -> Result<BackupFacts, EngineError> {
        Err(no_dumps(self.name()))
    }

    /// Notes where the directories of a backup are that lie elsewhere: those that the user names, by the names that the backup has for
    /// them.
    ///
    /// # Errors
    /// When one is missing, is none of this backup, or is not what it should be.
    fn add_directories(
        &self,
        _facts: &mut BackupFacts,
        named: &BTreeMap<String, PathBuf>,
    ) -> Result<(), EngineError> {
        match named.keys().next() {
            None => Ok(()),
            Some(name) => Err(EngineError::Missing(format!(
                "--tablespace {name}: a backup of {} has none elsewhere; leave it out",
                self.name()
            ))),
        }
    }

    /// Adds settings from the text of the file `name`, which take precedence over those that were found.
    ///
    /// # Errors
    /// When it has none.
    fn add_settings(
        &self,
        _facts: &mut BackupFacts,
        name: &str,
        _text: &str,
    ) -> Result<(), EngineError> {
        Err(EngineError::Missing(format!(
            "{name}: settings of {} are read from the backup alone; leave --settings out",
            self.name()
        )))
    }

    /// Makes a backup of dumps: a data directory, as a stopped server leaves it. Returns the directory, and what is known of it.
    ///
    /// # Errors
    /// When they cannot be restored, with the first reasons.
    fn restore(
        &self,
        _dumps: &[PathBuf],
        _facts: &BackupFacts,
        _on: &RestoreVolume<'_>,
    ) -> Result<(PathBuf, BackupFacts), EngineError> {
        Err(no_dumps(self.name()))
    }

    /// Unpacks a backup whose facts are [`BackupFacts::is_packed`]. Returns the directory, and what is known of it.
    ///
    /// # Errors
    /// When it is damaged, or has an entry that is refused.
    fn unpack(
        &self,
        backup: &Path,
        _facts: &BackupFacts,
        _on: &RestoreVolume<'_>,
    ) -> Result<(PathBuf, BackupFacts), EngineError> {
        Err(EngineError::Missing(format!(
            "{}: packed backups of {} are not read",
            backup.display(),
            self.name()
        )))
    }

    /// Copies a backup to volumes, and starts and stops a server there, so that it is consistent.
    ///
    /// # Errors
    /// When it cannot be copied, or the server does not start on it.
    fn stage(
        &self,
        _backup: &Path,
        _facts: &BackupFacts,
        _volumes: &CopyVolumes<'_>,
    ) -> Result<(), EngineError> {
        Err(not_copied(self.name()))
    }

    /// Starts the server of a trial on a staged copy; `moved` has the old and new mount points of its volumes.
    ///
    /// # Errors
    /// When it does not start.
    fn open(
        &self,
        _trial: &Rehearsed<'_>,
        _moved: &[(PathBuf, PathBuf)],
        _volumes: &CopyVolumes<'_>,
    ) -> Result<Box<dyn Engine>, EngineError> {
        Err(not_copied(self.name()))
    }

    /// Reads a log of statements.
    ///
    /// # Errors
    /// When it has a mistake, with the line and the remedy.
    fn read_log(&self, log: LogFile<'_>, asked: &LogRequest) -> Result<StatementLog, LogError>;
}

/// A log's file.
#[derive(Clone, Copy, Debug)]
pub struct LogFile<'a> {
    /// Its path.
    pub path: &'a Path,
    /// The file, opened.
    pub file: &'a File,
}

fn not_copied(product: &str) -> EngineError {
    EngineError::Missing(format!(
        "backups of {product} are restored by a server of yours; add --server"
    ))
}

fn no_dumps(product: &str) -> EngineError {
    EngineError::Missing(format!(
        "dumps of {product} are not restored; give a backup of its files by --backup"
    ))
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

/// A volume on which dumps are restored, or a backup is unpacked.
pub struct RestoreVolume<'a> {
    /// Its directory, which only dbstow can reach.
    pub directory: &'a Path,
    /// Settings of a trial; `engine.memory` is all that the server and its page cache may take.
    pub settings: &'a Settings,
    /// Gives the server's user access to the directory.
    pub let_in: &'a dyn Fn() -> io::Result<()>,
    /// Logins of the log, which the restored server has to know.
    pub logins: &'a [Login],
    /// Is given what is being done, as text.
    pub observe: &'a dyn Fn(&str),
    /// Whether the user asked to stop.
    pub interrupted: &'a dyn Fn() -> bool,
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
    /// Settings by which it logs statements, as the server of the log did; what it logs is discarded.
    pub logging: &'a BTreeMap<String, String>,
}

/// What a backup is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    /// What is assumed for want of better knowledge, and moves the answer; sentences without a full stop.
    pub assumed: Vec<String>,
    /// The only databases that there are; `None`: all that the server had.
    pub databases: Option<Vec<String>>,
    /// Directories of it that lie elsewhere, by its names for them.
    pub elsewhere: BTreeMap<String, PathBuf>,
    /// Whether it is in archives, and has to be unpacked before it is staged.
    pub is_packed: bool,
}
