//! MariaDB, as a product whose servers are rehearsed.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use files::Folder;
use host::orphans::Registration;

use super::{accounts, backup, read};
use crate::trial::find::{BIN, Programs};
use crate::trial::instance::Instance;
use crate::trial::places::Places;
use crate::trial::settings::{CONNECTIONS_SPARE, OBSERVED, list};
use crate::trial::{MariaDb, Owner, least_owner};
use engine::logged::{LogError, LogRequest, StatementLog};
use engine::managed_server::Directories;
use engine::rehearsed::{
    BackupFacts, CopyVolumes, LogFile, RehearsalProvider, Rehearsed, RehearsedProduct,
};
use engine::server_url::Password;
use engine::{Engine, EngineError, ProductOptions, copies};
use experiment::spec::Settings;

/// The default of `max_connections`.
const CONNECTIONS: u32 = 151;

/// MariaDB's rehearsals.
pub(crate) struct Rehearsal;

impl RehearsalProvider for Rehearsal {
    fn recognises(&self, backup: &Path) -> bool {
        backup::is_one(backup)
    }

    fn product(
        &self,
        options: &ProductOptions,
        registration: &Arc<Registration>,
    ) -> Result<Arc<dyn RehearsedProduct>, EngineError> {
        let password =
            accounts::password().map_err(|error| EngineError::failed("make a password", error))?;
        Ok(Arc::new(RehearsedMariaDb {
            programs: Programs::find(options.path(BIN))?,
            // What a backup's functions do is done by the user who owns least.
            owner: least_owner()?,
            registration: Arc::clone(registration),
            password,
        }))
    }
}

/// MariaDB: a private server on a copy of another one's files.
struct RehearsedMariaDb {
    programs: Programs,
    /// The user it runs as.
    owner: Option<Owner>,
    registration: Arc<Registration>,
    /// Of all accounts of the copies.
    password: Password,
}

impl RehearsedMariaDb {
    /// A server on a copy; `trial` is none while it is prepared.
    fn instance(
        &self,
        facts: &BackupFacts,
        (places, settings): (&Places, &Settings),
        trial: Option<&Rehearsed<'_>>,
    ) -> Result<Instance, EngineError> {
        Instance::of_copy(
            (&self.programs, self.owner),
            &self.registration,
            (places.data_directory(), settings),
            arguments(facts, places, trial),
            (accounts::OWN, &self.password),
        )
    }
}

/// Arguments of the private server: the backup's own, then what is changed.
fn arguments(facts: &BackupFacts, places: &Places, trial: Option<&Rehearsed<'_>>) -> Vec<String> {
    let own = facts
        .settings
        .iter()
        .filter(|(name, _)| *name != backup::DATA_FILES);
    // Those of another release of the same series may not be known.
    let mut all: Vec<String> = own
        .map(|(name, value)| format!("--loose-{name}={value}"))
        .collect();
    let configured = facts
        .settings
        .get("max_connections")
        .and_then(|count| count.parse().ok());
    let connections = configured
        .unwrap_or(CONNECTIONS)
        .max(trial.map_or(0, |trial| trial.sessions) + CONNECTIONS_SPARE);
    let mut set = |name: &str, value: &str| all.push(format!("--{name}={value}"));
    set("max-connections", &connections.to_string());
    set("datadir", &places.data_directory().display().to_string());
    set(
        "innodb-log-group-home-dir",
        &places.log.display().to_string(),
    );
    set("tmpdir", &list(&places.temp));
    set(
        "innodb-temp-data-file-path",
        &format!("{}:12M:autoextend", places.temp[0].join("ibtmp1").display()),
    );
    if let Some(undo) = &places.undo {
        set("innodb-undo-directory", &undo.display().to_string());
    }
    let system = system_directory(places);
    let system_files = facts
        .settings
        .get(backup::DATA_FILES)
        .map_or("", |path| path)
        .split(';');
    let system_files: Vec<String> = system_files
        .map(|file| system.join(file).display().to_string())
        .collect();
    // Absolute paths require this to be empty.
    set("innodb-data-home-dir", "");
    set("innodb-data-file-path", &system_files.join(";"));
    match &places.binlog {
        Some(place) => {
            set("log-bin", &place.join("binlog").display().to_string());
            set("server-id", "1");
        }
        None => set("log-bin", "OFF"),
    }
    // A cold start is to be cold.
    set("innodb-buffer-pool-dump-at-shutdown", "OFF");
    set("innodb-buffer-pool-load-at-startup", "OFF");
    set("event-scheduler", "OFF");
    set("skip-slave-start", "ON");
    set("skip-name-resolve", "ON");
    set("local-infile", "OFF");
    set("general-log", "OFF");
    set("slow-query-log", "OFF");
    set("init-connect", "");
    set("loose-feedback", "OFF");
    set("loose-wsrep-on", "OFF");
    if trial.is_some_and(|trial| trial.reads_only) {
        set("transaction-read-only", "ON");
    }
    for (name, value) in trial.iter().flat_map(|trial| trial.logging) {
        set(name, value);
    }
    all.extend(OBSERVED.map(str::to_owned));
    all
}

/// The directory of the system tablespace.
fn system_directory(places: &Places) -> &Path {
    places
        .doublewrite
        .as_deref()
        .unwrap_or(places.data_directory())
}

/// Copies what a server needs of a backup: databases, tablespaces and logs of storage engines. Settings, binary logs, states of a
/// replica and what a server left otherwise are not copied.
fn copy(
    backup: &Path,
    facts: &BackupFacts,
    places: &Places,
    owner: Option<Owner>,
) -> Result<(), EngineError> {
    let failed = |error: files::FileError| EngineError::failed("copy the backup", error);
    let from = Folder::open(backup).map_err(failed)?;
    let data = places.data_directory();
    let system: Vec<&str> = facts
        .settings
        .get(backup::DATA_FILES)
        .map_or("", |path| path)
        .split(';')
        .collect();
    for name in from.names().map_err(failed)? {
        let text = name.to_str().unwrap_or_default();
        let is_numbered = |prefix: &str| {
            let number = text
                .strip_prefix(prefix)
                .filter(|number| !number.is_empty());
            number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
        };
        let is_system = system
            .iter()
            .any(|file| file.split(':').next() == Some(text));
        let to = if from.inner(&name).is_ok() {
            match name == "lost+found" {
                true => continue,
                false => data,
            }
        } else if is_system {
            system_directory(places)
        } else if is_numbered("undo") {
            places.undo.as_deref().unwrap_or(data)
        } else if is_numbered("ib_logfile") {
            &places.log
        } else if text == "aria_log_control" || is_numbered("aria_log.") {
            data
        } else {
            continue;
        };
        let to = Folder::open(to).map_err(failed)?;
        copies::copy(&from, &to, &name, owner).map_err(failed)?;
    }
    Ok(())
}

impl RehearsedProduct for RehearsedMariaDb {
    fn name(&self) -> &'static str {
        "MariaDB"
    }

    fn owner(&self) -> Option<Owner> {
        self.owner
    }

    fn inspect(&self, backup: &Path) -> Result<BackupFacts, EngineError> {
        backup::inspect(backup, &self.programs)
    }

    fn add_settings(
        &self,
        facts: &mut BackupFacts,
        name: &str,
        text: &str,
    ) -> Result<(), EngineError> {
        backup::add_settings(facts, name, text)
    }

    fn stage(
        &self,
        backup: &Path,
        facts: &BackupFacts,
        volumes: &CopyVolumes<'_>,
    ) -> Result<(), EngineError> {
        let (site, settings) = (volumes.site, volumes.settings);
        let places = Places::of_placement(site, settings);
        places.check()?;
        // They stay on the volumes.
        let mut directories = Directories::new(self.owner);
        places.all().try_for_each(|place| directories.make(place))?;
        directories.keep();
        copy(backup, facts, &places, self.owner)?;
        (volumes.let_in)().map_err(not_let_in)?;
        let instance = self.instance(facts, (&places, settings), None)?;
        let said = instance.alone(accounts::statements(&self.password))?;
        // A prepared backup was recovered when it was prepared.
        match said.contains("Starting crash recovery") && backup::is_data_directory(facts) {
            true => Err(EngineError::Missing(format!(
                "{}: its server was not shut down cleanly, so that its files need not fit together; shut it down (mariadb-admin shutdown), or \
                 take a backup with mariadb-backup and prepare that",
                backup.display()
            ))),
            false => Ok(()),
        }
    }

    fn open(
        &self,
        trial: &Rehearsed<'_>,
        _moved: &[(PathBuf, PathBuf)],
        volumes: &CopyVolumes<'_>,
    ) -> Result<Box<dyn Engine>, EngineError> {
        let (site, settings) = (volumes.site, volumes.settings);
        let places = Places::of_placement(site, settings);
        (volumes.let_in)().map_err(not_let_in)?;
        let instance = self.instance(trial.facts, (&places, settings), Some(trial))?;
        Ok(Box::new(MariaDb::of_copy(instance, places)?))
    }

    fn read_log(&self, log: LogFile<'_>, asked: &LogRequest) -> Result<StatementLog, LogError> {
        read::read_log(&mut { log.file }, asked)
    }
}

fn not_let_in(error: io::Error) -> EngineError {
    EngineError::failed("give MariaDB's user access to the volumes", error)
}
