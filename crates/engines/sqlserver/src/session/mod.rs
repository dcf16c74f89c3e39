//! One connection to a server: batches and statements go out, rows and messages come back, in their order.
//!
//! [`Session`] is the seam: everything else knows it alone, so that the driver behind it can be another one.

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
pub use server::{Server, ServerError};

use std::time::Duration;

/// Longest that a question of our own may take, unless somebody says otherwise (our choice).
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
    /// `nvarchar(4000)`, or `nvarchar(max)` where it is longer.
    Text(String),
}

/// A connection to a SQL Server.
pub trait Session: Send {
    /// Executes a batch to its end, past statements that fail; no longer than `limit`, if there is one.
    ///
    /// # Errors
    /// When the server could not be asked, or its answer does not reach its end. What it refused is in the
    /// answer ([`Batch::refused`]).
    fn batch(&mut self, text: &str, limit: Option<Duration>) -> Result<Batch, Failure>;

    /// Executes one statement with its arguments as `@p1`, `@p2`, .., prepared when it comes first, and
    /// reads all that it gives. Gives the rows read and changed.
    ///
    /// A text without arguments is a batch of its own, because a temporary table that a prepared statement or
    /// `sp_executesql` makes is gone when it ends. A text with a loop in it goes through `sp_executesql` all the
    /// same: the loop then sends no word for each of its turns, which a batch does even under `NOCOUNT`.
    ///
    /// # Errors
    /// When it fails, or the server could not be asked.
    fn statement(&mut self, text: &str, arguments: &[Argument]) -> Result<u64, Failure>;

    /// Longest that a question of our own may take.
    fn answer_limit(&self) -> Duration {
        ANSWER_LIMIT
    }

    /// Whether a transaction is open.
    fn in_transaction(&self) -> bool;

    /// Whether it can still be asked.
    fn is_usable(&self) -> bool;
}
