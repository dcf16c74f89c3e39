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

use serde::{Deserialize, Serialize};

use super::files::{FileId, Full, Role};
use super::page::PageSize;
use super::{CommitTicket, Step, Store};
use crate::latency::Latency;
use crate::random::{self, Stream};
use crate::spec::LatencySpec;
use crate::time::{Duration, Instant};
use crate::units::Bytes;

/// Space that versions take, and how long they are kept.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct VersionSpec {
    /// Bytes of temp space for each changed row, temporary objects included.
    pub bytes_per_row: Bytes,
    /// Mean time until they expire; exponentially distributed.
    pub retention: Duration,
}

/// The versions kept, and when they expire.
pub(super) struct Versions {
    bytes_per_row: Bytes,
    page: PageSize,
    retention: Latency,
    random: Stream,
    sessions: BTreeMap<u32, Tail>,
    expiring: BinaryHeap<Reverse<(Instant, FileId)>>,
}

/// Where a session appends.
#[derive(Default)]
struct Tail {
    /// Bytes not yet written.
    bytes: u64,
    /// The open extent, and how many of its pages are used.
    open: Option<(FileId, u64)>,
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

    /// Writes the versions of a ticket's rows, whole pages at a time.
    pub(super) fn append(
        &mut self,
        store: &mut Store,
        now: Instant,
        ticket: &mut CommitTicket,
    ) -> Result<Step, Full> {
        let tail = self.sessions.entry(ticket.session).or_default();
        let rows = core::mem::take(&mut ticket.rows);
        tail.bytes = tail
            .bytes
            .saturating_add(rows.saturating_mul(self.bytes_per_row.0));
        while tail.bytes >= self.page.bytes().0 {
            let (file, page) = *tail
                .open
                .get_or_insert_with(|| (store.create(Role::Temp), 0));
            if let Step::Wait(wait) = store.write(now, file, page)? {
                return Ok(Step::Wait(wait));
            }
            tail.bytes -= self.page.bytes().0;
            tail.open = Some((file, page + 1)).filter(|(_, page)| *page < self.page.extent());
            if tail.open.is_none() {
                let gone = now + self.retention.draw(&mut self.random);
                self.expiring.push(Reverse((gone, file)));
            }
        }
        Ok(Step::Done)
    }
}
