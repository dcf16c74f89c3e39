//! Support for MariaDB and MySQL.
//!
//! ```text
//!  session ──┬─► trial      an engine for experiments: a private server, or databases in an existing one
//!  (URL,     ├─► recorder      a server in use, recorded as a profile
//!   packets) └─► capture    what a server reports about itself, as a value and a file
//!                   └─► lint    rules that check a capture
//! ```
//!
//! [`layout`] generates scripts that place a server's files. Without the feature `driver`, only captures, rules and these
//! scripts are built, and no MariaDB client.
//!
//! ```
//! use mariadb::capture::Capture;
//! use mariadb::lint;
//! use rules::{Outcome, Selection};
//!
//! let mut capture = Capture::default();
//! capture.variables.insert("innodb_flush_method".into(), "fsync".into());
//! let judged = lint::judge(&capture, &Selection::default());
//! let said = judged.iter().find(|judged| judged.rule.id == "innodb-flush-method");
//! assert!(matches!(said.expect("it is a rule").outcomes[0], Outcome::Finding(_)));
//! ```

#![warn(missing_docs)]

pub mod capture;
pub mod layout;
pub mod lint;
#[cfg(all(unix, feature = "driver"))]
mod recorder;
#[cfg(all(target_os = "linux", feature = "driver"))]
mod rehearse;
#[cfg(all(unix, feature = "driver"))]
mod session;
#[cfg(all(unix, feature = "driver"))]
mod trial;

#[cfg(all(target_os = "linux", feature = "driver"))]
pub use rehearse::read_log;
#[cfg(all(unix, feature = "driver"))]
pub use session::ServerUrl;
#[cfg(all(unix, feature = "driver"))]
pub use trial::{MariaDb, Owner, Programs, Provider, owner};
