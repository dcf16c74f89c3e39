//! A private server with its databases, for one trial.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use mysql::Conn;
use mysql::prelude::Queryable;
use parking_lot::Mutex;
use volume::leftovers::Registration;
use volume::site::Site;

use super::counters::Counters;
use super::find::Programs;
use super::instance::Instance;
use super::places::Places;
use super::settings;
use crate::engine::EngineError;
use crate::engine::interruption::Interruptions;
use crate::engine::own_server::{Directories, Owner, check_memory};
use experiment::record::EngineRecord;
use experiment::spec::Settings;
use workload::{Database, Tables, Workload};

/// The database of all sessions where they share one.
const SHARED: &str = "workload";

/// A MariaDB server for one trial.
pub struct MariaDb {
    pub(super) instance: Instance,
    pub(super) directories: Directories,
    pub(super) places: Places,
    pub(super) counters: Counters,
    database: Database,
    pub(super) tables: Tables,
    pub(super) load_is_measured: bool,
    pub(super) record: EngineRecord,
    /// For questions of our own; none while the server is down.
    pub(super) observer: Mutex<Option<Conn>>,
    /// Numbers of the sessions' connections.
    pub(super) sessions: Mutex<BTreeSet<u32>>,
    /// Which part of the buffer pool was empty when counters were read: before the measured time, and behind it.
    pub(super) empty: Mutex<Vec<f64>>,
    pub(super) interruptions: Interruptions,
    pub(super) stopped: bool,
}

impl MariaDb {
    /// Makes a private server with its files on the site's volumes, and starts it. As root, it runs as
    /// `owner`. What has to be ended and removed if this process is killed is written down first.
    ///
    /// # Errors
    /// When a directory of ours is there already or cannot be made, or MariaDB does not come up.
    ///
    /// # Panics
    /// When the site does not have the settings' volumes.
    pub fn private(
        programs: &Programs,
        owner: Option<Owner>,
        registration: &Arc<Registration>,
        (site, settings, workload): (&dyn Site, &Settings, &Workload),
    ) -> Result<MariaDb, EngineError> {
        check_memory(settings)?;
        let places = Places::of_placement(site, settings);
        places.check()?;
        let mut directories = Directories::new(owner);
        let made = Instance::create(
            (programs, owner),
            registration,
            &mut directories,
            &places,
            settings,
        );
        let instance = match made {
            Ok(instance) => instance,
            Err(error) => return Err(error.with_remains(directories.remove())),
        };
        let named = places.named();
        let counters = Counters::of(
            named
                .map(|(name, place)| (name, place.to_owned()))
                .collect(),
        );
        let mut engine = MariaDb {
            instance,
            directories,
            places,
            counters,
            database: workload.database,
            tables: workload.tables,
            load_is_measured: workload.load.measured,
            record: EngineRecord::default(),
            observer: Mutex::new(None),
            sessions: Mutex::default(),
            empty: Mutex::default(),
            interruptions: Interruptions::default(),
            stopped: false,
        };
        match engine.set_up(settings) {
            Ok(()) => Ok(engine),
            Err(error) => {
                let left = crate::engine::Engine::stop(&mut engine);
                Err(error.with_remains(left.map_err(|error| error.to_string())))
            }
        }
    }

    /// Starts the server, makes its databases, and reads what it is.
    fn set_up(&mut self, settings: &Settings) -> Result<(), EngineError> {
        self.instance.start()?;
        for session in 0..settings.workload.sessions {
            let database = self.database(session);
            self.execute(&format!("CREATE DATABASE IF NOT EXISTS {database}"))?;
        }
        let version: Option<String> = self.observe("ask for its version", |connection| {
            connection.query_first("SELECT VERSION()")
        })?;
        let mut observer = self.observer.lock();
        let connection = observer.as_mut().expect("it was asked just now");
        self.record = EngineRecord {
            name: "mariadb".to_owned(),
            version: version.unwrap_or_default(),
            file: "directory".to_owned(),
            settings: settings::in_force(connection)?,
        };
        Ok(())
    }

    /// Process number of the server while it runs.
    pub fn process(&self) -> Option<u32> {
        self.instance.server().process()
    }

    /// Its socket: for a look with `mariadb`, as the user that dbstow runs as.
    pub fn socket(&self) -> PathBuf {
        self.instance.socket()
    }

    /// The database of a session.
    pub(super) fn database(&self, session: u32) -> String {
        match self.database {
            Database::PerSession => format!("session_{session}"),
            Database::Shared => SHARED.to_owned(),
        }
    }

    /// Executes a statement on our own connection.
    pub(super) fn execute(&self, sql: &str) -> Result<(), EngineError> {
        self.observe(sql, |connection| connection.query_drop(sql))
    }

    /// A connection for questions of our own.
    pub(super) fn open_observer(&self) -> Result<Conn, EngineError> {
        let opened = self.instance.target().open(None);
        opened.map_err(|error| self.with_obituary(EngineError::failed("log in to MariaDB", error)))
    }

    /// Does `what` on our own connection; `task` names it in errors.
    pub(super) fn observe<T>(
        &self,
        task: &str,
        what: impl FnOnce(&mut Conn) -> mysql::Result<T>,
    ) -> Result<T, EngineError> {
        let mut observer = self.observer.lock();
        if observer.is_none() {
            *observer = Some(self.open_observer()?);
        }
        let connection = observer.as_mut().expect("it was opened above");
        what(connection).map_err(|error| self.with_obituary(EngineError::failed(task, error)))
    }

    /// How the server ended if it was not told to.
    pub(super) fn obituary(&self) -> Option<String> {
        self.instance.server().obituary()
    }

    pub(super) fn with_obituary(&self, error: EngineError) -> EngineError {
        match self.obituary() {
            Some(obituary) => EngineError::failed(error.to_string(), obituary),
            None => error,
        }
    }
}
