//! Locations of a server's files, by role.

use std::path::{Path, PathBuf};

use host::site::Site;

use engine::EngineError;
use engine::home;
use experiment::spec::{File, Role, Settings};

/// Separators in lists of directories and files.
/// Sources: <https://mariadb.com/docs/server/server-management/variables-and-modes/server-system-variables#tmpdir>,
/// <https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables#innodb_data_file_path>, read 2026-11-25.
const SEPARATORS: [char; 2] = [':', ';'];

/// The directories of one server. All are inside existing directories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Places {
    /// One for each data file; the first is the data directory.
    pub(crate) data: Vec<PathBuf>,
    /// One for each temp file.
    pub(crate) temp: Vec<PathBuf>,
    /// The redo log.
    pub(crate) log: PathBuf,
    /// The binary log, if the placement has one.
    pub(crate) binlog: Option<PathBuf>,
    /// The undo tablespaces, if not in the data directory.
    pub(crate) undo: Option<PathBuf>,
    /// The system tablespace with the doublewrite area, if not in the data directory.
    pub(crate) doublewrite: Option<PathBuf>,
}

impl Places {
    pub(crate) fn of_placement(site: &dyn Site, settings: &Settings) -> Places {
        let place = |file: &File, name: &str| home(site, settings, file).join(name);
        let all = |role: Role| -> Vec<PathBuf> {
            let files = (1..).zip(settings.placement.files(role));
            files
                .map(|(number, file)| place(file, &format!("{role}_{number}")))
                .collect()
        };
        let placement = &settings.placement;
        let one = |file: &Option<File>, role: Role| {
            file.as_ref().map(|file| place(file, &role.to_string()))
        };
        Places {
            data: all(Role::Data),
            temp: all(Role::Temp),
            log: place(&placement.log, &Role::Log.to_string()),
            binlog: one(&placement.binlog, Role::Binlog),
            undo: one(&placement.undo, Role::Undo),
            doublewrite: one(&placement.doublewrite, Role::Doublewrite),
        }
    }

    /// Rejects separators in paths: MariaDB's lists of files and directories have no quoting.
    ///
    /// # Errors
    /// When a path contains one of [`SEPARATORS`].
    pub(crate) fn check(&self) -> Result<(), EngineError> {
        for place in self.all() {
            let text = place.to_string_lossy();
            if let Some(found) = text
                .chars()
                .find(|character| SEPARATORS.contains(character))
            {
                return Err(EngineError::Missing(format!(
                    "{text} holds `{found}`, which ends a name in MariaDB's settings (tmpdir, innodb_data_file_path); use \
                     another directory for its volume"
                )));
            }
        }
        Ok(())
    }

    /// The data directory, with all files that are not placed elsewhere.
    pub(crate) fn data_directory(&self) -> &Path {
        &self.data[0]
    }

    /// Directories of tables, each with its counter name: all that can be placed while a server runs.
    pub(crate) fn of_tables(&self) -> impl Iterator<Item = (String, &Path)> {
        numbered(Role::Data, &self.data).chain(numbered(Role::Temp, &self.temp))
    }

    /// All of them, in creation order.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Path> {
        self.named().map(|(_, place)| place)
    }

    /// Each with its counter name.
    pub(crate) fn named(&self) -> impl Iterator<Item = (String, &Path)> {
        let log = [(Role::Log.to_string(), self.log.as_path())];
        let optional = [
            (Role::Binlog, &self.binlog),
            (Role::Undo, &self.undo),
            (Role::Doublewrite, &self.doublewrite),
        ];
        let optional = optional
            .into_iter()
            .filter_map(|(role, place)| Some((role.to_string(), place.as_deref()?)));
        self.of_tables().chain(log).chain(optional)
    }
}

/// The directories of a role that may have several.
fn numbered(role: Role, places: &[PathBuf]) -> impl Iterator<Item = (String, &Path)> {
    let numbers = (1..).zip(places);
    numbers.map(move |(number, place)| (format!("{role}_{number}"), place.as_path()))
}
