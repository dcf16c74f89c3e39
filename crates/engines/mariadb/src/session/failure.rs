//! Why a request to the server failed.

use std::io;

use engine::row::Unexpected;

/// Why a request to the server failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The server reported an error.
    #[error("{message} (error {code})")]
    Refused {
        /// The error number.
        code: u16,
        /// The error text.
        message: String,
    },
    /// The connection is not encrypted as required, or the login is not possible: why, with the remedy.
    #[error("{0}")]
    Login(String),
    /// The server's response was unexpected.
    #[error(transparent)]
    Unexpected(#[from] Unexpected),
    /// The connection broke.
    #[error("the connection to the server is lost: {0}")]
    Lost(#[from] io::Error),
}
