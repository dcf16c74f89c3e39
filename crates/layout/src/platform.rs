//! The platform of a server.

use std::fmt;

/// The platform of a server, as it matters for files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// A machine with Windows
    Windows,
    /// A machine or container with Linux
    Linux,
    /// Azure SQL Managed Instance
    ManagedInstance,
    /// Azure SQL Database
    AzureSqlDatabase,
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Platform::Windows => "windows",
            Platform::Linux => "linux",
            Platform::ManagedInstance => "managed-instance",
            Platform::AzureSqlDatabase => "azure-sql-database",
        })
    }
}
