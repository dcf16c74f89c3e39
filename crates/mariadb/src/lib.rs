//! MariaDB and MySQL as dbstow sees them: what a running server says of itself, as a value and a file, and rules that look at
//! it. Nothing here knows an experiment, and nothing here opens a connection.
//!
//! ```text
//!  an open connection ─► take ─┐
//!  the machine's disks ────────┴► capture ─► lint
//!  (dbstow-lab)                   a value,   rules that look
//!                                 a file     at a capture
//! ```
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
pub mod lint;
