//! Memory that the connections to one database share, and the locks on it: the index of a write-ahead log.
//!
//! All connections are in this process, so it is plain memory.
//! <https://www.sqlite.org/walformat.html>, section 2.

use std::cell::UnsafeCell;
use std::ops::Range;
use std::ptr::NonNull;

use parking_lot::Mutex;

/// Locks on the shared memory of a file.
pub(crate) const LOCKS: usize = 8;

/// Regions of memory, allocated on first use, and never moved.
#[derive(Default)]
pub(crate) struct Memory {
    regions: Mutex<Vec<Region>>,
}

/// A region; of words, so that it is aligned for whatever SQLite keeps in it.
struct Region(Box<[UnsafeCell<u64>]>);

// SAFETY: nothing here reads or writes a region's words. SQLite does, from several threads, and by its own
// protocol of locks and barriers.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

impl Memory {
    /// Region number `index`, each `size` bytes long; `None` if it does not exist and `make` is false.
    pub(crate) fn region(&self, index: usize, size: usize, make: bool) -> Option<NonNull<u8>> {
        let mut regions = self.regions.lock();
        if make && regions.len() <= index {
            let words = size.div_ceil(size_of::<u64>());
            regions.resize_with(index + 1, || {
                Region((0..words).map(|_| UnsafeCell::new(0)).collect())
            });
        }
        let region = regions.get(index)?;
        NonNull::new(region.0.as_ptr().cast_mut().cast())
    }

    /// Frees the memory, once the last connection has closed.
    pub(crate) fn clear(&self) {
        let mut regions = self.regions.lock();
        regions.clear();
    }
}

/// A request of a connection for the locks `first..first + count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// The first lock.
    pub(crate) first: usize,
    /// How many.
    pub(crate) count: usize,
    /// Whether to take or to release them.
    pub(crate) take: bool,
    /// Exclusive or shared.
    pub(crate) exclusive: bool,
}

impl Change {
    /// The locks.
    pub(crate) fn range(self) -> Range<usize> {
        self.first..self.first + self.count
    }

    /// As a bit mask.
    fn mask(self) -> u8 {
        self.range().fold(0, |mask, lock| mask | 1 << lock)
    }
}

/// The locks held by one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HeldLocks {
    shared: u8,
    exclusive: u8,
}

/// The locks held by all connections to a file.
#[derive(Debug, Default)]
pub(crate) struct SharedLocks {
    shared: [u32; LOCKS],
    exclusive: u8,
}

impl SharedLocks {
    /// Executes a change for the connection that holds `held`; returns whether that was possible.
    pub(crate) fn change(&mut self, held: &mut HeldLocks, change: Change) -> bool {
        let mask = change.mask();
        match (change.take, change.exclusive) {
            (true, true) => {
                // Its own shared locks do not block it.
                let others = |lock: &usize| self.shared[*lock] > u32::from(held.shared >> lock & 1);
                let taken = self.exclusive & !held.exclusive & mask != 0;
                if taken || bits(mask).any(|lock| others(&lock)) {
                    return false;
                }
                self.exclusive |= mask;
                held.exclusive |= mask;
            }
            (true, false) => {
                if self.exclusive & !held.exclusive & mask != 0 {
                    return false;
                }
                bits(mask & !held.shared).for_each(|lock| self.shared[lock] += 1);
                held.shared |= mask;
            }
            (false, _) => {
                bits(mask & held.shared).for_each(|lock| self.shared[lock] -= 1);
                self.exclusive &= !(mask & held.exclusive);
                held.shared &= !mask;
                held.exclusive &= !mask;
            }
        }
        true
    }
}

fn bits(mask: u8) -> impl Iterator<Item = usize> {
    (0..LOCKS).filter(move |lock| mask >> lock & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(take: bool, exclusive: bool) -> Change {
        Change {
            first: 1,
            count: 2,
            take,
            exclusive,
        }
    }

    #[test]
    fn one_connection_alone_holds_an_exclusive_lock() {
        let (mut locks, mut one, mut other) = (
            SharedLocks::default(),
            HeldLocks::default(),
            HeldLocks::default(),
        );
        assert!(locks.change(&mut one, change(true, true)));
        assert!(!locks.change(&mut other, change(true, true)));
        assert!(!locks.change(&mut other, change(true, false)));
        assert!(locks.change(&mut one, change(false, true)));
        assert!(locks.change(&mut other, change(true, false)));
    }

    #[test]
    fn a_shared_lock_keeps_out_only_those_who_want_to_be_alone() {
        let (mut locks, mut one, mut other) = (
            SharedLocks::default(),
            HeldLocks::default(),
            HeldLocks::default(),
        );
        assert!(locks.change(&mut one, change(true, false)));
        assert!(locks.change(&mut other, change(true, false)));
        assert!(!locks.change(&mut other, change(true, true)));
        assert!(locks.change(&mut one, change(false, false)));
        assert!(locks.change(&mut other, change(true, true)));
    }

    #[test]
    fn a_region_stays_where_it_is() {
        let memory = Memory::default();
        assert_eq!(memory.region(0, 32 << 10, false), None);
        let first = memory.region(0, 32 << 10, true);
        assert!(first.is_some());
        assert_ne!(memory.region(40, 32 << 10, true), first);
        assert_eq!(memory.region(0, 32 << 10, true), first);
    }
}
