//! State of a whole run on one server: access, permissions, and changes to restore.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::capture::{
    self, Identity, MAKE_ADMINISTRATOR, MOVES_TEMPDB, Obstacle, Product, obstacle_to_moving_tempdb,
};
use crate::session::{Driver, Failure};
use crate::tsql::{Alter, DatabaseOption, Name, Statement, question};
use model::Duration;
use parking_lot::{Mutex, MutexGuard};
use volume::clock::Clock;

use super::OBSERVER;
use super::options::{LEAVE_MEMORY, RESTART_COMMAND, RESTART_LIMIT};
use crate::trial::access::{Access, is_down};
use crate::trial::database_files;
use crate::trial::execute::{Refusal, execute, try_execute, try_execute_until};
use crate::trial::journal::{Changes, Journal, JournalError, Key, state_directory};
use crate::trial::restart::{Awaited, By, Restart, Way, does_not_start, started};
use engine::EngineError;
use engine::Opening;
use engine::mark::mark;
use experiment::spec::{Arm, Mode, Role, differ_in};

/// Operations per round trip if the server drives them: enough to make the trip negligible, few enough to be cancelled quickly.
pub const OPERATIONS_PER_TRIP: u64 = 1_000;

/// The script for a server that does not start.
const RESCUE: &str = "rescue.sql";

/// The oldest supported version: 2016, which supports every query of a run.
const MAJOR_MIN: u32 = question::STATEMENTS.since;

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
    /// Part of the names of all files of this run, so leftovers of SQL Server do not conflict.
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
                (None, None) => By::Nobody,
            },
            interrupted: Arc::clone(&hooks.interrupted),
            limit: options.time(RESTART_LIMIT),
            progress: Arc::clone(&hooks.progress),
        };
        let mut session = connect(&access, &restart)?;
        let told = capture::identity(&mut session);
        let address = access.server();
        let (identity, greeting, _) = told.map_err(|error| {
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

    /// Checks whether the arms are possible on the server, before anything is created.
    ///
    /// # Errors
    /// When the login lacks a permission, or the server cannot place files; with the remedy.
    pub(crate) fn check(&self, arms: &[Arm]) -> Result<(), EngineError> {
        let mut session = self.access.connect(OBSERVER)?;
        let missing = |text: String| Err(EngineError::Missing(text));
        match self.product {
            Product::AzureDatabase => {
                return missing(format!(
                    "{} is Azure SQL Database, which places its files itself: there is nothing to compare. \
                     What works there: `dbstow doctor` and `dbstow lint`. To compare placements take a server \
                     of your own, or a managed instance (number and size of files)",
                    self.access.server()
                ));
            }
            Product::ManagedInstance => {
                if let Some([one, other]) = alike(arms) {
                    return missing(format!(
                        "{} is a managed instance, which decides where files are, and the placements \"{one}\" and \
                         \"{other}\" have as many files of the same sizes: leave one out, or give the files in question \
                         sizes, such as --set placement.{other}.data.file_size=\"132 GiB\"",
                        self.access.server()
                    ));
                }
            }
            Product::Other => {
                return missing(format!(
                    "{} speaks T-SQL and is no SQL Server (EngineEdition {}, such as Azure Synapse): its files cannot be \
                     placed; take a SQL Server of your own, or a managed instance",
                    self.access.server(),
                    self.identity.engine_edition
                ));
            }
            Product::Boxed if self.major < MAJOR_MIN => {
                return missing(format!(
                    "{} is SQL Server {}, and a run needs 2016 (version {MAJOR_MIN}) or later, or a managed instance",
                    self.access.server(),
                    self.identity.version
                ));
            }
            Product::Babelfish if self.volumes_end => {
                return missing(format!(
                    "{} is Babelfish, not SQL Server: it ignores where T-SQL puts files, so that modelled disks would stay \
                     unused; emulate with --engine postgres, or on a SQL Server",
                    self.access.server()
                ));
            }
            Product::Babelfish => {
                if let Some([one, other]) = placed_apart(arms) {
                    return missing(format!(
                        "{} is Babelfish, not SQL Server: it ignores where T-SQL puts files, and the placements \"{one}\" and \
                         \"{other}\" place them differently; compare placements with --engine postgres or on a SQL Server, \
                         or give all arms one placement",
                        self.access.server()
                    ));
                }
            }
            Product::Boxed => {}
        }
        let allowed = capture::read(&mut session, &question::PERMISSIONS, |row| {
            Ok((
                row.word("permission")?,
                row.flag("allowed")?.unwrap_or(false),
            ))
        });
        let allowed =
            allowed.map_err(|error| EngineError::failed("ask what the login may do", error))?;
        let allowed: BTreeMap<String, bool> = allowed.into_iter().collect();
        let moves = self
            .moves_tempdb
            .then(|| obstacle_to_moving_tempdb(&self.identity, &allowed));
        match moves.flatten() {
            Some(Obstacle::Cluster) => {
                return missing(format!(
                    "{} is a failover cluster instance: a restart may bring it up on another node, where tempdb's \
                     new directories need not be, and it does not start without them. `dbstow layout` writes the \
                     scripts for moving tempdb by hand; compare on a server of its own",
                    self.access.server()
                ));
            }
            // Missing permissions are reported after those that every run requires.
            Some(Obstacle::Service | Obstacle::Role | Obstacle::Unknown) | None => {}
        }
        let may = |permission: &str| allowed.get(permission).copied().unwrap_or(false);
        if !may("VIEW SERVER STATE") && !may("VIEW SERVER PERFORMANCE STATE") {
            let grant = question::Needs::ServerState
                .grant(self.major, self.product)
                .unwrap_or_default();
            return missing(format!(
                "the login may not see the server's counters, without which there is no reason to give: {grant}"
            ));
        }
        if !may("CREATE ANY DATABASE") {
            return missing(
                "the login may not make a database for the run: GRANT CREATE ANY DATABASE TO [login]".to_owned(),
            );
        }
        if moves.flatten().is_some() {
            return missing(format!(
                "the arms differ in where temporary space is, so that tempdb has to move, which takes a member of \
                 {MOVES_TEMPDB}: {MAKE_ADMINISTRATOR}"
            ));
        }
        if self.moves_tempdb && self.product == Product::Boxed {
            self.restart.check()?;
        }
        Ok(())
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

/// Two placements whose files differ in location, number or size.
fn placed_apart(arms: &[Arm]) -> Option<[&str; 2]> {
    let (first, others) = arms.split_first()?;
    let one = &first.settings.placement;
    let mut others = others.iter().map(|arm| &arm.settings.placement);
    let other = others.find(|other| {
        Role::ALL
            .iter()
            .any(|role| other.files(*role) != one.files(*role))
    })?;
    Some([&one.name, &other.name])
}

/// Two placements that differ only in the location of their files.
fn alike(arms: &[Arm]) -> Option<[&str; 2]> {
    let sizes = |arm: &Arm, role| -> Vec<u64> {
        let files = arm.settings.placement.files(role).iter();
        files.map(database_files::bytes).collect()
    };
    let mut known: BTreeMap<Vec<Vec<u64>>, &str> = BTreeMap::new();
    arms.iter().find_map(|arm| {
        let shape = Role::COMMON.map(|role| sizes(arm, role)).to_vec();
        let name = arm.settings.placement.name.as_str();
        let other = known.insert(shape, name)?;
        (other != name).then_some([other, name])
    })
}
