//! Embedded SQLite: in virtual time, and as a real engine.

mod argument;
mod client;
#[cfg(all(target_os = "linux", feature = "postgres"))]
pub(crate) mod drilled;
pub(in crate::engine) mod provider;
mod real;
mod sessions;
mod simulated;

#[cfg(test)]
mod tests;

pub use real::SqliteEngine;
pub use simulated::{SqliteDriver, Work};
