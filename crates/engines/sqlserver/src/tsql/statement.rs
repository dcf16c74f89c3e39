//! Statements and scripts made of them.

use std::fmt;

use super::{Alter, CreateDatabase, Name, Size, literal};

/// A statement that can be sent on its own. It displays with its semicolon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// `USE`: switches to this database.
    Use(Name),
    /// `CREATE DATABASE`.
    Create(CreateDatabase),
    /// `ALTER DATABASE`.
    Alter {
        /// Which database.
        database: Name,
        /// What of it.
        alter: Alter,
    },
    /// `DROP DATABASE`, with its files.
    Drop(Name),
    /// `CHECKPOINT` of the current database. A manual one writes tempdb's pages too; automatic ones do not.
    Checkpoint,
    /// Empties the buffer pool of pages that are written: after `CHECKPOINT`, reads are cold.
    DropCleanBuffers,
    /// Shrinks a file of the current database, if it is larger, to whole mebibytes. It may stay larger
    /// where its pages are in use.
    Shrink {
        /// Logical name of the file.
        file: Name,
        /// How large it is to be; rounded down to mebibytes.
        size: Size,
    },
    /// Moves the contents of a file of the current database to its other files, so it can be removed.
    Empty {
        /// Logical name of the file.
        file: Name,
    },
    /// Sets the most memory that the buffer pool and others take, at once, in mebibytes. `RECONFIGURE` puts
    /// into force whatever else was configured and waits for it.
    MaxServerMemory {
        /// 128 at least.
        mib: u32,
    },
    /// Only if a condition on tempdb's files in use holds.
    If {
        /// What has to hold.
        condition: Condition,
        /// What is done then: a single statement.
        then: Box<Statement>,
    },
}

/// A condition on a tempdb file in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// A file of this name exists.
    Present(Name),
    /// No file has this name.
    Absent(Name),
    /// It is smaller.
    Smaller(Name, Size),
    /// It is larger.
    Larger(Name, Size),
}

impl Statement {
    /// An `ALTER DATABASE`.
    pub fn alter(database: &Name, alter: Alter) -> Statement {
        Statement::Alter {
            database: database.clone(),
            alter,
        }
    }

    /// The statement, only if `condition` holds.
    pub fn only_if(self, condition: Condition) -> Statement {
        let then = Box::new(self);
        Statement::If { condition, then }
    }
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Statement::Use(name) => write!(f, "USE {name};"),
            Statement::Create(create) => write!(f, "{create};"),
            Statement::Alter { database, alter } => write!(f, "ALTER DATABASE {database} {alter};"),
            Statement::Drop(name) => write!(f, "DROP DATABASE {name};"),
            Statement::Checkpoint => f.write_str("CHECKPOINT;"),
            Statement::DropCleanBuffers => f.write_str("DBCC DROPCLEANBUFFERS WITH NO_INFOMSGS;"),
            Statement::Shrink { file, size } => write!(
                f,
                "DBCC SHRINKFILE ({}, {}) WITH NO_INFOMSGS;",
                literal(file.text()),
                size.whole_mib()
            ),
            Statement::Empty { file } => write!(
                f,
                "DBCC SHRINKFILE ({}, EMPTYFILE) WITH NO_INFOMSGS;",
                literal(file.text())
            ),
            Statement::MaxServerMemory { mib } => write!(
                f,
                "DECLARE @shown int = (SELECT CAST(value_in_use AS int) FROM sys.configurations \
                 WHERE name = N'show advanced options');\n\
                 EXEC sys.sp_configure N'show advanced options', 1;\n\
                 RECONFIGURE;\n\
                 EXEC sys.sp_configure N'max server memory (MB)', {mib};\n\
                 RECONFIGURE;\n\
                 EXEC sys.sp_configure N'show advanced options', @shown;\n\
                 RECONFIGURE;"
            ),
            Statement::If { condition, then } => write!(f, "IF {condition}\n    {then}"),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (not, name) = match self {
            Condition::Absent(name) => ("NOT ", name),
            Condition::Present(name) | Condition::Smaller(name, _) | Condition::Larger(name, _) => {
                ("", name)
            }
        };
        write!(
            f,
            "{not}EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = {}",
            literal(name.text())
        )?;
        match self {
            Condition::Present(_) | Condition::Absent(_) => f.write_str(")"),
            Condition::Smaller(_, size) => write!(f, " AND size < {})", size.pages()),
            Condition::Larger(_, size) => write!(f, " AND size > {})", size.pages()),
        }
    }
}

/// A script for `sqlcmd` and Management Studio: every statement is a batch, so a failing one does not affect the others.
pub fn script(statements: &[Statement]) -> String {
    let batch = |statement: &Statement| format!("{statement}\nGO\n");
    statements.iter().map(batch).collect()
}
