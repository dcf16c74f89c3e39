//! PostgreSQL.

use model::{Bytes, Durability, Duration};

use crate::process_io::ProcessIo;
use crate::{
    Defaults, Dialect, Grammar, Kind, Like, LogInFlight, LogWrites, Placeholder, Product, Setting,
};

/// Sources: <https://www.postgresql.org/docs/current/runtime-config-wal.html>: `checkpoint_timeout` 5 min,
/// `checkpoint_flush_after` 256 kB, `full_page_writes` on, `wal_buffers` of up to one segment, 16 MB; `wal_sync_method`
/// `fdatasync` on Linux. Data files are written without a sync, which the checkpoint makes up for
/// (<https://www.postgresql.org/docs/current/wal-configuration.html>, read 2026-11-27).
pub(crate) const LIKE: Like = Like {
    name: "postgres",
    title: "PostgreSQL",
    defaults: Defaults {
        checkpoint: Some(Duration::from_secs(300)),
        full_page_images: true,
        log_gather: Bytes::mib(16),
        log_flush: true,
        data_durability: Durability::OnFlush,
        statement: Duration::from_micros(38), // see MariaDB's
        ..Defaults::GENERIC
    },
};

/// How it reads, which dbstow does not model: a server gets these unchanged, or keeps its own.
///
/// Source of names and ranges: <https://www.postgresql.org/docs/18/runtime-config-resource.html>, "I/O", read 2026-11-25. Greatest
/// values are those of its sources: `MAX_IO_WORKERS`, `MAX_IO_CONCURRENCY`, and `MAX_IO_COMBINE_LIMIT` of 128 pages (18).
pub(crate) const PRODUCT: Product = Product {
    name: "postgres",
    title: "PostgreSQL",
    settings: &[
        Setting::passed(
            "io_method",
            "who executes asynchronous reads (from PostgreSQL 18 on; `io_uring` where the server was built with it)",
            Kind::Name(&["sync", "worker", "io_uring"]),
        ),
        Setting::passed(
            "io_workers",
            "I/O worker processes, for `io_method = \"worker\"` (18)",
            Kind::Number(1..=32),
        ),
        Setting::passed(
            "effective_io_concurrency",
            "reads ahead of a scan; it takes precedence over `read_ahead = 0`",
            Kind::Number(0..=1_000),
        ),
        Setting::passed(
            "maintenance_io_concurrency",
            "the same for `VACUUM` and other maintenance",
            Kind::Number(0..=1_000),
        ),
        Setting::passed(
            "io_combine_limit",
            "largest read of neighbouring pages (17; more than 256 KiB from 18 on, where `io_max_combine_limit` is set with it)",
            Kind::Size {
                least: Bytes::kib(8),
                most: Bytes::mib(1),
                block: Bytes::kib(8),
                taken: "whole pages of 8 KiB, from one to 1 MiB",
            },
        ),
    ],
    simulated: None,
};

pub(crate) const DIALECT: Dialect = Dialect {
    engine: PRODUCT.name,
    title: "PostgreSQL's SQL",
    product: PRODUCT.title,
    mode: "emulate",
    words: &[
        "$$",
        "::",
        "ILIKE",
        "BIGSERIAL",
        "PLPGSQL",
        "UNLOGGED",
        "JSONB",
        "PG_",
        "FOR UPDATE",
        "LATERAL",
        "DISTINCT ON",
        "ARRAY[",
    ],
    placeholder: Placeholder::Numbered("$"),
    grammar: Grammar::Plain,
};

/// A session holds `WALWriteLock` while it writes and flushes, and commits in the meantime join the next group (`XLogFlush`,
/// <https://github.com/postgres/postgres/blob/c360594/src/backend/access/transam/xlog.c>, read 2026-11-26). Babelfish is
/// PostgreSQL that speaks T-SQL.
///
/// The page is `XLOG_BLCKSZ`. Source: *PostgreSQL 18 documentation*, 28.6, "WAL Internals". Temporary files are written
/// plainly, without a sync (`BufFileDumpBuffer`,
/// <https://github.com/postgres/postgres/blob/c360594/src/backend/storage/file/buffile.c>).
pub(crate) const LOG_WRITES: LogWrites = LogWrites {
    products: &["PostgreSQL", "Babelfish"],
    title: PRODUCT.title,
    page: Bytes::kib(8),
    in_flight: LogInFlight::One { logs: 1 },
    buffers_temp: true,
    data_durability: LIKE.defaults.data_durability,
    commits: None,
};

/// Columns of `pg_stat_io`, by its columns `object`, `backend_type` and `context`.
///
/// Source: <https://www.postgresql.org/docs/18/monitoring-stats.html>, "pg_stat_io", read 2026-11-21.
pub(crate) const PROCESS_IO: ProcessIo = ProcessIo {
    prefix: "io",
    read: &["read_bytes"],
    written: &["write_bytes", "extend_bytes"],
    objects: &[
        ("relation", None),
        ("temp_relation", Some("temporary tables")),
        ("wal", Some("log")),
    ],
    context: "normal",
};

/// Its counter of pages that checkpoints write, in `pg_stat_checkpointer` (17).
pub(crate) const CHECKPOINT_PAGES: (&str, &str) = ("counter.checkpointer.buffers_written", "");

/// The same until 16, in `pg_stat_bgwriter`.
pub(crate) const CHECKPOINT_PAGES_TO_16: (&str, &str) = ("counter.bgwriter.buffers_checkpoint", "");
