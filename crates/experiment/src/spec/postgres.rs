//! `[engine.postgres]`: settings of PostgreSQL that dbstow does not model. They are passed to a server unchanged.

use std::fmt;
use std::ops::RangeInclusive;

use model::Bytes;
use serde::{Deserialize, Serialize};

use super::error::Fault;
use super::wire;

/// PostgreSQL's maximum number of requests ahead of a scan (`MAX_IO_CONCURRENCY`).
const CONCURRENCY_MAX: u32 = 1_000;

/// PostgreSQL's maximum number of I/O workers (`MAX_IO_WORKERS`).
const WORKERS_MAX: u32 = 32;

/// A page; combined reads consist of whole pages.
const PAGE: Bytes = Bytes::kib(8);

/// Largest combined read (`MAX_IO_COMBINE_LIMIT` of 128 pages, 18).
const COMBINE_MAX: Bytes = Bytes::mib(1);

/// PostgreSQL's read settings. `None`: the server's default.
///
/// Source of names and ranges: <https://www.postgresql.org/docs/18/runtime-config-resource.html>, "I/O", read 2026-11-25.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Postgres {
    /// The method of asynchronous reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub io_method: Option<IoMethod>,
    /// Number of worker processes if the method is `worker`: 1 to 32.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub io_workers: Option<u32>,
    /// Concurrent reads of one scan: 0 to 1,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effective_io_concurrency: Option<u32>,
    /// Concurrent reads of maintenance such as `VACUUM`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maintenance_io_concurrency: Option<u32>,
    /// Largest read of neighbouring pages: whole pages of 8 KiB, up to 1 MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub io_combine_limit: Option<Bytes>,
}

/// The method of asynchronous reads of PostgreSQL 18: its `io_method`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IoMethod {
    /// The session itself, one after the other.
    Sync,
    /// Processes of the server.
    Worker,
    /// The kernel.
    IoUring,
}

impl IoMethod {
    /// The value in PostgreSQL.
    pub fn name(self) -> &'static str {
        match self {
            IoMethod::Sync => "sync",
            IoMethod::Worker => "worker",
            IoMethod::IoUring => "io_uring",
        }
    }
}

impl fmt::Display for IoMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Resolves the requested settings.
pub(super) fn resolve(asked: &wire::Postgres) -> Postgres {
    Postgres {
        io_method: asked.io_method,
        io_workers: asked.io_workers,
        effective_io_concurrency: asked.effective_io_concurrency,
        maintenance_io_concurrency: asked.maintenance_io_concurrency,
        io_combine_limit: asked.io_combine_limit,
    }
}

/// Rejects values that no server accepts.
pub(super) fn check(postgres: &Postgres) -> Result<(), Fault> {
    within("io_workers", postgres.io_workers, 1..=WORKERS_MAX)?;
    for (name, value) in [
        (
            "effective_io_concurrency",
            postgres.effective_io_concurrency,
        ),
        (
            "maintenance_io_concurrency",
            postgres.maintenance_io_concurrency,
        ),
    ] {
        within(name, value, 0..=CONCURRENCY_MAX)?;
    }
    match postgres.io_combine_limit {
        Some(limit)
            if !limit.0.is_multiple_of(PAGE.0) || !(PAGE..=COMBINE_MAX).contains(&limit) =>
        {
            let message = format!(
                "engine.postgres.io_combine_limit is {limit}; PostgreSQL takes whole pages of {PAGE}, from one to {COMBINE_MAX}"
            );
            Err(Fault::at(
                &["engine", "postgres", "io_combine_limit"],
                message,
            ))
        }
        Some(_) | None => Ok(()),
    }
}

fn within(name: &str, value: Option<u32>, range: RangeInclusive<u32>) -> Result<(), Fault> {
    match value {
        Some(value) if !range.contains(&value) => {
            let (least, most) = (range.start(), range.end());
            let message =
                format!("engine.postgres.{name} is {value}; PostgreSQL takes {least} to {most}");
            Err(Fault::at(&["engine", "postgres", name], message))
        }
        Some(_) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Postgres, String> {
        let asked: wire::Postgres = toml::from_str(text).map_err(|error| error.to_string())?;
        let postgres = resolve(&asked);
        check(&postgres).map_err(|fault| fault.message)?;
        Ok(postgres)
    }

    #[test]
    fn what_is_absent_is_left_to_the_server() {
        assert_eq!(read(""), Ok(Postgres::default()));
        let some = read("io_method = \"io_uring\"\nio_combine_limit = \"256 KiB\"").unwrap();
        assert_eq!(some.io_method, Some(IoMethod::IoUring));
        assert_eq!(some.io_combine_limit, Some(Bytes::kib(256)));
        assert_eq!(some.io_workers, None);
    }

    #[test]
    fn values_that_no_server_takes_are_refused_by_their_key() {
        for (text, said) in [
            ("io_method = \"threads\"", "io_uring"),
            ("io_workers = 33", "1 to 32"),
            ("io_workers = 0", "1 to 32"),
            ("effective_io_concurrency = 1001", "takes 0 to 1000"),
            ("maintenance_io_concurrency = 2000", "takes 0 to 1000"),
            ("io_combine_limit = \"2 MiB\"", "from one to 1 MiB"),
            ("io_combine_limit = 12_000", "whole pages of 8 KiB"),
            ("io_threads = 3", "io_threads"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
