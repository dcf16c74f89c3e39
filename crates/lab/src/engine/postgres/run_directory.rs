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
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use files::{FileError, Folder, Readers};
use nix::unistd::{User, geteuid};
use volume::leftovers::Registration;

use super::directories::{Owner, given_to};
use crate::own_directory::{OwnDirectory, short_directory};

/// The superuser of a private server, and the map of users that leads to it.
pub(super) const USER: &str = "dbstow";

/// The socket's directory in it.
const SOCKET: &str = "socket";

/// A directory of a private server, removed when it is dropped.
pub(super) struct RunDirectory(OwnDirectory);

impl RunDirectory {
    /// Makes one, for a server that runs as `owner`.
    pub(super) fn make(
        registration: &Arc<Registration>,
        owner: Option<Owner>,
    ) -> io::Result<RunDirectory> {
        let run = RunDirectory(OwnDirectory::make(&short_directory(), registration)?);
        run.furnish(owner).map_err(io::Error::other)?;
        Ok(run)
    }

    fn furnish(&self, owner: Option<Owner>) -> Result<(), FileError> {
        let folder = Folder::open(self.path())?;
        given_to(owner, &folder.new_folder(SOCKET.as_ref())?)?;
        let own = own_name().map_err(|source| FileError::Io {
            path: self.path().to_owned(),
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
        self.0.path()
    }

    /// The last part of its path, which no other has.
    pub(super) fn name(&self) -> &OsStr {
        self.path().file_name().expect("it was made in another one")
    }

    /// Where the server listens.
    pub(super) fn socket(&self) -> PathBuf {
        self.path().join(SOCKET).join(".s.PGSQL.5432")
    }

    /// What the server has to be started with.
    pub(super) fn settings(&self) -> [(&'static str, String); 6] {
        let file = |name: &str| self.path().join(name).display().to_string();
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;

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
    fn names_are_quoted_as_postgresql_does() {
        assert_eq!(quoted("a b"), "\"a b\"");
        assert_eq!(quoted("a\"b"), "\"a\"\"b\"");
    }
}
