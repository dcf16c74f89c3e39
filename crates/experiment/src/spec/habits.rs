//! What engines do by habit, where an experiment says nothing else.

use model::store::PageSize;
use model::{Bytes, Duration};
use serde::Deserialize;

/// Whose habits an engine has.
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

/// What is set where an experiment does not.
pub(crate) struct Habits {
    pub(crate) page_size: PageSize,
    pub(crate) read_ahead: Bytes,
    pub(crate) write_gather: Bytes,
    pub(crate) writes_in_flight: u32,
    pub(crate) checkpoint: Option<Duration>,
    pub(crate) doublewrite_pages: u32,
    pub(crate) full_page_images: bool,
    pub(crate) log_gather: Bytes,
}

/// Without `like`: SQL Server's, with the largest write of 2014 and without read-ahead.
const DEFAULT: Habits = Habits {
    page_size: PageSize::DEFAULT,
    read_ahead: Bytes::ZERO,
    write_gather: Bytes::kib(256), // 32 pages, SQL Server to 2014
    writes_in_flight: 32,
    checkpoint: Some(Duration::from_secs(60)), // SQL Server's target recovery time since 2016
    doublewrite_pages: 0,
    full_page_images: false,
    log_gather: Bytes::kib(60), // SQL Server's largest log block
};

/// Sources: "Reading pages" and "Writing pages" of the architecture guides (learn.microsoft.com/sql/relational-databases):
/// read-ahead of up to 64 pages from one file, writes of up to 128 pages since 2016.
const SQL_SERVER: Habits = Habits {
    read_ahead: Bytes::kib(512),
    write_gather: Bytes::mib(1),
    ..DEFAULT
};

/// Sources: <https://www.postgresql.org/docs/current/runtime-config-wal.html>: `checkpoint_timeout` 5 min,
/// `checkpoint_flush_after` 256 kB, `full_page_writes` on, `wal_buffers` of up to one segment, 16 MB.
const POSTGRES: Habits = Habits {
    checkpoint: Some(Duration::from_secs(300)),
    full_page_images: true,
    log_gather: Bytes::mib(16),
    ..DEFAULT
};

/// Sources: <https://dev.mysql.com/doc/refman/8.4/en/innodb-parameters.html>: `innodb_page_size` 16 KB,
/// `innodb_flush_neighbors` 0, `innodb_write_io_threads` 4 with up to 256 pending requests each,
/// `innodb_doublewrite_pages` 128; `innodb_log_buffer_size` 16 MB in 8.0. Pages are flushed by the age of the log and
/// the share of dirty ones, not by the clock.
const INNODB: Habits = Habits {
    page_size: PageSize::INNODB,
    write_gather: Bytes::kib(16),
    writes_in_flight: 4 * 256,
    checkpoint: None,
    doublewrite_pages: 128,
    log_gather: Bytes::mib(16),
    ..DEFAULT
};

/// Sources: <https://www.sqlite.org/pragma.html#pragma_page_size>: 4,096 bytes since 3.12.0; pages are written one by
/// one by the connection that commits or checkpoints (<https://www.sqlite.org/wal.html>).
const SQLITE: Habits = Habits {
    page_size: PageSize::SQLITE,
    write_gather: Bytes::kib(4),
    writes_in_flight: 1,
    ..DEFAULT
};

impl Like {
    /// The habits of an engine; of none in particular without one.
    pub(crate) const fn habits(like: Option<Like>) -> &'static Habits {
        match like {
            None => &DEFAULT,
            Some(Like::SqlServer) => &SQL_SERVER,
            Some(Like::Postgres) => &POSTGRES,
            Some(Like::Innodb) => &INNODB,
            Some(Like::Sqlite) => &SQLITE,
        }
    }
}
