//! The settings of a store.

use alloc::vec;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::files::FileSpec;
use super::page::PageSize;
use crate::request::Durability;
use crate::time::Duration;
use crate::units::Bytes;

/// The settings of a store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoreSpec {
    /// Size of the buffer pool.
    pub memory: Bytes,
    /// Size of a page.
    pub page_size: PageSize,
    /// How much a read of a missing page brings in.
    pub read_unit: ReadUnit,
    /// How much is read ahead of a sequential reader at a time, in whole extents: the next as much once it is in the last; zero
    /// disables it.
    pub read_ahead: Bytes,
    /// Largest write into which neighbouring dirty pages are gathered.
    pub write_gather: Bytes,
    /// When a page written to a data file is durable; of temporary files nothing is asked.
    pub data_durability: Durability,
    /// Background writes in flight at the same time.
    pub writes_in_flight: u32,
    /// Longest time a page of a data file stays dirty; `None`: until its frame is needed.
    pub checkpoint: Option<Duration>,
    /// Most bytes of log since the oldest changed page of a data file whose write has not started: pages are written,
    /// and sessions wait for that, to stay within it. `None`: unbounded. Writes in flight do not count.
    pub log_capacity: Option<Bytes>,
    /// Pages written twice, so that a torn one can be restored; `None`: once.
    pub doublewrite: Option<DoublewriteSpec>,
    /// Whether the first change of a data file's page since the last checkpoint logs the whole page, so that a torn
    /// one can be restored.
    pub full_page_images: bool,
    /// Whether a commit waits for its log records.
    pub commit: Commit,
    /// Largest write of the log.
    pub log_block: Bytes,
    /// Log writes in flight from which on commits share the next one; at least 1. Of full blocks at least 32 may be in flight.
    pub log_in_flight_max: u32,
    /// Whether a log write is durable only after a flush of its volume; false if it is written through.
    pub log_flush: bool,
    /// The binary log, which a commit must reach after the log; `None`: disabled.
    pub binlog: Option<BinlogSpec>,
    /// Size of the operating system's page cache behind the buffer pool; zero if files bypass it.
    pub page_cache: Bytes,
    /// Row versions written to temp space, if the engine keeps them there.
    pub versions: Option<VersionSpec>,
    /// Data files of tables, in the order of proportional fill.
    pub data: Vec<FileSpec>,
    /// Data files of temporary tables, spills and row versions.
    pub temp: Vec<FileSpec>,
    /// The log file.
    pub log: FileSpec,
}

impl StoreSpec {
    /// A store with all files on volume 0: pages are read one by one and written once, when their frame is needed, and
    /// commits wait for the log.
    pub fn plain(memory: Bytes) -> StoreSpec {
        let file = FileSpec {
            volume: 0,
            size: None,
        };
        StoreSpec {
            memory,
            page_size: PageSize::DEFAULT,
            read_unit: ReadUnit::Page,
            read_ahead: Bytes::ZERO,
            write_gather: Bytes::kib(256),
            data_durability: Durability::OnFlush,
            writes_in_flight: 32,
            checkpoint: None,
            log_capacity: None,
            doublewrite: None,
            full_page_images: false,
            commit: Commit::Durable,
            log_block: LOG_BLOCK,
            log_in_flight_max: 1,
            log_flush: false,
            binlog: None,
            page_cache: Bytes::ZERO,
            versions: None,
            data: vec![file],
            temp: vec![file],
            log: file,
        }
    }
}

/// How much a read of a missing page brings in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadUnit {
    /// That page.
    #[default]
    Page,
    /// Its whole extent, as some servers do while their buffer pool fills.
    Extent,
}

/// Largest log write unless a store says otherwise, and most bytes of a block of the buffer: 60 KiB.
///
/// Source: *SQL Server transaction log architecture and management guide*,
/// <https://learn.microsoft.com/sql/relational-databases/sql-server-transaction-log-architecture-and-management-guide>.
pub const LOG_BLOCK: Bytes = Bytes::kib(60);

/// Whether a commit waits for its log records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Commit {
    /// It waits.
    #[default]
    Durable,
    /// It does not wait: records are written when a block is full, as in temporary space.
    Relaxed,
}

/// A binary log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BinlogSpec {
    /// Its file.
    pub file: FileSpec,
    /// Whether a commit waits until it is flushed: `sync_binlog` is 1, not 0.
    ///
    /// If not, what was written is in the operating system's cache, which writes it in large pieces; a commit waits
    /// once 32 of them are outstanding.
    pub sync: bool,
}

/// How pages are written twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoublewriteSpec {
    /// Most pages whose copies are written together; at least 1.
    pub batch: u32,
    /// Volume of the area; `None`: that of the first data file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume: Option<usize>,
}

/// Space that versions take, and how long they are kept.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct VersionSpec {
    /// Bytes of temp space for each changed row, temporary objects included.
    pub bytes_per_row: Bytes,
    /// Mean time until they expire; exponentially distributed.
    pub retention: Duration,
}
