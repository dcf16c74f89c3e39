//! PostgreSQL, as a product whose servers are rehearsed.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use host::orphans::Registration;
use model::Bytes;

use super::configuration::{CHECKSUMS, Configuration};
use super::restore::{self, Programs};
use super::server::Server;
use super::{backup, copy, dump, packed, read, tablespaces};
use crate::trial::cluster::Cluster;
use crate::trial::{Binaries, Postgres};
use engine::drilled::Origin;
use engine::logged::{LogError, LogRequest, StatementLog};
use engine::managed_server::{Directories, Owner};
use engine::rehearsed::{
    BackupFacts, CopyVolumes, LogFile, Rehearsed, RehearsedProduct, RestoreVolume,
};
use engine::{Engine, EngineError};
use experiment::spec::{Role, Settings};

/// Connections besides those of the log.
const CONNECTIONS_SPARE: u32 = 20;

/// The default of `max_connections`.
const CONNECTIONS: u32 = 100;

/// Prefix of the tablespaces for temporary files.
const PREFIX: &str = "dbstow_";

/// What is assumed where settings are not given.
const DEFAULTS: &str = "a dump has no settings of its server: they are PostgreSQL's defaults (shared_buffers = 128MB), which a server in \
                        use seldom has; give its own by --settings";

/// What is assumed of every dump.
const OF_DUMPS: [&str; 3] = [
    DEFAULTS,
    "tables and indexes were written anew from a dump, in order and without the free space that updates leave: less is read than on \
     the server itself; take a base backup where you can",
    "a dump has neither memberships nor settings of roles: users of the log are members of the roles that it names and that do not \
     log in, and statements that were denied may be allowed",
];

/// PostgreSQL: a private server on a copy of another one's files.
pub(crate) struct RehearsedPostgres {
    pub(crate) binaries: Binaries,
    /// The user it runs as.
    pub(crate) owner: Option<Owner>,
    pub(crate) registration: Arc<Registration>,
}

impl RehearsedPostgres {
    /// Settings of the private server: the backup's own, then what is changed; `trial` is none while it is prepared.
    fn settings(
        &self,
        facts: &BackupFacts,
        settings: &Settings,
        trial: Option<&Rehearsed<'_>>,
    ) -> Vec<(String, String)> {
        // How pages were made is not a setting of a server.
        let own = facts.settings.iter().filter(|(name, _)| *name != CHECKSUMS);
        let mut all: Vec<(String, String)> = own
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let configured = facts.settings.get("max_connections");
        let configured = configured
            .and_then(|count| count.parse().ok())
            .unwrap_or(CONNECTIONS);
        let sessions = trial.map_or(0, |trial| trial.sessions);
        let connections = configured.max(sessions + CONNECTIONS_SPARE);
        let mut set = |name: &str, value: &str| all.push((name.to_owned(), value.to_owned()));
        set("max_connections", &connections.to_string());
        set("archive_mode", "off");
        set("max_wal_senders", "0");
        set("max_logical_replication_workers", "0");
        set("primary_conninfo", "");
        set("synchronous_standby_names", "");
        set("huge_pages", "off");
        set("logging_collector", "off");
        set("log_line_prefix", "%m ");
        set("log_min_messages", "error");
        set("log_min_error_statement", "panic");
        set("track_io_timing", "on");
        set("restart_after_crash", "off");
        set("ssl", "off");
        if self.binaries.major >= 14 {
            set("track_wal_io_timing", "on");
        }
        if trial.is_some_and(|trial| trial.reads_only) {
            set("default_transaction_read_only", "on");
        }
        let temp = 1..=settings.placement.files(Role::Temp).len();
        let temp: Vec<String> = temp
            .map(|number| format!("{PREFIX}temp_{number}"))
            .collect();
        set("temp_tablespaces", &temp.join(","));
        set("shared_preload_libraries", "");
        set("session_preload_libraries", "");
        set("local_preload_libraries", "");
        // To the pipe that dbstow reads, which takes the place of the collector's.
        for (name, value) in trial.iter().flat_map(|trial| trial.logging) {
            set(name, value);
        }
        all
    }
}

impl RehearsedProduct for RehearsedPostgres {
    fn name(&self) -> &'static str {
        "PostgreSQL"
    }

    fn owner(&self) -> Option<Owner> {
        self.owner
    }

    fn inspect(&self, backup: &Path) -> Result<BackupFacts, EngineError> {
        match packed::is_packed(backup) {
            true => packed::inspect(backup, &self.binaries),
            false => backup::inspect(backup, &self.binaries),
        }
    }

    fn unpack(
        &self,
        backup: &Path,
        facts: &BackupFacts,
        on: &RestoreVolume<'_>,
    ) -> Result<(PathBuf, BackupFacts), EngineError> {
        let (directory, elsewhere) = packed::unpack(backup, on)?;
        let mut found = backup::inspect(&directory, &self.binaries)?;
        let refused =
            |why: String| EngineError::failed(format!("unpack {}", backup.display()), why);
        tablespaces::name(&mut found, &BTreeMap::new()).map_err(refused)?;
        for place in elsewhere.values() {
            let size = tablespaces::size(place, &found.version).map_err(refused)?;
            found.size = Bytes(found.size.0.saturating_add(size.0));
        }
        found.elsewhere = elsewhere;
        found.kind.clone_from(&facts.kind);
        // Those that the user gave take precedence.
        found.settings.extend(facts.settings.clone());
        found.changed.extend(facts.changed.clone());
        Ok((directory, found))
    }

    fn inspect_dumps(&self, dumps: &[PathBuf]) -> Result<BackupFacts, EngineError> {
        let mut facts = dump::inspect(dumps, &self.binaries)?;
        facts.changed = vec![backup::LETS_IN.to_owned()];
        facts.assumed.extend(OF_DUMPS.map(str::to_owned));
        Ok(facts)
    }

    fn add_directories(
        &self,
        facts: &mut BackupFacts,
        named: &BTreeMap<String, PathBuf>,
    ) -> Result<(), EngineError> {
        tablespaces::name(facts, named).map_err(EngineError::Missing)
    }

    fn add_settings(
        &self,
        facts: &mut BackupFacts,
        name: &str,
        text: &str,
    ) -> Result<(), EngineError> {
        let mut found = Configuration::default();
        found.add(name, text);
        if let Some(checksums) = found.checksums {
            let value = if checksums { "on" } else { "off" };
            found.kept.insert(CHECKSUMS.to_owned(), value.to_owned());
        }
        if found.kept.is_empty() {
            return Err(EngineError::Missing(format!(
                "{name}: it has no setting that a rehearsal takes over; give lines such as shared_buffers = 4GB, as in postgresql.conf"
            )));
        }
        facts.settings.append(&mut found.kept);
        facts.changed.append(&mut found.changed);
        facts.assumed.retain(|assumed| assumed != DEFAULTS);
        Ok(())
    }

    fn restore(
        &self,
        dumps: &[PathBuf],
        facts: &BackupFacts,
        on: &RestoreVolume<'_>,
    ) -> Result<(PathBuf, BackupFacts), EngineError> {
        let programs = Programs {
            binaries: &self.binaries,
            owner: self.owner,
            registration: &self.registration,
        };
        restore::restore(programs, dumps, facts, on)
    }

    fn stage(
        &self,
        backup: &Path,
        facts: &BackupFacts,
        volumes: &CopyVolumes<'_>,
    ) -> Result<(), EngineError> {
        let (site, settings) = (volumes.site, volumes.settings);
        let places = tablespaces::places(facts, site, settings);
        // They stay on the volumes.
        let mut directories = Directories::new(self.owner);
        directories.make(&places.data)?;
        directories.make(&places.log)?;
        for tablespace in places.tablespaces.all() {
            directories.make(&tablespace.directory)?;
        }
        directories.keep();
        copy::copy(backup, (&places.data, &places.log), self.owner)?;
        tablespaces::copy(facts, &places, self.owner)?;
        (volumes.let_in)().map_err(not_let_in)?;
        let mut server = self.settings(facts, settings, None);
        server.retain(|(name, _)| name != "temp_tablespaces");
        let cluster = Cluster::of_copy(
            (&self.binaries, self.owner),
            &self.registration,
            &places.data,
            settings,
            (server, &[]),
        )?;
        // A role that exists is refused, and is made a superuser by the second statement.
        let mut statements = String::from(
            "DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'dbstow') THEN CREATE ROLE dbstow; END IF; END $$\n\
             ALTER ROLE dbstow SUPERUSER LOGIN\n",
        );
        for tablespace in &places.tablespaces.temp {
            let directory = tablespace
                .directory
                .display()
                .to_string()
                .replace('\'', "''");
            let name = &tablespace.name;
            statements += &format!("CREATE TABLESPACE {PREFIX}{name} LOCATION '{directory}'\n");
            // Sessions of all users sort there.
            statements += &format!("GRANT CREATE ON TABLESPACE {PREFIX}{name} TO PUBLIC\n");
        }
        cluster.alone(&statements)
    }

    fn open(
        &self,
        trial: &Rehearsed<'_>,
        moved: &[(PathBuf, PathBuf)],
        volumes: &CopyVolumes<'_>,
    ) -> Result<Box<dyn Engine>, EngineError> {
        let (site, settings) = (volumes.site, volumes.settings);
        let places = tablespaces::places(trial.facts, site, settings);
        places
            .make_ready(&[], moved, None, Origin::ThisRun)
            .map_err(|why| EngineError::failed("use the copy", why))?;
        (volumes.let_in)().map_err(not_let_in)?;
        let mut roles: Vec<&str> = trial
            .logins
            .iter()
            .filter_map(|login| login.user.as_deref())
            .collect();
        roles.sort_unstable();
        roles.dedup();
        roles.retain(|role| *role != "dbstow");
        let server = self.settings(trial.facts, settings, Some(trial));
        let cluster = Cluster::of_copy(
            (&self.binaries, self.owner),
            &self.registration,
            &places.data,
            settings,
            (server, &roles),
        )?;
        cluster.start()?;
        // That of most sessions is the one whose counters are read.
        let database = trial
            .logins
            .first()
            .map_or("template1", |login| &*login.database);
        let engine = Postgres::of_copy(cluster, database)?;
        Ok(Box::new(Server::new(engine, trial.logins)?))
    }

    fn read_log(&self, log: LogFile<'_>, asked: &LogRequest) -> Result<StatementLog, LogError> {
        read::read_log(&mut { log.file }, asked)
    }
}

fn not_let_in(error: io::Error) -> EngineError {
    EngineError::failed("give PostgreSQL's user access to the volumes", error)
}
