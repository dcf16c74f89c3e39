//! A private server with its databases, or databases in a given server, for one trial.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::capture::Product;
use host::orphans::Registration;
use host::site::Site;
use parking_lot::Mutex;

use crate::session::failure::Failure;
use crate::session::login::{Address, Target};
use crate::session::url::ServerUrl;
use crate::session::wire::Connection;
use crate::trial::counters::Counters;
use crate::trial::external::External;
use crate::trial::find::Programs;
use crate::trial::instance::Instance;
use crate::trial::places::Places;
use crate::trial::settings;
use engine::EngineError;
use engine::interruption::Interruptions;
use engine::managed_server::{Directories, Owner, check_memory};
use experiment::record::EngineRecord;
use experiment::spec::Settings;
use workload::{Database, Tables, Workload};

/// The database of all sessions if they share one.
const SHARED: &str = "workload";

/// A MariaDB server, or databases in one, for one trial.
pub struct MariaDb {
    pub(crate) host: Host,
    pub(crate) directories: Directories,
    pub(crate) places: Places,
    pub(crate) counters: Counters,
    database: Database,
    /// The names of all created databases.
    pub(crate) databases: Vec<String>,
    pub(crate) tables: Tables,
    pub(crate) load_is_measured: bool,
    pub(crate) record: EngineRecord,
    /// For our own queries; `None` while the server is down.
    pub(crate) observer: Mutex<Option<Connection>>,
    /// Connection ids of the sessions.
    pub(crate) sessions: Mutex<BTreeSet<u32>>,
    /// Id of our own connection; 0 if none.
    pub(crate) observer_number: AtomicU32,
    /// Empty share of the buffer pool when counters were read: before and after the measured time.
    pub(crate) empty: Mutex<Vec<f64>>,
    pub(crate) interruptions: Interruptions,
    pub(crate) stopped: bool,
    /// Whether its files are copies of another server's, which are not needed when it stops.
    pub(crate) is_copy: bool,
}

/// A private or an external server.
pub(crate) enum Host {
    Private(Instance),
    External(External),
}

impl MariaDb {
    /// Creates a private server with its files on the site's volumes, and starts it. As root, it runs as `owner`. What must be
    /// ended and removed if this process is killed is registered first.
    ///
    /// # Errors
    /// When one of our directories exists already or cannot be created, or MariaDB does not start.
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
            Err(error) => return Err(error.with_left_behind(directories.remove())),
        };
        let counters = counters(places.named());
        let host = Host::Private(instance);
        MariaDb::made(host, directories, places, counters, (settings, workload))
    }

    /// Creates databases in an existing server on this machine, with their tables on the site's volumes.
    ///
    /// # Errors
    /// When the server rejects the login or is unsuitable, or a directory cannot be created.
    ///
    /// # Panics
    /// When the site does not have the settings' volumes.
    pub fn external(
        url: &ServerUrl,
        site: &dyn Site,
        settings: &Settings,
        workload: &Workload,
    ) -> Result<MariaDb, EngineError> {
        let external = External::open(url, settings)?;
        let places = Places::of_placement(site, settings);
        external.check_places(match workload.tables {
            Tables::Data => &places.data,
            Tables::Temp => &places.temp,
        })?;
        let mut directories = Directories::new(external.owner());
        for (_, place) in places.of_tables() {
            if let Err(error) = directories.make(place) {
                return Err(error.with_left_behind(directories.remove()));
            }
        }
        let counters = counters(places.of_tables());
        let host = Host::External(external);
        MariaDb::made(host, directories, places, counters, (settings, workload))
    }

    /// Starts a server on a copy of another one's files.
    ///
    /// # Errors
    /// When it does not start.
    #[cfg(target_os = "linux")]
    pub(crate) fn of_copy(instance: Instance, places: Places) -> Result<MariaDb, EngineError> {
        let counters = counters(places.named());
        let mut directories = Directories::new(None);
        // They vanish with the volumes.
        directories.keep();
        let host = Host::Private(instance);
        let mut engine = MariaDb::new(
            host,
            directories,
            places,
            counters,
            (Database::Shared, Tables::Data),
        );
        engine.is_copy = true;
        engine.check_made(|engine| {
            engine.start_private()?;
            engine.introduce()
        })
    }

    fn made(
        host: Host,
        directories: Directories,
        places: Places,
        counters: Counters,
        (settings, workload): (&Settings, &Workload),
    ) -> Result<MariaDb, EngineError> {
        let of_workload = (workload.database, workload.tables);
        let mut engine = MariaDb::new(host, directories, places, counters, of_workload);
        engine.load_is_measured = workload.load.measured;
        engine.check_made(|engine| engine.set_up(settings))
    }

    fn new(
        host: Host,
        directories: Directories,
        places: Places,
        counters: Counters,
        (database, tables): (Database, Tables),
    ) -> MariaDb {
        MariaDb {
            host,
            directories,
            places,
            counters,
            database,
            databases: Vec::new(),
            tables,
            load_is_measured: false,
            record: EngineRecord::default(),
            observer: Mutex::new(None),
            sessions: Mutex::default(),
            observer_number: AtomicU32::new(0),
            empty: Mutex::default(),
            interruptions: Interruptions::default(),
            stopped: false,
            is_copy: false,
        }
    }

    /// The server after `set_up`; if that fails, it is stopped.
    fn check_made(
        mut self,
        set_up: impl FnOnce(&mut MariaDb) -> Result<(), EngineError>,
    ) -> Result<MariaDb, EngineError> {
        match set_up(&mut self) {
            Ok(()) => Ok(self),
            Err(error) => {
                let left = engine::Engine::stop(&mut self);
                Err(error.with_left_behind(left.map_err(|error| error.to_string())))
            }
        }
    }

    fn start_private(&self) -> Result<(), EngineError> {
        self.instance().map_or(Ok(()), Instance::start)
    }

    /// Starts a private server, creates the databases, and reads its properties.
    fn set_up(&mut self, settings: &Settings) -> Result<(), EngineError> {
        self.start_private()?;
        for session in 0..settings.workload.sessions {
            let database = self.database(session);
            if self.databases.contains(&database) {
                continue;
            }
            // Before it is created: it is removed even if the response does not arrive.
            self.databases.push(database.clone());
            self.execute(&format!(
                "CREATE DATABASE {database} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
            ))?;
        }
        self.introduce()
    }

    /// Reads its properties.
    fn introduce(&mut self) -> Result<(), EngineError> {
        let version = self.observe("ask for its version", |connection| {
            Ok(connection.first("SELECT VERSION()")?.word(0)?.to_owned())
        })?;
        let mut observer = self.observer.lock();
        let connection = observer.as_mut().expect("it was asked just now");
        self.record = EngineRecord {
            // The name in the plan, for both products.
            name: "mariadb".to_owned(),
            version: match self.product() {
                Product::MariaDb => version,
                Product::MySql => format!("MySQL {version}"),
            },
            file: "directory".to_owned(),
            settings: settings::in_force(connection)?,
        };
        Ok(())
    }

    /// Process id of a private server while it runs.
    pub fn process(&self) -> Option<u32> {
        self.instance()?.server().process()
    }

    /// Its socket, for inspection with `mariadb`: for a private server, as the user that dbstow runs as. Empty if an external
    /// server is reached by network.
    pub fn socket(&self) -> PathBuf {
        match self.target().address {
            Address::Unix(path) => path,
            Address::Tcp(..) => PathBuf::new(),
        }
    }

    /// The server, if it is private.
    pub(crate) fn instance(&self) -> Option<&Instance> {
        match &self.host {
            Host::Private(instance) => Some(instance),
            Host::External(_) => None,
        }
    }

    pub(crate) fn product(&self) -> Product {
        match &self.host {
            Host::Private(_) => Product::MariaDb,
            Host::External(external) => external.product(),
        }
    }

    pub(crate) fn target(&self) -> Target {
        match &self.host {
            Host::Private(instance) => instance.target(),
            Host::External(external) => external.target().clone(),
        }
    }

    /// Opens a connection to `database`, or to none.
    pub(crate) fn open(&self, database: Option<&str>) -> Result<Connection, Failure> {
        match &self.host {
            Host::Private(instance) => instance.target().open(database),
            Host::External(external) => external.connect(database),
        }
    }

    /// The database of a session.
    pub(crate) fn database(&self, session: u32) -> String {
        let prefix = match &self.host {
            Host::Private(_) => "",
            Host::External(external) => external.prefix(),
        };
        match self.database {
            Database::PerSession => format!("{prefix}session_{session}"),
            Database::Shared => format!("{prefix}{SHARED}"),
        }
    }

    /// Executes a statement on our own connection.
    pub(crate) fn execute(&self, sql: &str) -> Result<(), EngineError> {
        self.observe(sql, |connection| connection.work(sql))
    }

    /// A connection for our own queries.
    pub(crate) fn open_observer(&self) -> Result<Connection, EngineError> {
        let opened = self.open(None);
        opened.map_err(|error| {
            self.with_exit_reason(EngineError::failed(
                format!("log in to {}", self.product().name()),
                error,
            ))
        })
    }

    /// Does `what` on our own connection; `task` names it in errors.
    pub(crate) fn observe<T>(
        &self,
        task: &str,
        what: impl FnOnce(&mut Connection) -> Result<T, Failure>,
    ) -> Result<T, EngineError> {
        let mut observer = self.observer.lock();
        if observer.is_none() {
            let opened = self.open_observer()?;
            self.observer_number.store(opened.number, Ordering::Relaxed);
            *observer = Some(opened);
        }
        let connection = observer.as_mut().expect("it was opened above");
        what(connection).map_err(|error| self.with_exit_reason(EngineError::failed(task, error)))
    }

    /// Exit reason of a private server that was not stopped by us.
    pub(crate) fn exit_reason(&self) -> Option<String> {
        self.instance()?.server().exit_reason()
    }

    pub(crate) fn with_exit_reason(&self, error: EngineError) -> EngineError {
        match self.exit_reason() {
            Some(exit_reason) => EngineError::failed(error.to_string(), exit_reason),
            None => error,
        }
    }
}

/// Counters of files by these directories.
fn counters<'a>(named: impl Iterator<Item = (String, &'a Path)>) -> Counters {
    Counters::of(
        named
            .map(|(name, place)| (name, place.to_owned()))
            .collect(),
    )
}
