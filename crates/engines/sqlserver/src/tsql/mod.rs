//! Texts in Transact-SQL: names and literals that cannot be mistaken for anything else, and the statements
//! made of them.
//!
//! ```text
//! name, size ──► file ──► database ──► statement ──► tempdb: statements in the order of a move
//! ```
//!
//! All of it is the grammar of SQL Server 2019. Later words, such as those of 2025 about tempdb, belong into a
//! module of their own, with the version that they need.

mod database;
#[cfg(any(test, feature = "examples"))]
mod examples;
mod file;
mod name;
pub mod question;
mod size;
mod statement;
pub mod tempdb;

pub use database::{Alter, CreateDatabase, DatabaseOption, Durability};
#[cfg(any(test, feature = "examples"))]
pub use examples::examples;
pub use file::{FileChange, FilePath, FileSpec, PathError};
pub use name::{Name, NameError, literal};
pub use size::{Growth, MaxSize, Size, SizeError};
pub use statement::{Condition, Statement, script};
