//! The doublewrite area: pages gathered, written there one behind the other, and only then to their places.
//!
//! InnoDB does so, to have a whole copy of a page whose write was torn. The copies of a batch are one sequential write;
//! the bytes are written twice, the I/Os are not.
//! Source: <https://dev.mysql.com/doc/refman/8.4/en/innodb-doublewrite-buffer.html>.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::Files;
use super::page::PageSize;
use super::writer::Run;
use crate::request::Request;
use crate::time::{Duration, Instant};

/// Longest that a page waits for others to be copied with: InnoDB's page cleaner turns once a second
/// (<https://dev.mysql.com/blog-archive/page-cleaner-tuning/>).
const WAIT_MAX: Duration = Duration::SECOND;

/// How pages are written twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoublewriteSpec {
    /// Pages whose copies are written together, at most; at least 1.
    pub batch: u32,
}

/// The area on the first data file's volume, and the pages that wait for their copies.
pub(super) struct Doublewrite {
    batch: u64,
    page: PageSize,
    volume: usize,
    /// Where the area starts on its volume.
    base: u64,
    /// Which half of it the next batch goes to.
    second_half: bool,
    waiting: Vec<Run>,
    /// Pages of `waiting`.
    pages: u64,
    /// When the first of `waiting` came.
    since: Instant,
}

impl Doublewrite {
    pub(super) fn new(spec: DoublewriteSpec, page: PageSize, files: &Files) -> Doublewrite {
        let volume = files.first_volume();
        Doublewrite {
            batch: u64::from(spec.batch.max(1)),
            page,
            volume,
            base: files.behind(volume),
            second_half: false,
            waiting: Vec::new(),
            pages: 0,
            since: Instant::ZERO,
        }
    }

    /// Lets a run of pages wait for its copies.
    pub(super) fn gather(&mut self, now: Instant, run: Run) {
        if self.waiting.is_empty() {
            self.since = now;
        }
        self.pages += run.pages;
        self.waiting.push(run);
    }

    /// Whether there are as many pages as a batch takes.
    pub(super) fn is_full(&self) -> bool {
        self.pages >= self.batch
    }

    /// When the first of the waiting pages has waited for long enough.
    pub(super) fn next_due(&self) -> Option<Instant> {
        (!self.waiting.is_empty()).then(|| self.since + WAIT_MAX)
    }

    /// The waiting pages, and the write of their copies; `None` where none waits.
    pub(super) fn take(&mut self) -> Option<(Vec<Run>, usize, Request)> {
        if self.waiting.is_empty() {
            return None;
        }
        let half = self.page.of(self.batch).0;
        let offset = self.base + if self.second_half { half } else { 0 };
        self.second_half = !self.second_half;
        let length = self.page.of(core::mem::take(&mut self.pages));
        let runs = core::mem::take(&mut self.waiting);
        Some((runs, self.volume, Request::write(offset, length)))
    }
}
