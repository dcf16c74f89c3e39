//! Engines: what carries a workload's statements out.

#[cfg(unix)]
pub mod postgres;
pub mod raw;
mod real;
pub mod sqlite;
pub mod sqlserver;

pub use real::{Client, Engine, EngineError, SAMPLE_EVERY, WaitKind, WaitSampler, Waiting};
