//! Queries to a server: the text, the required permissions, and the minimum version.
//!
//! Columns are cast to `bigint` or `nvarchar`, so a result has two kinds of values. Columns and
//! permissions are those of Microsoft's documentation (learn.microsoft.com, read 2026-11).

use crate::capture::Product;

/// A query with one result set.
#[derive(Debug, PartialEq, Eq)]
pub struct Question {
    /// Its name in messages.
    pub name: &'static str,
    /// The text.
    pub text: &'static str,
    /// Required permission.
    pub needs: Needs,
    /// First major version of an installed server that supports it.
    pub since: u32,
    /// Whether Azure SQL Database supports it.
    pub azure_database: bool,
}

/// Permission that a login needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing beyond the login.
    Nothing,
    /// To see the server's state: `VIEW SERVER STATE`, from 2022 on `VIEW SERVER PERFORMANCE STATE`.
    ServerState,
    /// To see the state of what has to do with security: `VIEW SERVER STATE`, from 2022 on `VIEW SERVER SECURITY STATE`.
    SecurityState,
    /// To see what is defined on the server: `VIEW ANY DEFINITION`, from 2022 on
    /// `VIEW ANY SECURITY DEFINITION` is not enough.
    Definition,
}

impl Needs {
    /// The statement that grants it to a login; `None` if not needed.
    pub fn grant(self, major: u32, product: Product) -> Option<&'static str> {
        match (self, product) {
            (Needs::Nothing, _) => None,
            (Needs::ServerState | Needs::SecurityState, Product::AzureDatabase) => {
                Some("ALTER SERVER ROLE ##MS_ServerStateReader## ADD MEMBER [login]")
            }
            (Needs::ServerState, _) if major >= 16 => {
                Some("GRANT VIEW SERVER PERFORMANCE STATE TO [login]")
            }
            (Needs::SecurityState, _) if major >= 16 => {
                Some("GRANT VIEW SERVER SECURITY STATE TO [login]")
            }
            (Needs::ServerState | Needs::SecurityState, _) => {
                Some("GRANT VIEW SERVER STATE TO [login]")
            }
            (Needs::Definition, _) => Some("GRANT VIEW ANY DEFINITION TO [login]"),
        }
    }
}

/// What most queries have: they look at the state of any server.
const STATE: Question = Question {
    name: "",
    text: "",
    needs: Needs::ServerState,
    since: 11,
    azure_database: true,
};

/// The server's identity, and the clock. `Babelfish` is 1 there, and NULL on SQL Server, as is every property that it does not
/// have.
///
/// Source: AWS, "Identifying your version of Babelfish"
/// (<https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/babelfish-information-identify-version.html>, read 2026-11-26).
pub const IDENTITY: Question = Question {
    name: "identity",
    text: "SELECT CAST(SERVERPROPERTY('ProductVersion') AS nvarchar(64)) AS version, \
        CAST(SERVERPROPERTY('Edition') AS nvarchar(128)) AS edition, \
        CAST(SERVERPROPERTY('EngineEdition') AS bigint) AS engine_edition, \
        CAST(SERVERPROPERTY('IsTempDBMetadataMemoryOptimized') AS bigint) AS tempdb_metadata_in_memory, \
        CAST(SERVERPROPERTY('IsClustered') AS bigint) AS is_clustered, \
        CAST(SERVERPROPERTY('InstanceDefaultDataPath') AS nvarchar(512)) AS data_path, \
        CAST(SERVERPROPERTY('InstanceDefaultLogPath') AS nvarchar(512)) AS log_path, \
        CAST(SERVERPROPERTY('ServerName') AS nvarchar(256)) AS server_name, \
        (SELECT CAST(service_broker_guid AS nvarchar(36)) FROM sys.databases WHERE name = N'msdb') AS instance, \
        CAST(DB_NAME() AS nvarchar(128)) AS database_name, \
        CAST(SUSER_SNAME() AS nvarchar(256)) AS login_name, \
        CONVERT(nvarchar(40), SYSDATETIMEOFFSET(), 126) AS taken, \
        CASE WHEN CAST(SERVERPROPERTY('Babelfish') AS bigint) = 1 \
        THEN CAST(SERVERPROPERTY('BabelfishVersion') AS nvarchar(64)) END AS babelfish;",
    needs: Needs::Nothing,
    ..STATE
};

/// The login's permissions on the server, and whether it is an administrator: before 2022 some statements require the role
/// itself. On Azure SQL Database no login is reported to have it.
pub const PERMISSIONS: Question = Question {
    name: "permissions",
    text: "SELECT permission, CAST(HAS_PERMS_BY_NAME(NULL, NULL, permission) AS bigint) AS allowed \
        FROM (VALUES (N'VIEW SERVER STATE'), (N'VIEW SERVER PERFORMANCE STATE'), \
        (N'VIEW SERVER SECURITY STATE'), (N'VIEW ANY DEFINITION'), (N'ALTER SERVER STATE'), (N'ALTER SETTINGS'), (N'CREATE ANY DATABASE'), (N'ALTER ANY DATABASE'), \
        (N'CONTROL SERVER')) AS asked (permission) \
        UNION ALL SELECT N'sysadmin', CAST(IS_SRVROLEMEMBER(N'sysadmin') AS bigint);",
    needs: Needs::Nothing,
    ..STATE
};

/// The operating system.
pub const HOST: Question = Question {
    name: "host",
    text: "SELECT CAST(host_platform AS nvarchar(256)) AS platform, \
        CAST(host_distribution AS nvarchar(256)) AS distribution, \
        CAST(host_release AS nvarchar(256)) AS release FROM sys.dm_os_host_info;",
    needs: Needs::ServerState,
    since: 14,
    azure_database: false,
};

/// Processors, memory, and when the service started.
pub const MACHINE: Question = Question {
    name: "machine",
    text: "SELECT CAST(cpu_count AS bigint) AS processors, CAST(physical_memory_kb AS bigint) AS memory_kb, \
        CAST(committed_target_kb AS bigint) AS target_kb, \
        CONVERT(nvarchar(40), sqlserver_start_time, 126) AS started, \
        CAST(virtual_machine_type_desc AS nvarchar(60)) AS virtual_machine FROM sys.dm_os_sys_info;",
    azure_database: false,
    ..STATE
};

/// When the service started: a different value means that it was restarted.
pub const STARTED: Question = Question {
    name: "start time",
    text: "SELECT CONVERT(nvarchar(40), sqlserver_start_time, 126) AS started FROM sys.dm_os_sys_info;",
    ..STATE
};

/// Services on the machine. Permission: Microsoft, "sys.dm_server_services" (read 2026-11).
pub const SERVICES: Question = Question {
    name: "services",
    text: "SELECT CAST(servicename AS nvarchar(256)) AS name, CAST(service_account AS nvarchar(256)) AS account, \
        CAST(instant_file_initialization_enabled AS nvarchar(1)) AS instant_file_initialization \
        FROM sys.dm_server_services;",
    needs: Needs::SecurityState,
    since: 13,
    azure_database: false,
};

/// Settings in use.
pub const SETTINGS: Question = Question {
    name: "settings",
    text: "SELECT CAST(name AS nvarchar(70)) AS name, CAST(value_in_use AS bigint) AS value \
        FROM sys.configurations WHERE name IN (N'max server memory (MB)', N'min server memory (MB)', \
        N'max degree of parallelism', N'cost threshold for parallelism', N'recovery interval (min)', \
        N'optimize for ad hoc workloads', N'show advanced options', N'tempdb metadata memory-optimized');",
    needs: Needs::Nothing,
    since: 11,
    azure_database: false,
};

/// Databases.
pub const DATABASES: Question = Question {
    name: "databases",
    text: "SELECT CAST(database_id AS bigint) AS id, CAST(name AS nvarchar(128)) AS name, \
        CAST(recovery_model_desc AS nvarchar(60)) AS recovery, \
        CAST(is_read_committed_snapshot_on AS bigint) AS read_committed_snapshot, \
        CAST(is_encrypted AS bigint) AS encrypted FROM sys.databases ORDER BY database_id;",
    needs: Needs::Nothing,
    ..STATE
};

/// Files of all databases; tempdb's as of the next start.
pub const FILES: Question = Question {
    name: "files",
    text: "SELECT CAST(database_id AS bigint) AS database_id, CAST(file_id AS bigint) AS id, \
        CAST(type_desc AS nvarchar(60)) AS kind, CAST(name AS nvarchar(128)) AS name, \
        CAST(physical_name AS nvarchar(260)) AS path, CAST(size AS bigint) AS size_pages, \
        CAST(max_size AS bigint) AS max_pages, CAST(growth AS bigint) AS growth, \
        CAST(is_percent_growth AS bigint) AS percent_growth, CAST(state_desc AS nvarchar(60)) AS state \
        FROM sys.master_files ORDER BY database_id, file_id;",
    needs: Needs::Definition,
    since: 11,
    azure_database: false,
};

/// Files of tempdb in use now.
pub const TEMPDB_IN_USE: Question = Question {
    name: "tempdb's files in use",
    text: "SELECT CAST(file_id AS bigint) AS id, CAST(type_desc AS nvarchar(60)) AS kind, \
        CAST(name AS nvarchar(128)) AS name, CAST(physical_name AS nvarchar(260)) AS path, \
        CAST(size AS bigint) AS size_pages FROM tempdb.sys.database_files ORDER BY file_id;",
    needs: Needs::Nothing,
    ..STATE
};

/// Whether tempdb is available: a server accepts logins and queries about itself before it has recovered tempdb, and refuses what
/// requires tempdb with error 922 until then. A query of tempdb's files would show that too; only a table proves that a page can
/// be allocated.
pub const READY: Question = Question {
    name: "tempdb ready",
    text: "CREATE TABLE #dbstow_ready (one int NOT NULL); DROP TABLE #dbstow_ready; \
        SELECT CAST(1 AS bigint) AS ready;",
    needs: Needs::Nothing,
    ..STATE
};

/// Volumes, a row for each file on them.
pub const VOLUMES: Question = Question {
    name: "volumes",
    text: "SELECT CAST(mf.database_id AS bigint) AS database_id, CAST(mf.file_id AS bigint) AS file_id, \
        CAST(vs.volume_mount_point AS nvarchar(512)) AS mount_point, \
        CAST(vs.logical_volume_name AS nvarchar(512)) AS label, \
        CAST(vs.file_system_type AS nvarchar(512)) AS file_system, CAST(vs.total_bytes AS bigint) AS total_bytes, \
        CAST(vs.available_bytes AS bigint) AS available_bytes FROM sys.master_files AS mf \
        CROSS APPLY sys.dm_os_volume_stats(mf.database_id, mf.file_id) AS vs \
        ORDER BY mf.database_id, mf.file_id;",
    azure_database: false,
    ..STATE
};

/// I/O of each file since the service started.
pub const FILE_IO: Question = Question {
    name: "file statistics",
    text: "SELECT CAST(database_id AS bigint) AS database_id, CAST(file_id AS bigint) AS file_id, \
        CAST(num_of_reads AS bigint) AS reads, CAST(num_of_bytes_read AS bigint) AS read_bytes, \
        CAST(io_stall_read_ms AS bigint) AS read_stall_ms, \
        CAST(io_stall_queued_read_ms AS bigint) AS read_governed_ms, \
        CAST(num_of_writes AS bigint) AS writes, CAST(num_of_bytes_written AS bigint) AS written_bytes, \
        CAST(io_stall_write_ms AS bigint) AS write_stall_ms, \
        CAST(io_stall_queued_write_ms AS bigint) AS write_governed_ms, \
        CAST(size_on_disk_bytes AS bigint) AS size_bytes \
        FROM sys.dm_io_virtual_file_stats(NULL, NULL) ORDER BY database_id, file_id;",
    since: 12,
    ..STATE
};

/// Waits since the service started that concern files, logs and clients.
pub const WAITS: Question = Question {
    name: "waits",
    text: "SELECT CAST(wait_type AS nvarchar(60)) AS kind, CAST(waiting_tasks_count AS bigint) AS tasks, \
        CAST(wait_time_ms AS bigint) AS wait_ms, CAST(signal_wait_time_ms AS bigint) AS signal_ms \
        FROM sys.dm_os_wait_stats WHERE waiting_tasks_count > 0 AND (wait_type LIKE N'PAGEIOLATCH[_]%' \
        OR wait_type LIKE N'PAGELATCH[_]%' OR wait_type LIKE N'LCK[_]%' OR wait_type IN (N'WRITELOG', \
        N'LOGBUFFER', N'IO_COMPLETION', N'ASYNC_IO_COMPLETION', N'ASYNC_NETWORK_IO', N'SOS_SCHEDULER_YIELD', \
        N'RESOURCE_SEMAPHORE', N'CXPACKET', N'CXCONSUMER', N'THREADPOOL', N'PREEMPTIVE_OS_WRITEFILEGATHER', \
        N'LOG_RATE_GOVERNOR', N'POOL_LOG_RATE_GOVERNOR', N'INSTANCE_LOG_RATE_GOVERNOR', N'IO_QUEUE_LIMIT')) \
        ORDER BY wait_type;",
    ..STATE
};

/// Contents of the buffer pool, by database. It visits every page in memory: seconds on a large server.
pub const CACHED: Question = Question {
    name: "buffer pool",
    text: "SELECT CAST(database_id AS bigint) AS database_id, COUNT_BIG(*) AS pages, \
        SUM(CASE WHEN is_modified = 1 THEN CAST(1 AS bigint) ELSE CAST(0 AS bigint) END) AS dirty_pages \
        FROM sys.dm_os_buffer_descriptors GROUP BY database_id ORDER BY database_id;",
    ..STATE
};

/// Space in tempdb by use.
pub const TEMPDB_SPACE: Question = Question {
    name: "space in tempdb",
    text: "SELECT CAST(SUM(total_page_count) AS bigint) AS total_pages, \
        CAST(SUM(unallocated_extent_page_count) AS bigint) AS free_pages, \
        CAST(SUM(user_object_reserved_page_count) AS bigint) AS user_pages, \
        CAST(SUM(internal_object_reserved_page_count) AS bigint) AS internal_pages, \
        CAST(SUM(version_store_reserved_page_count) AS bigint) AS version_pages \
        FROM tempdb.sys.dm_db_file_space_usage;",
    ..STATE
};

/// Trace flags on for all sessions. The result has fixed columns.
pub const TRACE_FLAGS: Question = Question {
    name: "trace flags",
    text: "DBCC TRACESTATUS (-1) WITH NO_INFOMSGS;",
    needs: Needs::Nothing,
    since: 11,
    azure_database: false,
};

/// Counters of the server. They are cumulative; their differences are the activity.
pub const PERFORMANCE: Question = Question {
    name: "performance counters",
    text: "SELECT CAST(RTRIM(object_name) AS nvarchar(128)) AS object, \
        CAST(RTRIM(counter_name) AS nvarchar(128)) AS counter, \
        CAST(RTRIM(instance_name) AS nvarchar(128)) AS instance, CAST(cntr_value AS bigint) AS value, \
        CAST(cntr_type AS bigint) AS kind FROM sys.dm_os_performance_counters \
        WHERE (object_name LIKE N'%:SQL Statistics%' AND counter_name = N'Batch Requests/sec') \
        OR (object_name LIKE N'%:Buffer Manager%' AND counter_name IN (N'Page lookups/sec', N'Page reads/sec', \
        N'Page writes/sec', N'Readahead pages/sec', N'Lazy writes/sec', N'Checkpoint pages/sec', \
        N'Background writer pages/sec')) \
        OR (object_name LIKE N'%:Access Methods%' AND counter_name IN (N'Workfiles Created/sec', \
        N'Worktables Created/sec')) \
        OR (object_name LIKE N'%:Databases%' AND instance_name IN (N'tempdb', N'_Total') \
        AND counter_name IN (N'Transactions/sec', N'Log Flushes/sec', N'Log Bytes Flushed/sec'));",
    ..STATE
};

/// Current waits of a run's sessions. A session that computes has no wait; one without a request waits for its client; one that
/// waits for its own workers is assigned the wait of the worker that has waited longest.
pub const WAITING: Question = Question {
    name: "sessions",
    text: "SELECT CAST(s.session_id AS bigint) AS session_id, CAST(r.status AS nvarchar(30)) AS status, \
        CAST(COALESCE(w.wait_type, r.wait_type) AS nvarchar(60)) AS wait_type, \
        CAST(COALESCE(w.resource_description, r.wait_resource) AS nvarchar(256)) AS wait_resource \
        FROM sys.dm_exec_sessions AS s LEFT JOIN sys.dm_exec_requests AS r ON r.session_id = s.session_id \
        OUTER APPLY (SELECT TOP (1) t.wait_type, t.resource_description FROM sys.dm_os_waiting_tasks AS t \
        WHERE r.wait_type LIKE N'CX%' AND t.session_id = s.session_id AND t.wait_type NOT LIKE N'CX%' \
        ORDER BY t.wait_duration_ms DESC) AS w \
        WHERE s.program_name = N'dbstow session' ORDER BY s.session_id;",
    ..STATE
};

/// Logical and physical reads of a run's sessions, in pages; counted when a request ends.
pub const SESSION_READS: Question = Question {
    name: "session reads",
    text: "SELECT CAST(SUM(logical_reads) AS bigint) AS logical_reads, CAST(SUM(reads) AS bigint) AS reads, \
        CAST(SUM(writes) AS bigint) AS writes, CAST(SUM(CAST(cpu_time AS bigint)) AS bigint) AS cpu_ms \
        FROM sys.dm_exec_sessions WHERE program_name = N'dbstow session';",
    ..STATE
};

/// Statements of the current database in the plan cache: maximum threads of each, and the pages that it spilled into tempdb.
/// Spills are counted from 2016 SP2 and 2017 CU3 on.
pub const STATEMENTS: Question = Question {
    name: "statements",
    text: "SELECT CAST(LEFT(t.text, 4000) AS nvarchar(4000)) AS text, CAST(s.max_dop AS bigint) AS threads, \
        CAST(s.total_spills AS bigint) AS spilled_pages FROM sys.dm_exec_query_stats AS s \
        CROSS APPLY sys.dm_exec_sql_text(s.sql_handle) AS t \
        CROSS APPLY sys.dm_exec_plan_attributes(s.plan_handle) AS a \
        WHERE a.attribute = N'dbid' AND CAST(a.value AS int) = DB_ID();",
    since: 13,
    ..STATE
};

/// When the service started, the processor time of its process over all processors, and the clock.
///
/// Source: Microsoft, "sys.dm_os_sys_info" (read 2026-11): `process_kernel_time_ms` and `process_user_time_ms` are of all
/// threads of SQL Server, from 2008 R2 on. Unlike `total_cpu_usage_ms` of the resource pools, only a restart resets them.
pub const PROCESS: Question = Question {
    name: "process",
    text: "SELECT CONVERT(nvarchar(40), sqlserver_start_time, 126) AS started, \
        CAST(process_kernel_time_ms + process_user_time_ms AS bigint) AS processor_ms, \
        CONVERT(nvarchar(40), SYSUTCDATETIME(), 126) AS now_utc FROM sys.dm_os_sys_info;",
    azure_database: false,
    ..STATE
};

/// I/O of each file since its database was opened, and its type. `sys.master_files` omits files that the login may not see: their
/// type is NULL.
pub const FILE_REQUESTS: Question = Question {
    name: "requests by file",
    text: "SELECT CAST(vfs.database_id AS bigint) AS database_id, CAST(vfs.file_id AS bigint) AS file_id, \
        CAST(mf.type_desc AS nvarchar(60)) AS kind, CAST(vfs.num_of_reads AS bigint) AS reads, \
        CAST(vfs.num_of_bytes_read AS bigint) AS read_bytes, CAST(vfs.io_stall_read_ms AS bigint) AS read_stall_ms, \
        CAST(vfs.num_of_writes AS bigint) AS writes, CAST(vfs.num_of_bytes_written AS bigint) AS written_bytes, \
        CAST(vfs.io_stall_write_ms AS bigint) AS write_stall_ms \
        FROM sys.dm_io_virtual_file_stats(NULL, NULL) AS vfs LEFT JOIN sys.master_files AS mf \
        ON mf.database_id = vfs.database_id AND mf.file_id = vfs.file_id ORDER BY vfs.database_id, vfs.file_id;",
    azure_database: false,
    ..STATE
};

/// Batches sent by clients, and committed writing transactions: of all databases, and of tempdb; pages asked of the buffer pool,
/// and those in it.
///
/// Source: Microsoft, "SQL Server, SQL Statistics object", "SQL Server, Databases object" and "SQL Server, Buffer Manager object"
/// (read 2026-11).
pub const BATCHES: Question = Question {
    name: "batches, commits and pages",
    text: "SELECT CAST(RTRIM(counter_name) AS nvarchar(128)) AS counter, \
        CAST(RTRIM(instance_name) AS nvarchar(128)) AS instance, CAST(cntr_value AS bigint) AS value, \
        CAST(cntr_type AS bigint) AS kind FROM sys.dm_os_performance_counters \
        WHERE (object_name LIKE N'%:SQL Statistics%' AND counter_name = N'Batch Requests/sec') \
        OR (object_name LIKE N'%:Buffer Manager%' AND counter_name IN (N'Page lookups/sec', N'Database pages')) \
        OR (object_name LIKE N'%:Databases%' AND counter_name = N'Write Transactions/sec' \
        AND instance_name IN (N'tempdb', N'_Total'));",
    azure_database: false,
    ..STATE
};

/// User sessions, and when each began its last request: a different time means that it was active. Excludes the querying session.
pub const LAST_REQUESTS: Question = Question {
    name: "last requests",
    text: "SELECT CAST(session_id AS bigint) AS session_id, \
        CONVERT(nvarchar(40), last_request_start_time, 126) AS last_request FROM sys.dm_exec_sessions \
        WHERE is_user_process = 1 AND session_id <> @@SPID ORDER BY session_id;",
    azure_database: false,
    ..STATE
};

/// Running user requests, and what each waits for; one that waits for its own workers is assigned the wait of the worker that has
/// waited longest. Excludes the querying request.
pub const REQUESTS: Question = Question {
    name: "requests under way",
    text: "SELECT CAST(r.session_id AS bigint) AS session_id, CAST(r.status AS nvarchar(30)) AS status, \
        CAST(COALESCE(w.wait_type, r.wait_type) AS nvarchar(60)) AS wait_type, \
        CAST(COALESCE(w.resource_description, r.wait_resource) AS nvarchar(256)) AS wait_resource \
        FROM sys.dm_exec_requests AS r INNER JOIN sys.dm_exec_sessions AS s ON s.session_id = r.session_id \
        OUTER APPLY (SELECT TOP (1) t.wait_type, t.resource_description FROM sys.dm_os_waiting_tasks AS t \
        WHERE r.wait_type LIKE N'CX%' AND t.session_id = r.session_id AND t.wait_type NOT LIKE N'CX%' \
        ORDER BY t.wait_duration_ms DESC) AS w \
        WHERE s.is_user_process = 1 AND r.session_id <> @@SPID ORDER BY r.session_id;",
    azure_database: false,
    ..STATE
};

/// All of them.
pub const QUESTIONS: [&Question; 26] = [
    &IDENTITY,
    &PERMISSIONS,
    &HOST,
    &MACHINE,
    &STARTED,
    &SERVICES,
    &SETTINGS,
    &DATABASES,
    &FILES,
    &TEMPDB_IN_USE,
    &READY,
    &VOLUMES,
    &FILE_IO,
    &WAITS,
    &CACHED,
    &TEMPDB_SPACE,
    &TRACE_FLAGS,
    &PERFORMANCE,
    &WAITING,
    &SESSION_READS,
    &STATEMENTS,
    &PROCESS,
    &FILE_REQUESTS,
    &BATCHES,
    &LAST_REQUESTS,
    &REQUESTS,
];
