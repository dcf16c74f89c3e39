//! Maps an experiment's engine settings to PostgreSQL's.
//!
//! | experiment | PostgreSQL |
//! |---|---|
//! | `memory` | `shared_buffers`, `effective_cache_size`; where tables are temporary, their share of it is each session's `temp_buffers` instead |
//! | `sort_memory` | `work_mem`, `maintenance_work_mem`, and `temp_buffers` where tables are not temporary |
//! | `checkpoint` | `checkpoint_timeout`; without one, no checkpoint comes during a run |
//! | `commit = "relaxed"` | `synchronous_commit = off` |
//! | `read_ahead = 0` | `effective_io_concurrency = 0` |
//! | `postgres` | the settings of that name (`reading`) |
//! | `versions.bytes_per_row` | `dbstow.version_bytes_per_row`, which workloads ask for |
//!
//! The unit of a physical read, write gathering, and the processor cost are PostgreSQL's own here, so those settings of an
//! experiment have no effect.

use std::collections::BTreeMap;

use model::Bytes;

use crate::session::wire::Connection;
use crate::trial::reading;
use engine::EngineError;
use engine::row::{Row, Unexpected};
use experiment::spec::{Commit, Settings};
use workload::{Tables, Workload};

/// Connections besides those of the sessions: checks, counters, waits, and PostgreSQL's own reserve.
const CONNECTIONS_SPARE: u32 = 20;

/// Maximum log between two checkpoints if the placement does not specify a size.
const LOG_BYTES_MAX: Bytes = Bytes::gib(16);

/// Settings that a server of this major version must be started with.
pub(crate) fn of_server(settings: &Settings, major: u32) -> Vec<(&'static str, String)> {
    let engine = &settings.engine;
    let placement = &settings.placement;
    let log = placement
        .log
        .size
        .map_or(LOG_BYTES_MAX, |size| Bytes(size.0 / 2));
    // PostgreSQL allows 30 s to 1 day.
    let checkpoint_s = engine.checkpoint.map_or(86_400.0, |every| {
        every.as_secs_f64().round().clamp(30.0, 86_400.0)
    });
    // A statement on a spread table may lock each part of it, and each part's index.
    let locks = 64 + 8 * placement.data.len().max(placement.temp.len());
    let mut values = vec![
        (
            "max_connections",
            (settings.workload.sessions + CONNECTIONS_SPARE).to_string(),
        ),
        ("max_locks_per_transaction", locks.to_string()),
        ("shared_buffers", kib(engine.memory, Bytes::mib(1))),
        ("huge_pages", "off".to_owned()),
        ("wal_level", "minimal".to_owned()),
        ("max_wal_senders", "0".to_owned()),
        ("max_wal_size", kib(log, Bytes::mib(64))),
        ("checkpoint_timeout", format!("{checkpoint_s}s")),
        ("full_page_writes", "on".to_owned()),
        ("fsync", "on".to_owned()),
        // It would run at random times; the database is vacuumed before a trial.
        ("autovacuum", "off".to_owned()),
        ("track_io_timing", "on".to_owned()),
        ("logging_collector", "off".to_owned()),
        ("log_line_prefix", "%m ".to_owned()),
        // A crash ends the trial; there is no recovery during a trial.
        ("restart_after_crash", "off".to_owned()),
    ];
    values.extend(reading::of_server(engine));
    values.extend(reading::cap(engine, major));
    if major >= 14 {
        values.push(("track_wal_io_timing", "on".to_owned()));
    }
    values
}

/// Settings for every connection to the run's database.
pub(crate) fn of_database(settings: &Settings, workload: &Workload) -> Vec<(&'static str, String)> {
    let engine = &settings.engine;
    let temp_buffers = match workload.tables {
        Tables::Data => engine.sort_memory,
        Tables::Temp => Bytes(engine.memory.0 / u64::from(settings.workload.sessions.max(1))),
    };
    let mut values = vec![
        ("work_mem", kib(engine.sort_memory, Bytes::kib(64))),
        // A hash gets as much as a sort.
        ("hash_mem_multiplier", "1".to_owned()),
        (
            "maintenance_work_mem",
            kib(engine.sort_memory, Bytes::mib(1)),
        ),
        ("temp_buffers", kib(temp_buffers, Bytes::kib(800))),
        ("effective_cache_size", kib(engine.memory, Bytes::mib(1))),
        ("jit", "off".to_owned()),
        // A session is one process, so it has only one wait at a time.
        ("max_parallel_workers_per_gather", "0".to_owned()),
        ("max_parallel_maintenance_workers", "0".to_owned()),
    ];
    if engine.commit == Commit::Relaxed {
        values.push(("synchronous_commit", "off".to_owned()));
    }
    // Unless it is set separately.
    if engine.read_ahead == Bytes::ZERO {
        values.push(("effective_io_concurrency", "0".to_owned()));
    }
    values.extend(reading::of_database(engine));
    let versions = engine
        .versions
        .map_or(0, |versions| versions.bytes_per_row.0);
    values.push(("dbstow.version_bytes_per_row", versions.to_string()));
    values
}

/// In PostgreSQL's `kB`, which are KiB.
fn kib(size: Bytes, least: Bytes) -> String {
    // Its limit is that of a 32-bit number of KiB or of pages.
    format!("{}kB", (size.max(least).0 >> 10).min(i32::MAX as u64))
}

/// Settings that matter for what reaches the disks, or for how it is measured.
const RECORDED: &str = "'autovacuum', 'backend_flush_after', 'bgwriter_delay', 'bgwriter_flush_after', \
     'bgwriter_lru_maxpages', 'block_size', 'checkpoint_completion_target', 'checkpoint_flush_after', \
     'checkpoint_timeout', 'commit_delay', 'data_checksums', \
     'debug_io_direct', 'default_tablespace', 'effective_cache_size', 'effective_io_concurrency', 'fsync', \
     'full_page_writes', 'hash_mem_multiplier', 'huge_pages', 'io_combine_limit', \
     'io_max_combine_limit', 'io_max_concurrency', 'io_method', 'io_workers', 'jit', 'maintenance_io_concurrency', \
     'maintenance_work_mem', 'max_connections', 'max_parallel_workers_per_gather', 'max_wal_size', \
     'min_wal_size', 'random_page_cost', 'seq_page_cost', 'shared_buffers', 'synchronous_commit', \
     'temp_buffers', 'temp_tablespaces', 'track_io_timing', 'track_wal_io_timing', 'vacuum_buffer_usage_limit', \
     'wal_buffers', 'wal_compression', 'wal_init_zero', 'wal_level', 'wal_recycle', 'wal_segment_size', \
     'wal_sync_method', 'wal_writer_delay', 'wal_writer_flush_after', 'work_mem'";

/// The settings in force on `connection` that matter for I/O, with their units.
pub(crate) fn in_force(
    connection: &mut Connection,
) -> Result<BTreeMap<String, String>, EngineError> {
    let rows = connection
        .query(&format!(
            "SELECT name, current_setting(name) FROM pg_settings WHERE name IN ({RECORDED})"
        ))
        .map_err(|error| EngineError::failed("read the settings in force", error))?;
    let pair = |row: &Row| {
        let pair = (row.word(0)?.to_owned(), row.word(1)?.to_owned());
        Ok::<_, Unexpected>(pair)
    };
    let pairs: Result<_, Unexpected> = rows.iter().map(pair).collect();
    pairs.map_err(|error| EngineError::failed("read the settings in force", error))
}
