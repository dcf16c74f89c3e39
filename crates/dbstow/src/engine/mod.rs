//! Engines: what carries a workload's statements out.

mod real;
pub mod sqlite;

pub use real::{Client, Engine, EngineError, SAMPLE_EVERY, WaitKind, WaitSampler, Waiting};
