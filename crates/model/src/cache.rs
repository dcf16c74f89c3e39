//! The host's cache in front of remote disks: which blocks it holds.
//!
//! The vendor documents what a hit and a miss cost and whose limits they pass (see [`crate::storage`]);
//! it does not document block size or replacement. Here blocks are 8 KiB and replacement is LRU.

use alloc::vec::Vec;

use hashbrown::HashMap;
use lru::LruCache;

use crate::latency::Latency;
use crate::spec::HostCacheSpec;
use crate::units::Bytes;

/// Size of a cached block: a database page.
const BLOCK: u64 = 8 << 10;

/// The cached blocks of all disks of a machine.
pub struct HostCache {
    blocks: Blocks,
    capacity: usize,
    /// Time to serve a hit.
    pub hit_latency: Latency,
    /// Time that a write takes beyond the disk's where the cache is read-only.
    pub through_latency: Latency,
}

impl HostCache {
    /// An empty cache.
    pub fn new(spec: &HostCacheSpec) -> HostCache {
        HostCache {
            blocks: Blocks::new(),
            capacity: usize::try_from(spec.size.0 / BLOCK)
                .unwrap_or(usize::MAX)
                .max(1),
            hit_latency: Latency::new(spec.hit_latency),
            through_latency: Latency::new(spec.through_latency),
        }
    }

    /// Capacity.
    pub fn size(&self) -> Bytes {
        Bytes((self.capacity as u64).saturating_mul(BLOCK))
    }

    /// Whether the whole range of a disk is cached; marks the cached blocks as used.
    pub fn holds(&mut self, disk: u16, offset: u64, length: Bytes) -> bool {
        // No short cut at the first missing block: the others are marked as used all the same.
        let missing = keys(disk, offset, length).filter(|key| !self.blocks.touch(*key));
        missing.count() == 0
    }

    /// Caches the range.
    pub fn fill(&mut self, disk: u16, offset: u64, length: Bytes) {
        for key in keys(disk, offset, length) {
            self.blocks.put(key, self.capacity);
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.blocks = Blocks::new();
    }
}

/// The cached blocks and their order of use.
///
/// Few simulations fill a host cache, so the order is only built when one is full: until then each block carries
/// the number of its last use.
enum Blocks {
    Filling {
        used: HashMap<u64, u64>,
        /// Uses so far.
        uses: u64,
    },
    Full(LruCache<u64, ()>),
}

impl Blocks {
    fn new() -> Blocks {
        Blocks::Filling {
            used: HashMap::new(),
            uses: 0,
        }
    }

    /// Whether the block is cached; marks it as used.
    fn touch(&mut self, key: u64) -> bool {
        match self {
            Blocks::Filling { used, uses } => {
                let last = used.get_mut(&key);
                *uses += 1;
                last.map(|last| *last = *uses).is_some()
            }
            Blocks::Full(blocks) => blocks.get(&key).is_some(),
        }
    }

    /// Adds a block or marks it as used; evicts the least recently used one if full.
    fn put(&mut self, key: u64, capacity: usize) {
        match self {
            Blocks::Filling { used, uses } => {
                *uses += 1;
                used.insert(key, *uses);
                if used.len() < capacity {
                    return;
                }
                let mut in_order: Vec<(u64, u64)> =
                    used.iter().map(|(key, used)| (*used, *key)).collect();
                in_order.sort_unstable();
                let mut blocks = LruCache::unbounded();
                for (_, key) in in_order {
                    blocks.put(key, ());
                }
                *self = Blocks::Full(blocks);
            }
            Blocks::Full(blocks) => {
                blocks.put(key, ());
                if blocks.len() > capacity {
                    blocks.pop_lru();
                }
            }
        }
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
            through_latency: LatencySpec::ZERO,
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

    proptest::proptest! {
        /// Blocks in order of last use, in a list: the content must be the same before and after the cache is full.
        #[test]
        fn what_is_held_are_the_blocks_that_were_used_last(
            uses in proptest::collection::vec((0..12_u64, proptest::bool::ANY), 1..100),
            capacity in 1..10_u64,
        ) {
            let mut cache = cache(capacity);
            let mut used: Vec<u64> = Vec::new();
            for (block, is_fill) in uses {
                let place = used.iter().position(|held| *held == block);
                let held = place.map(|place| used.remove(place));
                match is_fill {
                    true => cache.fill(0, block * BLOCK, Bytes(BLOCK)),
                    false => assert_eq!(cache.holds(0, block * BLOCK, Bytes(BLOCK)), held.is_some()),
                }
                used.extend(held.or(is_fill.then_some(block)));
                if used.len() as u64 > capacity {
                    used.remove(0);
                }
            }
        }
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
