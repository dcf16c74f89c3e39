//! Directories that a trial creates inside its volumes, and removes again.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use files::{FileError, Folder};
use host::clock::Clock;
use model::Duration;
use nix::unistd::{User, geteuid};

use super::product::Product;
use crate::EngineError;

/// User and group that a server runs as.
pub type Owner = (u32, u32);

/// The user that a managed server of `product` must run as: servers refuse root, so root needs another user, the first
/// existing one of [`Product::users`]. `None`: the user that dbstow runs as.
///
/// # Errors
/// When it is root and no other user exists.
pub fn owner(product: &Product) -> Result<Option<Owner>, EngineError> {
    first_of(product, product.users)
}

/// The user that must own directories for a server that runs already, with its files in `data_directory`; `None`: dbstow's own user.
/// `remedy`: if it is not visible here.
///
/// # Errors
/// When it is not visible, or dbstow may not give directories to that user.
pub fn owner_of_files(data_directory: &str, remedy: &str) -> Result<Option<Owner>, EngineError> {
    let metadata = fs::metadata(data_directory).map_err(|error| {
        EngineError::failed(
            format!("find the server's files in {data_directory}"),
            format!("{error}; {remedy}"),
        )
    })?;
    let own = geteuid();
    match metadata.uid() {
        user if user == own.as_raw() => Ok(None),
        user if own.is_root() => Ok(Some((user, metadata.gid()))),
        user => Err(EngineError::Missing(format!(
            "the server runs as user {user}, which has to own the directories that dbstow makes for it; run dbstow as root or as \
             that user"
        ))),
    }
}

/// The same for files of unknown origin: the last existing one of [`Product::users`], `nobody`, which owns no database
/// of this machine, as the first one may.
///
/// # Errors
/// As for [`owner`].
pub fn least_owner(product: &Product) -> Result<Option<Owner>, EngineError> {
    let [first, last] = product.users;
    first_of(product, [last, first])
}

fn first_of(product: &Product, users: [&str; 2]) -> Result<Option<Owner>, EngineError> {
    if !geteuid().is_root() {
        return Ok(None);
    }
    let [first, second] = users;
    let known = [first, second]
        .into_iter()
        .find_map(|name| User::from_name(name).ok().flatten());
    match known {
        Some(user) => Ok(Some((user.uid.as_raw(), user.gid.as_raw()))),
        None => Err(EngineError::Missing(format!(
            "{} does not run as root, and there is neither a user `{first}` nor `{second}`; \
             add one, or run dbstow as another user",
            product.name
        ))),
    }
}

/// Directories created here, in order.
#[derive(Debug)]
pub struct Directories {
    owner: Option<Owner>,
    made: Vec<PathBuf>,
}

impl Directories {
    /// Empty; created directories will belong to `owner`.
    pub fn new(owner: Option<Owner>) -> Directories {
        Directories {
            owner,
            made: Vec::new(),
        }
    }

    /// Creates one, accessible to the server only.
    pub fn make(&mut self, path: &Path) -> Result<(), EngineError> {
        let failed = |why: String| EngineError::failed(format!("make {}", path.display()), why);
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(failed("it has no parent directory".to_owned()));
        };
        let parent = Folder::open(parent).map_err(|error| failed(error.to_string()))?;
        match parent.new_folder(name) {
            Ok(folder) => {
                self.made.push(path.to_owned());
                given_to(self.owner, &folder).map_err(|error| failed(error.to_string()))
            }
            Err(FileError::Exists(_)) => Err(failed(
                "it exists already, and dbstow touches only what it made; empty the volume's directory, \
                 or give another"
                    .to_owned(),
            )),
            Err(error) => Err(failed(error.to_string())),
        }
    }

    /// Keeps what was created so far.
    pub fn keep(&mut self) {
        self.made.clear();
    }

    /// Whether nothing is left to remove.
    pub fn are_kept(&self) -> bool {
        self.made.is_empty()
    }

    /// Removes what was created, and reports what could not be.
    pub fn remove(&mut self) -> Result<(), String> {
        let mut left = Vec::new();
        for path in self.made.drain(..).rev() {
            if let Err(error) = removed(&path)
                && error.kind() != io::ErrorKind::NotFound
            {
                left.push(format!("{}: {error}", path.display()));
            }
        }
        match left.is_empty() {
            true => Ok(()),
            false => Err(format!("left behind: {}", left.join("; "))),
        }
    }
}

impl EngineError {
    /// The same error, with what could not be `removed` of what was created before it.
    pub fn with_left_behind(self, removed: Result<(), String>) -> EngineError {
        match removed {
            Ok(()) => self,
            Err(left) => EngineError::failed(self.to_string(), left),
        }
    }
}

/// Gives a directory to the user that the server runs as, if that is a different one.
pub(crate) fn given_to(owner: Option<Owner>, folder: &Folder) -> Result<(), FileError> {
    match owner {
        Some((user, group)) => folder.change_owner(user, group),
        None => Ok(()),
    }
}

/// A process that is just ending may still create a file while others are removed: retries.
fn removed(path: &Path) -> io::Result<()> {
    let mut result = fs::remove_dir_all(path);
    for _ in 0..10 {
        match &result {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {
                Clock::sleep(Duration::from_millis(50));
                result = fs::remove_dir_all(path);
            }
            _ => break,
        }
    }
    result
}
