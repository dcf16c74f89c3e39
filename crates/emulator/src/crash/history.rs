//! Requests to the disks, in order.

use std::ops::Range;

use model::Instant;

/// The kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Wrote a range.
    Write,
    /// Discarded a range, which reads as zeros from then on.
    Discard,
    /// Waited until everything acknowledged before was safe.
    Flush,
}

/// A request to a volume, in the order of execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Index of the volume.
    pub volume: usize,
    /// Its kind.
    pub action: Action,
    /// Bytes of the volume; empty for a flush.
    pub range: Range<u64>,
    /// When the volume received it.
    pub arrived: Instant,
    /// When it was acknowledged.
    pub done: Instant,
    /// Offset of the bytes of a write in the file of all writes.
    pub bytes_at: u64,
}
