//! State of a whole run on one server: access, permissions, and changes to restore.

mod check;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::capture::{self, Identity, Product};
use crate::session::{Driver, Failure};
use crate::tsql::{Alter, DatabaseOption, Name, Statement, question};
use host::clock::Clock;
use model::Duration;
use parking_lot::{Mutex, MutexGuard};

use super::OBSERVER;
use super::options::{LEAVE_MEMORY, RESTART_COMMAND, RESTART_LIMIT};
use crate::trial::access::{Access, is_down};
use crate::trial::execute::{Refusal, execute, try_execute, try_execute_until};
use crate::trial::journal::{Changes, Journal, JournalError, Key, state_directory};
use crate::trial::restart::{Awaited, By, Restart, Way, does_not_start, started};
use engine::EngineError;
use engine::Opening;
use engine::mark::mark;
use experiment::spec::{Mode, Role, differ_in};

/// Operations per round trip if the server drives them: enough to make the trip negligible, few enough to be cancelled quickly.
pub const OPERATIONS_PER_TRIP: u64 = 1_000;

/// The script for a server that does not start.
const RESCUE: &str = "rescue.sql";

/// A database is in use. Source: Microsoft, "Database engine events and errors" (read 2026-11).
const IN_USE: u32 = 3702;

/// Number of retries to drop a database in use: for five seconds. A server notices a closed connection with a delay, and first
/// rolls back its work; the figures are our choice.
const DROPS_MAX: u32 = 50;

const DROP_EVERY: Duration = Duration::from_millis(100);

/// A server for one run.
pub struct ServerRun {
    access: Access,
    to_restore: Access,
    identity: Identity,
    product: Product,
    major: u32,
    /// Whether arms differ in the location of temporary space, so tempdb must be moved.
    moves_tempdb: bool,
    /// Whether volumes exist only during a trial, so tempdb must leave them at its end.
    volumes_end: bool,
    restart: Restart,
    leave_memory: bool,
    /// Part of the names of all files of this run, so that files that SQL Server left do not conflict.
    mark: String,
    /// Folder of scripts for the user.
    scripts: PathBuf,
    journal: Mutex<Journal>,
    /// Files that tempdb was moved away from: SQL Server does not delete them.
    behind: Mutex<BTreeSet<String>>,
    /// Purpose of each file of a trial.
    files: Mutex<Arc<Files>>,
}

/// The files of a trial, by database and file number.
pub(crate) type Files = BTreeMap<(i64, i64), Filed>;

/// Purpose of a file of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Filed {
    pub(crate) role: Role,
    /// Index of its volume among the arm's.
    pub(crate) volume: usize,
    /// Whether it is a log: tempdb has its own, which is independent of the location of temporary data.
    pub(crate) is_log: bool,
}

impl ServerRun {
    /// Logs in, and reads the journal of an earlier run.
    ///
    /// # Errors
    /// When the server rejects the login, with the remedy; or the journal cannot be used.
    pub(crate) fn open(
        access: Access,
        opening: &Opening<'_>,
    ) -> Result<(ServerRun, Driver), EngineError> {
        let Opening {
            mode, arms, hooks, ..
        } = *opening;
        let options = &opening.options.of_product;
        let restart = Restart {
            by: match (options.text(RESTART_COMMAND), &hooks.prompt) {
                (Some(command), _) => By::Command(command.to_owned()),
                (None, Some(prompt)) => By::User(Arc::clone(prompt)),
                (None, None) => By::NoOne,
            },
            interrupted: Arc::clone(&hooks.interrupted),
            limit: options.time(RESTART_LIMIT),
            progress: Arc::clone(&hooks.progress),
        };
        let mut session = connect(&access, &restart)?;
        let answer = capture::identity(&mut session);
        let address = access.server();
        let (identity, greeting, _) = answer.map_err(|error| {
            EngineError::failed(format!("ask the SQL Server at {address} what it is"), error)
        })?;
        let journal = Journal::open(
            &state_directory(),
            Key {
                server: match greeting.server.as_str() {
                    "" => &address,
                    name => name,
                },
                instance: &greeting.instance,
                address: &address,
            },
        );
        let journal = journal.map_err(unusable)?;
        let run = ServerRun {
            product: identity.product(),
            major: identity.major(),
            identity,
            moves_tempdb: differ_in(arms, Role::Temp),
            volumes_end: mode == Mode::Emulate,
            restart,
            leave_memory: options.has(LEAVE_MEMORY),
            mark: mark(),
            scripts: scripts_of(journal.path()),
            journal: Mutex::new(journal),
            behind: Mutex::default(),
            files: Mutex::default(),
            to_restore: access.to_the_end(),
            access,
        };
        Ok((run, session))
    }

    /// What the user must still do on the server after the run.
    pub fn left_behind(&self) -> Option<String> {
        let behind = std::mem::take(&mut *self.behind());
        if behind.is_empty() || self.volumes_end {
            return None;
        }
        let files: Vec<String> = behind.into_iter().collect();
        Some(format!(
            "tempdb no longer uses these files, and SQL Server does not delete them; delete them yourself: {}",
            files.join(", ")
        ))
    }

    /// Records files that tempdb was moved away from.
    pub(crate) fn leave_behind(&self, files: Vec<String>) {
        self.behind().extend(files);
    }

    fn behind(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.behind.lock()
    }

    /// Whether tempdb is on volumes that are removed with the trial.
    pub fn is_on_volumes(&self) -> bool {
        self.volumes_end && !self.journal().changes().tempdb.is_empty()
    }

    /// The remedy for a server whose tempdb is on removed volumes.
    pub fn stranded(&self) -> Option<String> {
        let gone = "tempdb was on modelled disks, which end with dbstow";
        self.is_on_volumes()
            .then(|| format!("{gone}; {}", does_not_start(&self.rescue())))
    }

    /// Access for a trial's work: interrupted by a stop request of the user.
    pub(crate) fn access(&self) -> &Access {
        &self.access
    }

    /// Access for changes outside of the run's own database, and their restore: not interrupted.
    pub(crate) fn to_restore(&self) -> &Access {
        &self.to_restore
    }

    pub(crate) fn product(&self) -> Product {
        self.product
    }

    pub(crate) fn major(&self) -> u32 {
        self.major
    }

    /// Part of the names of all files of this run.
    pub(crate) fn mark(&self) -> &str {
        &self.mark
    }

    /// Restores the server's memory setting, if it was changed.
    pub(crate) fn restore_memory(&self) -> Result<(), EngineError> {
        let Some(mib) = self.journal().changes().memory_mib else {
            return Ok(());
        };
        let mut session = self.to_restore.connect(OBSERVER)?;
        self.set_memory(&mut session, mib)
            .map_err(|error| EngineError::failed("give the server its memory back", error))
    }

    /// Whether trials move tempdb.
    pub(crate) fn moves_tempdb(&self) -> bool {
        self.moves_tempdb
    }

    /// Whether to set the server's memory.
    pub(crate) fn sets_memory(&self) -> bool {
        !self.leave_memory
    }

    /// Executes a statement in preparation of a trial, cancelled by Ctrl-C; this is reported here, because the trial will have no
    /// record.
    pub(crate) fn execute(
        &self,
        session: &mut Driver,
        statement: &impl ToString,
    ) -> Result<(), EngineError> {
        Ok(self.try_execute(session, statement)?)
    }

    /// As `execute`, but returns the refusal.
    pub(crate) fn try_execute(
        &self,
        session: &mut Driver,
        statement: &impl ToString,
    ) -> Result<(), Refusal> {
        let done = try_execute_until(&self.restart.interrupted, session, statement);
        if let Err(refusal) = &done
            && self.restart.is_interrupted()
        {
            self.restart.say(&refusal.error.to_string());
        }
        done
    }

    pub(crate) fn restart(&self) -> &Restart {
        &self.restart
    }

    pub(crate) fn scripts(&self) -> &Path {
        &self.scripts
    }

    /// The script for a server that does not start.
    pub(crate) fn rescue(&self) -> PathBuf {
        self.scripts.join(RESCUE)
    }

    /// The server to wait for while the journal is restored.
    pub(crate) fn awaited<'a>(&self, rescue: &'a Path) -> Awaited<'a> {
        let journal = self.journal();
        let original = &journal.changes().tempdb;
        let bytes = |file: &capture::File| u64::try_from(file.size_bytes).unwrap_or(0);
        Awaited {
            rescue,
            way: Way::Back,
            zeroed: original.iter().map(bytes).sum(),
        }
    }

    pub(crate) fn journal(&self) -> MutexGuard<'_, Journal> {
        self.journal.lock()
    }

    /// Records a change; call it before the change is made, or after it was undone.
    pub(crate) fn note(&self, change: impl FnOnce(&mut Changes)) -> Result<(), EngineError> {
        self.journal().change(change).map_err(unusable)
    }

    /// The files of the current trial.
    pub(crate) fn files(&self) -> Arc<Files> {
        let files = self.files.lock();
        Arc::clone(&files)
    }

    pub(crate) fn set_files(&self, files: Files) {
        *self.files.lock() = Arc::new(files);
    }

    /// Whether a database of this name was created and not dropped.
    pub(crate) fn made(&self, name: &str) -> bool {
        let journal = self.journal();
        let mut databases = journal.changes().databases.iter();
        databases.any(|known| known == name)
    }

    /// Drops a database created by this run or an earlier one.
    pub(crate) fn drop_database(&self, session: &mut Driver, name: &str) -> Result<(), String> {
        let own = Name::new(name).map_err(|error| error.to_string())?;
        let exists = capture::read(session, &question::DATABASES, |row| row.word("name"));
        let exists = exists
            .map_err(|error| error.to_string())?
            .iter()
            .any(|known| known == name);
        if exists {
            drop_unused(session, own)?;
        }
        self.note(|changes| changes.databases.retain(|known| known != name))
            .map_err(|error| error.to_string())
    }

    pub(crate) fn set_memory(&self, session: &mut Driver, mib: i64) -> Result<(), String> {
        let statement = Statement::MaxServerMemory {
            mib: u32::try_from(mib).unwrap_or(u32::MAX),
        };
        execute(session, &statement).map_err(|error| error.to_string())?;
        self.note(|changes| changes.memory_mib = None)
            .map_err(|error| error.to_string())
    }

    /// When the service started.
    pub(crate) fn started(&self) -> Result<String, EngineError> {
        started(&self.access)
    }
}

/// Drops a database that our connections no longer use.
fn drop_unused(session: &mut Driver, name: Name) -> Result<(), String> {
    let master = Statement::Use(Name::new("master").expect("a name"));
    execute(session, &master).map_err(|error| error.to_string())?;
    // A managed instance refuses this (error 5008), which does not prevent dropping the database.
    // Source: <https://github.com/microsoft/sqlmanagementobjects/issues/49>, read 2026-11-26.
    let alone = Statement::alter(&name, Alter::Set(DatabaseOption::SingleUser));
    let alone = execute(session, &alone);
    let statement = Statement::Drop(name);
    let mut dropped = try_execute(session, &statement);
    for _ in 0..DROPS_MAX {
        match &dropped {
            Err(refusal) if is_used(refusal) => {}
            Err(_) | Ok(()) => break,
        }
        Clock::sleep(DROP_EVERY);
        dropped = try_execute(session, &statement);
    }
    dropped.map_err(|refusal| match alone {
        Ok(()) => refusal.error.to_string(),
        Err(alone) => format!("{}; before it, {alone}", refusal.error),
    })
}

/// Whether a database was not dropped because it is in use.
fn is_used(refusal: &Refusal) -> bool {
    let number = refusal.failure.as_ref().and_then(Failure::number);
    number == Some(IN_USE)
}

/// Connects; a server that an earlier run left in the middle of a restart is started first, if possible.
fn connect(access: &Access, restart: &Restart) -> Result<Driver, EngineError> {
    let failure = match access.attempt(OBSERVER) {
        Ok(session) => return Ok(session),
        Err(failure) => failure,
    };
    let error = access.in_words(&failure);
    if !is_down(&failure) {
        return Err(error);
    }
    let pending = Journal::pending(&state_directory(), &access.server());
    let Some(journal) = pending.map_err(unusable)? else {
        return Err(error);
    };
    let rescue = scripts_of(&journal).join(RESCUE);
    let awaited = Awaited {
        rescue: &rescue,
        way: Way::Back,
        // The journal is read once the server's name is known.
        zeroed: 0,
    };
    restart.revive(access, awaited).map_err(|failed| {
        let left = format!(
            "an earlier run changed it, as {} says; {}",
            journal.display(),
            does_not_start(&rescue)
        );
        EngineError::failed(failed.to_string(), left)
    })?;
    access.connect(OBSERVER)
}

/// Folder of a run's scripts, beside its journal.
fn scripts_of(journal: &Path) -> PathBuf {
    journal.with_extension("scripts")
}

fn unusable(error: JournalError) -> EngineError {
    EngineError::Missing(error.to_string())
}
