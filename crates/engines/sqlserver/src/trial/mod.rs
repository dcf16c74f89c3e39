//! SQL Server as a trial's engine: a separate database for the run in an existing server.
//!
//! ```text
//!  data files ─► CREATE DATABASE .. ON    N files in one filegroup, filled in proportion
//!  log        ─► CREATE DATABASE .. LOG ON
//!  temp files ─► tempdb                   moved only if arms differ in it, with a restart, and restored
//! ```
//!
//! The server may be on another machine: it creates the files, in directories as it sees them, and reports their I/O. Every
//! change is recorded first (`journal`), so the end of the run, or the next run, can restore it.
//!
//! T-SQL and client run against Babelfish 4.4 (all loads equal to SQLite's); not yet run on SQL Server.

mod access;
mod backup;
mod claims;
mod client;
mod cold;
mod counters;
mod database_files;
mod engine;
mod execute;
mod journal;
mod made;
mod memory;
pub(crate) mod options;
mod provider;
mod restart;
mod restore;
mod run;
mod sampler;
mod site;
mod steps;
mod tempdb;
pub(crate) mod waits;

pub use access::Access;
pub(crate) use access::OBSERVER;
pub(crate) use backup::Backup;
pub use provider::Provider;
pub use run::{OPERATIONS_PER_TRIP, ServerRun};
pub use site::ServerSite;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::capture::{self, Product, TEMPDB};
use crate::session::{Canceller, Driver};
use crate::tsql::{Name, Statement, question};
use host::site::Site;
use parking_lot::{Mutex, MutexGuard};

use ::engine::EngineError;
use ::engine::interruption::Interruptions;
use ::engine::mark::mark;
use claims::{Claims, Remembered};
use database_files::Placed;
use execute::execute;
use experiment::record::{EngineRecord, Note};
use experiment::spec::{Role, Settings};
use memory::Memory;
use run::{Filed, Files};
use workload::{Database, Workload};

/// Application name of a run's sessions; [`question::WAITING`] filters by it.
const SESSION: &str = "dbstow session";

/// Minimum memory for a server, in mebibytes: it accepts 128, but may then reject logins, or not start.
/// Source: Microsoft, "Server memory configuration options" (read 2026-11); the figure is our choice.
const MEMORY_LEAST_MIB: u64 = 1024;

const MAX_SERVER_MEMORY: &str = "max server memory (MB)";

/// A database in a SQL Server, for one trial.
pub struct SqlServer {
    run: Arc<ServerRun>,
    /// The run's own database.
    name: Name,
    tempdb: Name,
    /// Its number.
    number: i64,
    database: Database,
    /// Operations of one round trip.
    per_turn: u64,
    sessions: usize,
    /// When the service started: a different time means a restart.
    started: String,
    /// Departures from the request, for the record, by subject.
    departures: BTreeMap<String, String>,
    /// Of these, departures that affect the meaning of the figures.
    notes: Vec<Note>,
    /// What the database is restored from; `None`: its workload loads it.
    backup: Option<Arc<Backup>>,
    /// What the statements must do, if the workload has a claim.
    claims: Option<Claims>,
    record: EngineRecord,
    /// For our own queries.
    observer: Mutex<Option<Driver>>,
    /// Unused connections of sessions.
    kept: Mutex<BTreeMap<u32, Driver>>,
    cancellers: Mutex<Vec<Canceller>>,
    /// Number of times that sessions were interrupted.
    interruptions: Interruptions,
    stopped: bool,
}

impl SqlServer {
    /// Moves tempdb to its place if arms differ in it, and creates a database with its files on the site's volumes.
    ///
    /// # Errors
    /// When the server refuses; with its error, and the remedy.
    ///
    /// # Panics
    /// When the site does not have the settings' volumes.
    pub fn start(
        run: Arc<ServerRun>,
        site: &dyn Site,
        settings: &Settings,
        workload: &Workload,
    ) -> Result<SqlServer, EngineError> {
        let mut engine = SqlServer::of(run, settings.workload.sessions as usize);
        engine.database = workload.database;
        engine.per_turn = workload.run.per_turn;
        engine.claims = Claims::of(workload);
        engine.made(site, settings)
    }

    /// A database that is still to be made.
    fn of(run: Arc<ServerRun>, sessions: usize) -> SqlServer {
        SqlServer {
            name: Name::new(format!("dbstow_{}", mark())).expect("a name"),
            tempdb: Name::new("tempdb").expect("a name"),
            number: 0,
            database: Database::Shared,
            per_turn: 1,
            sessions,
            started: String::new(),
            departures: BTreeMap::new(),
            notes: Vec::new(),
            backup: None,
            claims: None,
            record: EngineRecord::default(),
            observer: Mutex::new(None),
            kept: Mutex::default(),
            cancellers: Mutex::default(),
            interruptions: Interruptions::default(),
            stopped: false,
            run,
        }
    }

    fn made(mut self, site: &dyn Site, settings: &Settings) -> Result<SqlServer, EngineError> {
        match self.make(site, settings) {
            Ok(()) => Ok(self),
            Err(error) => match ::engine::Engine::stop(&mut self) {
                Ok(()) => Err(error),
                Err(left) => Err(EngineError::failed(error.to_string(), left)),
            },
        }
    }

    /// Sets up tempdb, the database with its settings, and the sessions' users.
    fn make(&mut self, site: &dyn Site, settings: &Settings) -> Result<(), EngineError> {
        let volumes = 0..settings.volumes.len();
        let directories: Vec<String> = volumes
            .map(|volume| site.directory(volume).display().to_string())
            .collect();
        let directories =
            (self.run.product() != Product::ManagedInstance).then_some(directories.as_slice());
        if directories.is_none() {
            let counted = "the instance decides where files are: those of this arm are as many and as large, no more";
            self.departures
                .insert("placement".to_owned(), counted.to_owned());
        }
        if self.run.product() == Product::Babelfish {
            let ignored = "Babelfish, not SQL Server, ignores where T-SQL puts files";
            self.notes
                .push(Note::NotAsAsked(format!("placement: {ignored}")));
            self.departures
                .insert("placement".to_owned(), ignored.to_owned());
        }
        let mut temp = Vec::new();
        if self.run.moves_tempdb() {
            temp = tempdb::bring(&self.run, settings, directories)?;
        } else {
            let stayed = "stayed where it is: all arms have it in one place";
            self.departures
                .insert("tempdb".to_owned(), stayed.to_owned());
        }
        self.started = self.run.started()?;
        let backup = self.backup.clone();
        let own = match &backup {
            Some(backup) => self.files_of(backup, settings, directories)?,
            None => database_files::database(&self.name, settings, directories)?,
        };
        self.run
            .note(|changes| changes.databases.push(self.name.text().to_owned()))?;
        if backup.is_none() {
            self.set_memory(settings)?;
        }
        let mut session = self.run.access().connect(OBSERVER)?;
        match &backup {
            Some(backup) => self.restore(&mut session, backup, &own)?,
            None => {
                self.create(&mut session, &own)?;
                self.set_options(&mut session, settings)?;
            }
        }
        self.run
            .execute(&mut session, &Statement::Use(self.name.clone()))?;
        for number in 0..settings.workload.sessions {
            if let Some(owner) = self.owner(number) {
                for text in user(&owner) {
                    self.run.execute(&mut session, &text)?;
                }
            }
        }
        self.find_files(&mut session, own.iter().chain(&temp))?;
        self.introduce(&mut session)
    }

    /// The id of the run's own database.
    fn number_of(&self, session: &mut Driver) -> Result<i64, EngineError> {
        let databases = capture::read(session, &question::DATABASES, |row| {
            Ok((row.word("name")?, row.count("id")?))
        });
        let databases = databases
            .map_err(|error| EngineError::failed("look for the database that was made", error))?;
        let own = databases.iter().find(|(name, _)| name == self.name.text());
        Ok(own.map(|(_, id)| *id).unwrap_or_default())
    }

    /// Records which file is on which volume, by file id.
    fn find_files<'a>(
        &mut self,
        session: &mut Driver,
        placed: impl Iterator<Item = &'a Placed>,
    ) -> Result<(), EngineError> {
        let failed = |error| EngineError::failed("look at the files that were made", error);
        self.number = self.number_of(session)?;
        let there = capture::files(session).map_err(failed)?;
        let mut files = Files::new();
        for file in placed {
            let database = if file.role == Role::Temp {
                TEMPDB
            } else {
                self.number
            };
            let name = file.spec.name.text();
            let known = there.iter().find(|known| {
                known.database_id == database && known.name.eq_ignore_ascii_case(name)
            });
            // A managed instance chooses the names of the first data file and the log.
            let managed = self.run.product() == Product::ManagedInstance;
            let known = known.or_else(|| {
                if !managed {
                    return None;
                }
                let kind = if file.role == Role::Log {
                    capture::FileKind::Log
                } else {
                    capture::FileKind::Rows
                };
                there
                    .iter()
                    .find(|known| known.database_id == database && known.kind == kind)
            });
            if let Some(known) = known {
                let filed = Filed {
                    role: file.role,
                    volume: file.volume,
                    is_log: known.kind == capture::FileKind::Log,
                };
                files.insert((database, known.id), filed);
            }
        }
        self.run.set_files(files);
        Ok(())
    }

    /// Reads the server's properties.
    fn introduce(&mut self, session: &mut Driver) -> Result<(), EngineError> {
        let failed = |error| EngineError::failed("ask the server what it is", error);
        let (identity, _, _) = capture::identity(session).map_err(failed)?;
        let settings = capture::read(session, &question::SETTINGS, |row| {
            Ok((row.word("name")?, row.count("value")?.to_string()))
        });
        let mut settings: BTreeMap<String, String> =
            settings.map_err(failed)?.into_iter().collect();
        settings.insert("edition".to_owned(), identity.edition.clone());
        if let Some(version) = &identity.babelfish {
            let product = format!("Babelfish {version}, not SQL Server");
            settings.insert("product".to_owned(), product);
        }
        let statements = match self.per_turn {
            _ if self.backup.is_some() => "those of a log, as its text".to_owned(),
            1 => "driven by the client, prepared".to_owned(),
            many => format!("a loop on the server, {many} operations a round trip"),
        };
        settings.insert("statements".to_owned(), statements);
        settings.append(&mut self.departures);
        self.record = EngineRecord {
            name: "sqlserver".to_owned(),
            version: identity.version,
            file: "file".to_owned(),
            settings,
        };
        Ok(())
    }

    /// Sets the server's memory to that of the experiment, unless it should be left unchanged.
    fn set_memory(&mut self, settings: &Settings) -> Result<(), EngineError> {
        let asked = settings.engine.memory.0 >> 20;
        let mut session = self.run.access().connect(OBSERVER)?;
        let before = capture::read(&mut session, &question::SETTINGS, |row| {
            Ok((row.word("name")?, row.count("value")?))
        });
        let before =
            before.map_err(|error| EngineError::failed("look at the server's memory", error))?;
        let mut before = before.into_iter();
        let before = before.find(|(name, _)| name == MAX_SERVER_MEMORY);
        let before = before.and_then(|(_, mib)| u64::try_from(mib).ok());
        let left = |why: String| Memory {
            asked,
            got: before,
            why,
        };
        let mib = asked.max(MEMORY_LEAST_MIB);
        let memory = match before {
            _ if !self.run.sets_memory() => left("--leave-memory keeps it".to_owned()),
            None => left("the server does not report it".to_owned()),
            Some(before) => match self.give_memory(&mut session, before, mib)? {
                None => Memory {
                    asked,
                    got: Some(mib),
                    why: "with less the server may not start".to_owned(),
                },
                Some(refused) => left(refused),
            },
        };
        if let Some(how) = memory.departure() {
            self.notes.push(Note::NotAsAsked(format!("memory: {how}")));
            self.departures.insert("memory".to_owned(), how);
        }
        Ok(())
    }

    /// Sets the memory. Returns why the server refused.
    fn give_memory(
        &self,
        session: &mut Driver,
        before: u64,
        mib: u64,
    ) -> Result<Option<String>, EngineError> {
        if before == mib {
            return Ok(None);
        }
        let first = self.run.journal().changes().memory_mib.is_none();
        if first {
            let before = i64::try_from(before).ok();
            self.run.note(|changes| changes.memory_mib = before)?;
        }
        let statement = Statement::MaxServerMemory {
            mib: u32::try_from(mib).unwrap_or(u32::MAX),
        };
        let Err(error) = execute(session, &statement) else {
            return Ok(None);
        };
        // Refused for certain: in case of doubt it is restored at the end.
        if first && crate::session::Session::is_usable(session) {
            self.run.note(|changes| changes.memory_mib = None)?;
        }
        Ok(Some(format!("{error}; GRANT ALTER SETTINGS TO [login]")))
    }

    /// Claims that the statements did not fulfil.
    fn missed(&self, claims: &Claims) -> Vec<Note> {
        let remembered = self.observe(|session| {
            execute(session, &Statement::Use(self.name.clone()))?;
            let rows = capture::read(session, &question::STATEMENTS, |row| {
                Ok(Remembered {
                    text: row.word("text")?,
                    threads: row.count("threads")?,
                    spilled_pages: row.count("spilled_pages")?,
                })
            });
            rows.map_err(|error| EngineError::failed("read the plan cache", error))
        });
        match remembered {
            Ok(remembered) => claims.judge(&remembered),
            Err(error) => vec![claims.unknown(&error.to_string())],
        }
    }

    /// Switches a session's connection to the database and to the user that owns its tables.
    fn enter(&self, connection: &mut Driver, session: u32) -> Result<(), EngineError> {
        execute(connection, &Statement::Use(self.name.clone()))?;
        let Some(owner) = self.owner(session) else {
            return Ok(());
        };
        let owner = crate::tsql::literal(&owner);
        execute(connection, &format!("EXECUTE AS USER = {owner};"))
    }

    fn observe<T>(
        &self,
        what: impl FnOnce(&mut Driver) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let mut observer = self.observer.lock();
        if !observer
            .as_ref()
            .is_some_and(crate::session::Session::is_usable)
        {
            *observer = Some(self.run.access().connect(OBSERVER)?);
        }
        what(observer.as_mut().expect("it was opened above"))
    }

    fn keep_connection(&self, session: u32, connection: Driver) {
        self.kept().insert(session, connection);
    }

    fn kept(&self) -> MutexGuard<'_, BTreeMap<u32, Driver>> {
        self.kept.lock()
    }

    fn cancellers(&self) -> MutexGuard<'_, Vec<Canceller>> {
        self.cancellers.lock()
    }
}

/// A user without a login with its own schema, so that sessions running the same script have separate tables.
fn user(owner: &str) -> [String; 3] {
    let name = Name::new(owner).expect("a name");
    [
        format!("CREATE USER {name} WITHOUT LOGIN WITH DEFAULT_SCHEMA = {name};"),
        format!("CREATE SCHEMA {name} AUTHORIZATION {name};"),
        format!("GRANT CONTROL TO {name};"),
    ]
}
