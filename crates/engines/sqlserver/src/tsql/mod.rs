//! Generates Transact-SQL: safely quoted names and literals, and the statements built from them.
//!
//! ```text
//! name, size ──► file ──► database ──► statement ──► tempdb: statements in the order of a move
//! ```
//!
//! All of it is the grammar of SQL Server 2019. Later syntax, such as that of 2025 about tempdb, belongs in a separate module,
//! with the required version.

mod database;
#[cfg(any(test, feature = "examples"))]
mod examples;
mod file;
mod name;
pub mod question;
mod restore;
mod size;
mod statement;
pub mod tempdb;

pub use database::{Alter, CreateDatabase, DatabaseOption, Durability};
#[cfg(any(test, feature = "examples"))]
pub use examples::examples;
pub use file::{FileChange, FilePath, FileSpec, PathError};
pub use name::{Name, NameError, literal};
pub use restore::Restore;
pub use size::{Growth, MaxSize, Size, SizeError};
pub use statement::{Condition, Statement, script};
