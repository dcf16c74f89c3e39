//! Why a request to the server failed.

use std::io;

use engine::row::Unexpected;

use crate::session::sslmode::Mode;

/// Why a request to the server failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The server reported an error.
    #[error("SQLSTATE {code}: {message}")]
    Refused {
        /// The SQLSTATE.
        code: String,
        /// The error text.
        message: String,
    },
    /// The connection is not encrypted as required.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The server's response was unexpected.
    #[error(transparent)]
    Unexpected(#[from] Unexpected),
    /// The connection broke.
    #[error("the connection to the server is lost: {0}")]
    Lost(#[from] io::Error),
}

/// Why a connection is not encrypted as required.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TlsError {
    #[error(
        "the server does not offer TLS, which sslmode={} requires; turn it on there (`ssl = on` in its \
         postgresql.conf), connect through its socket, or allow an unencrypted connection with sslmode=disable",
        .0.name()
    )]
    NotOffered(Mode),
    #[error(
        "the server's certificate is not trusted: {0}; give the certificate of its authority with sslrootcert=FILE"
    )]
    Untrusted(String),
    #[error(
        "the server's certificate is not valid now: {0}; renew it on the server, or correct this machine's clock"
    )]
    Expired(String),
    #[error(
        "the server's certificate is not for {host}: {why}; connect by the name that it is for, or accept any name of \
         a trusted authority with sslmode=verify-ca"
    )]
    OtherName { host: String, why: String },
    #[error(
        "the TLS handshake failed: {0}; check that a PostgreSQL of version 13 or later answers at that address"
    )]
    Handshake(String),
}
