//! Maps an experiment's engine settings to MariaDB's.
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
//! MariaDB has no timed checkpoint: pages are written as the redo log fills (`innodb_adaptive_flushing`). The unit of a physical
//! read and the processor cost are its own, so those settings of an experiment have no effect.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::capture::Product;
use model::Bytes;

use crate::session::wire::Connection;
use crate::trial::places::Places;
use engine::EngineError;
use engine::row::pairs;
use experiment::spec::{Commit, Engine, Settings};

/// Connections besides those of the sessions: our own queries, and inspection with `mariadb`.
pub(crate) const CONNECTIONS_SPARE: u32 = 20;

/// Undo tablespaces: MariaDB's minimum outside of the system tablespace is two.
const UNDO_TABLESPACES: u32 = 3;

/// MariaDB's minimum sizes of a buffer pool with pages of 16 KiB, an in-memory table, and the redo log.
/// Source: <https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables>, read 2026-11-25.
const BUFFER_POOL_MIN: Bytes = Bytes::mib(6);
const SORT_MIN: Bytes = Bytes::kib(16);
const LOG_MIN: Bytes = Bytes::mib(4);

/// Minimum and default size of Aria's page cache.
/// Source: <https://mariadb.com/docs/server/server-usage/storage-engines/aria/aria-system-variables>, read 2026-11-25.
const ARIA_MIN: Bytes = Bytes::kib(128);
const ARIA_DEFAULT: Bytes = Bytes::mib(128);

/// Default size of the log: that of MariaDB since 10.5.
const LOG_DEFAULT: Bytes = Bytes::mib(96);

/// Settings of `[engine.mariadb]`.
struct Own {
    /// What a commit does with the log. If unspecified: write and flush if a commit waits, and otherwise the setting that
    /// preserves commits if the server is killed.
    flush_log: u64,
    sync_binlog: u64,
    doublewrite: bool,
    flush_method: &'static str,
    /// Size of the log, which [`Engine::log_capacity`] specifies too.
    log_file_size: Bytes,
    io_capacity: Option<u64>,
}

impl Own {
    fn of(engine: &Engine) -> Own {
        const HAS_DEFAULT: &str = "it has a default";
        const NAME: &str = "mariadb";
        let own = &engine.own;
        let by_commit = match engine.commit {
            Commit::Durable => 1,
            Commit::Relaxed => 2,
        };
        let log_file_size = match engine.log_capacity {
            Bytes::ZERO => LOG_DEFAULT,
            capacity => capacity.max(LOG_MIN),
        };
        Own {
            flush_log: own
                .number(NAME, "flush_log_at_trx_commit")
                .unwrap_or(by_commit),
            sync_binlog: own.number(NAME, "sync_binlog").expect(HAS_DEFAULT),
            doublewrite: own.is_on(NAME, "doublewrite").expect(HAS_DEFAULT),
            flush_method: own.name(NAME, "flush_method").expect(HAS_DEFAULT),
            log_file_size,
            io_capacity: own.number(NAME, "io_capacity"),
        }
    }
}

/// Arguments that determine where files are and how they are written: required both for initialization and by the server.
pub(crate) fn of_files(places: &Places, settings: &Settings) -> Vec<String> {
    let own = Own::of(&settings.engine);
    let directory = |name: &str, place: &Path| format!("--{name}={}", place.display());
    let mut values = vec![
        directory("datadir", places.data_directory()),
        directory("innodb-log-group-home-dir", &places.log),
        format!("--innodb-undo-tablespaces={UNDO_TABLESPACES}"),
        format!("--innodb-flush-method={}", own.flush_method),
        format!("--innodb-doublewrite={}", u8::from(own.doublewrite)),
        format!("--innodb-log-file-size={}", own.log_file_size.0),
        format!("--tmpdir={}", list(&places.temp)),
        // The files of temporary tables are filled one after the other, so only the first volume is used.
        format!(
            "--innodb-temp-data-file-path={}:12M:autoextend",
            places.temp[0].join("ibtmp1").display()
        ),
    ];
    // Absolute paths of the system's and of temporary tables' files require this to be empty.
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

/// Further arguments of a server.
pub(crate) fn of_server(places: &Places, settings: &Settings) -> Vec<String> {
    let engine = &settings.engine;
    let own = Own::of(engine);
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
        // Keeps a cold start cold: MariaDB would otherwise reload its previous buffer pool.
        "--innodb-buffer-pool-dump-at-shutdown=OFF".to_owned(),
        "--innodb-buffer-pool-load-at-startup=OFF".to_owned(),
        format!("--innodb-flush-log-at-trx-commit={}", own.flush_log),
        format!("--sort-buffer-size={sort}"),
        format!("--tmp-table-size={sort}"),
        format!("--max-heap-table-size={sort}"),
        // Temporary tables on disk go through it. By default it is as large as the buffer pool (128 MiB); one larger than an
        // experiment's would hold what should spill.
        format!(
            "--aria-pagecache-buffer-size={}",
            engine.memory.max(ARIA_MIN).min(ARIA_DEFAULT).0
        ),
        // Automatic statistics would run at random times; they are gathered after the load.
        "--innodb-stats-auto-recalc=OFF".to_owned(),
        format!("--max-recursive-iterations={RECURSION_MAX}"),
        "--character-set-server=utf8mb4".to_owned(),
        "--collation-server=utf8mb4_bin".to_owned(),
    ];
    if let Some(capacity) = own.io_capacity {
        values.push(format!("--innodb-io-capacity={capacity}"));
        values.push(format!(
            "--innodb-io-capacity-max={}",
            capacity.saturating_mul(2).min(u32::MAX.into())
        ));
    }
    if engine.read_ahead == Bytes::ZERO {
        values.push("--innodb-read-ahead-threshold=0".to_owned());
    }
    values.extend(of_binlog(places, &own));
    values.extend(OBSERVED.map(str::to_owned));
    values
}

/// Enabled instruments: I/O by file, and commit waits. Everything else is off, including defaults of the server (statements,
/// transactions, idle time), which are not used here: docs/mariadb.md, "What observing costs". Commands and states of sessions
/// require no instrument.
pub(crate) const OBSERVED: [&str; 6] = [
    "--performance-schema=ON",
    "--performance-schema-instrument=%=OFF",
    "--performance-schema-instrument=wait/io/file/%=ON",
    "--performance-schema-instrument=wait/synch/cond/sql/THD::COND_wakeup_ready=ON",
    "--performance-schema-instrument=wait/synch/mutex/sql/LOG::LOCK_log=ON",
    "--performance-schema-consumer-events-waits-current=ON",
];

/// The binary log, if the placement has one. Row format, not statements: it can replicate every workload.
fn of_binlog(places: &Places, own: &Own) -> Vec<String> {
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

/// MariaDB's own default, which an external server may have changed, without `NO_AUTO_CREATE_USER`, which MySQL no longer has;
/// quotes and backslashes have the meaning that dbstow's statements assume.
/// Source: <https://mariadb.com/docs/server/server-management/variables-and-modes/sql_mode>, read 2026-11-25.
const SQL_MODE: &str = "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION";

/// Maximum rows of a recursive common table expression, such as a number generator for a load; by default both servers stop at
/// 1000, MySQL with an error, MariaDB with a truncated result.
const RECURSION_MAX: u32 = u32::MAX;

/// Minimum working memory of a temporary table in MySQL, which allocates it in blocks of this size: with less, 8.0.45 and
/// 9.7.4 end every recursive common table expression with error 1146.
const TEMP_TABLE_MIN_MYSQL: Bytes = Bytes::mib(1);

/// Memory of a temporary table in an external server.
pub(crate) fn temp_table_memory(settings: &Settings, product: Product) -> Bytes {
    let asked = settings.engine.sort_memory.max(SORT_MIN);
    match product {
        Product::MariaDb => asked,
        Product::MySql => asked.max(TEMP_TABLE_MIN_MYSQL),
    }
}

/// Session settings in an external server: those that a private server has globally.
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

/// Expected values of variables that only the owner of a server can set; sizes in bytes.
pub(crate) fn of_given(settings: &Settings, product: Product) -> Vec<(&'static str, String)> {
    let engine = &settings.engine;
    let own = Own::of(engine);
    let switch = |is_on: bool| if is_on { "ON" } else { "OFF" }.to_owned();
    let has_binlog = settings.placement.binlog.is_some();
    let mut values = vec![
        (
            "innodb_buffer_pool_size",
            engine.memory.max(BUFFER_POOL_MIN).0.to_string(),
        ),
        ("innodb_flush_log_at_trx_commit", own.flush_log.to_string()),
        (
            match product {
                Product::MariaDb => "innodb_log_file_size",
                Product::MySql => "innodb_redo_log_capacity",
            },
            own.log_file_size.0.to_string(),
        ),
        ("innodb_doublewrite", switch(own.doublewrite)),
        ("innodb_flush_method", own.flush_method.to_owned()),
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

/// Directories in the format of `tmpdir`, which are used in turn.
pub(crate) fn list(places: &[PathBuf]) -> String {
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
    let answer = connection.query("SHOW GLOBAL VARIABLES");
    let rows: Vec<(String, String)> = answer
        .and_then(|rows| Ok(pairs(&rows)?))
        .map_err(|error| EngineError::failed("read the settings in force", error))?;
    let recorded = |name: &str| RECORDED.contains(&name);
    Ok(rows
        .into_iter()
        .filter(|(name, _)| recorded(name))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::spec::{Spec, Variant};

    fn own(settings: &str) -> Own {
        let text = format!(
            "name = \"x\"\nquestion = \"?\"\n[machine]\ncores = 1\nmemory = \"1 GiB\"\n[volume.d]\ndisk = \"unlimited\"\n\
             [placement.a]\ndata = {{ volumes = \"d\" }}\ntemp = {{ volumes = \"d\" }}\nlog = {{ volumes = \"d\" }}\n\
             [workload]\nname = \"trade\"\noperations = 1\n[engine]\nlike = \"innodb\"\nmemory = \"64 MiB\"\n{settings}\n"
        );
        let spec = Spec::parse("x.toml", &text, &[], Variant::default());
        let spec = spec.unwrap_or_else(|error| panic!("{error}"));
        Own::of(&spec.arms[0].settings.engine)
    }

    #[test]
    fn what_is_absent_is_safe() {
        let default = own("log_capacity = 0");
        assert_eq!((default.flush_log, default.sync_binlog), (1, 1));
        assert!(default.doublewrite);
        assert_eq!(default.flush_method, "O_DIRECT");
        assert_eq!(default.log_file_size, Bytes::mib(96));
        assert_eq!(default.io_capacity, None);
    }

    #[test]
    fn keys_of_any_engine_say_what_its_own_do() {
        assert_eq!(own("commit = \"relaxed\"").flush_log, 2);
        assert_eq!(own("mariadb.flush_log_at_trx_commit = 0").flush_log, 0);
        let size = |settings: &str| own(settings).log_file_size;
        assert_eq!(size("log_capacity = \"30 GB\""), Bytes(30_000_000_000));
        assert_eq!(size("log_capacity = \"1 MiB\""), Bytes::mib(4));
        assert_eq!(size("mariadb.log_file_size = \"8 MiB\""), Bytes::mib(8));
    }
}
