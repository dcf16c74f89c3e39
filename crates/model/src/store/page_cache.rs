//! The operating system's cache of files, behind the buffer pool of an engine that reads through it.
//!
//! What is read or written is cached, with LRU replacement. Writes reach the volume when the engine writes them: the
//! operating system's own write-back is not modelled.

use alloc::string::String;

use crate::cache::HostCache;
use crate::request::{Completion, Request};
use crate::spec::{HostCacheSpec, LatencySpec};
use crate::time::{Duration, Instant};
use crate::units::Bytes;

/// Time of a read that finds its page: a system call and a copy of 8 KiB. Assumed; machines of 2020 take 1 to 3 us.
const HIT: Duration = Duration::from_micros(2);

/// The cached pages.
pub(super) struct PageCache(HostCache);

impl PageCache {
    /// A cache of that size; `None` for zero.
    pub(super) fn of(size: Bytes) -> Option<PageCache> {
        let spec = HostCacheSpec {
            size,
            hit_latency: LatencySpec::constant(HIT),
            through_latency: LatencySpec::ZERO,
            limit: String::new(),
        };
        (size > Bytes::ZERO).then(|| PageCache(HostCache::new(&spec)))
    }

    /// Serves a read from the cache; on a miss the range is cached, and must be read.
    pub(super) fn read(
        &mut self,
        now: Instant,
        volume: usize,
        request: &Request,
    ) -> Option<Completion> {
        if self.0.holds(number(volume), request.offset, request.length) {
            return Some(Completion {
                done: now + HIT,
                service: HIT,
                ..Completion::immediate(now)
            });
        }
        self.fill(volume, request.offset, request.length);
        None
    }

    /// Caches a range.
    pub(super) fn fill(&mut self, volume: usize, offset: u64, length: Bytes) {
        self.0.fill(number(volume), offset, length);
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// A volume as a disk number of the cache.
fn number(volume: usize) -> u16 {
    u16::try_from(volume).expect("an arm has fewer than 65,536 disks")
}
