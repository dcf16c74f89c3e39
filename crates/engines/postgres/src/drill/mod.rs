//! PostgreSQL's part of a drill: the ledger's tables, and a server moved to other volumes than it was created on.

mod drilled;
mod moved;
mod provider;
mod replayed;

pub use drilled::PostgresProduct;
pub(crate) use moved::Places;
pub(crate) use provider::Drill;
