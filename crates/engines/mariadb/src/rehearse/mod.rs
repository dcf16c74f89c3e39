//! MariaDB's part of a rehearsal.
//!
//! ```text
//! log ──► general, slow ──► collect: sessions, and what cannot be replayed
//! backup ──► backup: checked ──► product: copied to the volumes ──► accounts: users may log in ──► a private server
//! ```

mod accounts;
mod backup;
mod collect;
mod configuration;
mod general;
mod header;
mod product;
mod read;
mod slow;
mod text;
mod time;

pub(crate) use product::Rehearsal;
pub use read::read_log;
