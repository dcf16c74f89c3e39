//! The doublewrite area: pages are gathered, written there sequentially, and only then written in place.
//!
//! Engines do this to keep an intact copy of a page whose write was torn; not for temporary pages, which are never
//! recovered. The copies of a batch are one sequential write: the bytes are written twice, the I/Os are not.
//! Source: <https://dev.mysql.com/doc/refman/8.4/en/innodb-doublewrite-buffer.html>.

use alloc::vec::Vec;

use super::files::{FileSpec, Files};
use super::page::PageSize;
use super::run::Run;
use super::spec::{DoublewriteSpec, StoreSpec};
use crate::request::Request;
use crate::time::{Duration, Instant};
use crate::units::Bytes;

/// Longest that a page waits for others to be copied with: the page cleaner runs once a second
/// (<https://dev.mysql.com/blog-archive/page-cleaner-tuning/>).
const WAIT_MAX: Duration = Duration::SECOND;

/// The area on its volume, behind the files there, and the pages waiting to be copied.
pub(super) struct Doublewrite {
    batch: u64,
    page: PageSize,
    volume: usize,
    /// Where the area starts on its volume.
    base: u64,
    /// Bytes of half of the area: a batch, or the largest run if that is more.
    half: u64,
    /// Whether the next batch goes to the second half.
    second_half: bool,
    waiting: Vec<Run>,
    /// Number of pages in `waiting`.
    pages: u64,
    /// When the first of `waiting` came.
    since: Instant,
}

/// Copies to be written, and the pages they belong to.
pub(super) struct Batch {
    pub(super) runs: Vec<Run>,
    pub(super) volume: usize,
    pub(super) request: Request,
}

impl Doublewrite {
    /// The area of a store; `None` if its pages are written once.
    pub(super) fn of(spec: &StoreSpec, files: &mut Files) -> Option<Doublewrite> {
        let DoublewriteSpec { batch, volume } = spec.doublewrite?;
        let batch = batch.max(1);
        let page = spec.page_size;
        let half = page.of(u64::from(batch)).max(spec.write_gather);
        let (volume, base) = files.append(FileSpec {
            volume: volume.unwrap_or(files.first_volume()),
            size: Some(Bytes(2 * half.0)),
        });
        Some(Doublewrite {
            batch: u64::from(batch),
            page,
            volume,
            base,
            half: half.0,
            second_half: false,
            waiting: Vec::new(),
            pages: 0,
            since: Instant::ZERO,
        })
    }

    /// Adds a run to the batch; returns the previous batch if both together would be too large.
    pub(super) fn gather(&mut self, now: Instant, run: Run) -> Option<Batch> {
        let overflow = match self.pages + run.pages > self.batch {
            true => self.take(),
            false => None,
        };
        if self.waiting.is_empty() {
            self.since = now;
        }
        self.pages += run.pages;
        self.waiting.push(run);
        overflow
    }

    /// Whether the batch is full.
    pub(super) fn is_full(&self) -> bool {
        self.pages >= self.batch
    }

    /// When the first of the waiting pages has waited long enough.
    pub(super) fn next_due(&self) -> Option<Instant> {
        (!self.waiting.is_empty()).then(|| self.since + WAIT_MAX)
    }

    /// The waiting pages, and the write of their copies; `None` if none wait.
    pub(super) fn take(&mut self) -> Option<Batch> {
        if self.waiting.is_empty() {
            return None;
        }
        let offset = self.base + if self.second_half { self.half } else { 0 };
        self.second_half = !self.second_half;
        let length = self.page.of(core::mem::take(&mut self.pages));
        Some(Batch {
            runs: core::mem::take(&mut self.waiting),
            volume: self.volume,
            request: Request::write(offset, length),
        })
    }
}
