//! Journal of changes to a server that must be restored, written before each change: for the end of the run, and for the next
//! start after a crash.
//!
//! ```text
//!   <state>/sqlserver/<server>.json     changes to restore; missing if there are none
//!   <state>/sqlserver/<server>.lock     held by the run that uses the server
//! ```

use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::capture;
use files::{FileError, Folder, Readers};
use serde::{Deserialize, Serialize};

/// What one run changed on one server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Changes {
    /// The server's own name, independent of the address used.
    pub(crate) server: String,
    /// The address.
    #[serde(default)]
    pub(crate) address: String,
    /// Created databases.
    #[serde(default)]
    pub(crate) databases: Vec<String>,
    /// Original `max server memory (MB)`.
    #[serde(default)]
    pub(crate) memory_mib: Option<i64>,
    /// Original files of tempdb, as of the next start; `None`: unchanged.
    #[serde(default)]
    pub(crate) tempdb: Vec<capture::File>,
}

impl Changes {
    /// Whether nothing is left to restore.
    pub(crate) fn is_empty(&self) -> bool {
        self.databases.is_empty() && self.memory_mib.is_none() && self.tempdb.is_empty()
    }
}

/// Identity of a server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key<'a> {
    /// The server's own name.
    pub(crate) server: &'a str,
    /// An identifier created by setup, as names are not unique.
    pub(crate) instance: &'a str,
    /// The address used.
    pub(crate) address: &'a str,
}

/// The file with a run's changes.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    folder: Folder,
    /// Held while a run uses the server.
    _lock: File,
    changes: Changes,
}

/// Why the journal is not available.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JournalError {
    /// Another run is at work.
    #[error("another run of dbstow uses {0} at this moment; wait for its end")]
    InUse(String),
    /// It cannot be read as one.
    #[error(
        "{path} records what an earlier run changed on the server, but cannot be read ({why}); \
             inspect it, move tempdb back by hand if it was moved, and remove the file"
    )]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// It cannot be written, or another user's file is in its place.
    #[error(transparent)]
    File(#[from] FileError),
    /// A system call failed.
    #[error("{path}: {source}")]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl Journal {
    /// Opens the journal of a server in `state`, including entries of a killed run.
    pub(crate) fn open(
        state: &Path,
        Key {
            server,
            instance,
            address,
        }: Key<'_>,
    ) -> Result<Journal, JournalError> {
        let at = |path: &Path| {
            let path = path.to_owned();
            move |source| JournalError::Io { path, source }
        };
        let folder = folder_in(state)?;
        let own = [server, instance].join(" ");
        let path = folder
            .path()
            .join(format!("{}.json", file_name(own.trim())));
        let lock_path = path.with_extension("lock");
        let lock = folder.own_file(name_of(&lock_path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(JournalError::InUse(server.to_owned())),
            Err(TryLockError::Error(source)) => return Err(at(&lock_path)(source)),
        }
        let changes = match folder.holds(name_of(&path)) {
            true => {
                let mut text = String::new();
                let mut file = folder.own_file(name_of(&path))?;
                file.read_to_string(&mut text).map_err(at(&path))?;
                serde_json::from_str(&text).map_err(|error| JournalError::Damaged {
                    path: path.clone(),
                    why: error.to_string(),
                })?
            }
            false => Changes {
                server: server.to_owned(),
                address: address.to_owned(),
                ..Changes::default()
            },
        };
        Ok(Journal {
            path,
            folder,
            _lock: lock,
            changes,
        })
    }

    /// The journal of a run that used its server at this address, if the server cannot be queried for its name; `None` without
    /// one.
    ///
    /// # Errors
    /// When that run is still active.
    pub(crate) fn pending(state: &Path, address: &str) -> Result<Option<PathBuf>, JournalError> {
        if !state.join("sqlserver").exists() {
            return Ok(None);
        }
        let folder = folder_in(state)?;
        for name in folder.names()? {
            let path = folder.path().join(&name);
            if path.extension().is_none_or(|end| end != "json") {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap_or_default();
            let changes: Option<Changes> = serde_json::from_str(&text).ok();
            let Some(changes) = changes.filter(|changes| changes.address == address) else {
                continue;
            };
            let lock = folder.own_file(name_of(&path.with_extension("lock")))?;
            if let Err(TryLockError::WouldBlock) = lock.try_lock() {
                return Err(JournalError::InUse(changes.server));
            }
            return Ok(Some(path));
        }
        Ok(None)
    }

    /// The changes to restore.
    pub(crate) fn changes(&self) -> &Changes {
        &self.changes
    }

    /// Its path, for messages.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Records a change; call it before the change is made, or after it was undone.
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut Changes)) -> Result<(), JournalError> {
        change(&mut self.changes);
        let name = name_of(&self.path);
        if self.changes.is_empty() {
            return Ok(self.folder.remove_file(name)?);
        }
        let text = serde_json::to_string_pretty(&self.changes).expect("texts and numbers are JSON");
        // Atomically: if the run is killed here, the previous content must survive.
        Ok(self
            .folder
            .write(name, text.as_bytes(), Readers::OwnerOnly)?)
    }
}

/// The folder of journals, writable only by this user: it may be in the temporary directory.
fn folder_in(state: &Path) -> Result<Folder, JournalError> {
    let at = |source| JournalError::Io {
        path: state.to_owned(),
        source,
    };
    let parent = state.parent().unwrap_or(state);
    fs::create_dir_all(parent).map_err(at)?;
    let state = match state.file_name() {
        Some(name) => {
            let parent = Folder::open(parent)?;
            parent.check_parent()?;
            parent.own_folder(name, 0o700)?
        }
        None => Folder::open(state)?,
    };
    Ok(state.own_folder("sqlserver".as_ref(), 0o700)?)
}

fn name_of(path: &Path) -> &OsStr {
    path.file_name().expect("it was given one")
}

/// A server's name as a file name: characters other than letters and digits are written as numbers.
fn file_name(server: &str) -> String {
    let letter = |c: char| match c.is_ascii_alphanumeric() {
        true => c.to_ascii_lowercase().to_string(),
        false => format!("-{:x}-", u32::from(c)),
    };
    server.chars().map(letter).collect()
}

/// Location of journals: the user's state directory, or one in the temporary directory if missing.
pub(crate) fn state_directory() -> PathBuf {
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
        let temporary = tempfile::tempdir().expect("a directory");
        let state = temporary.path().join("dbstow");
        let mut journal = Journal::open(&state, key("DB1\\SQL2022")).expect("a journal");
        assert!(journal.changes().is_empty());
        journal
            .change(|changes| changes.databases.push("dbstow_1".to_owned()))
            .expect("written");
        drop(journal);

        let mut journal = Journal::open(&state, key("DB1\\SQL2022")).expect("the same journal");
        assert_eq!(journal.changes().databases, ["dbstow_1"]);
        journal
            .change(|changes| changes.databases.clear())
            .expect("written");
        drop(journal);
        let journal = Journal::open(&state, key("DB1\\SQL2022")).expect("the same journal");
        assert!(journal.changes().is_empty());
    }

    #[test]
    fn a_server_is_used_by_one_run_at_a_time() {
        let temporary = tempfile::tempdir().expect("a directory");
        let state = temporary.path().join("dbstow");
        let _first = Journal::open(&state, key("db1")).expect("a journal");
        let error = Journal::open(&state, key("db1")).expect_err("it is in use");
        assert!(error.to_string().contains("another run"), "{error}");
        assert!(Journal::open(&state, key("db2")).is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn a_state_directory_of_somebody_else_is_refused() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};

        let temporary = tempfile::tempdir().expect("a directory");
        let state = temporary.path().join("dbstow");
        let refused = || {
            Journal::open(&state, key("db1"))
                .expect_err("not ours")
                .to_string()
        };
        symlink(temporary.path(), &state).expect("the name is free");
        assert!(refused().contains("symbolic link"), "{}", refused());
        fs::remove_file(&state).expect("it is a link");

        fs::create_dir(&state).expect("the name is free");
        fs::set_permissions(&state, fs::Permissions::from_mode(0o777)).expect("it is ours");
        assert!(refused().contains("written by others"), "{}", refused());
        fs::remove_dir(&state).expect("it is empty");

        let mut journal = Journal::open(&state, key("db1")).expect("a journal");
        let change = |changes: &mut Changes| changes.memory_mib = Some(1);
        journal.change(change).expect("it is written");
        let mode = |path: &Path| {
            fs::metadata(path)
                .expect("it is there")
                .permissions()
                .mode()
        };
        assert_eq!(mode(&state) & 0o777, 0o700);
        assert_eq!(mode(journal.path()) & 0o777, 0o600);
    }

    #[test]
    fn a_damaged_journal_is_not_thrown_away() {
        let temporary = tempfile::tempdir().expect("a directory");
        let state = temporary.path().join("dbstow");
        drop(Journal::open(&state, key("db1")).expect("a journal"));
        let path = state.join("sqlserver/db1.json");
        fs::write(&path, "{\"databases\": 1}").expect("written");
        let error = Journal::open(&state, key("db1")).expect_err("it is damaged");
        assert!(
            error.to_string().contains("move tempdb back by hand"),
            "{error}"
        );
        assert!(path.exists());
    }

    #[test]
    fn a_journal_is_found_by_the_address_of_a_server_that_does_not_answer() {
        let temporary = tempfile::tempdir().expect("a folder");
        let state = temporary.path().join("dbstow");
        let pending = |address| Journal::pending(&state, address);
        assert!(matches!(pending(ADDRESS), Ok(None)));
        let mut journal = Journal::open(&state, key("DB1")).expect("a journal");
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
