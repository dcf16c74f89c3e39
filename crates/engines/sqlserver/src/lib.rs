//! SQL Server: all that dbstow knows of it.
//!
//! ```text
//!  tsql ────► text ──► session ──► answers ──┬─► capture ─► lint    the server as a value and a file; rules that look at it
//!  names,     of       one         rows and  ├─► trial              an engine for experiments: a database in a server
//!  queries,   ours     connection  messages  └─► recorder              a server in use, recorded as a profile
//!  ALTER ..
//! ```
//!
//! Without the feature `driver` there are texts, captures and rules alone, and no client of SQL Server is built.
//!
//! None of this has run on a SQL Server yet: the texts are parsed by Microsoft's own parser, and the
//! conversation is held with a double that foreign clients accept too.
//!
//! ```
//! use dbstow_sqlserver::tsql::Name;
//!
//! let name = Name::new("odd]name").expect("a name of 1 to 128 characters");
//! assert_eq!(name.to_string(), "[odd]]name]");
//! ```

#![warn(missing_docs)]

pub mod capture;
pub mod lint;
#[cfg(feature = "driver")]
mod recorder;
pub mod session;
#[cfg(feature = "driver")]
mod trial;
pub mod tsql;

#[cfg(feature = "driver")]
pub use trial::{Access, OPERATIONS_PER_TRIP, Provider, ServerRun, ServerSite, SqlServer};
