//! PostgreSQL 15 to 18 as a trial's engine: a private server, or a database in a given one.
//!
//! ```text
//!  data files  ─► tablespaces data_1 ..  one directory each on its volume; tables that are declared
//!                                        PARTITION BY HASH have a part in each, others are dealt in turn
//!  temp files  ─► tablespaces temp_1 ..  temp_tablespaces: temporary tables, spilled sorts and hashes
//!  log         ─► initdb --waldir        on the log's volume
//!  the rest    ─► data directory         on the first data file's volume
//! ```

mod client;
mod cluster;
mod counters;
mod directories;
mod engine;
mod find;
mod given;
mod log;
mod login;
mod memory;
pub(in crate::engine) mod provider;
mod run_directory;
mod settings;
mod tablespaces;
mod target;
mod url;
mod waits;
mod wire;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use parking_lot::Mutex;
use volume::leftovers::Registration;
use volume::site::Site;

pub use directories::{Owner, owner};
pub use find::{Binaries, VERSIONS};
pub use url::ServerUrl;

use crate::engine::{Engine, EngineError};
use experiment::record::EngineRecord;
use experiment::spec::Settings;
use workload::{Database, Tables, Workload};

use cluster::Cluster;
use directories::Directories;
use given::Given;
use tablespaces::{Tablespace, Tablespaces};
use target::Target;
use wire::{Connection, Row};

/// The name that the sessions of a run go by in the server.
const SESSION: &str = "dbstow session";

/// The name of dbstow's other connections.
const OBSERVER: &str = "dbstow";

/// The schema of all sessions where they share one.
const SHARED: &str = "workload";

/// A PostgreSQL server, or a database in one, for one trial.
pub struct Postgres {
    host: Host,
    directories: Directories,
    target: Target,
    tablespaces: Tablespaces,
    database: Database,
    tables: Tables,
    load_is_measured: bool,
    record: EngineRecord,
    major: u32,
    /// For questions of our own; none while the server is down.
    observer: Mutex<Option<Connection>>,
    /// How often sessions were interrupted.
    interruptions: AtomicU64,
    stopped: bool,
}

/// Whose server it is.
enum Host {
    Private(Cluster),
    Given(Given),
}

impl Postgres {
    /// Makes a private server with its files on the site's volumes, and starts it. As root, it runs as
    /// `owner`. What has to be ended and removed if this process is killed is written down first.
    ///
    /// Where the calling thread ends, so does the server ([`volume::child`], on Linux).
    ///
    /// # Errors
    /// When a directory of ours is there already or cannot be made, or PostgreSQL does not come up.
    ///
    /// # Panics
    /// When the site does not have the settings' volumes.
    pub fn private(
        binaries: &Binaries,
        owner: Option<Owner>,
        registration: &Arc<Registration>,
        (site, settings, workload): (&dyn Site, &Settings, &Workload),
    ) -> Result<Postgres, EngineError> {
        memory::check(settings)?;
        let mut directories = Directories::new(owner);
        let placement = &settings.placement;
        let data = directories::home(site, settings, &placement.data[0]).join("cluster");
        let log = directories::home(site, settings, &placement.log).join("wal");
        let made = Cluster::create(
            (binaries, owner),
            registration,
            &mut directories,
            (&data, &log),
            settings,
        );
        let cluster = match made {
            Ok(cluster) => cluster,
            Err(error) => return Err(with_remains(error, directories.remove())),
        };
        let target = cluster.target("dbstow");
        let host = Host::Private(cluster);
        Postgres::set_up(host, target, directories, "", site, settings, workload)
    }

    /// Makes a database and tablespaces of its own in a server that is there, for a superuser on the same
    /// machine.
    ///
    /// # Errors
    /// When the server does not let us in or refuses, or a directory cannot be made.
    ///
    /// # Panics
    /// When the site does not have the settings' volumes.
    pub fn given(
        url: &ServerUrl,
        site: &dyn Site,
        settings: &Settings,
        workload: &Workload,
    ) -> Result<Postgres, EngineError> {
        let given = Given::open(url)?;
        let directories = Directories::new(given.owner()?);
        let (target, prefix) = (given.target(), format!("{}_", given.database()));
        let host = Host::Given(given);
        Postgres::set_up(host, target, directories, &prefix, site, settings, workload)
    }

    /// Process number of a private server while it runs.
    pub fn postmaster(&self) -> Option<u32> {
        match &self.host {
            Host::Private(cluster) => cluster.postmaster(),
            Host::Given(_) => None,
        }
    }

    /// Where the run's database is, without a password: for a look with `psql`.
    pub fn url(&self) -> String {
        self.target.to_string()
    }

    fn set_up(
        host: Host,
        target: Target,
        directories: Directories,
        prefix: &str,
        site: &dyn Site,
        settings: &Settings,
        workload: &Workload,
    ) -> Result<Postgres, EngineError> {
        let mut engine = Postgres {
            host,
            directories,
            target,
            tablespaces: tablespaces(prefix, site, settings),
            database: workload.database,
            tables: workload.tables,
            load_is_measured: workload.load.measured,
            record: EngineRecord::default(),
            major: 0,
            observer: Mutex::new(None),
            interruptions: AtomicU64::new(0),
            stopped: false,
        };
        match engine.make(settings, workload) {
            Ok(()) => Ok(engine),
            Err(error) => {
                let left = engine.stop();
                Err(with_remains(error, left.map_err(|error| error.to_string())))
            }
        }
    }

    /// Directories, server, tablespaces, database, schemas; in this order.
    fn make(&mut self, settings: &Settings, workload: &Workload) -> Result<(), EngineError> {
        for tablespace in self.tablespaces.all() {
            self.directories.make(&tablespace.directory)?;
        }
        let mut maintenance = match &self.host {
            Host::Private(cluster) => {
                cluster.start()?;
                open(&cluster.target("postgres"), OBSERVER)?
            }
            Host::Given(given) => given.connect()?,
        };
        tablespaces::create(&mut maintenance, &self.tablespaces)
            .map_err(|error| failed("make tablespaces", error))?;
        let name = &self.target.database;
        let home = match &self.host {
            Host::Private(_) => String::new(),
            Host::Given(_) => format!(" TABLESPACE {}", self.tablespaces.data[0].name),
        };
        let mut statements = vec![format!("CREATE DATABASE {name} TEMPLATE template0{home}")];
        let temp: Vec<&str> = self
            .tablespaces
            .temp
            .iter()
            .map(|t| t.name.as_str())
            .collect();
        statements.push(format!(
            "ALTER DATABASE {name} SET temp_tablespaces = {}",
            temp.join(", ")
        ));
        for (setting, value) in settings::of_database(settings, workload) {
            statements.push(format!("ALTER DATABASE {name} SET {setting} = '{value}'"));
        }
        for statement in statements {
            maintenance
                .query(&statement)
                .map_err(|error| failed(&statement, error))?;
        }
        for session in 0..settings.workload.sessions {
            let schema = self.schema(session);
            self.ask(&format!("CREATE SCHEMA IF NOT EXISTS {schema}"))?;
        }
        self.introduce()
    }

    /// Reads what the server is.
    fn introduce(&mut self) -> Result<(), EngineError> {
        let rows = self.ask(
            "SELECT current_setting('server_version_num'), current_setting('server_version')",
        )?;
        let column = |place: usize| {
            rows.first()
                .and_then(|row| row[place].clone())
                .unwrap_or_default()
        };
        self.major = column(0).parse::<u32>().unwrap_or(0) / 10_000;
        let settings = self.observe(settings::in_force)?;
        self.record = EngineRecord {
            name: "postgres".to_owned(),
            version: column(1),
            file: "tablespace".to_owned(),
            settings,
        };
        Ok(())
    }

    fn schema(&self, session: u32) -> String {
        match self.database {
            Database::PerSession => format!("session_{session}"),
            Database::Shared => SHARED.to_owned(),
        }
    }

    /// Asks the server something on our own connection.
    fn ask(&self, sql: &str) -> Result<Vec<Row>, EngineError> {
        self.observe(|connection| connection.query(sql).map_err(|error| failed(sql, error)))
    }

    /// A connection for questions of our own.
    fn open_observer(&self) -> Result<Connection, EngineError> {
        open(&self.target, OBSERVER).map_err(|error| self.with_obituary(error))
    }

    fn observe<T>(
        &self,
        what: impl FnOnce(&mut Connection) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let mut observer = self.observer.lock();
        if observer.is_none() {
            *observer = Some(self.open_observer()?);
        }
        let connection = observer.as_mut().expect("it was opened above");
        what(connection).map_err(|error| self.with_obituary(error))
    }

    /// How a private server ended that was not told to.
    fn obituary(&self) -> Option<String> {
        match &self.host {
            Host::Private(cluster) => cluster.obituary(),
            Host::Given(_) => None,
        }
    }

    fn with_obituary(&self, error: EngineError) -> EngineError {
        match self.obituary() {
            Some(obituary) => EngineError::failed(error.to_string(), obituary),
            None => error,
        }
    }
}

/// One tablespace for each data file and each temp file, in the placement's order.
fn tablespaces(prefix: &str, site: &dyn Site, settings: &Settings) -> Tablespaces {
    let of = |role: experiment::spec::Role| {
        let files = (1..).zip(settings.placement.files(role));
        files
            .map(|(number, file)| {
                let name = format!("{role}_{number}");
                Tablespace {
                    directory: directories::home(site, settings, file).join(&name),
                    name: format!("{prefix}{name}"),
                }
            })
            .collect()
    };
    Tablespaces {
        data: of(experiment::spec::Role::Data),
        temp: of(experiment::spec::Role::Temp),
    }
}

fn open(target: &Target, application: &str) -> Result<Connection, EngineError> {
    Connection::open(target, application).map_err(|error| {
        failed(
            format!("connect to PostgreSQL at {}", target.address),
            error,
        )
    })
}

fn failed(what: impl Into<String>, why: impl ToString) -> EngineError {
    EngineError::failed(what, why)
}

fn with_remains(error: EngineError, removed: Result<(), String>) -> EngineError {
    match removed {
        Ok(()) => error,
        Err(left) => EngineError::failed(error.to_string(), left),
    }
}
