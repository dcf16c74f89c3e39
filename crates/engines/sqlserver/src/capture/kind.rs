//! Kinds of SQL Server.

/// Kinds of SQL Server that differ in what may be placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Product {
    /// Installed on a machine, in any edition.
    Boxed,
    /// Azure SQL Database, elastic pools and Synapse's serverless relatives: no files to place.
    AzureDatabase,
    /// Azure SQL Managed Instance: number, growth and size of files only.
    ManagedInstance,
    /// PostgreSQL with T-SQL, which reports itself as SQL Server 2014, Standard Edition: it ignores file locations.
    ///
    /// Source: AWS, "Managing Babelfish error handling", `escape_hatch_storage_options`
    /// (<https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/babelfish-strict.html>, read 2026-11-26).
    Babelfish,
    /// Something else that speaks T-SQL.
    Other,
}
