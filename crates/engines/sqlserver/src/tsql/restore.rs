//! `RESTORE`: what is in a backup, and a database from it.
//!
//! Source: <https://learn.microsoft.com/sql/t-sql/statements/restore-statements-transact-sql>, read 2026-11-29.

use std::fmt;

use super::{FilePath, Name};

/// A backup, as the server sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device(FilePath);

impl Device {
    /// The file or URL of a backup.
    pub fn new(path: FilePath) -> Device {
        Device(path)
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.text();
        let is_url = text.starts_with("https://") || text.starts_with("s3://");
        write!(f, "{} = {}", if is_url { "URL" } else { "DISK" }, self.0)
    }
}

/// What is read of a backup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Restore {
    /// A row for each backup in it.
    Headers(Device),
    /// A row for each file of the database of one of them.
    Files(Device, i64),
    /// A database of another name.
    Database {
        /// Its name, which no database has.
        name: Name,
        /// The backup.
        from: Device,
        /// Which of those in it, from 1.
        position: i64,
        /// Files by their logical names, and where they go.
        moves: Vec<(Name, FilePath)>,
    },
}

impl fmt::Display for Restore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Restore::Headers(from) => write!(f, "RESTORE HEADERONLY FROM {from};"),
            Restore::Files(from, position) => {
                write!(
                    f,
                    "RESTORE FILELISTONLY FROM {from} WITH FILE = {position};"
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
                    "RESTORE DATABASE {name}\nFROM {from}\nWITH FILE = {position}"
                )?;
                for (file, path) in moves {
                    write!(f, ",\n    MOVE {} TO {path}", super::literal(file.text()))?;
                }
                f.write_str(";")
            }
        }
    }
}
