//! Engine defaults for settings that an experiment does not specify.

use model::store::PageSize;
use model::{Bytes, Duration};
use serde::Deserialize;

/// The product whose defaults an engine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Like {
    /// SQL Server.
    SqlServer,
    /// PostgreSQL.
    Postgres,
    /// InnoDB, of MySQL and MariaDB.
    Innodb,
    /// SQLite.
    Sqlite,
}

/// Default values of settings.
pub(crate) struct EngineDefaults {
    pub(crate) page_size: PageSize,
    pub(crate) read_ahead: Bytes,
    pub(crate) write_gather: Bytes,
    pub(crate) writes_in_flight: u32,
    pub(crate) checkpoint: Option<Duration>,
    pub(crate) log_capacity: Bytes,
    pub(crate) doublewrite_pages: u32,
    pub(crate) full_page_images: bool,
    pub(crate) log_gather: Bytes,
    pub(crate) log_in_flight_max: u32,
    pub(crate) log_flush: bool,
}

/// Without `like`: SQL Server's, with the largest write of 2014 and without read-ahead.
const DEFAULT: EngineDefaults = EngineDefaults {
    page_size: PageSize::DEFAULT,
    read_ahead: Bytes::ZERO,
    write_gather: Bytes::kib(256), // 32 pages, SQL Server to 2014
    writes_in_flight: 32,
    checkpoint: Some(Duration::from_secs(60)), // SQL Server's target recovery time since 2016
    log_capacity: Bytes::ZERO,
    doublewrite_pages: 0,
    full_page_images: false,
    log_gather: Bytes::kib(60), // SQL Server's largest log block
    log_in_flight_max: 1,
    log_flush: false, // SQL Server writes through
};

/// Sources: "Reading pages" and "Writing pages" of the architecture guides (learn.microsoft.com/sql/relational-databases):
/// read-ahead of up to 64 pages from one file, writes of up to 128 pages since 2016. Up to 112 log writes of a database since 2012:
/// Paul Randal, "Trimming More Transaction Log Fat",
/// <https://sqlperformance.com/2013/01/io-subsystem/trimming-more-transaction-log-fat> (read 2026-11-26).
const SQL_SERVER: EngineDefaults = EngineDefaults {
    read_ahead: Bytes::kib(512),
    write_gather: Bytes::mib(1),
    log_in_flight_max: 112,
    ..DEFAULT
};

/// Sources: <https://www.postgresql.org/docs/current/runtime-config-wal.html>: `checkpoint_timeout` 5 min,
/// `checkpoint_flush_after` 256 kB, `full_page_writes` on, `wal_buffers` of up to one segment, 16 MB; `wal_sync_method`
/// `fdatasync` on Linux.
const POSTGRES: EngineDefaults = EngineDefaults {
    checkpoint: Some(Duration::from_secs(300)),
    full_page_images: true,
    log_gather: Bytes::mib(16),
    log_flush: true,
    ..DEFAULT
};

/// Sources: <https://dev.mysql.com/doc/refman/8.4/en/innodb-parameters.html>: `innodb_page_size` 16 KB,
/// `innodb_flush_neighbors` 0, `innodb_write_io_threads` 4 with up to 256 pending requests each,
/// `innodb_doublewrite_pages` 128, `innodb_redo_log_capacity` 100 MB; `innodb_log_buffer_size` 16 MB in 8.0,
/// `innodb_flush_log_at_trx_commit` 1 with `innodb_flush_method` `fsync` or `O_DIRECT`. Pages are flushed by the age of the log and
/// the share of dirty ones, not by the clock.
const INNODB: EngineDefaults = EngineDefaults {
    page_size: PageSize::INNODB,
    write_gather: Bytes::kib(16),
    writes_in_flight: 4 * 256,
    checkpoint: None,
    log_capacity: Bytes::mib(100),
    doublewrite_pages: 128,
    log_gather: Bytes::mib(16),
    log_flush: true,
    ..DEFAULT
};

/// Sources: <https://www.sqlite.org/pragma.html#pragma_page_size>: 4,096 bytes since 3.12.0; pages are written one by
/// one by the connection that commits or checkpoints (<https://www.sqlite.org/wal.html>), and the log is synced at a commit
/// (`synchronous` `FULL`).
const SQLITE: EngineDefaults = EngineDefaults {
    page_size: PageSize::SQLITE,
    write_gather: Bytes::kib(4),
    writes_in_flight: 1,
    log_flush: true,
    ..DEFAULT
};

impl Like {
    /// The defaults of an engine; generic ones without `like`.
    pub(crate) const fn defaults(like: Option<Like>) -> &'static EngineDefaults {
        match like {
            None => &DEFAULT,
            Some(Like::SqlServer) => &SQL_SERVER,
            Some(Like::Postgres) => &POSTGRES,
            Some(Like::Innodb) => &INNODB,
            Some(Like::Sqlite) => &SQLITE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The row of FORMAT.md's table for a key, with its value for each engine.
    fn row(key: &str, value: impl Fn(&EngineDefaults) -> String) -> String {
        let likes = [Like::SqlServer, Like::Postgres, Like::Innodb, Like::Sqlite];
        let values = likes.map(|like| value(Like::defaults(Some(like))));
        format!("| `{key}` | {} |", values.join(" | "))
    }

    #[test]
    fn the_table_in_format_md_has_these_values() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../FORMAT.md");
        let format = std::fs::read_to_string(path).expect("it is in the repository");
        let size = |bytes: Bytes| match bytes {
            Bytes::ZERO => "0".to_owned(),
            bytes => bytes.to_string(),
        };
        let thousands = |number: u32| match number {
            0..1_000 => number.to_string(),
            _ => format!("{},{:03}", number / 1_000, number % 1_000),
        };
        let seconds = |defaults: &EngineDefaults| match defaults.checkpoint {
            None => "none".to_owned(),
            Some(interval) => format!("{} s", interval.as_secs_f64()),
        };
        for expected in [
            row("page_size", |defaults| size(defaults.page_size.bytes())),
            row("read_ahead", |defaults| size(defaults.read_ahead)),
            row("write_gather", |defaults| size(defaults.write_gather)),
            row("writes_in_flight", |defaults| {
                thousands(defaults.writes_in_flight)
            }),
            row("checkpoint", seconds),
            row("log_capacity", |defaults| size(defaults.log_capacity)),
            row("doublewrite_pages", |defaults| {
                thousands(defaults.doublewrite_pages)
            }),
            row("full_page_images", |defaults| {
                defaults.full_page_images.to_string()
            }),
            row("log_gather", |defaults| size(defaults.log_gather)),
            row("log_flush", |defaults| defaults.log_flush.to_string()),
        ] {
            assert!(format.contains(&expected), "FORMAT.md lacks: {expected}");
        }
        // No key: the text below the table.
        let most = |like| Like::defaults(like).log_in_flight_max;
        let sql_server = most(Some(Like::SqlServer));
        let expected = format!("With `sqlserver`, up to {sql_server} log writes are in flight");
        assert!(format.contains(&expected), "FORMAT.md lacks: {expected}");
        let others = [
            None,
            Some(Like::Postgres),
            Some(Like::Innodb),
            Some(Like::Sqlite),
        ];
        assert_eq!(others.map(most), [1; 4]);
    }
}
