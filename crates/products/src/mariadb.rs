//! MariaDB, and InnoDB, which MySQL has too.

use model::store::PageSize;
use model::{Bytes, Durability, Duration};

use crate::{
    Defaults, Dialect, Grammar, Kind, Like, LogInFlight, LogWrites, Meaning, Placeholder, Product,
    Setting, Value,
};

/// Sources: <https://dev.mysql.com/doc/refman/8.4/en/innodb-parameters.html>: `innodb_page_size` 16 KB,
/// `innodb_flush_neighbors` 0, `innodb_write_io_threads` 4 with up to 256 pending requests each,
/// `innodb_doublewrite_pages` 128, `innodb_redo_log_capacity` 100 MB; `innodb_log_buffer_size` 16 MB in 8.0,
/// `innodb_flush_log_at_trx_commit` 1 with `innodb_flush_method` `fsync` or `O_DIRECT`: both write, then call `fsync`
/// (`innodb_data_file_write_through` and `innodb_log_file_write_through` are off,
/// <https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-flush-method>, read 2026-11-27). Pages are flushed by
/// the age of the log and the share of dirty ones, not by the clock.
pub(crate) const LIKE: Like = Like {
    name: "innodb",
    title: "InnoDB",
    defaults: Defaults {
        page_size: PageSize::KIB_16,
        write_gather: Bytes::kib(16),
        writes_in_flight: 4 * 256,
        checkpoint: None,
        log_capacity: Bytes::mib(100),
        // A point select takes 52 us of processor in MySQL and MariaDB, and 43 us in PostgreSQL: medians over processors, with the client's
        // share (sysbench, Callaghan and Percona, 2025 and 2026: crates/catalogue/evidence/statements.csv). About 5 us of it are the
        // pages and steps of the look-up, which cost extra.
        statement: Duration::from_micros(47),
        doublewrite_pages: 128,
        log_gather: Bytes::mib(16),
        log_flush: true,
        data_durability: Durability::OnFlush,
        ..Defaults::GENERIC
    },
};

/// Passed to a server unchanged; simulate has most of them.
///
/// Source of names, values and ranges: <https://mariadb.com/kb/en/innodb-system-variables/> and
/// <https://mariadb.com/kb/en/replication-and-binary-log-system-variables/>, read 2026-11-25; the bounds are those that a 10.11
/// server clamps values to.
pub(crate) const PRODUCT: Product = Product {
    name: "mariadb",
    title: "MariaDB",
    settings: &[
        Setting {
            absent: "1; 2 where `commit` is `relaxed`",
            meaning: Meaning::Commit {
                durable: Value::Number(1),
            },
            ..Setting::passed(
                "flush_log_at_trx_commit",
                "what a commit does with the log; simulate has 0 and 2 as one",
                Kind::Choice {
                    most: 2,
                    taken: "1 (each commit waits until the log is flushed), 2 (until it is written), or 0 (for neither)",
                },
            )
        },
        // With 1, commits are in both logs; a server's own default is 0.
        Setting {
            absent: "1, where MariaDB itself has 0: what was committed is then in both logs",
            default: Some(Value::Number(1)),
            meaning: Meaning::BinlogSync,
            not_simulated: |value| {
                let is_seldom = matches!(value, Value::Number(2..));
                is_seldom.then_some("is above 1, and simulate has 0 and 1 alone")
            },
            ..Setting::passed(
                "sync_binlog",
                "groups of commits after which the binary log is flushed, 0 for never; simulate has 0 and 1",
                Kind::Number(0..=u32::MAX),
            )
        },
        Setting {
            absent: "where the placement has one",
            meaning: Meaning::Binlog,
            ..Setting::passed(
                "binlog",
                "whether there is a binary log; without a place in the placement it is beside the first data file",
                Kind::Switch,
            )
        },
        Setting {
            absent: "`true`",
            default: Some(Value::Switch(true)),
            meaning: Meaning::Doublewrite,
            ..Setting::passed(
                "doublewrite",
                "whether pages are written twice; in simulate `false` is `doublewrite_pages = 0`",
                Kind::Switch,
            )
        },
        Setting {
            absent: "`O_DIRECT`",
            default: Some(Value::Name("O_DIRECT")),
            not_simulated: |value| {
                let is_cached = value == Value::Name("fsync");
                is_cached.then_some("is \"fsync\", and simulate has O_DIRECT alone")
            },
            ..Setting::passed(
                "flush_method",
                "how data files are written: past the operating system's cache, or through it and flushed; simulate has the first",
                Kind::Name(&["O_DIRECT", "fsync"]),
            )
        },
        Setting {
            absent: "`log_capacity`, or 96 MiB",
            meaning: Meaning::LogCapacity,
            ..Setting::passed(
                "log_file_size",
                "size of the log, the same as `log_capacity`",
                Kind::Size {
                    least: Bytes::mib(4),
                    most: Bytes(u64::MAX),
                    block: Bytes::kib(4),
                    taken: "whole blocks of 4 KiB, 4 MiB or more",
                },
            )
        },
        Setting {
            not_simulated: |_| Some("is set, and simulate has no model of it"),
            ..Setting::passed(
                "io_capacity",
                "pages a second that are written in the background; not in simulate",
                Kind::Number(100..=u32::MAX),
            )
        },
    ],
    simulated: Some(&LIKE),
};

/// Its words are MySQL's too.
pub(crate) const DIALECT: Dialect = Dialect {
    engine: PRODUCT.name,
    title: "MariaDB's SQL",
    product: PRODUCT.title,
    mode: "emulate",
    words: &[
        "AUTO_INCREMENT",
        "ENGINE=INNODB",
        "ENGINE = INNODB",
        "ON DUPLICATE KEY",
        "INSERT IGNORE",
        "LAST_INSERT_ID(",
        "GET_LOCK(",
        "FROM SEQ_1_TO_",
        "STRAIGHT_JOIN",
        "/*!",
        "/*M!",
    ],
    placeholder: Placeholder::InOrder("?"),
    grammar: Grammar::Programs,
};

/// The redo log and the binary log. InnoDB has one write and one flush (`log_write_up_to`,
/// <https://github.com/MariaDB/server/blob/1146e98/storage/innobase/log/log0sync.cc>; `log_writer` and `log_flusher`,
/// <https://github.com/mysql/mysql-server/blob/08f46b3/storage/innobase/log/log0write.cc>, read 2026-11-26). A write that begins
/// during the flush of the previous one is not modelled.
///
/// They write whole pages of Linux's cache, or blocks of the disk, as `dbstow record` counts them.
pub(crate) const LOG_WRITES: LogWrites = LogWrites {
    products: &["MariaDB", "MySQL"],
    title: PRODUCT.title,
    page: Bytes::kib(4),
    in_flight: LogInFlight::One { logs: 2 },
    buffers_temp: false,
    data_durability: LIKE.defaults.data_durability,
    commits: None,
};
