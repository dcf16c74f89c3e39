//! Counters of a disk.

/// Counters of a disk since the machine was started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskCounters {
    /// Completed reads.
    pub reads: u64,
    /// Completed writes, flushes included.
    pub writes: u64,
    /// Completed flushes; `None` if the kernel does not count them.
    pub flushes: Option<u64>,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Sum of the reads' latencies. The three times wrap around at 2^32.
    pub read_ms: u64,
    /// Sum of the writes' latencies.
    pub write_ms: u64,
    /// Sum of the flushes' latencies.
    pub flush_ms: Option<u64>,
}
