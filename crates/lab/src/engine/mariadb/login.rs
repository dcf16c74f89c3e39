//! Connections to a server.

use std::path::{Path, PathBuf};

use mysql::{Conn, OptsBuilder};

/// How to reach a server: its socket, and who logs in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) socket: PathBuf,
    pub(super) user: String,
}

impl Target {
    /// Opens a connection to `database`, or to none.
    ///
    /// # Errors
    /// When the server does not let us in.
    pub(super) fn open(&self, database: Option<&str>) -> mysql::Result<Conn> {
        let options = OptsBuilder::new()
            .socket(Some(text(&self.socket)))
            // It would otherwise ask a server that it reaches by network for its socket.
            .prefer_socket(false)
            .user(Some(self.user.clone()))
            .db_name(database)
            // Sessions keep their own.
            .stmt_cache_size(0);
        Conn::new(options)
    }
}

/// For a look with `mariadb`.
impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} as {}", self.socket.display(), self.user)
    }
}

fn text(path: &Path) -> String {
    path.display().to_string()
}
