//! Failures of a connection and errors of a server.

use rules::said;

use super::message::Message;

/// A failure on a connection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The server's errors, in order.
    #[error("{}", words(.0))]
    Refused(Vec<Message>),
    /// It took longer than allowed; the connection is still usable unless stated otherwise.
    #[error(
        "no answer within the time that was allowed; check what answers at that address, or allow more with --timeout"
    )]
    Timeout,
    /// It was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// The server has no TLS, so the login was not sent.
    #[error("the server does not support encryption, so the login was not sent")]
    NoEncryption,
    /// There is no connection, or it is lost.
    #[error("{0}")]
    Lost(String),
    /// Client and server are out of sync; the connection was abandoned.
    #[error("{0}; the connection was given up, because what comes next on it could not be trusted")]
    OutOfStep(String),
}

impl Failure {
    /// Number of the server's first error.
    pub fn number(&self) -> Option<u32> {
        match self {
            Failure::Refused(errors) => errors.first().map(|error| error.number),
            Failure::Timeout
            | Failure::Cancelled
            | Failure::NoEncryption
            | Failure::Lost(_)
            | Failure::OutOfStep(_) => None,
        }
    }
}

fn words(errors: &[Message]) -> String {
    let words: Vec<String> = errors.iter().map(ToString::to_string).collect();
    said(&words.join("; "))
}
