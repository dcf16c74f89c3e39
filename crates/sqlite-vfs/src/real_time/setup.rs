//! Specification of a database in real time.

use std::path::PathBuf;

use model::Bytes;
use model::store::{Commit, ReadUnit};

/// Files of a database, and the memory and access settings above them.
#[derive(Clone, Debug, PartialEq)]
pub struct DatabaseSpec {
    /// Files of tables and indexes; at least one.
    pub data: Vec<PlacedFile>,
    /// Files of temporary space; at least one.
    pub temp: Vec<PlacedFile>,
    /// The file of the log; it grows as needed, regardless of its size.
    pub log: PlacedFile,
    /// Size of the buffer pool, which all sessions share.
    pub memory: Bytes,
    /// SQLite's own cache in each connection, which is also its memory for sorting.
    pub sort_memory: Bytes,
    /// How much a read of a missing page brings in.
    pub read_unit: ReadUnit,
    /// Largest write of neighbouring pages.
    pub write_gather: Bytes,
    /// Largest write of the log.
    pub log_gather: Bytes,
    /// Concurrent page writes; at least 1, at most [`WRITERS_MAX`] are used.
    pub writes_in_flight: u32,
    /// Whether a commit waits for the log.
    pub commit: Commit,
    /// How the files are read and written.
    pub access: Access,
}

/// Most threads that write pages.
pub const WRITERS_MAX: u32 = 64;

/// Location of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacedFile {
    /// Index of its volume in the site.
    pub volume: usize,
    /// The directory in which it is created.
    pub directory: PathBuf,
    /// Its fixed initial size; `None`: it grows as needed.
    pub size: Option<Bytes>,
}

/// How files are read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Pages bypass the operating system's cache, if system and filesystem allow it: memory is then only
    /// the buffer pool, and a request of the pool is one of the disk.
    Direct,
    /// Through the operating system's cache: for modelled volumes, or experiments on the effect of caching.
    Cached,
}
