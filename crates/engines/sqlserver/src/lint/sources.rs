//! Sources of the rules. The pages change: each has the date it was read.

use rules::Source;

const fn source(name: &'static str, url: &'static str) -> Source {
    Source {
        name,
        url,
        read: "2026-11-21",
    }
}

pub(super) const TEMPDB_PAGE: Source = source(
    "Microsoft, tempdb database",
    "https://learn.microsoft.com/sql/relational-databases/databases/tempdb-database",
);
pub(super) const TEMPDB_CONTENTION: Source = source(
    "Microsoft, KB2154845: reduce allocation contention in tempdb (2026-05-20)",
    "https://learn.microsoft.com/troubleshoot/sql/database-engine/performance/recommendations-reduce-allocation-contention",
);
pub(super) const RULESET: Source = source(
    "Microsoft, SQL Assessment API, ruleset 1.1.17",
    "https://github.com/microsoft/sql-server-samples/tree/master/samples/manage/sql-assessment-api",
);
pub(super) const DBATOOLS_TEMPDB: Source = source(
    "dbatools, Test-DbaTempDbConfig",
    "https://docs.dbatools.io/Test-DbaTempDbConfig",
);
pub(super) const DBATOOLS_ALLOCATION: Source = source(
    "dbatools, Test-DbaDiskAllocation",
    "https://docs.dbatools.io/Test-DbaDiskAllocation",
);
pub(super) const DBATOOLS_SPEED: Source = source(
    "dbatools, Test-DbaDiskSpeed",
    "https://docs.dbatools.io/Test-DbaDiskSpeed",
);
pub(super) const DBATOOLS_LOG_MAXIMUM: Source = source(
    "dbatools, pull request 4716: the log's default maximum is not a finding",
    "https://github.com/dataplat/dbatools/pull/4716",
);
pub(super) const FRK_MANY_FILES: Source = source(
    "First Responder Kit, issue 3907: more than 8 files and more than half of the processors",
    "https://github.com/BrentOzarULTD/SQL-Server-First-Responder-Kit/issues/3907",
);
pub(super) const FRK_SIZES: Source = source(
    "First Responder Kit, issue 805: sizes of files need a tolerance of about 1 GB",
    "https://github.com/BrentOzarULTD/SQL-Server-First-Responder-Kit/issues/805",
);
pub(super) const FRK: Source = source(
    "First Responder Kit, sp_BlitzFirst",
    "https://github.com/BrentOzarULTD/SQL-Server-First-Responder-Kit",
);
pub(super) const TRACE_FLAGS: Source = source(
    "Microsoft, SQL Server blog: TEMPDB, files and trace flags and updates (2018-06-29)",
    "https://techcommunity.microsoft.com/t5/sql-server/tempdb-files-and-trace-flags-and-updates-oh-my/ba-p/385937",
);
pub(super) const MOVE: Source = source(
    "Microsoft, Move system databases",
    "https://learn.microsoft.com/sql/relational-databases/databases/move-system-databases",
);
pub(super) const LOG_SIZE: Source = source(
    "Microsoft, Manage the size of the transaction log file (2023-09-08)",
    "https://learn.microsoft.com/sql/relational-databases/logs/manage-the-size-of-the-transaction-log-file",
);
pub(super) const IFI: Source = source(
    "Microsoft, Database instant file initialization",
    "https://learn.microsoft.com/sql/relational-databases/databases/database-instant-file-initialization",
);
pub(super) const MEMORY: Source = source(
    "Microsoft, Server memory configuration options",
    "https://learn.microsoft.com/sql/database-engine/configure-windows/server-memory-server-configuration-options",
);
pub(super) const LINUX_MEMORY: Source = source(
    "Microsoft, mssql-conf: memory.memorylimitmb",
    "https://learn.microsoft.com/sql/linux/sql-server-linux-configure-mssql-conf",
);
pub(super) const AZURE_STORAGE: Source = source(
    "Microsoft, Storage: best practices for SQL Server on Azure VMs (2023-10-06)",
    "https://learn.microsoft.com/azure/azure-sql/virtual-machines/windows/performance-guidelines-best-practices-storage",
);
pub(super) const AZURE_CONFIGURATION: Source = source(
    "Microsoft, Configure storage for SQL Server VMs (2024-03-01)",
    "https://learn.microsoft.com/azure/azure-sql/virtual-machines/windows/storage-configuration",
);
pub(super) const AZURE_ANALYSIS: Source = source(
    "Microsoft, I/O performance analysis for SQL Server on Azure VMs (2026-02-19)",
    "https://learn.microsoft.com/azure/azure-sql/virtual-machines/windows/storage-performance-analysis",
);
pub(super) const PERFKIT: Source = source(
    "PerfKitBenchmarker, issue 2574: 290 runs; on AWS data and log striped together did best",
    "https://github.com/GoogleCloudPlatform/PerfKitBenchmarker/issues/2574",
);
pub(super) const MANAGED_LIMITS: Source = source(
    "Microsoft, Resource limits of Azure SQL Managed Instance (2022-06-02)",
    "https://learn.microsoft.com/azure/azure-sql/managed-instance/resource-limits",
);
pub(super) const MANAGED_TEMPDB: Source = source(
    "Microsoft, Configure tempdb of Azure SQL Managed Instance (2023-06-25)",
    "https://learn.microsoft.com/azure/azure-sql/managed-instance/tempdb-configure",
);
pub(super) const MANAGED_DIFFERENCES: Source = source(
    "Microsoft, T-SQL differences between SQL Server and Azure SQL Managed Instance",
    "https://learn.microsoft.com/azure/azure-sql/managed-instance/transact-sql-tsql-differences-sql-server",
);
pub(super) const FILE_STATS: Source = source(
    "Microsoft, sys.dm_io_virtual_file_stats",
    "https://learn.microsoft.com/sql/relational-databases/system-dynamic-management-views/sys-dm-io-virtual-file-stats-transact-sql",
);
pub(super) const SLOW_IO: Source = source(
    "Microsoft, Troubleshoot slow SQL Server performance caused by I/O issues (2022-09-28)",
    "https://learn.microsoft.com/troubleshoot/sql/database-engine/performance/troubleshoot-sql-io-performance",
);
pub(super) const WRITE_THROUGH: Source = Source {
    name: "Microsoft, How It Works: The I/O Path: SQL Server Running in Windows Azure Virtual Machine (2013-06-03)",
    url: "https://learn.microsoft.com/archive/blogs/psssql/how-it-works-the-io-path-sql-server-running-in-windows-azure-virtual-machine-iaas",
    read: "2026-11-27",
};
pub(super) const COMMITS_BY_CACHE: Source = Source {
    name: "van de Crommert, Performance optimization of SQL Server VMs: a million rows on P30, by host cache (2020-01-22)",
    url: "https://github.com/Hevand/SQLServerDiskPerformance/blob/9322d6b/Readme.md",
    read: "2026-11-27",
};
