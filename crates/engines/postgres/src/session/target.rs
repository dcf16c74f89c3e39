//! Which server to connect to, and as whom.

use std::fmt;

use crate::session::address::Address;
use crate::session::tls::Encryption;
use engine::Patience;
use engine::server_url::Password;

/// A server, a database in it, and the login.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) address: Address,
    pub(crate) user: String,
    pub(crate) database: String,
    pub(crate) password: Option<Password>,
    pub(crate) encryption: Encryption,
    /// Time limits.
    pub(crate) patience: Patience,
    /// Initial settings of its sessions.
    pub(crate) settings: SessionSettings,
}

/// Settings that a client sends at login. They take precedence over the server's settings for the database or the user.
pub(crate) type SessionSettings = &'static [(&'static str, &'static str)];

/// In databases of others, names must resolve to built-in objects. A function in `public` that matches a query's arguments better
/// than the built-in one would be called with the rights of the caller (CVE-2018-1058).
pub(crate) const BUILT_IN_ONLY: [(&str, &str); 1] = [("search_path", "pg_catalog")];

/// As a URL, without the password.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (user, database) = (&self.user, &self.database);
        match &self.address {
            Address::Tcp(host, port) => write!(f, "postgresql://{user}@{host}:{port}/{database}"),
            Address::Unix(path) => {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let port = name.rsplit('.').next().unwrap_or_default();
                let folder = path.parent().unwrap_or(path).display();
                write!(
                    f,
                    "postgresql://{user}@/{database}?host={folder}&port={port}"
                )
            }
        }
    }
}
