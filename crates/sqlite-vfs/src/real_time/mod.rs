//! SQLite in real time: sessions are threads, and files are on real volumes or on modelled ones.
//!
//! ```text
//!  session (thread)     VFS            buffer pool         real files          model, if any
//!  ── SQL ──► SQLite ──► page ──► there? no ──► read ──► data-1..n ──► due at t; the thread waits
//!                         │
//!                         └► dirty ──► writers (threads) ──► gathered writes, the same way
//! ```
//!
//! SQLite executes and commits as usual, with a write-ahead log. What it does not provide is done below it, as
//! in a database server: all sessions share one buffer pool of a given size, pages are distributed in extents
//! to the files of their role, and changed pages are written in the background. A rollback journal would be the
//! wrong log to measure: it is written page by page beside the data, twice at every commit, while a write-ahead
//! log is one sequential stream with one flush per commit. The index of that log is memory that connections
//! share; within one process this takes no system call.

mod activity;
mod aligned;
mod app_lock;
mod database;
mod disks;
mod files;
mod flushes;
mod members;
mod pool;
mod run;
mod session;
mod setup;
mod shared;
mod spaces;

pub use activity::Activity;
pub use aligned::Aligned;
pub use database::Database;
pub use disks::{Disks, VolumeCount};
pub use session::Session;
pub use setup::{Access, DatabaseSpec, PlacedFile, WRITERS_MAX};
