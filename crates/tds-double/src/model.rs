//! The interface between connections and models, which are independent of sockets.

use crate::login::Login;
use crate::reply::{Message, Reply};
use crate::value::Parameter;

/// Answers logins and texts: a fixed script, or a server with a state.
///
/// One model serves all connections, one question at a time, in the order in which they arrive.
pub trait Model: Send + 'static {
    /// The server's identity.
    fn identity(&self) -> Identity {
        Identity::default()
    }

    /// Checks a login.
    ///
    /// # Errors
    /// The reason for refusal.
    fn login(&mut self, login: &Login) -> Result<Admitted, Refusal>;

    /// The reply to a text, or `None` where nothing is scripted for it: the client then gets error 50001.
    fn answer(&mut self, session: &mut Session, question: &Question) -> Option<Reply>;

    /// A pooled connection is reused.
    fn reset(&mut self, _session: &Session) {}

    /// The reply to a session's request was sent, or the client cancelled it.
    fn answered(&mut self, _session: &Session) {}

    /// A session ended.
    fn closed(&mut self, _session: &Session) {}
}

/// A server's identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// `@@SERVERNAME`, which each message contains.
    pub name: String,
    /// 16 is SQL Server 2022.
    pub major: u8,
    /// 0 for every version so far, except 2008 R2.
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

/// A successful login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admitted {
    /// Name of the login.
    pub login: String,
    /// The session's initial database.
    pub database: String,
}

/// Why a login failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Error 18456: unknown, or the wrong password or token. Clients do not learn which.
    Denied,
    /// Error 4060, then 18456.
    NoDatabase(String),
    /// Any other, such as 18401 (the server is starting).
    Other(Message),
}

/// A logged-in connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// `@@SPID`
    pub id: u16,
    /// Name of the login.
    pub login: String,
    /// Its initial database, to which it returns when the connection is reset.
    pub database_first: String,
    /// Its current database. A reply's [`crate::Item::Database`] changes it.
    pub database: String,
    /// The client's name for itself.
    pub application: String,
    /// Its current transaction.
    pub transaction: Option<u64>,
}

/// A text and how it was sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The batch, the statement of `sp_executesql` or `sp_execute`, or the name of a procedure.
    pub text: String,
    /// Under their declared names; empty for a batch.
    pub parameters: Vec<Parameter>,
    /// How it was sent.
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
