//! PostgreSQL's part of a rehearsal.
//!
//! ```text
//! log ──► csvlog, jsonlog, stderr ──► entry ──► collect: sessions, and what cannot be replayed
//! dumps ───► dump: checked ──► restore: a backup
//! archives ► packed: checked ──► unpacked: a backup
//! backup ──► backup: checked ──► copy: on the volumes ──► server ──► session: plays statements
//! ```

mod backup;
mod collect;
mod configuration;
mod contents;
mod copy;
mod csvlog;
mod dump;
mod entry;
mod header;
mod jsonlog;
mod message;
mod objects;
mod packed;
mod parameters;
mod prefix;
mod product;
mod provider;
mod read;
mod restore;
mod server;
mod session;
mod stderr;
mod tablespaces;
mod text;
mod tool;

pub(crate) use provider::Rehearsal;
pub use read::read_log;
