//! Requests that fail on demand, like those of a faulty disk.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

/// A request that a disk answers with an error, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// A write outside of the file system's journal. Nothing of it reaches the disk.
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

/// Countdown to the failing request, that one included; 0: none fails.
#[derive(Default)]
struct Countdown(AtomicU64);

impl Countdown {
    fn start(&self, after: u32) {
        self.0.store(u64::from(after) + 1, Ordering::Relaxed);
    }

    /// Counts a request; returns whether it is the failing one.
    fn is_over(&self) -> bool {
        let one_less = |left: u64| left.checked_sub(1);
        let left = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less);
        left == Ok(1)
    }
}

/// The requests of a volume that are to fail.
#[derive(Default)]
pub(super) struct Faults {
    journal: Vec<Range<u64>>,
    write: Countdown,
    flush: Countdown,
    failed: AtomicU64,
}

impl Faults {
    /// No faults; `journal` is where the volume's file system has its journal.
    pub(super) fn of(journal: Vec<Range<u64>>) -> Faults {
        Faults {
            journal,
            ..Faults::default()
        }
    }

    /// Makes a future request fail.
    pub(super) fn arm(&self, fault: Fault) {
        match fault {
            Fault::Write { after } => self.write.start(after),
            Fault::Flush { after } => self.flush.start(after),
        }
    }

    /// Clears all pending faults.
    pub(super) fn disarm(&self) {
        for countdown in [&self.write, &self.flush] {
            countdown.0.store(0, Ordering::Relaxed);
        }
    }

    /// Whether the write that arrived at `offset` must fail.
    pub(super) fn write_fails(&self, offset: u64) -> bool {
        let mut journal = self.journal.iter();
        !journal.any(|range| range.contains(&offset)) && self.fails(&self.write)
    }

    /// Whether the flush that arrived must fail.
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
