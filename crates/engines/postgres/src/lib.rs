//! Support for PostgreSQL.
//!
//! ```text
//!  session ──┬─► trial    an engine for experiments: a private server, or a database in an existing one
//!  (URL,     ├─► recorder    a server in use, recorded as a profile
//!  messages) ├─► drill    a server whose power is cut
//!            └─► rehearse    a copy of a server, and a log of its statements
//! ```
//!
//! [`layout`] generates scripts that place a server's files. Without the feature `driver`, which is for Unix, only these are
//! built, and no PostgreSQL client.

#![warn(missing_docs)]

#[cfg(all(target_os = "linux", feature = "driver"))]
pub mod drill;
pub mod layout;
#[cfg(all(unix, feature = "driver"))]
mod recorder;
#[cfg(all(target_os = "linux", feature = "driver"))]
pub mod rehearse;
#[cfg(all(unix, feature = "driver"))]
mod session;
#[cfg(all(unix, feature = "driver"))]
mod trial;

#[cfg(all(unix, feature = "driver"))]
pub use session::ServerUrl;
#[cfg(all(target_os = "linux", feature = "driver"))]
pub use trial::least_owner;
#[cfg(all(unix, feature = "driver"))]
pub use trial::{Binaries, Owner, Postgres, Provider, VERSIONS, owner};
