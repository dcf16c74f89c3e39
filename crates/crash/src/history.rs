//! What was asked of the disks, in order.

use std::ops::Range;

use model::Instant;

/// What a request did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Wrote a range.
    Write,
    /// Gave a range up, which reads as zeros from then on.
    Discard,
    /// Waited until everything acknowledged before is safe.
    Flush,
}

/// A request of a volume, in the order in which they were carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Place of the volume.
    pub volume: usize,
    /// What it did.
    pub action: Action,
    /// Bytes of the volume; empty for a flush.
    pub range: Range<u64>,
    /// When the volume got it.
    pub arrived: Instant,
    /// When it was acknowledged.
    pub done: Instant,
    /// Where the bytes of a write begin in the file of all writes.
    pub bytes_at: u64,
}
