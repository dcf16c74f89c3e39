//! Support for SQL Server.
//!
//! ```text
//!  tsql ────► text ──► session ──► answers ──┬─► capture ─► lint    the server as a value and a file; rules that check it
//!  names,     of       one         rows and  ├─► trial              an engine for experiments: a database in a server
//!  queries,   ours     connection  messages  └─► recorder              a server in use, recorded as a profile
//!  ALTER ..
//! ```
//!
//! [`layout`] generates scripts that place a server's files. Without the feature `driver`, only texts, captures, rules and
//! these scripts are built, and no SQL Server client.
//!
//! T-SQL and client run against Babelfish 4.4; not yet run on SQL Server. Tests parse the texts with Microsoft's own parser, and
//! run the protocol against a test double that other clients accept too.
//!
//! ```
//! use dbstow_sqlserver::tsql::Name;
//!
//! let name = Name::new("odd]name").expect("a name of 1 to 128 characters");
//! assert_eq!(name.to_string(), "[odd]]name]");
//! ```

#![warn(missing_docs)]

pub mod capture;
pub mod layout;
pub mod lint;
#[cfg(feature = "driver")]
mod recorder;
#[cfg(all(feature = "driver", target_os = "linux"))]
mod rehearse;
pub mod session;
#[cfg(feature = "driver")]
mod trial;
pub mod tsql;

#[cfg(all(feature = "driver", target_os = "linux"))]
pub use rehearse::read_log;
#[cfg(feature = "driver")]
pub use trial::{Access, OPERATIONS_PER_TRIP, Provider, ServerRun, ServerSite, SqlServer};
