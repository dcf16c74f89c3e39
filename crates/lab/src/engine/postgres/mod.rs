//! PostgreSQL 13 to 18 as a trial's engine: a private server, or a database in a given one.
//!
//! ```text
//!  data files  ─► tablespaces data_1 ..  one directory each on its volume; tables that are declared
//!                                        PARTITION BY HASH have a part in each, others are dealt in turn
//!  temp files  ─► tablespaces temp_1 ..  temp_tablespaces: temporary tables, spilled sorts and hashes
//!  log         ─► initdb --waldir        on the log's volume
//!  the rest    ─► data directory         on the first data file's volume
//! ```

mod access;
mod client;
mod cluster;
mod counters;
#[cfg(target_os = "linux")]
pub(crate) mod drilled;
mod engine;
mod find;
mod given;
mod login;
#[cfg(target_os = "linux")]
mod moved;
mod product;
pub(in crate::engine) mod provider;
mod reading;
#[cfg(target_os = "linux")]
mod replayed;
mod server;
mod settings;
mod tablespaces;
mod target;
mod tls;
mod url;
mod waits;
pub mod watch;
mod wire;

pub use super::own_server::Owner;
pub use find::{Binaries, VERSIONS};
#[cfg(target_os = "linux")]
pub use product::least_owner;
pub use product::owner;
pub use server::Postgres;
pub use url::ServerUrl;
