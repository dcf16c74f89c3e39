//! Logs every request of an emulation as a line of JSON.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

use model::{Operation, Request};
use parking_lot::Mutex;
use serde::Serialize;

use model::Instant;
use paced::{Completion, PacedStorage};
use reading::cause::{Limit, operation_name};

/// A file of traced requests.
pub(crate) struct Trace(Mutex<Lines>);

struct Lines {
    file: BufWriter<File>,
    /// The first failure; nothing is written after it.
    failed: Option<io::Error>,
}

/// One line.
#[derive(Serialize)]
struct Line<'a> {
    volume: &'a str,
    /// Below the volume's root.
    path: &'a str,
    operation: &'static str,
    offset: u64,
    length_bytes: u64,
    /// When it arrived, from the start of the emulation.
    submitted_ns: u64,
    /// When the model completed it.
    due_ns: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    throttled_by: Option<Limit>,
}

/// A request at the level of its file.
#[derive(Clone, Copy)]
pub(crate) struct Traced<'a> {
    /// Name of the volume.
    pub(crate) volume: &'a str,
    /// Path of the file below the volume's root.
    pub(crate) path: &'a str,
    /// The operation, with offset and length in the file.
    pub(crate) request: Request,
    /// When it arrived.
    pub(crate) arrived: Instant,
    /// The model's answer.
    pub(crate) completion: Completion,
}

impl Trace {
    /// An empty trace at `path`.
    ///
    /// # Errors
    /// When the file cannot be created.
    pub(crate) fn create(path: &Path) -> io::Result<Trace> {
        let file = files::create_named(path).map_err(io::Error::other)?;
        Ok(Trace(Mutex::new(Lines {
            file: BufWriter::with_capacity(1 << 20, file),
            failed: None,
        })))
    }

    /// Adds a request.
    pub(crate) fn add(&self, traced: Traced<'_>, storage: &PacedStorage) {
        let Request {
            operation,
            offset,
            length,
            // A durable write is followed by its flush, as far as the kernel tells.
            durability: _,
        } = traced.request;
        let line = Line {
            volume: traced.volume,
            path: traced.path,
            operation: operation_name(operation),
            offset: match operation {
                Operation::Read | Operation::Write => offset,
                Operation::Flush => 0,
            },
            length_bytes: length.0,
            submitted_ns: traced.arrived.as_nanos(),
            due_ns: traced.completion.due.as_nanos(),
            throttled_by: traced
                .completion
                .throttled_by
                .map(|by| storage.throttled_by(by)),
        };
        let mut lines = self.0.lock();
        if lines.failed.is_none() {
            let written = serde_json::to_writer(&mut lines.file, &line)
                .map_err(io::Error::from)
                .and_then(|()| lines.file.write_all(b"\n"));
            lines.failed = written.err();
        }
    }

    /// Writes out what is still in memory.
    ///
    /// # Errors
    /// When that, or anything before it, failed.
    pub(crate) fn finish(&self) -> io::Result<()> {
        let mut lines = self.0.lock();
        match lines.failed.take() {
            Some(error) => Err(error),
            None => lines.file.flush(),
        }
    }
}
