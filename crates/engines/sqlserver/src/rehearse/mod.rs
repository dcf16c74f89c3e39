//! SQL Server's part of a rehearsal.
//!
//! ```text
//! WorkloadTools' file ──► workload_file ─┐
//! Extended Events as XML ──────► xml ────┼─► event ──► collect: sessions, and what cannot be replayed
//!                 as CSV ──────► export ─┘             │
//!                                     tokens, text, call: what a statement's words say of it
//! ```

mod call;
mod collect;
mod event;
mod export;
mod fields;
mod read;
mod text;
mod tokens;
mod utf16;
mod workload_file;
mod xml;

pub use read::read_log;
