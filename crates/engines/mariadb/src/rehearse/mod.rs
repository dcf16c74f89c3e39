//! MariaDB's part of a rehearsal.
//!
//! ```text
//! log ──► general, slow ──► collect: sessions, and what cannot be replayed
//! ```

mod collect;
mod general;
mod header;
mod read;
mod slow;
mod text;
mod time;

pub use read::read_log;
