//! Engines: what carries a workload's statements out.

#[cfg(unix)]
pub mod postgres;
pub mod raw;
mod real;
pub mod sqlite;
pub mod sqlserver;

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

pub use real::{
    Client, CounterSample, CounterSampler, Engine, EngineError, SAMPLE_EVERY, WaitKind,
    WaitSampler, Waiting,
};

/// Eight hexadecimal digits by chance, for names on servers that are not ours alone.
fn mark() -> String {
    let random = RandomState::new().build_hasher().finish();
    format!("{:08x}", random & 0xffff_ffff)
}
