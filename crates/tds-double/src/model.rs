//! The seam: what a connection asks, and what answers without knowing of sockets.

use crate::login::Login;
use crate::reply::{Message, Reply};
use crate::value::Parameter;

/// Answers logins and texts: a fixed script, or a server with a state.
///
/// One model serves all connections, one question at a time, in the order in which they arrive.
pub trait Model: Send + 'static {
    /// What the server says of itself.
    fn identity(&self) -> Identity {
        Identity::default()
    }

    /// Whom and what a login lets in.
    ///
    /// # Errors
    /// Why not.
    fn login(&mut self, login: &Login) -> Result<Admitted, Refusal>;

    /// The reply to a text, or `None` where nothing is scripted for it: the client then gets error 50001.
    fn answer(&mut self, session: &mut Session, question: &Question) -> Option<Reply>;

    /// A pooled connection's next user has come.
    fn reset(&mut self, _session: &Session) {}

    /// The reply to what a session asked is sent, or the client has given it up.
    fn answered(&mut self, _session: &Session) {}

    /// A session ended.
    fn closed(&mut self, _session: &Session) {}
}

/// What a server says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// `@@SERVERNAME`, which stands in each message.
    pub name: String,
    /// 16 is SQL Server 2022.
    pub major: u8,
    /// 0 of each version so far, but for 2008 R2.
    pub minor: u8,
    /// 1000 is the first release.
    pub build: u16,
}

impl Default for Identity {
    fn default() -> Identity {
        Identity {
            name: "DOUBLE".to_owned(),
            major: 16,
            minor: 0,
            build: 1000,
        }
    }
}

/// A login that succeeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admitted {
    /// Name of the login.
    pub login: String,
    /// The database its session begins in.
    pub database: String,
}

/// Why a login failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Error 18456: unknown, or the wrong password or token. Clients are not told which.
    Denied,
    /// Error 4060, then 18456.
    NoDatabase(String),
    /// Any other, such as 18401 (the server is starting).
    Other(Message),
}

/// A login's connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// `@@SPID`
    pub id: u16,
    /// Name of the login.
    pub login: String,
    /// The database it began in, and comes back to when the connection is reset.
    pub database_first: String,
    /// The database it is in. A reply's [`crate::Item::Database`] changes it.
    pub database: String,
    /// What the client calls itself.
    pub application: String,
    /// The transaction it is in.
    pub transaction: Option<u64>,
}

/// A text and how it came.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The batch, the statement of `sp_executesql` or `sp_execute`, or the name of a procedure.
    pub text: String,
    /// Under their declared names; of a batch none.
    pub parameters: Vec<Parameter>,
    /// How it came.
    pub form: Form,
}

/// How a text reached the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As a plain batch.
    Batch,
    /// By `sp_executesql`, or prepared.
    Statement,
    /// A call of another procedure, whose name is the text.
    Procedure,
}
