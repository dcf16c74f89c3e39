//! Support for PostgreSQL. Unix.
//!
//! ```text
//!  session ──┬─► trial    an engine for experiments: a private server, or a database in an existing one
//!  (URL,     ├─► recorder    a server in use, recorded as a profile
//!  messages) └─► drill    a server whose power is cut
//! ```

#![cfg(unix)]
#![warn(missing_docs)]

#[cfg(target_os = "linux")]
pub mod drill;
mod recorder;
mod session;
mod trial;

pub use session::ServerUrl;
#[cfg(target_os = "linux")]
pub use trial::least_owner;
pub use trial::{Binaries, Owner, Postgres, Provider, VERSIONS, owner};
