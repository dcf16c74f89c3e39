//! Embedded SQLite: in virtual time, and as a real engine.

mod argument;
mod client;
mod real;
mod simulated;

#[cfg(test)]
mod tests;

pub use real::SqliteEngine;
pub use simulated::{SqliteDriver, Work};
