//! PostgreSQL's part of a drill: the ledger's tables, and a server that is found on other volumes than it was made on.

mod drilled;
mod moved;
mod replayed;

pub use drilled::PostgresProduct;
