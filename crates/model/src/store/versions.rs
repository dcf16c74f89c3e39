//! Row versions: what an engine with snapshots writes to temp space for every changed row.
//!
//! Under read committed snapshot isolation the old image of a row goes to temporary space and stays
//! until no transaction can need it. Versions are appended page by page and dropped by the extent, after a
//! retention drawn anew for each extent. One dropped while its pages are still dirty in the buffer pool
//! never reaches a disk: this is how a slow disk can end up writing fewer bytes for the same work.
//!
//! The store creates versions, not triggers: snapshot isolation does it implicitly too, and a trigger would charge its
//! execution to the session.

use alloc::collections::{BTreeMap, BinaryHeap};
use core::cmp::Reverse;

use super::files::FileId;
use super::page::PageSize;
use super::spec::VersionSpec;
use crate::latency::Latency;
use crate::random::{self, Stream};
use crate::spec::LatencySpec;
use crate::time::Instant;
use crate::units::Bytes;

/// The versions kept, and when they expire.
pub(super) struct Versions {
    pub(super) bytes_per_row: Bytes,
    pub(super) page: PageSize,
    pub(super) retention: Latency,
    pub(super) random: Stream,
    pub(super) sessions: BTreeMap<u32, Tail>,
    pub(super) expiring: BinaryHeap<Reverse<(Instant, FileId)>>,
}

/// Where a session appends.
#[derive(Default)]
pub(super) struct Tail {
    /// Bytes not yet written.
    pub(super) bytes: u64,
    /// The open extent, and how many of its pages are used.
    pub(super) open: Option<(FileId, u64)>,
}

impl Versions {
    pub(super) fn new(spec: VersionSpec, page: PageSize, seed: u64) -> Versions {
        Versions {
            bytes_per_row: spec.bytes_per_row,
            page,
            retention: Latency::new(LatencySpec::Exponential {
                mean: spec.retention,
            }),
            random: random::stream(seed, "version retention"),
            sessions: BTreeMap::new(),
            expiring: BinaryHeap::new(),
        }
    }

    pub(super) fn next_due(&self) -> Option<Instant> {
        self.expiring.peek().map(|Reverse((due, _))| *due)
    }

    /// The extent that expires.
    pub(super) fn expire(&mut self) -> Option<FileId> {
        self.expiring.pop().map(|Reverse((_, file))| file)
    }
}
