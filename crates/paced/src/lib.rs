//! Paced storage: the model of disks in real time, for requests that real files serve.
//!
//! ```text
//!  request ─► the real file, at once ─► PacedStorage::submit ─► due instant ─► the caller waits, or is answered, then
//!                                              │
//!                                              └─► counters of every disk: Reading
//! ```
//!
//! [`PacedStorage`] determines when a request is done. [`Pacer`] also makes the thread of that request wait until then: an
//! embedded database is paced by it, in its own process, on a [`PacedSite`]. FUSE volumes hold back their replies instead (the
//! crate `emulator`).

mod counters;
mod pacer;
mod site;
mod storage;

pub use pacer::Pacer;
pub use site::PacedSite;
pub use storage::{Completion, PacedStorage};
