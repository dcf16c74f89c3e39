//! `RESTORE`: what is in a backup, and a database from it.
//!
//! Source: <https://learn.microsoft.com/sql/t-sql/statements/restore-statements-transact-sql>, read 2026-11-29.

use std::fmt;

use super::{FilePath, Name};

/// What is read of a file with backups, by its path as the server sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Restore {
    /// A row for each backup in it.
    Headers(FilePath),
    /// A row for each file of the database of one of them.
    Files(FilePath, i64),
    /// A database of another name.
    Database {
        /// Its name, which no database has.
        name: Name,
        /// The backup.
        from: FilePath,
        /// Which of those in it, from 1.
        position: i64,
        /// Files by their logical names, and where they go.
        moves: Vec<(Name, FilePath)>,
    },
}

impl fmt::Display for Restore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Restore::Headers(from) => write!(f, "RESTORE HEADERONLY FROM DISK = {from};"),
            Restore::Files(from, position) => {
                write!(
                    f,
                    "RESTORE FILELISTONLY FROM DISK = {from} WITH FILE = {position};"
                )
            }
            // Without REPLACE, it overwrites neither a database nor a file.
            Restore::Database {
                name,
                from,
                position,
                moves,
            } => {
                write!(
                    f,
                    "RESTORE DATABASE {name}\nFROM DISK = {from}\nWITH FILE = {position}"
                )?;
                for (file, path) in moves {
                    write!(f, ",\n    MOVE {} TO {path}", super::literal(file.text()))?;
                }
                f.write_str(";")
            }
        }
    }
}
