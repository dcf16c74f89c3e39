//! `CREATE`, `ALTER` and `DROP DATABASE`.

use std::fmt;

use super::{FileChange, FileSpec, Name};

/// `CREATE DATABASE name ON PRIMARY (..), .. LOG ON (..)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateDatabase {
    /// Its name.
    pub name: Name,
    /// Data files, all in the primary filegroup. Empty: chosen by the server, which is required for a managed instance and Azure
    /// SQL Database.
    pub data: Vec<FileSpec>,
    /// Log files; if empty, the server creates one.
    pub log: Vec<FileSpec>,
}

impl fmt::Display for CreateDatabase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CREATE DATABASE {}", self.name)?;
        files(f, "ON PRIMARY", &self.data)?;
        files(f, "LOG ON", &self.log)
    }
}

fn files(f: &mut fmt::Formatter<'_>, word: &str, files: &[FileSpec]) -> fmt::Result {
    for (index, file) in files.iter().enumerate() {
        match index {
            0 => write!(f, "\n{word}\n    {file}")?,
            _ => write!(f, ",\n    {file}")?,
        }
    }
    Ok(())
}

/// A change by `ALTER DATABASE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Alter {
    /// `MODIFY FILE`.
    Modify {
        /// Logical name of the file.
        file: Name,
        /// The change.
        change: FileChange,
    },
    /// `ADD FILE`, to the primary filegroup.
    Add(FileSpec),
    /// `ADD LOG FILE`.
    AddLog(FileSpec),
    /// `REMOVE FILE`, which must be empty.
    Remove(Name),
    /// `SET`.
    Set(DatabaseOption),
}

impl fmt::Display for Alter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Alter::Modify { file, change } => {
                write!(f, "MODIFY FILE (NAME = {file}, {change})")
            }
            Alter::Add(file) => write!(f, "ADD FILE {file}"),
            Alter::AddLog(file) => write!(f, "ADD LOG FILE {file}"),
            Alter::Remove(file) => write!(f, "REMOVE FILE {file}"),
            Alter::Set(option) => write!(f, "SET {option}"),
        }
    }
}

/// An option of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabaseOption {
    /// The log keeps nothing that a restart does not need.
    RecoverySimple,
    /// The log keeps everything until it is backed up.
    RecoveryFull,
    /// Read committed reads row versions.
    ReadCommittedSnapshot(bool),
    /// Transactions may request a snapshot.
    AllowSnapshotIsolation(bool),
    /// Whether a commit waits for the log.
    DelayedDurability(Durability),
    /// One session only; all others are disconnected, and their transactions rolled back.
    SingleUser,
    /// All sessions again.
    MultiUser,
}

/// Whether a commit may return before the log is flushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Never.
    Disabled,
    /// If the transaction requests it.
    Allowed,
    /// Always.
    Forced,
}

impl fmt::Display for DatabaseOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let on = |on: bool| if on { "ON" } else { "OFF" };
        match *self {
            DatabaseOption::RecoverySimple => f.write_str("RECOVERY SIMPLE"),
            DatabaseOption::RecoveryFull => f.write_str("RECOVERY FULL"),
            DatabaseOption::ReadCommittedSnapshot(is_on) => {
                write!(f, "READ_COMMITTED_SNAPSHOT {}", on(is_on))
            }
            DatabaseOption::AllowSnapshotIsolation(is_on) => {
                write!(f, "ALLOW_SNAPSHOT_ISOLATION {}", on(is_on))
            }
            DatabaseOption::DelayedDurability(durability) => {
                let word = match durability {
                    Durability::Disabled => "DISABLED",
                    Durability::Allowed => "ALLOWED",
                    Durability::Forced => "FORCED",
                };
                write!(f, "DELAYED_DURABILITY = {word}")
            }
            DatabaseOption::SingleUser => f.write_str("SINGLE_USER WITH ROLLBACK IMMEDIATE"),
            DatabaseOption::MultiUser => f.write_str("MULTI_USER"),
        }
    }
}
