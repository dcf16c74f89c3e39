//! Why a server could not be asked, or refused.

use rules::said;

use super::message::Message;

/// What went wrong on a connection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The server said no: its errors, in their order.
    #[error("{}", words(.0))]
    Refused(Vec<Message>),
    /// It took longer than allowed; the connection can be used again unless it says otherwise.
    #[error(
        "no answer within the time that was allowed; check what answers at that address, or allow more with --timeout"
    )]
    Timeout,
    /// Somebody ended it.
    #[error("cancelled")]
    Cancelled,
    /// The server has no TLS, and was not sent the login for that.
    #[error("the server does not support encryption, so the login was not sent")]
    NoEncryption,
    /// There is no connection, or none any more.
    #[error("{0}")]
    Lost(String),
    /// Client and server are out of step; the connection was given up.
    #[error("{0}; the connection was given up, because what comes next on it could not be trusted")]
    OutOfStep(String),
}

impl Failure {
    /// Number of the first error that the server gave.
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
