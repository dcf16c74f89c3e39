//! dbstow's own directory, under an unpredictable name.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use host::orphans::Registration;
use nix::unistd::geteuid;

/// A directory that only this user can enter at first; removed with its content when dropped.
pub struct OwnDirectory {
    path: PathBuf,
    registration: Arc<Registration>,
}

impl OwnDirectory {
    /// Creates one in `parent`.
    ///
    /// # Errors
    /// When it cannot be created or registered.
    pub fn make(parent: &Path, registration: &Arc<Registration>) -> io::Result<OwnDirectory> {
        // Its name is chosen before it is created, so that it can be registered by then.
        let made = tempfile::Builder::new()
            .prefix("dbstow-")
            .make_in(parent, |path| {
                match registration.make_directory(path, true)? {
                    true => Ok(()),
                    false => Err(io::ErrorKind::AlreadyExists.into()),
                }
            })?;
        let (_, path) = made.keep().map_err(|error| error.error)?;
        Ok(OwnDirectory {
            path: path.canonicalize()?,
            registration: Arc::clone(registration),
        })
    }

    /// Its path, without links.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for OwnDirectory {
    fn drop(&mut self) {
        // What cannot be removed stays registered, and is reported at the end of the registration.
        if fs::remove_dir_all(&self.path).is_ok() {
            let _ = self.registration.removed(&self.path);
        }
    }
}

/// Where a socket can be created: its path must stay below 108 bytes (`sun_path`, unix(7)), no other user may be
/// able to replace it, and the server's user must be able to reach it.
pub fn short_directory() -> PathBuf {
    let usual = std::env::temp_dir();
    let usual = usual.canonicalize().unwrap_or(usual);
    let is_short = usual.as_os_str().len() < 70;
    match is_short && is_safe(&usual) && (!geteuid().is_root() || lets_through(&usual)) {
        true => usual,
        false => PathBuf::from("/tmp"),
    }
}

/// Whether every user can reach the content of `directory`.
fn lets_through(directory: &Path) -> bool {
    let mut all = directory.ancestors().map(fs::metadata);
    all.all(|found| found.is_ok_and(|metadata| metadata.mode() & 0o001 != 0))
}

/// Whether only root and this user can rename this user's files in `directory`.
fn is_safe(directory: &Path) -> bool {
    fs::metadata(directory).is_ok_and(|metadata| {
        let others_may_not = metadata.mode() & 0o022 == 0 || metadata.mode() & 0o1000 != 0;
        [0, geteuid().as_raw()].contains(&metadata.uid()) && others_may_not
    })
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_parent_that_others_may_write_to_is_safe_only_where_names_are_protected() {
        let place = tempfile::tempdir().unwrap();
        for (mode, safe) in [(0o700, true), (0o755, true), (0o777, false), (0o1777, true)] {
            fs::set_permissions(place.path(), Permissions::from_mode(mode)).unwrap();
            assert_eq!(is_safe(place.path()), safe, "{mode:o}");
        }
    }

    #[test]
    fn a_directory_that_is_closed_to_others_lets_nobody_through() {
        let place = tempfile::tempdir().unwrap();
        let inner = place.path().join("inner");
        fs::create_dir(&inner).unwrap();
        for (mode, through) in [(0o711, true), (0o700, false)] {
            fs::set_permissions(place.path(), Permissions::from_mode(mode)).unwrap();
            assert_eq!(lets_through(&inner), through, "{mode:o}");
        }
    }
}
