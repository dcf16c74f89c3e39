//! Engines: what carries a workload's statements out.

pub mod sqlite;
