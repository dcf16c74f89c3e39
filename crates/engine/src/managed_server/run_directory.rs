//! The run directory of a managed server: it holds the socket, and files that the server only reads.
//!
//! ```text
//!   /tmp/dbstow-AbC123/   dbstow's own: the server can enter it, and change nothing
//!       ..                files that the product reads, such as who may log in
//!       socket/           the server's, closed to everybody else but root
//! ```

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use files::{FileError, Folder, Readers};
use host::orphans::Registration;
use nix::unistd::{User, geteuid};

use super::directories::{Owner, given_to};
use super::product::Product;
use crate::EngineError;
use crate::own_directory::{OwnDirectory, short_directory};

/// The socket's directory in it.
const SOCKET: &str = "socket";

/// The run directory of a managed server, removed when dropped.
pub struct RunDirectory(OwnDirectory);

impl RunDirectory {
    /// Creates one with `files`, names and contents, for a server that runs as `owner`, whose group can read them. Its
    /// path is short enough for a socket.
    ///
    /// # Errors
    /// When it or a file cannot be created or registered.
    pub fn make(
        registration: &Arc<Registration>,
        owner: Option<Owner>,
        files: &[(&str, String)],
    ) -> Result<RunDirectory, EngineError> {
        let failed = |error| EngineError::failed("make the server's own directory", error);
        let own = OwnDirectory::make(&short_directory(), registration).map_err(failed)?;
        let run = RunDirectory(own);
        run.furnish(owner, files)
            .map_err(|error| failed(io::Error::other(error)))?;
        Ok(run)
    }

    fn furnish(&self, owner: Option<Owner>, files: &[(&str, String)]) -> Result<(), FileError> {
        let folder = Folder::open(self.path())?;
        given_to(owner, &folder.new_folder(SOCKET.as_ref())?)?;
        let readers = match owner {
            Some((_, group)) => Readers::Group(group),
            None => Readers::OwnerOnly,
        };
        for (file, text) in files {
            folder.write_new(file.as_ref(), text.as_bytes(), readers)?;
        }
        match owner {
            // It must be able to reach them.
            Some(_) => folder.change_mode(0o711),
            None => Ok(()),
        }
    }

    /// Its path, without links.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// The last part of its path, which is unique.
    pub(crate) fn name(&self) -> &OsStr {
        self.path().file_name().expect("it was made in another one")
    }

    /// The directory in which the server creates its socket.
    pub fn socket_directory(&self) -> PathBuf {
        self.path().join(SOCKET)
    }
}

/// The name of the user that dbstow runs as, the only one that may log in to a server of `product`.
///
/// # Errors
/// When this machine has no name for that user.
pub fn own_name(product: &Product) -> Result<String, EngineError> {
    let user = geteuid();
    let failed = |why: String| EngineError::failed("make the server's own directory", why);
    let known = User::from_uid(user).map_err(|error| failed(error.to_string()))?;
    known.map(|known| known.name).ok_or_else(|| {
        failed(format!(
            "this machine has no name for user {user}, which {} asks for; add one to /etc/passwd",
            product.name
        ))
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::MetadataExt;

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
        let files = [("logins", "dbstow\n".to_owned()), ("names", String::new())];

        let run = RunDirectory::make(&registration, owner, &files).unwrap();

        let path = run.path().to_owned();
        let outer = if owner.is_some() { 0o711 } else { 0o700 };
        assert_eq!(mode(&path), outer);
        assert_eq!(fs::metadata(&path).unwrap().uid(), own);
        let socket = run.socket_directory();
        assert_eq!(mode(&socket), 0o700);
        assert_eq!(fs::metadata(&socket).unwrap().uid(), server);
        for (name, text) in files {
            let wanted = if owner.is_some() { 0o640 } else { 0o600 };
            assert_eq!(mode(&path.join(name)), wanted);
            assert_eq!(fs::metadata(path.join(name)).unwrap().uid(), own);
            assert_eq!(fs::read_to_string(path.join(name)).unwrap(), text);
        }
        drop(run);
        assert!(!path.exists());
        registration.finish().unwrap();
    }
}
