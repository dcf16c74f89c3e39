//! PostgreSQL 13 to 18 as a trial's engine: a private server, or a database in a given one.
//!
//! ```text
//!  data files  ─► tablespaces data_1 ..  one directory each on its volume; tables that are declared
//!                                        PARTITION BY HASH have a part in each, others are distributed in turn
//!  temp files  ─► tablespaces temp_1 ..  temp_tablespaces: temporary tables, spilled sorts and hashes
//!  log         ─► initdb --waldir        on the log's volume
//!  the rest    ─► data directory         on the first data file's volume
//! ```

mod access;
mod client;
pub(crate) mod cluster;
mod counters;
mod engine;
mod external;
pub(crate) mod find;
mod product;
mod provider;
mod reading;
mod server;
mod settings;
pub(crate) mod tablespaces;
mod waits;

pub use ::engine::managed_server::Owner;
#[cfg(target_os = "linux")]
pub(crate) use find::BIN;
pub use find::{Binaries, VERSIONS};
#[cfg(target_os = "linux")]
pub use product::least_owner;
pub use product::owner;
pub use provider::Provider;
pub use server::Postgres;
