//! Embedded SQLite: in virtual time, and as a real engine.

mod argument;
mod client;
#[cfg(target_os = "linux")]
mod drilled;
mod provider;
mod real;
mod sessions;
mod simulated;

#[cfg(test)]
mod tests;

#[cfg(target_os = "linux")]
pub use drilled::Sqlite;
pub use provider::Provider;
pub use real::SqliteEngine;
pub use simulated::{SqliteDriver, Work};
