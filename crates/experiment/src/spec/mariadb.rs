//! `[engine.mariadb]`: settings of MariaDB by its own names. They are passed to a server unchanged; simulate models most of them.

use std::fmt;

use model::Bytes;
use serde::{Deserialize, Serialize};

use super::Mode;
use super::engine_defaults::Like;
use super::error::Fault;
use super::placement::{File, Placement};
use super::settings::{Commit, Engine};
use super::wire;

/// Settings of MariaDB not covered by other keys of `[engine]` or by placements.
///
/// `binlog` is read into the placement: it determines whether [`super::Placement::binlog`] exists.
///
/// Source of names, values and ranges: <https://mariadb.com/kb/en/innodb-system-variables/> and
/// <https://mariadb.com/kb/en/replication-and-binary-log-system-variables/>, read 2026-11-25; the bounds are those that a 10.11
/// server clamps values to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Mariadb {
    /// What a commit does with the log, if specified; see [`super::Engine::flush_log`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flush_log_at_trx_commit: Option<FlushLog>,
    /// Groups of commits after which the binary log is flushed; 0: never.
    ///
    /// 1 if unspecified, so that commits are in both logs. A server's own default is 0.
    pub sync_binlog: u32,
    /// Whether pages are written twice. In simulate [`super::Engine::doublewrite_pages`] determines it.
    pub doublewrite: bool,
    /// Whether the server bypasses the operating system's cache for its files.
    pub flush_method: FlushMethod,
    /// Size of the log, if specified; [`super::Engine::log_capacity`] is then the same. See
    /// [`super::Engine::log_file_size`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_file_size: Option<Bytes>,
    /// Page writes per second that the server plans with, at least 100; `None`: the server's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub io_capacity: Option<u32>,
}

impl Mariadb {
    /// Default size of the log: that of MariaDB since 10.5.
    pub const LOG_FILE_SIZE_DEFAULT: Bytes = Bytes::mib(96);
}

impl Default for Mariadb {
    fn default() -> Mariadb {
        Mariadb {
            flush_log_at_trx_commit: None,
            sync_binlog: 1,
            doublewrite: true,
            flush_method: FlushMethod::Direct,
            log_file_size: None,
            io_capacity: None,
        }
    }
}

/// What a commit does with the log: `innodb_flush_log_at_trx_commit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub enum FlushLog {
    /// Nothing: it is written and flushed once a second.
    EverySecond,
    /// It is written and flushed.
    AtCommit,
    /// It is written to the operating system's cache, which is flushed once a second.
    WrittenAtCommit,
}

impl FlushLog {
    /// The value in MariaDB.
    pub fn number(self) -> u8 {
        match self {
            FlushLog::EverySecond => 0,
            FlushLog::AtCommit => 1,
            FlushLog::WrittenAtCommit => 2,
        }
    }

    /// Whether a commit waits for the log; that of [`FlushLog::EverySecond`] and [`FlushLog::WrittenAtCommit`] does not.
    pub fn commit(self) -> Commit {
        match self {
            FlushLog::AtCommit => Commit::Durable,
            FlushLog::EverySecond | FlushLog::WrittenAtCommit => Commit::Relaxed,
        }
    }
}

impl From<FlushLog> for u8 {
    fn from(flush: FlushLog) -> u8 {
        flush.number()
    }
}

impl TryFrom<u8> for FlushLog {
    type Error = String;

    fn try_from(number: u8) -> Result<FlushLog, String> {
        match number {
            0 => Ok(FlushLog::EverySecond),
            1 => Ok(FlushLog::AtCommit),
            2 => Ok(FlushLog::WrittenAtCommit),
            other => Err(format!(
                "there is no {other}: give 1 (each commit waits until the log is flushed), 2 (until it is written), or 0 \
                 (for neither)"
            )),
        }
    }
}

/// How the server writes data files: `innodb_flush_method`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum FlushMethod {
    /// Bypassing the operating system's cache.
    #[default]
    #[serde(rename = "O_DIRECT")]
    Direct,
    /// Through the cache, and flushed.
    #[serde(rename = "fsync")]
    Fsync,
}

impl FlushMethod {
    /// The value in MariaDB.
    pub fn name(self) -> &'static str {
        match self {
            FlushMethod::Direct => "O_DIRECT",
            FlushMethod::Fsync => "fsync",
        }
    }
}

impl fmt::Display for FlushMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Minimum `innodb_log_file_size` of 10.11, and its granularity.
const LOG_FILE_MIN: Bytes = Bytes::mib(4);
const LOG_FILE_BLOCK: Bytes = Bytes::kib(4);

/// Minimum `innodb_io_capacity`.
const IO_CAPACITY_MIN: u32 = 100;

/// Resolves the requested settings.
pub(super) fn resolve(asked: &wire::Mariadb) -> Mariadb {
    let default = Mariadb::default();
    Mariadb {
        flush_log_at_trx_commit: asked.flush_log_at_trx_commit,
        sync_binlog: asked.sync_binlog.unwrap_or(default.sync_binlog),
        doublewrite: asked.doublewrite.unwrap_or(default.doublewrite),
        flush_method: asked.flush_method.unwrap_or(default.flush_method),
        log_file_size: asked.log_file_size,
        io_capacity: asked.io_capacity,
    }
}

/// Whether a commit waits for the log, from `commit` or `flush_log_at_trx_commit`.
pub(super) fn commit(asked: &wire::Engine) -> Commit {
    let by_flush = asked.mariadb.flush_log_at_trx_commit.map(FlushLog::commit);
    asked.commit.or(by_flush).unwrap_or_default()
}

/// Pages of a doublewrite batch, set by `doublewrite_pages` and turned off by `doublewrite`.
pub(super) fn doublewrite_pages(asked: &wire::Engine, by_default: u32) -> Result<u32, Fault> {
    match (asked.mariadb.doublewrite, asked.doublewrite_pages) {
        (Some(true), Some(0)) => {
            let message = "engine.mariadb.doublewrite is true, and engine.doublewrite_pages is 0; keep one of the two";
            Err(fault("doublewrite", message))
        }
        (Some(false), pages) => Ok(pages.unwrap_or(0)),
        (Some(true) | None, pages) => Ok(pages.unwrap_or(by_default)),
    }
}

/// Size of the log, from `log_capacity` or `log_file_size`.
pub(super) fn log_capacity(asked: &wire::Engine, by_default: Bytes) -> Bytes {
    let size = asked.mariadb.log_file_size;
    asked.log_capacity.or(size).unwrap_or(by_default)
}

/// Rejects values that no server accepts, and contradictions with other settings of the engine.
pub(super) fn check(engine: &Engine) -> Result<(), Fault> {
    let mariadb = &engine.mariadb;
    if let Some(capacity) = mariadb.io_capacity.filter(|asked| *asked < IO_CAPACITY_MIN) {
        let message = format!(
            "engine.mariadb.io_capacity is {capacity}; MariaDB takes {IO_CAPACITY_MIN} to {}",
            u32::MAX
        );
        return Err(fault("io_capacity", message));
    }
    if let Some(flush) = mariadb.flush_log_at_trx_commit
        && flush.commit() != engine.commit
    {
        let message = format!(
            "engine.mariadb.flush_log_at_trx_commit is {}, which engine.commit contradicts; keep one of the two",
            flush.number()
        );
        return Err(fault("flush_log_at_trx_commit", message));
    }
    let pages = engine.doublewrite_pages;
    if !mariadb.doublewrite && pages > 0 {
        let message = format!(
            "engine.mariadb.doublewrite is false, and engine.doublewrite_pages is {pages}; keep one of the two"
        );
        return Err(fault("doublewrite", message));
    }
    mariadb.log_file_size.map_or(Ok(()), |size| {
        check_log_file_size(size, engine.log_capacity)
    })
}

fn check_log_file_size(size: Bytes, capacity: Bytes) -> Result<(), Fault> {
    if size != capacity {
        let message = format!(
            "engine.mariadb.log_file_size is {size}, and engine.log_capacity is {capacity}; keep one of the two"
        );
        return Err(fault("log_file_size", message));
    }
    if size < LOG_FILE_MIN || !size.0.is_multiple_of(LOG_FILE_BLOCK.0) {
        let message = format!(
            "engine.mariadb.log_file_size is {size}; MariaDB takes whole blocks of {LOG_FILE_BLOCK}, {LOG_FILE_MIN} or \
             more"
        );
        return Err(fault("log_file_size", message));
    }
    Ok(())
}

/// Places a requested binary log beside the first data file, MariaDB's default location; or removes one that must not be written.
pub(super) fn place_binlog(placement: &mut Placement, asked: Option<bool>) {
    let beside_data = || {
        placement.data.first().map(|file| File {
            size: None,
            ..file.clone()
        })
    };
    placement.binlog = match asked {
        Some(false) => None,
        Some(true) => placement.binlog.take().or_else(beside_data),
        None => placement.binlog.take(),
    };
}

/// Rejects, in simulate, settings of InnoDB in an engine with other defaults.
pub(super) fn check_like(asked: &wire::Engine, mode: Mode) -> Result<(), Fault> {
    let is_other = asked.mariadb != wire::Mariadb::default() && asked.like != Some(Like::Innodb);
    match mode {
        Mode::Simulate if is_other => Err(Fault::at(
            &["engine", "mariadb"],
            "engine.mariadb has settings of InnoDB, and the simulated engine is not like it; add like = \
             \"innodb\" to [engine], or leave them out",
        )),
        Mode::Simulate | Mode::Emulate | Mode::Measure => Ok(()),
    }
}

/// Rejects, in simulate, settings that are not modelled.
pub(super) fn check_modelled(mariadb: &Mariadb, mode: Mode) -> Result<(), Fault> {
    match mode {
        Mode::Simulate => {}
        Mode::Emulate | Mode::Measure => return Ok(()),
    }
    let (key, problem) = if mariadb.flush_method == FlushMethod::Fsync {
        (
            "flush_method",
            "is \"fsync\", and simulate has O_DIRECT alone",
        )
    } else if mariadb.io_capacity.is_some() {
        ("io_capacity", "is set, and simulate has no model of it")
    } else if mariadb.sync_binlog > 1 {
        ("sync_binlog", "is above 1, and simulate has 0 and 1 alone")
    } else {
        return Ok(());
    };
    let message = format!(
        "engine.mariadb.{key} {problem}; set it in [real-time], or add --engine mariadb with --mode emulate or --mode \
         measure"
    );
    Err(fault(key, message))
}

fn fault(key: &str, message: impl Into<String>) -> Fault {
    Fault::at(&["engine", "mariadb", key], message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Engine, String> {
        let asked: wire::Engine = toml::from_str(&format!("memory = \"64 MiB\"\n{text}"))
            .map_err(|error| error.to_string())?;
        let engine = super::super::resolve::engine(&asked, true);
        engine.map_err(|fault| fault.message)
    }

    fn simulated(text: &str) -> Result<(), String> {
        let asked: wire::Engine = toml::from_str(text).expect("the shape is right");
        let check = |mode| {
            check_like(&asked, mode)?;
            check_modelled(&super::resolve(&asked.mariadb), mode)
        };
        assert!(check(Mode::Emulate).is_ok(), "{text}");
        check(Mode::Simulate).map_err(|fault| fault.message)
    }

    #[test]
    fn what_is_absent_is_safe_and_leaves_no_trace_in_a_plan() {
        let engine = read("").expect("memory is enough");
        assert_eq!(engine.mariadb, Mariadb::default());
        assert_eq!(engine.flush_log(), FlushLog::AtCommit);
        assert_eq!(
            (engine.mariadb.sync_binlog, engine.mariadb.doublewrite),
            (1, true)
        );
        assert_eq!(engine.log_file_size(), Bytes::mib(96));
        let written = serde_json::to_string(&engine).expect("it is plain data");
        assert!(!written.contains("mariadb"), "{written}");
    }

    #[test]
    fn what_is_asked_for_is_read_back_from_a_plan() {
        let text = "mariadb = { flush_log_at_trx_commit = 0, sync_binlog = 0, doublewrite = false, flush_method = \"fsync\", \
                    log_file_size = \"1 GiB\", io_capacity = 2_000 }";
        let engine = read(text).expect("a server takes them");
        let written = serde_json::to_string(&engine).expect("it is plain data");
        assert_eq!(serde_json::from_str(&written).ok(), Some(engine.clone()));
        assert_eq!(engine.flush_log(), FlushLog::EverySecond);
        assert_eq!(engine.mariadb.flush_method.name(), "fsync");
        assert_eq!(engine.log_file_size(), Bytes::gib(1));
        assert_eq!(engine.mariadb.io_capacity, Some(2_000));
    }

    #[test]
    fn its_names_say_what_the_keys_of_any_engine_do() {
        let like =
            |text: &str| read(&format!("like = \"innodb\"\n{text}")).expect("it makes sense");
        let relaxed = like("mariadb.flush_log_at_trx_commit = 2");
        assert_eq!(relaxed.commit, Commit::Relaxed);
        assert_eq!(
            like("commit = \"relaxed\"").flush_log(),
            FlushLog::WrittenAtCommit
        );
        assert_eq!(like("").doublewrite_pages, 128);
        assert_eq!(like("mariadb.doublewrite = false").doublewrite_pages, 0);
        assert_eq!(
            like("mariadb.log_file_size = \"8 MiB\"").log_capacity,
            Bytes::mib(8)
        );
        assert_eq!(
            like("log_capacity = \"30 GB\"").log_file_size(),
            Bytes(30_000_000_000)
        );
    }

    #[test]
    fn values_that_no_server_takes_and_contradictions_are_refused_by_their_key() {
        for (text, said) in [
            ("mariadb.flush_log_at_trx_commit = 3", "give 1 (each commit"),
            ("mariadb.flush_method = \"O_DSYNC\"", "O_DIRECT"),
            ("mariadb.io_capacity = 99", "takes 100 to 4294967295"),
            ("mariadb.log_file_size = \"1 MiB\"", "4 MiB or more"),
            ("mariadb.log_file_size = 5_000_000", "whole blocks of 4 KiB"),
            ("mariadb.sync_binlog = -1", "sync_binlog"),
            ("mariadb.pool = 1", "pool"),
            (
                "commit = \"relaxed\"\nmariadb.flush_log_at_trx_commit = 1",
                "which engine.commit contradicts",
            ),
            (
                "doublewrite_pages = 64\nmariadb.doublewrite = false",
                "engine.doublewrite_pages is 64",
            ),
            (
                "doublewrite_pages = 0\nmariadb.doublewrite = true",
                "engine.doublewrite_pages is 0",
            ),
            (
                "log_capacity = \"1 GiB\"\nmariadb.log_file_size = \"2 GiB\"",
                "engine.log_capacity is 1 GiB",
            ),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.contains(said), "{text}: {error}");
        }
    }

    #[test]
    fn simulate_refuses_what_it_has_no_model_of() {
        for (text, said) in [
            ("mariadb.doublewrite = false", "add like = \"innodb\""),
            (
                "like = \"innodb\"\nmariadb.flush_method = \"fsync\"",
                "has O_DIRECT alone",
            ),
            ("like = \"innodb\"\nmariadb.io_capacity = 200", "no model"),
            (
                "like = \"innodb\"\nmariadb.sync_binlog = 100",
                "0 and 1 alone",
            ),
        ] {
            let error = simulated(text).expect_err(text);
            assert!(error.contains(said), "{text}: {error}");
        }
        for text in [
            "like = \"postgres\"",
            "like = \"innodb\"\nmariadb = { doublewrite = false, sync_binlog = 0 }",
        ] {
            assert_eq!(simulated(text), Ok(()), "{text}");
        }
    }
}
