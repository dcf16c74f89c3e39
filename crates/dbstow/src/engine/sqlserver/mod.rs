//! SQL Server as a trial's engine: a database of the run's own in a server that is there.

mod access;

pub use access::{Access, EncryptKind, LoginOptions};
