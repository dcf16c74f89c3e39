//! One connection to a server: sends batches and statements, and receives rows and messages, in order.
//!
//! [`Session`] is the abstraction: everything else depends only on it, so the driver can be replaced.

mod answer;
#[cfg(feature = "driver")]
mod driver;
mod failure;
#[cfg(feature = "driver")]
mod limits;
#[cfg(feature = "driver")]
mod login;
mod message;
#[cfg(any(test, feature = "examples"))]
mod scripted;
#[cfg(feature = "driver")]
mod server;

pub use answer::{Batch, Cell, Item, Missing, Row, Rows};
#[cfg(feature = "driver")]
pub use driver::{Canceller, Driver};
pub use failure::Failure;
#[cfg(feature = "driver")]
pub use limits::Limits;
#[cfg(feature = "driver")]
pub use login::{Credentials, Encryption, Login, LoginError, Secret};
pub use message::Message;
#[cfg(any(test, feature = "examples"))]
pub use scripted::Scripted;
#[cfg(feature = "driver")]
pub use server::{Server, ServerError};

use std::time::Duration;

/// Default time limit of our own queries (our choice).
pub(crate) const ANSWER_LIMIT: Duration = Duration::from_secs(30);

/// An argument of a statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// `NULL`, as `nvarchar`.
    Null,
    /// `bigint`.
    Int(i64),
    /// `float`.
    Float(f64),
    /// `nvarchar(4000)`, or `nvarchar(max)` if longer.
    Text(String),
}

/// A connection to a SQL Server.
pub trait Session: Send {
    /// Executes a batch to its end, past statements that fail; no longer than `limit`, if there is one.
    ///
    /// # Errors
    /// When the server could not be reached, or its response is incomplete. The server's errors are in the response
    /// ([`Batch::refused`]).
    fn batch(&mut self, text: &str, limit: Option<Duration>) -> Result<Batch, Failure>;

    /// Executes one statement with its arguments as `@p1`, `@p2`, .., prepared on first use, and reads its whole result. Returns
    /// the number of rows read and changed.
    ///
    /// A text without arguments is a separate batch, because a temporary table created by a prepared statement or `sp_executesql`
    /// is dropped when it ends. A text with a loop is run by `sp_executesql` anyway: the loop then sends no message per
    /// iteration, which a batch does even under `NOCOUNT`.
    ///
    /// # Errors
    /// When it fails, or the server could not be reached.
    fn statement(&mut self, text: &str, arguments: &[Argument]) -> Result<u64, Failure>;

    /// Time limit of our own queries.
    fn answer_limit(&self) -> Duration {
        ANSWER_LIMIT
    }

    /// Whether a transaction is open.
    fn in_transaction(&self) -> bool;

    /// Whether the connection is still usable.
    fn is_usable(&self) -> bool;
}
