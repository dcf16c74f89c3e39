//! Where a server listens.

use std::fmt;
use std::path::PathBuf;

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// A socket file.
    Unix(PathBuf),
    /// Host and port.
    Tcp(String, u16),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Unix(path) => write!(f, "{}", path.display()),
            Address::Tcp(host, port) => write!(f, "{host}:{port}"),
        }
    }
}
