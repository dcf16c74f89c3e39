//! Requests that fail on demand, as those of a disk with a fault.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

/// A request that a disk answers with an error, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// A write outside of the file system's journal. Nothing of it is on the disk.
    Write {
        /// How many others come before it.
        after: u32,
    },
    /// A flush.
    Flush {
        /// How many others come before it.
        after: u32,
    },
}

/// Requests until the one that fails, which counts; 0: none does.
#[derive(Default)]
struct Countdown(AtomicU64);

impl Countdown {
    fn start(&self, after: u32) {
        self.0.store(u64::from(after) + 1, Ordering::Relaxed);
    }

    /// Counts a request; whether it is the one.
    fn is_over(&self) -> bool {
        let one_less = |left: u64| left.checked_sub(1);
        let left = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less);
        left == Ok(1)
    }
}

/// Which requests of a volume are to fail.
#[derive(Default)]
pub(super) struct Faults {
    journal: Vec<Range<u64>>,
    write: Countdown,
    flush: Countdown,
    failed: AtomicU64,
}

impl Faults {
    /// None yet, of a volume whose file system has a journal there.
    pub(super) fn of(journal: Vec<Range<u64>>) -> Faults {
        Faults {
            journal,
            ..Faults::default()
        }
    }

    /// Has a request fail that is still to come.
    pub(super) fn arm(&self, fault: Fault) {
        match fault {
            Fault::Write { after } => self.write.start(after),
            Fault::Flush { after } => self.flush.start(after),
        }
    }

    /// Has no request fail any more.
    pub(super) fn disarm(&self) {
        for countdown in [&self.write, &self.flush] {
            countdown.0.store(0, Ordering::Relaxed);
        }
    }

    /// Whether the write at `offset` that has arrived is to fail.
    pub(super) fn write_fails(&self, offset: u64) -> bool {
        let mut journal = self.journal.iter();
        !journal.any(|range| range.contains(&offset)) && self.fails(&self.write)
    }

    /// Whether the flush that has arrived is to fail.
    pub(super) fn flush_fails(&self) -> bool {
        self.fails(&self.flush)
    }

    fn fails(&self, countdown: &Countdown) -> bool {
        let fails = countdown.is_over();
        if fails {
            self.failed.fetch_add(1, Ordering::Relaxed);
        }
        fails
    }

    /// How many have failed.
    pub(super) fn failed(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }
}
