//! PostgreSQL's part of a rehearsal.
//!
//! ```text
//! log ──► csvlog, jsonlog, stderr ──► entry ──► collect: sessions, and what cannot be replayed
//! backup ──► backup: checked ──► copy: on the volumes ──► server ──► session: plays statements
//! ```

mod backup;
mod collect;
mod configuration;
mod copy;
mod csvlog;
mod entry;
mod jsonlog;
mod message;
mod parameters;
mod prefix;
mod product;
mod provider;
mod read;
mod server;
mod session;
mod stderr;
mod text;

pub(crate) use provider::Rehearsal;
pub use read::read_log;
