//! SQL Server as dbstow sees it: what is asked, in which words, and what the answers mean. Nothing here knows
//! an experiment.
//!
//! ```text
//!  tsql ────► text ──► session ──► answers ──► capture ──► lint
//!  names,     of       one         rows and    the server  rules that
//!  queries,   ours     connection  messages    as a value, look at a
//!  ALTER ..                                    a file      capture
//! ```
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
pub mod session;
pub mod tsql;
