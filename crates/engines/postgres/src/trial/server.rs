//! A private server with its database, or a database in a given server, for one trial.

use std::sync::Arc;

use host::orphans::Registration;
use host::site::Site;
use parking_lot::Mutex;

use crate::session::login::{OBSERVER, open};
use crate::session::target::Target;
use crate::session::url::ServerUrl;
use crate::session::wire::Connection;
use crate::trial::cluster::Cluster;
use crate::trial::external::External;
use crate::trial::find::Binaries;
use crate::trial::settings;
use crate::trial::tablespaces::{self, Tablespaces};
use engine::home;
use engine::interruption::Interruptions;
use engine::managed_server::{Directories, Owner, check_memory};
use engine::row::{Row, first};
use engine::{Engine, EngineError};
use experiment::record::EngineRecord;
use experiment::spec::Settings;
use workload::{Database, Tables, Workload};

/// The schema of all sessions if they share one.
const SHARED: &str = "workload";

/// A PostgreSQL server, or a database in one, for one trial.
pub struct Postgres {
    pub(crate) host: Host,
    pub(crate) directories: Directories,
    pub(crate) target: Target,
    pub(crate) tablespaces: Tablespaces,
    database: Database,
    pub(crate) tables: Tables,
    pub(crate) load_is_measured: bool,
    pub(crate) record: EngineRecord,
    pub(crate) major: u32,
    /// For our own queries; `None` while the server is down.
    pub(crate) observer: Mutex<Option<Connection>>,
    pub(crate) interruptions: Interruptions,
    pub(crate) stopped: bool,
}

/// A private or an external server.
pub(crate) enum Host {
    Private(Cluster),
    External(External),
}

impl Postgres {
    /// Creates a private server with its files on the site's volumes, and starts it. As root, it runs as `owner`. What must be
    /// ended and removed if this process is killed is registered first.
    ///
    /// When the calling thread ends, so does the server ([`host::child`], on Linux).
    ///
    /// # Errors
    /// When one of our directories exists already or cannot be created, or PostgreSQL does not start.
    ///
    /// # Panics
    /// When the site does not have the settings' volumes.
    pub fn private(
        binaries: &Binaries,
        owner: Option<Owner>,
        registration: &Arc<Registration>,
        (site, settings, workload): (&dyn Site, &Settings, &Workload),
    ) -> Result<Postgres, EngineError> {
        check_memory(settings)?;
        let mut directories = Directories::new(owner);
        let placement = &settings.placement;
        let data = home(site, settings, &placement.data[0]).join("cluster");
        let log = home(site, settings, &placement.log).join("wal");
        let made = Cluster::create(
            (binaries, owner),
            registration,
            &mut directories,
            (&data, &log),
            settings,
            &[],
        );
        let cluster = match made {
            Ok(cluster) => cluster,
            Err(error) => return Err(error.with_left_behind(directories.remove())),
        };
        let target = cluster.target("dbstow");
        let host = Host::Private(cluster);
        Postgres::set_up(host, target, directories, "", site, settings, workload)
    }

    /// Creates a database and tablespaces in an existing server, for a superuser on the same machine.
    ///
    /// # Errors
    /// When the server rejects the login or a statement, or a directory cannot be created.
    ///
    /// # Panics
    /// When the site does not have the settings' volumes.
    pub fn external(
        url: &ServerUrl,
        site: &dyn Site,
        settings: &Settings,
        workload: &Workload,
    ) -> Result<Postgres, EngineError> {
        let external = External::open(url)?;
        let directories = Directories::new(external.owner()?);
        let (target, prefix) = (external.target(), format!("{}_", external.database()));
        let host = Host::External(external);
        Postgres::set_up(host, target, directories, &prefix, site, settings, workload)
    }

    /// A started server on a copy of another server's files, whose database `database` is observed.
    #[cfg(target_os = "linux")]
    pub(crate) fn of_copy(cluster: Cluster, database: &str) -> Result<Postgres, EngineError> {
        let mut directories = Directories::new(None);
        // They vanish with the volumes.
        directories.keep();
        let target = cluster.target(database);
        let mut engine = Postgres {
            host: Host::Private(cluster),
            directories,
            target,
            tablespaces: Tablespaces {
                data: Vec::new(),
                temp: Vec::new(),
            },
            database: Database::Shared,
            tables: Tables::Data,
            load_is_measured: false,
            record: EngineRecord::default(),
            major: 0,
            observer: Mutex::new(None),
            interruptions: Interruptions::default(),
            stopped: false,
        };
        match engine.introduce() {
            Ok(()) => Ok(engine),
            Err(error) => {
                let left = engine.stop();
                Err(error.with_left_behind(left.map_err(|error| error.to_string())))
            }
        }
    }

    /// Process id of a private server while it runs.
    pub fn postmaster(&self) -> Option<u32> {
        match &self.host {
            Host::Private(cluster) => cluster.server().process(),
            Host::External(_) => None,
        }
    }

    /// URL of the run's database, without a password: for inspection with `psql`.
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
            tablespaces: Tablespaces::of_placement(prefix, site, settings),
            database: workload.database,
            tables: workload.tables,
            load_is_measured: workload.load.measured,
            record: EngineRecord::default(),
            major: 0,
            observer: Mutex::new(None),
            interruptions: Interruptions::default(),
            stopped: false,
        };
        match engine.make(settings, workload) {
            Ok(()) => Ok(engine),
            Err(error) => {
                let left = engine.stop();
                Err(error.with_left_behind(left.map_err(|error| error.to_string())))
            }
        }
    }

    /// Creates directories, server, tablespaces, database, schemas; in this order.
    fn make(&mut self, settings: &Settings, workload: &Workload) -> Result<(), EngineError> {
        for tablespace in self.tablespaces.all() {
            self.directories.make(&tablespace.directory)?;
        }
        let mut maintenance = match &self.host {
            Host::Private(cluster) => {
                cluster.start()?;
                open(&cluster.target("postgres"), OBSERVER)?
            }
            Host::External(external) => external.connect()?,
        };
        tablespaces::create(&mut maintenance, &self.tablespaces)
            .map_err(|error| EngineError::failed("make tablespaces", error))?;
        let name = &self.target.database;
        let home = match &self.host {
            Host::Private(_) => String::new(),
            Host::External(_) => format!(" TABLESPACE {}", self.tablespaces.data[0].name),
        };
        let mut statements = vec![
            format!("CREATE DATABASE {name} TEMPLATE template0{home}"),
            // Until PostgreSQL 14, any user that may connect may create functions that our statements would call.
            format!("REVOKE ALL ON DATABASE {name} FROM PUBLIC"),
        ];
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
                .work(&statement)
                .map_err(|error| EngineError::failed(&statement, error))?;
        }
        for session in 0..settings.workload.sessions {
            let schema = self.schema(session);
            self.work(&format!("CREATE SCHEMA IF NOT EXISTS {schema}"))?;
        }
        self.introduce()
    }

    /// Reads the server's properties.
    fn introduce(&mut self) -> Result<(), EngineError> {
        let rows = self.ask(
            "SELECT current_setting('server_version_num'), current_setting('server_version')",
        )?;
        let answer =
            first(&rows).and_then(|row| Ok((row.count::<u32>(0)?, row.word(1)?.to_owned())));
        let (number, version) =
            answer.map_err(|error| EngineError::failed("ask for the server's version", error))?;
        self.major = number / 10_000;
        let settings = self.observe(settings::in_force)?;
        self.record = EngineRecord {
            name: "postgres".to_owned(),
            version,
            file: "tablespace".to_owned(),
            settings,
        };
        Ok(())
    }

    pub(crate) fn schema(&self, session: u32) -> String {
        match self.database {
            Database::PerSession => format!("session_{session}"),
            Database::Shared => SHARED.to_owned(),
        }
    }

    /// Queries the server on our own connection.
    pub(crate) fn ask(&self, sql: &str) -> Result<Vec<Row>, EngineError> {
        self.observe(|connection| {
            connection
                .query(sql)
                .map_err(|error| EngineError::failed(sql, error))
        })
    }

    /// Executes statements that may take long on our own connection.
    pub(crate) fn work(&self, sql: &str) -> Result<(), EngineError> {
        self.observe(|connection| {
            let done = connection.work(sql);
            done.map(|_| ())
                .map_err(|error| EngineError::failed(sql, error))
        })
    }

    /// A connection for our own queries.
    pub(crate) fn open_observer(&self) -> Result<Connection, EngineError> {
        open(&self.target, OBSERVER).map_err(|error| self.with_exit_reason(error))
    }

    pub(crate) fn observe<T>(
        &self,
        what: impl FnOnce(&mut Connection) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let mut observer = self.observer.lock();
        if observer.is_none() {
            *observer = Some(self.open_observer()?);
        }
        let connection = observer.as_mut().expect("it was opened above");
        what(connection).map_err(|error| self.with_exit_reason(error))
    }

    /// Exit reason of a private server that was not stopped by us.
    pub(crate) fn exit_reason(&self) -> Option<String> {
        match &self.host {
            Host::Private(cluster) => cluster.server().exit_reason(),
            Host::External(_) => None,
        }
    }

    pub(crate) fn with_exit_reason(&self, error: EngineError) -> EngineError {
        match self.exit_reason() {
            Some(exit_reason) => EngineError::failed(error.to_string(), exit_reason),
            None => error,
        }
    }
}
