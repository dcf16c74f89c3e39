//! SQL Server.

use model::{Bytes, Durability};
use reading::Role;

use crate::{
    Defaults, Dialect, Grammar, Like, LogInFlight, LogLimit, LogWrites, Placeholder, WaitAdvice,
    Waited,
};

/// Sources: "Reading pages" and "Writing pages" of the architecture guides (learn.microsoft.com/sql/relational-databases):
/// read-ahead of up to 64 pages from one file, writes of up to 128 pages since 2016. Up to 112 log writes of a database since 2012:
/// Paul Randal, "Trimming More Transaction Log Fat",
/// <https://sqlperformance.com/2013/01/io-subsystem/trimming-more-transaction-log-fat> (read 2026-11-26).
///
/// It opens data and log files with `FILE_FLAG_WRITE_THROUGH`, so that a write is done once it is on stable media, whatever caches
/// there are: Microsoft, "How It Works: The I/O Path: SQL Server Running in Windows Azure Virtual Machine", 2013-06-03
/// (<https://learn.microsoft.com/archive/blogs/psssql/how-it-works-the-io-path-sql-server-running-in-windows-azure-virtual-machine-iaas>);
/// files of tempdb without it since 2019: "I/O optimizations for tempdb in SQL Server and Azure SQL", 2023-08-08
/// (<https://techcommunity.microsoft.com/t5/sql-server-blog/i-o-optimizations-for-tempdb-in-sql-server-and-azure-sql/ba-p/3894163>),
/// both read 2026-11-27. On Linux it flushes instead, or uses forced unit access (trace flag 3979).
pub(crate) const LIKE: Like = Like {
    name: "sqlserver",
    title: "SQL Server",
    defaults: Defaults {
        read_ahead: Bytes::kib(512),
        write_gather: Bytes::mib(1),
        log_in_flight_max: 112,
        data_durability: Durability::OnCompletion,
        ..Defaults::GENERIC
    },
};

pub(crate) const DIALECT: Dialect = Dialect {
    engine: LIKE.name,
    title: "T-SQL",
    product: LIKE.title,
    mode: "measure",
    words: &[
        "SELECT TOP",
        "DBO.",
        "[DBO]",
        "@@",
        "DECLARE @",
        "SET NOCOUNT",
        "WITH (NOLOCK)",
        "GETDATE(",
        "SYSDATETIME(",
        "NVARCHAR",
        "IDENTITY(",
        "NEWID(",
        "TEMPDB..",
        "INTO #",
        "FROM #",
        "TABLE #",
        "SYS.OBJECTS",
        "BEGIN TRAN",
        "EXEC ",
    ],
    placeholder: Placeholder::Numbered("@p"),
    grammar: Grammar::Batches,
};

/// Up to 32 writes of a database until 2008 R2, and up to 112 since 2012: Paul Randal, as for [`LIKE`]. No statement about later
/// versions or Azure was found.
///
/// It writes sectors. Source: *Transaction log architecture and management guide*, "log block" (a multiple of 512 bytes).
pub(crate) const LOG_WRITES: LogWrites = LogWrites {
    products: &["SQL Server", "Azure SQL Managed Instance"],
    title: LIKE.title,
    page: Bytes(512),
    in_flight: LogInFlight::UpTo {
        current: LogLimit {
            writes: LIKE.defaults.log_in_flight_max,
            versions: "since 2012",
        },
        // 2012 is version 11.
        since: 11,
        before: LogLimit {
            writes: 32,
            versions: "until 2008 R2",
        },
    },
    buffers_temp: false,
    data_durability: LIKE.defaults.data_durability,
    commits: Some("record the counter `Databases(*)\\Write Transactions/sec` too"),
};

/// The counter of its operations, which a recording of counters may lack.
pub(crate) const OPERATIONS: &str = "`SQL Statistics\\Batch Requests/sec` of SQL Server";

/// What a session waits for at a page of a tempdb file that tracks its free space: the object of the wait event in records.
pub const ALLOCATION_PAGE: &str = "an allocation page in tempdb";

/// What helps against its wait events; the first that fits.
///
/// Source: Microsoft, "sys.dm_os_wait_stats", and KB2154845 on allocation pages (read 2026-11).
pub(crate) const WAITS: &[WaitAdvice] = &[
    WaitAdvice {
        events: &["PAGELATCH_*"],
        object: Some(ALLOCATION_PAGE),
        is: "more data files for tempdb, not other disks",
        files: Waited::NoFiles,
        helps: "",
    },
    WaitAdvice {
        events: &["PAGELATCH_*"],
        object: None,
        is: "pages in memory that sessions change at once; no disk helps",
        files: Waited::NoFiles,
        helps: "",
    },
    WaitAdvice {
        events: &["PAGEIOLATCH_*"],
        object: None,
        is: "reads",
        files: Waited::OfEvent,
        helps: "; a disk with more to give, or more memory",
    },
    WaitAdvice {
        events: &["IO_COMPLETION", "ASYNC_IO_COMPLETION"],
        object: None,
        is: "sorts and hashes that spill into tempdb",
        files: Waited::Of(Role::Temp),
        helps: "; a faster disk there, or larger memory grants",
    },
    WaitAdvice {
        events: &["WRITELOG", "LOGBUFFER"],
        object: None,
        is: "commits wait for the log",
        files: Waited::Of(Role::Log),
        helps: "; a disk with faster small writes there",
    },
    WaitAdvice {
        events: &["ASYNC_NETWORK_IO"],
        object: None,
        is: "the server waits for its client to take rows; a faster client or network, or a loop on the server",
        files: Waited::NoFiles,
        helps: "",
    },
    WaitAdvice {
        events: &["LCK_*"],
        object: None,
        is: "sessions lock each other out; no disk helps",
        files: Waited::NoFiles,
        helps: "",
    },
    WaitAdvice {
        events: &["RESOURCE_SEMAPHORE"],
        object: None,
        is: "queries queue for memory grants; no disk helps",
        files: Waited::NoFiles,
        helps: "",
    },
];

/// Its levels of space in tempdb, by use.
pub(crate) const TEMP_SPACE: (&str, &str) = ("level.tempdb.", "_bytes");

/// Its counter of pages that checkpoints write.
pub(crate) const CHECKPOINT_PAGES: (&str, &str) =
    ("counter.performance.buffer_manager.checkpoint_pages", "");
