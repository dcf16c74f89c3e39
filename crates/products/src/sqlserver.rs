//! SQL Server.

use model::Bytes;

use crate::{Defaults, Like};

/// Sources: "Reading pages" and "Writing pages" of the architecture guides (learn.microsoft.com/sql/relational-databases):
/// read-ahead of up to 64 pages from one file, writes of up to 128 pages since 2016. Up to 112 log writes of a database since 2012:
/// Paul Randal, "Trimming More Transaction Log Fat",
/// <https://sqlperformance.com/2013/01/io-subsystem/trimming-more-transaction-log-fat> (read 2026-11-26).
pub(crate) const LIKE: Like = Like {
    name: "sqlserver",
    title: "SQL Server",
    defaults: Defaults {
        read_ahead: Bytes::kib(512),
        write_gather: Bytes::mib(1),
        log_in_flight_max: 112,
        ..Defaults::GENERIC
    },
};
