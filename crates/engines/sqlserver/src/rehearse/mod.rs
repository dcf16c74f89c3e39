//! SQL Server's part of a rehearsal.
//!
//! ```text
//! WorkloadTools' file ──► workload_file ─┐
//! Extended Events as XML ──────► xml ────┼─► event ──► collect: sessions, and what cannot be replayed
//!                 as CSV ──────► export ─┘             │
//!                                     tokens, text, call: what a statement's words say of it
//!
//! backup ──► trial::Backup ──► product: what is in it      restored by the user's server for each trial: trial
//! session: plays the statements of a logged one in the copy, whose name stands in for the database's (renamed)
//! ```

mod call;
mod collect;
mod event;
mod export;
mod fields;
mod product;
mod read;
mod renamed;
mod session;
mod text;
mod tokens;
mod utf16;
mod workload_file;
mod xml;

pub(crate) use product::Rehearsal;
pub use read::read_log;
pub(crate) use session::LoggedTrialSession;
