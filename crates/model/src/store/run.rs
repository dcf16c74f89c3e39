//! Neighbouring pages on their way to a volume.

/// Neighbouring pages that are written together.
pub(super) struct Run {
    pub(super) number: u64,
    pub(super) first: u64,
    pub(super) pages: u64,
    /// Whether their frames are needed.
    pub(super) evict: bool,
}
