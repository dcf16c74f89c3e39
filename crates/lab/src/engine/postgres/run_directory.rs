//! The directory of a private server that is not its own: who may log in, and the socket's place.
//!
//! ```text
//!   /tmp/dbstow-AbC123/   dbstow's own: the server can enter it, and change nothing
//!       pg_hba.conf       lets in the user `dbstow` alone, and only ..
//!       pg_ident.conf     .. whom this machine knows as the user that dbstow runs as
//!       socket/           the server's, closed to everybody else but root
//! ```
//!
//! Source: <https://www.postgresql.org/docs/18/auth-peer.html> and
//! <https://www.postgresql.org/docs/18/auth-username-maps.html>, read 2026-11-21.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use files::{FileError, Folder, Readers};
use nix::unistd::{User, geteuid};
use volume::leftovers::Registration;

use super::directories::{Owner, given_to};

/// The superuser of a private server, and the map of users that leads to it.
pub(super) const USER: &str = "dbstow";

/// The socket's directory in it.
const SOCKET: &str = "socket";

/// A directory of a private server, removed when it is dropped.
pub(super) struct RunDirectory {
    path: PathBuf,
    registration: Arc<Registration>,
}

impl RunDirectory {
    /// Makes one, for a server that runs as `owner`.
    pub(super) fn make(
        registration: &Arc<Registration>,
        owner: Option<Owner>,
    ) -> io::Result<RunDirectory> {
        let parent = short_directory();
        // Its name is known before it is made, so that it can be written down by then.
        let made = tempfile::Builder::new()
            .prefix("dbstow-")
            .make_in(parent, |path| {
                match registration.make_directory(path, true)? {
                    true => Ok(()),
                    false => Err(io::ErrorKind::AlreadyExists.into()),
                }
            })?;
        let (_, path) = made.keep().map_err(|error| error.error)?;
        let run = RunDirectory {
            path: path.canonicalize()?,
            registration: Arc::clone(registration),
        };
        run.furnish(owner).map_err(io::Error::other)?;
        Ok(run)
    }

    fn furnish(&self, owner: Option<Owner>) -> Result<(), FileError> {
        let folder = Folder::open(&self.path)?;
        given_to(owner, &folder.new_folder(SOCKET.as_ref())?)?;
        let own = own_name().map_err(|source| FileError::Io {
            path: self.path.clone(),
            source,
        })?;
        let logins = format!("local all {USER} peer map={USER}\n");
        let names = format!("{USER} {} {USER}\n", quoted(&own));
        for (file, text) in [("pg_hba.conf", logins), ("pg_ident.conf", names)] {
            folder.write_new(file.as_ref(), text.as_bytes(), Readers::Everyone)?;
        }
        match owner {
            // It has to get through to them.
            Some(_) => folder.change_mode(0o711),
            None => Ok(()),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The last part of its path, which no other has.
    pub(super) fn name(&self) -> &OsStr {
        self.path.file_name().expect("it was made in another one")
    }

    /// Where the server listens.
    pub(super) fn socket(&self) -> PathBuf {
        self.path.join(SOCKET).join(".s.PGSQL.5432")
    }

    /// What the server has to be started with.
    pub(super) fn settings(&self) -> [(&'static str, String); 6] {
        let file = |name: &str| self.path.join(name).display().to_string();
        [
            ("listen_addresses", String::new()),
            ("unix_socket_directories", quoted(&file(SOCKET))),
            ("unix_socket_permissions", "0700".to_owned()),
            ("port", "5432".to_owned()),
            ("hba_file", file("pg_hba.conf")),
            ("ident_file", file("pg_ident.conf")),
        ]
    }
}

impl Drop for RunDirectory {
    fn drop(&mut self) {
        // What cannot be removed stays written down, and is said by whoever ends the registration.
        if fs::remove_dir_all(&self.path).is_ok() {
            let _ = self.registration.removed(&self.path);
        }
    }
}

/// The name of the user that dbstow runs as.
fn own_name() -> io::Result<String> {
    let user = geteuid();
    let known = User::from_uid(user)?.map(|known| known.name);
    known.ok_or_else(|| {
        io::Error::other(format!(
            "this machine has no name for user {user}, which PostgreSQL asks for; add one to /etc/passwd"
        ))
    })
}

/// As PostgreSQL's files and lists want what may have a blank or a comma in it.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// Where a socket can be made: its path must stay below 108 bytes (`sun_path`, unix(7)), nobody else may be able
/// to replace what lies there, and the server's user has to get through.
fn short_directory() -> PathBuf {
    let usual = std::env::temp_dir();
    let usual = usual.canonicalize().unwrap_or(usual);
    let is_short = usual.as_os_str().len() < 70;
    match is_short && is_safe(&usual) && (!geteuid().is_root() || lets_through(&usual)) {
        true => usual,
        false => PathBuf::from("/tmp"),
    }
}

/// Whether every user can get to what lies in `directory`.
fn lets_through(directory: &Path) -> bool {
    let mut all = directory.ancestors().map(fs::metadata);
    all.all(|found| found.is_ok_and(|metadata| metadata.mode() & 0o001 != 0))
}

/// Whether only root and this user can rename what this user makes in `directory`.
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

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().mode() & 0o7777
    }

    #[test]
    fn it_is_dbstows_and_only_the_sockets_place_is_the_servers() {
        let registration = Arc::new(Registration::new().unwrap());
        let own = geteuid().as_raw();
        let owner = geteuid().is_root().then_some((65_534, 65_534));
        let server = owner.map_or(own, |(user, _)| user);

        let run = RunDirectory::make(&registration, owner).unwrap();

        let path = run.path().to_owned();
        let outer = if owner.is_some() { 0o711 } else { 0o700 };
        assert_eq!(mode(&path), outer);
        assert_eq!(fs::metadata(&path).unwrap().uid(), own);
        let socket = path.join(SOCKET);
        assert_eq!(mode(&socket), 0o700);
        assert_eq!(fs::metadata(&socket).unwrap().uid(), server);
        for name in ["pg_hba.conf", "pg_ident.conf"] {
            assert_eq!(mode(&path.join(name)), 0o644);
            assert_eq!(fs::metadata(path.join(name)).unwrap().uid(), own);
        }
        drop(run);
        assert!(!path.exists());
        registration.finish().unwrap();
    }

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

    #[test]
    fn names_are_quoted_as_postgresql_does() {
        assert_eq!(quoted("a b"), "\"a b\"");
        assert_eq!(quoted("a\"b"), "\"a\"\"b\"");
    }
}
