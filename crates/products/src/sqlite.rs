//! SQLite.

use model::store::PageSize;
use model::{Bytes, Durability};

use crate::{Defaults, Dialect, Grammar, Like, Placeholder};

/// Sources: <https://www.sqlite.org/pragma.html#pragma_page_size>: 4,096 bytes since 3.12.0; pages are written one by
/// one by the connection that commits or checkpoints (<https://www.sqlite.org/wal.html>), and the log is synced at a commit
/// (`synchronous` `FULL`), the database at the end of a checkpoint.
pub(crate) const LIKE: Like = Like {
    name: "sqlite",
    title: "SQLite",
    defaults: Defaults {
        page_size: PageSize::KIB_4,
        write_gather: Bytes::kib(4),
        writes_in_flight: 1,
        log_flush: true,
        data_durability: Durability::OnFlush,
        ..Defaults::GENERIC
    },
};

pub(crate) const DIALECT: Dialect = Dialect {
    engine: LIKE.name,
    title: "SQLite's SQL",
    product: LIKE.title,
    mode: "simulate",
    words: &[],
    placeholder: Placeholder::Numbered("?"),
    grammar: Grammar::Plain,
};
