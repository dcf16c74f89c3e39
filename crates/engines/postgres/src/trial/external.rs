//! An external server: a database and tablespaces are created in it for a run, and removed.

use crate::session::login::{OBSERVER, open};
use crate::session::target::Target;
use crate::session::url::ServerUrl;
use crate::session::wire::Connection;
use crate::trial::find::VERSIONS;
use crate::trial::tablespaces::Tablespaces;
use engine::EngineError;
use engine::managed_server::{Owner, owner_of_files};
use engine::mark::mark;
use engine::row::first;

/// A server owned by others.
pub(crate) struct External {
    /// The database that the user named: only for creating ours and removing it.
    maintenance: Target,
    /// Our own database in it.
    database: String,
    data_directory: String,
    is_encrypted: bool,
}

impl External {
    /// Logs in and checks whether the server is suitable.
    pub(crate) fn open(url: &ServerUrl) -> Result<External, EngineError> {
        let maintenance = url.target().clone();
        let mut connection = open(&maintenance, OBSERVER)?;
        let rows = connection
            .query(
                "SELECT current_setting('server_version_num'), current_setting('data_directory', true), \
                 (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)",
            )
            .map_err(|error| EngineError::failed(format!("look at {url}"), error))?;
        let answer = first(&rows).and_then(|row| {
            let data_directory = row.text(1)?.unwrap_or_default().to_owned();
            Ok((row.count::<u32>(0)? / 10_000, data_directory, row.flag(2)?))
        });
        let (major, data_directory, is_superuser) =
            answer.map_err(|error| EngineError::failed(format!("look at {url}"), error))?;
        if !VERSIONS.contains(&major) {
            return Err(EngineError::Missing(format!(
                "{url} is PostgreSQL {major}; dbstow knows versions {} to {}",
                VERSIONS.start(),
                VERSIONS.end()
            )));
        }
        if !is_superuser {
            return Err(EngineError::Missing(format!(
                "{url}: making tablespaces takes a superuser; connect as one, or leave --server out \
                 for a private server"
            )));
        }
        Ok(External {
            maintenance,
            database: format!("dbstow_{}", mark()),
            data_directory,
            is_encrypted: connection.encrypted().is_some(),
        })
    }

    /// Required owner of the tablespaces' directories: the user that the server runs as.
    pub(crate) fn owner(&self) -> Result<Option<Owner>, EngineError> {
        owner_of_files(
            &self.data_directory,
            "a run needs the server on this machine, since it makes directories for it and reads the counters of its disks; run \
             dbstow there, or watch it from here with `dbstow record`",
        )
    }

    /// The name of our database, which is also the prefix of our tablespaces' names.
    pub(crate) fn database(&self) -> &str {
        &self.database
    }

    /// Address and login for our database.
    pub(crate) fn target(&self) -> Target {
        Target {
            database: self.database.clone(),
            // It contains only our own tables and no foreign functions.
            settings: &[],
            ..self.maintenance.clone()
        }
    }

    /// A connection to the owner's database.
    pub(crate) fn connect(&self) -> Result<Connection, EngineError> {
        open(&self.maintenance, OBSERVER)
    }

    /// Human-readable notes on what is not possible here.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = vec![
            "the given server keeps its own settings for the whole server, such as shared_buffers \
             and checkpoint_timeout: the experiment's memory and checkpoint are not in force"
                .to_owned(),
            format!(
                "the given server keeps its log in {}/pg_wal, not on the experiment's log volume",
                self.data_directory
            ),
        ];
        if self.is_encrypted {
            notes.push(
                "sessions are encrypted (TLS), which takes processor time of both ends; sslmode=disable in the URL \
                 turns that off"
                    .to_owned(),
            );
        }
        notes
    }

    /// Removes what was created; returns an error for what could not be removed.
    pub(crate) fn remove(&self, tablespaces: &Tablespaces) -> Result<(), String> {
        let maintenance = Target {
            patience: self.maintenance.patience.for_removal(),
            ..self.maintenance.clone()
        };
        let mut connection = open(&maintenance, OBSERVER).map_err(|error| {
            let name = &self.database;
            format!("database {name} and tablespaces {name}_* are left behind: {error}")
        })?;
        let database = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.database);
        let tablespaces = tablespaces
            .all()
            .map(|tablespace| format!("DROP TABLESPACE IF EXISTS {}", tablespace.name));
        let left: Vec<String> = std::iter::once(database)
            .chain(tablespaces)
            .filter_map(|sql| match connection.query(&sql) {
                Ok(_) => None,
                Err(error) => Some(format!("{sql}: {error}")),
            })
            .collect();
        match left.is_empty() {
            true => Ok(()),
            false => Err(left.join("; ")),
        }
    }
}
