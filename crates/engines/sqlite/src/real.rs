//! SQLite as a real engine: sessions are threads, and its files are on a site's directories.

use std::collections::BTreeMap;
use std::sync::Arc;

use host::site::Site;
use model::store::{self, ReadUnit};
use paced::Pacer;
use sqlite_vfs::real_time::{Access, Activity, Database, DatabaseSpec, PlacedFile};

use super::client::SqliteClient;
use super::sessions::Sessions;
use engine::{Client, Engine, EngineError, WaitKind, WaitSampler, Waiting};
use experiment::record::EngineRecord;
use experiment::spec::{self, Commit, Settings, Temperature};
use workload::{self, Tables, Workload};

/// Size of a connection's statement cache: more than any workload has.
const PREPARED: usize = 1024;

/// What "file" means for it.
const FILE: &str = "a file to which the pages of all sessions' databases are distributed in extents of 64 KiB, \
                    each extent to the file with the largest part of its space free";

/// An SQLite database for one trial.
pub struct SqliteEngine {
    /// `None` once stopped.
    database: Option<Database>,
    shared: bool,
    written_together: bool,
    tables: store::Role,
    sessions: Sessions,
    volumes: Vec<String>,
    settings: BTreeMap<String, String>,
    direct: bool,
    keep: bool,
}

impl SqliteEngine {
    /// Creates the files of `settings`' placement in the directories of `site`, whose volumes are those of the settings that
    /// contain files, in order. With a `pacer`, requests take as long as its model says;
    /// without, file I/O bypasses the operating system's cache if possible.
    ///
    /// # Errors
    /// When a file cannot be created.
    pub fn start(
        settings: &Settings,
        workload: &Workload,
        site: &dyn Site,
        pacer: Option<Arc<Pacer>>,
    ) -> Result<SqliteEngine, EngineError> {
        let used = settings.placement.volumes();
        let names = settings.volumes.iter().map(|volume| &volume.name);
        let volumes: Vec<String> = names
            .filter(|name| used.contains(name.as_str()))
            .cloned()
            .collect();
        let direct = pacer.is_none();
        let spec = database_spec(settings, &volumes, site, direct);
        let described = described(&spec);
        let failed = |error| EngineError::failed("making the files of the database", error);
        Ok(SqliteEngine {
            database: Some(Database::create(spec, pacer).map_err(failed)?),
            shared: workload.database == workload::Database::Shared,
            written_together: workload.is_written_together(),
            tables: match workload.tables {
                Tables::Data => store::Role::Data,
                Tables::Temp => store::Role::Temp,
            },
            sessions: Sessions::default(),
            volumes,
            settings: described,
            direct,
            keep: false,
        })
    }

    fn database(&self) -> Result<&Database, EngineError> {
        let stopped = || EngineError::failed("using the database", "it was stopped");
        self.database.as_ref().ok_or_else(stopped)
    }

    /// The name of a session's database.
    fn name(&self, session: u32) -> String {
        if self.shared {
            "shared".to_owned()
        } else {
            format!("session-{session}")
        }
    }

    /// What could not be emptied for a cold start.
    fn not_cold(&self, database: &Database) -> Vec<String> {
        let cached = database.cached_files();
        if !self.direct || cached.is_empty() {
            return Vec::new();
        }
        vec![format!(
            "{} read through the operating system's cache, whose memory is not the buffer pool's: \
             direct I/O is not possible there",
            cached.join(", ")
        )]
    }
}

/// The files and the memory of an arm.
fn database_spec(
    settings: &Settings,
    volumes: &[String],
    site: &dyn Site,
    direct: bool,
) -> DatabaseSpec {
    let file = |file: &spec::File| {
        let volume = volumes.iter().position(|name| *name == file.volume);
        let volume = volume.expect("a checked spec defines every volume");
        PlacedFile {
            volume,
            directory: site.directory(volume).to_owned(),
            size: file.size,
        }
    };
    let engine = &settings.engine;
    DatabaseSpec {
        data: settings.placement.data.iter().map(file).collect(),
        temp: settings.placement.temp.iter().map(file).collect(),
        log: file(&settings.placement.log),
        memory: engine.memory,
        sort_memory: engine.sort_memory,
        read_unit: match engine.read_unit {
            spec::ReadUnit::Page => ReadUnit::Page,
            spec::ReadUnit::Extent => ReadUnit::Extent,
        },
        write_gather: engine.write_gather,
        log_gather: engine.log_gather,
        writes_in_flight: engine.writes_in_flight,
        commit: match engine.commit {
            Commit::Durable => store::Commit::Durable,
            Commit::Relaxed => store::Commit::Relaxed,
        },
        access: if direct {
            Access::Direct
        } else {
            Access::Cached
        },
    }
}

/// The settings in force, for the record.
fn described(spec: &DatabaseSpec) -> BTreeMap<String, String> {
    let synchronous = match spec.commit {
        store::Commit::Durable => "FULL",
        store::Commit::Relaxed => "OFF",
    };
    let settings = [
        ("journal_mode", "WAL".to_owned()),
        ("synchronous", synchronous.to_owned()),
        ("page_size", store::PAGE.to_string()),
        ("buffer_pool", format!("{} for all sessions", spec.memory)),
        (
            "cache_size",
            format!("{} in each session", spec.sort_memory),
        ),
        ("write_gather", spec.write_gather.to_string()),
        ("writes_in_flight", spec.writes_in_flight.to_string()),
        ("read_ahead", "none".to_owned()),
        (
            "wal_autocheckpoint",
            "1000 pages, by the session that commits".to_owned(),
        ),
    ];
    let settings = settings.into_iter();
    settings
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

impl Engine for SqliteEngine {
    fn describe(&self) -> EngineRecord {
        EngineRecord {
            name: "sqlite".to_owned(),
            version: rusqlite::version().to_owned(),
            file: FILE.to_owned(),
            settings: self.settings.clone(),
        }
    }

    fn connect(&self, session: u32) -> Result<Box<dyn Client + '_>, EngineError> {
        let parked = self.sessions.parked.lock().remove(&session);
        let own = match parked {
            Some(own) => own,
            None => {
                let failed = |error| EngineError::failed("opening a database", error);
                let name = self.name(session);
                let own = self
                    .database()?
                    .open(session, &name, self.tables)
                    .map_err(failed)?;
                own.connection()
                    .set_prepared_statement_cache_capacity(PREPARED);
                own
            }
        };
        Ok(Box::new(SqliteClient::new(
            &self.sessions,
            session,
            self.written_together,
            own,
        )))
    }

    /// Extents are spread over the files as they are written.
    fn distribute_tables(&self, _: u32) -> Result<(), EngineError> {
        Ok(())
    }

    /// Checkpoints the log into the tables, and writes everything to the files. No `ANALYZE`: its statistics change plans, and
    /// simulated runs do not use it.
    fn quiesce(&self) -> Result<(), EngineError> {
        if self.sessions.statements() == 0 {
            // Nothing was loaded, and SQLite cannot checkpoint an empty database.
            return Ok(());
        }
        for session in self.sessions.parked.lock().values_mut() {
            let checkpoint = session.work(|connection| {
                connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
            });
            checkpoint.map_err(|error| EngineError::failed("a checkpoint", error))?;
        }
        let synced = self.database()?.sync();
        synced.map_err(|error| EngineError::failed("writing the database out", error))
    }

    /// A cold start does not require a restart: the buffer pool and the sessions' caches are emptied.
    fn start(
        &self,
        temperature: Temperature,
        forget: &mut dyn FnMut() -> Result<Vec<String>, EngineError>,
    ) -> Result<Vec<String>, EngineError> {
        match temperature {
            Temperature::Warm => Ok(Vec::new()),
            Temperature::Cold => {
                let database = self.database()?;
                for session in self.sessions.parked.lock().values() {
                    let released = session.connection().release_memory();
                    released.map_err(|error| EngineError::failed("emptying a cache", error))?;
                }
                let emptied = database.empty_pool();
                emptied.map_err(|error| EngineError::failed("emptying the buffer pool", error))?;
                let mut notes = forget()?;
                notes.extend(self.not_cold(database));
                Ok(notes)
            }
        }
    }

    fn counters(&self) -> Result<BTreeMap<String, f64>, EngineError> {
        let database = self.database()?;
        let mut counters = BTreeMap::from([
            ("statements".to_owned(), self.sessions.statements()),
            ("logical_reads".to_owned(), database.logical_reads()),
            ("physical_reads".to_owned(), database.physical_reads()),
        ]);
        for (name, count) in self.volumes.iter().zip(database.volumes()) {
            counters.extend([
                (format!("vfs.{name}.reads"), count.reads),
                (format!("vfs.{name}.writes"), count.writes),
                (format!("vfs.{name}.flushes"), count.flushes),
                (format!("vfs.{name}.read_bytes"), count.read_bytes),
                (format!("vfs.{name}.write_bytes"), count.write_bytes),
            ]);
        }
        let counters = counters.into_iter();
        Ok(counters.map(|(name, count)| (name, count as f64)).collect())
    }

    fn waits(&self) -> Result<Option<Box<dyn WaitSampler + '_>>, EngineError> {
        Ok(Some(Box::new(Sampler {
            sessions: &self.sessions,
            database: self.database()?,
        })))
    }

    fn interrupt(&self) {
        if let Some(database) = &self.database {
            database.interrupt();
        }
    }

    fn keep(&mut self) {
        self.keep = true;
    }

    fn stop(&mut self) -> Result<(), EngineError> {
        if let Some(database) = &self.database {
            database.abandon();
        }
        self.sessions.parked.lock().clear();
        if self.keep {
            self.database = None;
            return Ok(());
        }
        let removed = self.database.take().map_or(Ok(()), Database::remove);
        removed.map_err(|error| EngineError::failed("removing the files of the database", error))
    }
}

impl Drop for SqliteEngine {
    fn drop(&mut self) {
        // Callers that need the error call `stop`.
        let _ = self.stop();
    }
}

/// Samples the activity of the sessions' files and locks.
struct Sampler<'a> {
    sessions: &'a Sessions,
    database: &'a Database,
}

impl WaitSampler for Sampler<'_> {
    fn sample(&mut self) -> Result<Vec<Waiting>, EngineError> {
        let activities = self.database.activities();
        let parked = self.sessions.parked.lock();
        let of_the_run = activities
            .into_iter()
            .filter(|(number, _)| !parked.contains_key(number));
        Ok(of_the_run.map(|(_, activity)| waiting(activity)).collect())
    }
}

fn waiting(activity: Activity) -> Waiting {
    let (kind, event) = match activity {
        Activity::Idle => (WaitKind::Client, ""),
        Activity::Computing => (WaitKind::Cpu, ""),
        Activity::ReadingData => (WaitKind::Read, "read/data"),
        Activity::ReadingTemp => (WaitKind::Read, "read/temp"),
        Activity::ReadingLog => (WaitKind::Read, "read/log"),
        Activity::WritingData => (WaitKind::Write, "write/data"),
        Activity::WritingTemp => (WaitKind::Write, "write/temp"),
        Activity::WritingLog => (WaitKind::Log, "write/log"),
        Activity::WaitingForDatabase => (WaitKind::Lock, "lock/database"),
        Activity::WaitingForLock => (WaitKind::Lock, "lock/application"),
    };
    Waiting {
        kind,
        event: event.to_owned(),
    }
}
