//! From an experiment's engine settings to MariaDB's.
//!
//! | experiment | MariaDB |
//! |---|---|
//! | `memory` | `innodb_buffer_pool_size`; up to 128 MiB, `aria_pagecache_buffer_size` |
//! | `sort_memory` | `sort_buffer_size`, `tmp_table_size`, `max_heap_table_size` |
//! | `commit = "relaxed"` | `innodb_flush_log_at_trx_commit = 2` |
//! | `read_ahead = 0` | `innodb_read_ahead_threshold = 0` |
//! | `log_capacity` | `innodb_log_file_size` |
//! | `mariadb` | `innodb_flush_log_at_trx_commit`, `sync_binlog`, `innodb_doublewrite`, `innodb_flush_method`, `innodb_io_capacity` |
//!
//! MariaDB has no checkpoint by time: pages are written as the redo log fills (`innodb_adaptive_flushing`). What a
//! physical read brings in and the processor's cost are its own, so that those settings of an experiment have no effect.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::capture::Product;
use model::Bytes;

use crate::session::wire::Connection;
use crate::trial::places::Places;
use engine::EngineError;
use engine::row::pairs;
use experiment::spec::{Mariadb, Settings};

/// Connections besides those of the sessions: questions of our own, and whoever looks with `mariadb`.
const CONNECTIONS_SPARE: u32 = 20;

/// Undo tablespaces: MariaDB's least number that are not part of the system tablespace is two.
const UNDO_TABLESPACES: u32 = 3;

/// The least that MariaDB takes for a buffer pool of pages of 16 KiB, a table in memory, and the redo log.
/// Source: <https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables>, read 2026-11-25.
const BUFFER_POOL_MIN: Bytes = Bytes::mib(6);
const SORT_MIN: Bytes = Bytes::kib(16);
const LOG_MIN: Bytes = Bytes::mib(4);

/// The least that MariaDB takes for Aria's page cache, and what it has by default.
/// Source: <https://mariadb.com/docs/server/server-usage/storage-engines/aria/aria-system-variables>, read 2026-11-25.
const ARIA_MIN: Bytes = Bytes::kib(128);
const ARIA_DEFAULT: Bytes = Bytes::mib(128);

/// What decides where files are, and how they are written: what fills the data directory needs it as well as the server.
pub(crate) fn of_files(places: &Places, settings: &Settings) -> Vec<String> {
    let own = &settings.engine.mariadb;
    let directory = |name: &str, place: &Path| format!("--{name}={}", place.display());
    let mut values = vec![
        directory("datadir", places.data_directory()),
        directory("innodb-log-group-home-dir", &places.log),
        format!("--innodb-undo-tablespaces={UNDO_TABLESPACES}"),
        format!("--innodb-flush-method={}", own.flush_method),
        format!("--innodb-doublewrite={}", u8::from(own.doublewrite)),
        format!(
            "--innodb-log-file-size={}",
            settings.engine.log_file_size().max(LOG_MIN).0
        ),
        format!("--tmpdir={}", list(&places.temp)),
        // The files of temporary tables are filled one after the other, so that only the first volume is used.
        format!(
            "--innodb-temp-data-file-path={}:12M:autoextend",
            places.temp[0].join("ibtmp1").display()
        ),
    ];
    // Absolute paths of the system's and of temporary tables' files begin where this names no directory.
    let system = places
        .doublewrite
        .as_deref()
        .unwrap_or(places.data_directory());
    values.push("--innodb-data-home-dir=".to_owned());
    values.push(format!(
        "--innodb-data-file-path={}:12M:autoextend",
        system.join("ibdata1").display()
    ));
    if let Some(undo) = &places.undo {
        values.push(directory("innodb-undo-directory", undo));
    }
    values
}

/// What else a server is started with.
pub(crate) fn of_server(places: &Places, settings: &Settings) -> Vec<String> {
    let engine = &settings.engine;
    let sort = engine.sort_memory.max(SORT_MIN).0;
    let mut values = vec![
        format!(
            "--max-connections={}",
            settings.workload.sessions + CONNECTIONS_SPARE
        ),
        format!(
            "--innodb-buffer-pool-size={}",
            engine.memory.max(BUFFER_POOL_MIN).0
        ),
        // A cold start is to be one: MariaDB would otherwise read again what it had in memory.
        "--innodb-buffer-pool-dump-at-shutdown=OFF".to_owned(),
        "--innodb-buffer-pool-load-at-startup=OFF".to_owned(),
        format!(
            "--innodb-flush-log-at-trx-commit={}",
            engine.flush_log().number()
        ),
        format!("--sort-buffer-size={sort}"),
        format!("--tmp-table-size={sort}"),
        format!("--max-heap-table-size={sort}"),
        // Temporary tables on disk go through it. By default it is as large as the buffer pool (128 MiB); a larger one than
        // an experiment's would keep what is to spill.
        format!(
            "--aria-pagecache-buffer-size={}",
            engine.memory.max(ARIA_MIN).min(ARIA_DEFAULT).0
        ),
        // Statistics would come and go as they like; they are gathered behind the load.
        "--innodb-stats-auto-recalc=OFF".to_owned(),
        format!("--max-recursive-iterations={RECURSION_MAX}"),
        "--character-set-server=utf8mb4".to_owned(),
        "--collation-server=utf8mb4_bin".to_owned(),
    ];
    if let Some(capacity) = engine.mariadb.io_capacity {
        values.push(format!("--innodb-io-capacity={capacity}"));
        values.push(format!(
            "--innodb-io-capacity-max={}",
            capacity.saturating_mul(2)
        ));
    }
    if engine.read_ahead == Bytes::ZERO {
        values.push("--innodb-read-ahead-threshold=0".to_owned());
    }
    values.extend(of_binlog(places, &engine.mariadb));
    values.extend(OBSERVED.map(str::to_owned));
    values
}

/// What is counted and looked at: input and output by file, and what a commit waits for. Everything else is off, also what
/// a server has on by itself (statements, transactions, idle time), which nobody reads here: docs/mariadb.md, "What observing
/// costs". Commands and states of sessions need no instrument.
const OBSERVED: [&str; 6] = [
    "--performance-schema=ON",
    "--performance-schema-instrument=%=OFF",
    "--performance-schema-instrument=wait/io/file/%=ON",
    "--performance-schema-instrument=wait/synch/cond/sql/THD::COND_wakeup_ready=ON",
    "--performance-schema-instrument=wait/synch/mutex/sql/LOG::LOCK_log=ON",
    "--performance-schema-consumer-events-waits-current=ON",
];

/// The binary log, where the placement has one. Rows, not statements: every workload can be replicated so.
fn of_binlog(places: &Places, own: &Mariadb) -> Vec<String> {
    let Some(place) = &places.binlog else {
        return vec!["--skip-log-bin".to_owned()];
    };
    vec![
        format!("--log-bin={}", place.join("binlog").display()),
        "--binlog-format=ROW".to_owned(),
        "--server-id=1".to_owned(),
        format!("--sync-binlog={}", own.sync_binlog),
    ]
}

/// MariaDB's own default, which a given server's owner may have changed, but for `NO_AUTO_CREATE_USER`, which MySQL has no
/// more; quotes and backslashes mean what dbstow's statements take them for.
/// Source: <https://mariadb.com/docs/server/server-management/variables-and-modes/sql_mode>, read 2026-11-25.
const SQL_MODE: &str = "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION";

/// Most rows of a recursive common table expression, such as one that numbers are made with for a load; by default both
/// servers end one at 1000, MySQL with an error, MariaDB with what it has until then.
const RECURSION_MAX: u32 = u32::MAX;

/// The least memory of a temporary table that works in MySQL, which takes it in blocks of this size: with less, 8.0.45 and
/// 9.7.4 end every recursive common table expression with error 1146.
const TEMP_TABLE_MIN_MYSQL: Bytes = Bytes::mib(1);

/// Memory of a temporary table in a server that is there.
pub(crate) fn temp_table_memory(settings: &Settings, product: Product) -> Bytes {
    let asked = settings.engine.sort_memory.max(SORT_MIN);
    match product {
        Product::MariaDb => asked,
        Product::MySql => asked.max(TEMP_TABLE_MIN_MYSQL),
    }
}

/// What sessions of a server that is there set for themselves: as a private server has it for all.
pub(crate) fn of_session(settings: &Settings, product: Product) -> Vec<String> {
    let sort = settings.engine.sort_memory.max(SORT_MIN).0;
    let table = temp_table_memory(settings, product).0;
    let own = match product {
        Product::MariaDb => {
            format!("innodb_strict_mode = ON, max_recursive_iterations = {RECURSION_MAX}")
        }
        Product::MySql => format!("cte_max_recursion_depth = {RECURSION_MAX}"),
    };
    vec![
        format!(
            "SET SESSION sort_buffer_size = {sort}, tmp_table_size = {table}, max_heap_table_size = {table}"
        ),
        format!("SET SESSION sql_mode = '{SQL_MODE}', default_storage_engine = InnoDB, {own}"),
        "SET NAMES utf8mb4 COLLATE utf8mb4_bin".to_owned(),
    ]
}

/// What an experiment asks of variables that only the owner of a server sets; sizes in bytes.
pub(crate) fn of_given(settings: &Settings, product: Product) -> Vec<(&'static str, String)> {
    let (engine, own) = (&settings.engine, &settings.engine.mariadb);
    let switch = |is_on: bool| if is_on { "ON" } else { "OFF" }.to_owned();
    let has_binlog = settings.placement.binlog.is_some();
    let mut values = vec![
        (
            "innodb_buffer_pool_size",
            engine.memory.max(BUFFER_POOL_MIN).0.to_string(),
        ),
        (
            "innodb_flush_log_at_trx_commit",
            engine.flush_log().number().to_string(),
        ),
        (
            match product {
                Product::MariaDb => "innodb_log_file_size",
                Product::MySql => "innodb_redo_log_capacity",
            },
            engine.log_file_size().max(LOG_MIN).0.to_string(),
        ),
        ("innodb_doublewrite", switch(own.doublewrite)),
        ("innodb_flush_method", own.flush_method.name().to_owned()),
        ("log_bin", switch(has_binlog)),
    ];
    if has_binlog {
        values.push(("sync_binlog", own.sync_binlog.to_string()));
    }
    if let Some(capacity) = own.io_capacity {
        values.push(("innodb_io_capacity", capacity.to_string()));
    }
    if engine.read_ahead == Bytes::ZERO {
        values.push(("innodb_read_ahead_threshold", "0".to_owned()));
    }
    values
}

/// A socket for one user, and no network.
pub(crate) fn of_access(socket: &Path) -> Vec<String> {
    vec![
        "--skip-networking".to_owned(),
        format!("--socket={}", socket.display()),
        format!("--pid-file={}", socket.with_extension("pid").display()),
    ]
}

/// Directories as `tmpdir` takes them: in turn.
fn list(places: &[PathBuf]) -> String {
    let places: Vec<String> = places
        .iter()
        .map(|place| place.display().to_string())
        .collect();
    places.join(":")
}

/// Variables that matter for what reaches the disks, or for how it is measured.
const RECORDED: [&str; 41] = [
    "aria_pagecache_buffer_size",
    "binlog_cache_size",
    "binlog_format",
    "collation_server",
    "innodb_adaptive_flushing",
    "innodb_buffer_pool_dump_at_shutdown",
    "innodb_buffer_pool_load_at_startup",
    "innodb_buffer_pool_size",
    "innodb_checksum_algorithm",
    "innodb_data_file_path",
    "innodb_data_home_dir",
    "innodb_doublewrite",
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_method",
    "innodb_flush_neighbors",
    "innodb_flush_sync",
    "innodb_io_capacity",
    "innodb_io_capacity_max",
    "innodb_log_buffer_size",
    "innodb_log_file_size",
    "innodb_log_group_home_dir",
    "innodb_log_write_ahead_size",
    "innodb_lru_scan_depth",
    "innodb_max_dirty_pages_pct",
    "innodb_max_dirty_pages_pct_lwm",
    "innodb_page_size",
    "innodb_read_ahead_threshold",
    "innodb_read_io_threads",
    "innodb_redo_log_capacity",
    "innodb_temp_data_file_path",
    "innodb_undo_directory",
    "innodb_undo_tablespaces",
    "innodb_use_native_aio",
    "innodb_write_io_threads",
    "log_bin",
    "max_heap_table_size",
    "performance_schema",
    "sort_buffer_size",
    "sync_binlog",
    "tmp_table_size",
    "transaction_isolation",
];

/// The settings in force on `connection` that matter for I/O; sizes are in bytes.
///
/// # Errors
/// When the server does not answer.
pub(crate) fn in_force(
    connection: &mut Connection,
) -> Result<BTreeMap<String, String>, EngineError> {
    let told = connection.query("SHOW GLOBAL VARIABLES");
    let rows: Vec<(String, String)> = told
        .and_then(|rows| Ok(pairs(&rows)?))
        .map_err(|error| EngineError::failed("read the settings in force", error))?;
    let recorded = |name: &str| RECORDED.contains(&name);
    Ok(rows
        .into_iter()
        .filter(|(name, _)| recorded(name))
        .collect())
}
