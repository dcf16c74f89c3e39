//! `[engine]` of an experiment file.

use model::Bytes;
use products::{Like, Own};
use serde::Deserialize;

use crate::spec::amount::Span;
use crate::spec::mode::EngineName;
use crate::spec::settings::{Commit, ReadUnit, Temperature};

/// A database engine between SQL and its files.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Engine {
    /// Whose defaults the keys below have where they are absent: one of the names in the table of [engine
    /// defaults](#engine-defaults).
    ///
    /// Absent: as listed.
    pub(crate) like: Option<&'static Like>,
    /// The engine it is meant for, by a name that `--engine` takes, unless that names another.
    ///
    /// Absent: sqlite.
    pub(crate) name: Option<EngineName>,
    /// Size of the buffer pool, at least 1 MiB.
    ///
    /// Absent: required, but for a profile and the engine `raw`.
    pub(crate) memory: Option<Bytes>,
    /// 4, 8, 16, 32 or 64 KiB.
    ///
    /// Absent: 8 KiB.
    pub(crate) page_size: Option<Bytes>,
    /// Size of a physical read: `page` or `extent` (64 KiB).
    ///
    /// Absent: `page`.
    pub(crate) read_unit: Option<ReadUnit>,
    /// How far to read ahead of a sequential reader.
    ///
    /// Absent: 0: not at all.
    pub(crate) read_ahead: Option<Bytes>,
    /// Largest write of neighbouring pages.
    ///
    /// Absent: 256 KiB.
    pub(crate) write_gather: Option<Bytes>,
    /// Page writes at the same time.
    ///
    /// Absent: 32.
    pub(crate) writes_in_flight: Option<u32>,
    /// Longest time that a page of a data file stays dirty, or `"none"`.
    ///
    /// Absent: 60 s.
    pub(crate) checkpoint: Option<String>,
    /// Maximum log since the oldest changed page whose write has not started: from 7/8 of it such pages are written, from 15/16
    /// sessions that change pages wait for that; 0: any.
    ///
    /// Absent: 0.
    pub(crate) log_capacity: Option<Bytes>,
    /// Pages of a doublewrite batch: their copies are written one behind the other to a separate area on the first data file's
    /// volume, then each page to its place; temporary pages are written once; 0: all are.
    ///
    /// Absent: 0.
    pub(crate) doublewrite_pages: Option<u32>,
    /// Whether the first change of a page since the last checkpoint puts the whole page into the log.
    ///
    /// Absent: false.
    pub(crate) full_page_images: Option<bool>,
    /// `durable`: waits for the log; `relaxed`: does not, as in temporary space.
    ///
    /// Absent: `durable`.
    pub(crate) commit: Option<Commit>,
    /// Largest write of the log.
    ///
    /// Absent: 60 KiB.
    pub(crate) log_gather: Option<Bytes>,
    /// Whether a log write counts as durable only once its volume was flushed (not with `commit = "relaxed"`);
    /// false: it is written through.
    ///
    /// Absent: false.
    pub(crate) log_flush: Option<bool>,
    /// Pages that the operating system keeps besides the buffer pool, of an engine that reads through its cache;
    /// in simulate.
    ///
    /// Absent: 0: none.
    pub(crate) page_cache: Option<Bytes>,
    /// Memory of one sort or hash before it spills into temporary files.
    ///
    /// Absent: 2 MiB.
    pub(crate) sort_memory: Option<Bytes>,
    /// The buffer pool at the start of the run: `cold`, or `warm` as the load left it.
    ///
    /// Absent: `cold`.
    pub(crate) start: Option<Temperature>,
    /// The same of the host cache; with `start = "warm"` it stays too.
    ///
    /// Absent: `cold`.
    pub(crate) host_cache_start: Option<Temperature>,
    /// Cost of each `statement`, `logical_read` and `vm_step`.
    ///
    /// Absent: by `like`, 1 us, 50 ns.
    #[serde(default)]
    pub(crate) cpu: Cpu,
    /// Row versions in temporary files: `bytes_per_row` for each row changed, mean `retention`.
    ///
    /// Absent: none.
    pub(crate) versions: Option<Versions>,
    /// Settings by a product's own names, `[engine.PRODUCT]`: [`crate::spec::document`] reads them by the product's table.
    #[serde(skip)]
    pub(crate) own: Own,
}

/// Deterministic cost of work.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cpu {
    /// Per statement.
    pub(crate) statement: Option<Span>,
    /// Per page requested from the buffer pool.
    pub(crate) logical_read: Option<Span>,
    /// Per step of SQLite's virtual machine.
    pub(crate) vm_step: Option<Span>,
}

/// Row versions written to temporary space.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Versions {
    /// Bytes written per changed row.
    pub(crate) bytes_per_row: Bytes,
    /// How long a version is kept.
    pub(crate) retention: Span,
}
