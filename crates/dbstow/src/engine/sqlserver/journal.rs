//! What has to be put back on a server, written down before it is changed: for the end of the run, and for
//! the next start after a crash.
//!
//! ```text
//!   <state>/sqlserver/<server>.json     what has to be put back; none where nothing has to
//!   <state>/sqlserver/<server>.lock     held by the run that uses the server
//! ```

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sqlserver::capture;

/// What one run changed on one server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Changes {
    /// The server's own name, whatever address it was reached by.
    pub(super) server: String,
    /// The address.
    #[serde(default)]
    pub(super) address: String,
    /// Databases that were made.
    #[serde(default)]
    pub(super) databases: Vec<String>,
    /// `max server memory (MB)` as it was.
    #[serde(default)]
    pub(super) memory_mib: Option<i64>,
    /// tempdb's files as they were, as of the next start; none: it was not touched.
    #[serde(default)]
    pub(super) tempdb: Vec<capture::File>,
}

impl Changes {
    /// Whether nothing is left to be put back.
    pub(super) fn is_empty(&self) -> bool {
        self.databases.is_empty() && self.memory_mib.is_none() && self.tempdb.is_empty()
    }
}

/// What tells servers apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key<'a> {
    /// The server's own name.
    pub(super) server: &'a str,
    /// What setup made up for it: names come twice.
    pub(super) instance: &'a str,
    /// How it was reached.
    pub(super) address: &'a str,
}

/// The file with a run's changes.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    /// Held while a run uses the server.
    _lock: File,
    changes: Changes,
}

/// Why there is no journal.
#[derive(Debug, thiserror::Error)]
pub(super) enum JournalError {
    /// Another run is at work.
    #[error("another run of dbstow uses {0} at this moment; wait for its end")]
    InUse(String),
    /// It cannot be read as one.
    #[error(
        "{path} should say what an earlier run changed on the server, but cannot be read ({why}); \
             look at it, put tempdb back by hand if it was moved, and remove the file"
    )]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// The system refused something.
    #[error("{path}: {source}")]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl Journal {
    /// Opens the journal of a server in `state`, with what a killed run left in it.
    pub(super) fn open(
        state: &Path,
        Key {
            server,
            instance,
            address,
        }: Key<'_>,
    ) -> Result<Journal, JournalError> {
        let folder = state.join("sqlserver");
        let at = |path: &Path| {
            let path = path.to_owned();
            move |source| JournalError::Io { path, source }
        };
        fs::create_dir_all(&folder).map_err(at(&folder))?;
        let own = [server, instance].join(" ");
        let path = folder.join(format!("{}.json", file_name(own.trim())));
        let lock_path = path.with_extension("lock");
        let lock = match locked(&lock_path) {
            Ok(lock) => lock,
            Err(TryLockError::WouldBlock) => return Err(JournalError::InUse(server.to_owned())),
            Err(TryLockError::Error(source)) => return Err(at(&lock_path)(source)),
        };
        let changes = match fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text).map_err(|error| JournalError::Damaged {
                path: path.clone(),
                why: error.to_string(),
            })?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Changes {
                server: server.to_owned(),
                address: address.to_owned(),
                ..Changes::default()
            },
            Err(error) => return Err(at(&path)(error)),
        };
        Ok(Journal {
            path,
            _lock: lock,
            changes,
        })
    }

    /// The journal of a run that reached its server at this address, where that cannot be asked its name; `None`
    /// without one.
    ///
    /// # Errors
    /// When that run is at work.
    pub(super) fn pending(state: &Path, address: &str) -> Result<Option<PathBuf>, JournalError> {
        let Ok(files) = fs::read_dir(state.join("sqlserver")) else {
            return Ok(None);
        };
        for path in files.flatten().map(|file| file.path()) {
            if path.extension().is_none_or(|end| end != "json") {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap_or_default();
            let changes: Option<Changes> = serde_json::from_str(&text).ok();
            let Some(changes) = changes.filter(|changes| changes.address == address) else {
                continue;
            };
            if let Err(TryLockError::WouldBlock) = locked(&path.with_extension("lock")) {
                return Err(JournalError::InUse(changes.server));
            }
            return Ok(Some(path));
        }
        Ok(None)
    }

    /// What is to be put back.
    pub(super) fn changes(&self) -> &Changes {
        &self.changes
    }

    /// Where it is, for people.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a change down; call it before the change is made, or after it was undone.
    pub(super) fn change(&mut self, change: impl FnOnce(&mut Changes)) -> Result<(), JournalError> {
        change(&mut self.changes);
        let at = |source| JournalError::Io {
            path: self.path.clone(),
            source,
        };
        if self.changes.is_empty() {
            return match fs::remove_file(&self.path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(at(error)),
                Ok(()) | Err(_) => Ok(()),
            };
        }
        let text = serde_json::to_string_pretty(&self.changes).expect("texts and numbers are JSON");
        // Whole or not at all: a run that is killed here must find what it had written before.
        let next = self.path.with_extension("next");
        let mut file = File::create(&next).map_err(at)?;
        file.write_all(text.as_bytes()).map_err(at)?;
        file.sync_all().map_err(at)?;
        fs::rename(&next, &self.path).map_err(at)
    }
}

/// The file, locked for as long as it is open.
fn locked(path: &Path) -> Result<File, TryLockError> {
    let mut options = File::options();
    let file = options.create(true).truncate(false).write(true).open(path);
    let file = file.map_err(TryLockError::Error)?;
    file.try_lock()?;
    Ok(file)
}

/// A server's name as that of a file: what is no letter or digit is written as its number.
fn file_name(server: &str) -> String {
    let letter = |c: char| match c.is_ascii_alphanumeric() {
        true => c.to_ascii_lowercase().to_string(),
        false => format!("-{:x}-", u32::from(c)),
    };
    server.chars().map(letter).collect()
}

/// Where journals are: the user's state directory, or one in the temporary directory where there is none.
pub(super) fn state_directory() -> PathBuf {
    let of = |name: &str| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let state = if cfg!(windows) {
        of("LOCALAPPDATA")
    } else {
        of("XDG_STATE_HOME").or_else(|| of("HOME").map(|home| home.join(".local/state")))
    };
    state.unwrap_or_else(std::env::temp_dir).join("dbstow")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESS: &str = "sqlserver://sa@db1";

    fn key(server: &str) -> Key<'_> {
        Key {
            server,
            instance: "",
            address: ADDRESS,
        }
    }

    #[test]
    fn what_a_killed_run_changed_is_there_at_the_next_start() {
        let state = tempfile::tempdir().expect("a directory");
        let mut journal = Journal::open(state.path(), key("DB1\\SQL2022")).expect("a journal");
        assert!(journal.changes().is_empty());
        journal
            .change(|changes| changes.databases.push("dbstow_1".to_owned()))
            .expect("written");
        drop(journal);

        let mut journal =
            Journal::open(state.path(), key("DB1\\SQL2022")).expect("the same journal");
        assert_eq!(journal.changes().databases, ["dbstow_1"]);
        journal
            .change(|changes| changes.databases.clear())
            .expect("written");
        drop(journal);
        let journal = Journal::open(state.path(), key("DB1\\SQL2022")).expect("the same journal");
        assert!(journal.changes().is_empty());
    }

    #[test]
    fn a_server_is_used_by_one_run_at_a_time() {
        let state = tempfile::tempdir().expect("a directory");
        let _first = Journal::open(state.path(), key("db1")).expect("a journal");
        let error = Journal::open(state.path(), key("db1")).expect_err("it is in use");
        assert!(error.to_string().contains("another run"), "{error}");
        assert!(Journal::open(state.path(), key("db2")).is_ok());
    }

    #[test]
    fn a_damaged_journal_is_not_thrown_away() {
        let state = tempfile::tempdir().expect("a directory");
        drop(Journal::open(state.path(), key("db1")).expect("a journal"));
        let path = state.path().join("sqlserver/db1.json");
        fs::write(&path, "{\"databases\": 1}").expect("written");
        let error = Journal::open(state.path(), key("db1")).expect_err("it is damaged");
        assert!(
            error.to_string().contains("put tempdb back by hand"),
            "{error}"
        );
        assert!(path.exists());
    }

    #[test]
    fn a_journal_is_found_by_the_address_of_a_server_that_does_not_answer() {
        let state = tempfile::tempdir().expect("a folder");
        let pending = |address| Journal::pending(state.path(), address);
        assert!(matches!(pending(ADDRESS), Ok(None)));
        let mut journal = Journal::open(state.path(), key("DB1")).expect("a journal");
        assert!(matches!(pending(ADDRESS), Ok(None)), "nothing is owed");
        journal
            .change(|changes| changes.memory_mib = Some(2048))
            .expect("it is written");

        assert!(matches!(pending(ADDRESS), Err(JournalError::InUse(name)) if name == "DB1"));
        let path = journal.path().to_owned();
        drop(journal);
        assert_eq!(pending(ADDRESS).expect("nobody is at work"), Some(path));
        assert!(matches!(pending("sqlserver://sa@db2"), Ok(None)));
    }
}
