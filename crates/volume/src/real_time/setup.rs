//! What a database in real time is made of.

use std::path::PathBuf;

use model::Bytes;
use model::store::{Commit, ReadUnit};

/// Files of a database, and what stands between SQL and them.
#[derive(Clone, Debug, PartialEq)]
pub struct DatabaseSpec {
    /// Files of tables and indexes; at least one.
    pub data: Vec<PlacedFile>,
    /// Files of temporary space; at least one.
    pub temp: Vec<PlacedFile>,
    /// The file of the log; it grows as needed, whatever its size says.
    pub log: PlacedFile,
    /// Size of the buffer pool, which all sessions share.
    pub memory: Bytes,
    /// SQLite's own cache in each connection, which is its memory for a sort too.
    pub sort_memory: Bytes,
    /// How much a read of a missing page brings in.
    pub read_unit: ReadUnit,
    /// Largest write of neighbouring pages.
    pub write_gather: Bytes,
    /// Largest write of the log.
    pub log_gather: Bytes,
    /// Page writes at the same time; at least 1, at most [`WRITERS_MAX`] are made use of.
    pub writes_in_flight: u32,
    /// Whether a commit waits for the log.
    pub commit: Commit,
    /// How the files are read and written.
    pub access: Access,
}

/// Most threads that write pages.
pub const WRITERS_MAX: u32 = 64;

/// Where a file is.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacedFile {
    /// Place of its volume in the site.
    pub volume: usize,
    /// The directory in which it is made.
    pub directory: PathBuf,
    /// The size it is created with, and beyond which it does not grow; `None`: it grows as needed.
    pub size: Option<Bytes>,
}

/// How files are read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Pages past the operating system's cache, where system and filesystem allow it: memory is what the
    /// buffer pool is, and a request of the pool is one of the disk.
    Direct,
    /// Through the operating system's cache: for volumes whose time is modelled, or whose caching is what
    /// is asked about.
    Cached,
}
