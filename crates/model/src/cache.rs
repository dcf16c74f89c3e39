//! The host's cache in front of remote disks: which blocks it holds.
//!
//! The vendor documents what a hit and a miss cost and whose limits they pass (see [`crate::storage`]);
//! it does not document block size or replacement. Blocks are 8 KiB here, the least recently used goes.

use lru::LruCache;

use crate::latency::Latency;
use crate::spec::HostCacheSpec;
use crate::units::Bytes;

/// Size of a cached block: a database page.
const BLOCK: u64 = 8 << 10;

/// The blocks held, for all disks of a machine together.
pub struct HostCache {
    blocks: LruCache<u64, ()>,
    capacity: usize,
    /// Time to serve a hit.
    pub hit_latency: Latency,
}

impl HostCache {
    /// An empty cache.
    pub fn new(spec: &HostCacheSpec) -> HostCache {
        HostCache {
            blocks: LruCache::unbounded(),
            capacity: usize::try_from(spec.size.0 / BLOCK)
                .unwrap_or(usize::MAX)
                .max(1),
            hit_latency: Latency::new(spec.hit_latency),
        }
    }

    /// What it holds, at most.
    pub fn size(&self) -> Bytes {
        Bytes((self.capacity as u64).saturating_mul(BLOCK))
    }

    /// Whether the whole range of a disk is held; what was held counts as used.
    pub fn holds(&mut self, disk: u16, offset: u64, length: Bytes) -> bool {
        // No short cut at the first missing block: the others are used all the same.
        let missing = keys(disk, offset, length).filter(|key| self.blocks.get(key).is_none());
        missing.count() == 0
    }

    /// Holds the range from now on.
    pub fn fill(&mut self, disk: u16, offset: u64, length: Bytes) {
        for key in keys(disk, offset, length) {
            self.blocks.put(key, ());
            if self.blocks.len() > self.capacity {
                self.blocks.pop_lru();
            }
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.blocks.clear();
    }
}

fn keys(disk: u16, offset: u64, length: Bytes) -> impl Iterator<Item = u64> {
    let first = offset / BLOCK;
    let last = (offset + length.0.max(1) - 1) / BLOCK;
    (first..=last).map(move |block| u64::from(disk) << 48 | block)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::LatencySpec;

    fn cache(blocks: u64) -> HostCache {
        HostCache::new(&HostCacheSpec {
            size: Bytes(blocks * BLOCK),
            hit_latency: LatencySpec::ZERO,
            limit: "cached".into(),
        })
    }

    #[test]
    fn a_range_hits_only_when_all_of_it_is_held() {
        let mut cache = cache(8);
        cache.fill(0, 0, Bytes::kib(16));
        assert!(cache.holds(0, 0, Bytes::kib(16)));
        assert!(!cache.holds(0, 0, Bytes::kib(24)));
        assert!(!cache.holds(1, 0, Bytes::kib(8)), "another disk's block");
    }

    #[test]
    fn the_least_recently_used_block_goes_first() {
        let mut cache = cache(2);
        cache.fill(0, 0, Bytes::kib(16));
        assert!(cache.holds(0, 0, Bytes::kib(8)));
        cache.fill(0, 64 << 10, Bytes::kib(8));
        assert!(cache.holds(0, 0, Bytes::kib(8)), "used since");
        assert!(!cache.holds(0, 8 << 10, Bytes::kib(8)), "not used since");
    }

    #[test]
    fn a_cleared_cache_holds_nothing() {
        let mut cache = cache(2);
        cache.fill(0, 0, Bytes::kib(8));
        cache.clear();
        assert!(!cache.holds(0, 0, Bytes::kib(8)));
    }

    #[test]
    fn a_cache_holds_one_block_at_least() {
        let mut cache = cache(0);
        cache.fill(0, 0, Bytes::kib(8));
        assert!(cache.holds(0, 0, Bytes::kib(8)));
    }
}
