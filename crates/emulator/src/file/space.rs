//! Where files lie in a volume's address space, and how full the volume is.
//!
//! The model sees a volume as a range of bytes. Each file has its own region there, as long as any file
//! can get, so that a range of a file is one range of the volume:
//!
//! ```text
//! file in slot 0   slot 1           slot 2
//! |0 ..            |1 TiB + 64 KiB ..|2 TiB + 128 KiB ..      64 KiB further each: small files
//!                                                            do not all lie on a stripe's first disk
//! ```
//!
//! A deleted file's slot goes to the next new file, as its blocks would. Not modelled: fragmentation.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use rustix::fs::Stat;
use rustix::io::Errno;

/// Length of a file's region.
const REGION: u64 = 1 << 40;

/// How much further the region of each slot is shifted: the default interleave of a stripe.
const SHIFT: u64 = 64 << 10;

/// Slots below the 2^60 bytes that a host cache can address; beyond, files share addresses.
const SLOTS: u64 = 1 << 19;

/// Unit of a file's allocated size in its status, whatever the filesystem's blocks.
const STAT_BLOCK: u64 = 512;

/// A volume's space.
pub(super) struct Space {
    capacity: u64,
    used: AtomicU64,
    regions: Mutex<Regions>,
}

#[derive(Default)]
struct Regions {
    /// By inode number.
    files: HashMap<u64, Arc<Region>>,
    free: BTreeSet<u64>,
    next: u64,
}

/// One file's part of a volume.
pub(super) struct Region {
    slot: u64,
    /// Bytes of the volume that the file occupies.
    charged: Mutex<u64>,
    /// Below this length every byte is allocated already: writing there takes no more space.
    dense: AtomicU64,
}

impl Space {
    /// An empty volume of this many bytes.
    pub(super) fn new(capacity: u64) -> Space {
        Space {
            capacity,
            used: AtomicU64::new(0),
            regions: Mutex::default(),
        }
    }

    /// Its capacity.
    pub(super) fn capacity(&self) -> u64 {
        self.capacity
    }

    /// The used space.
    pub(super) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// The region of a file, which it keeps until it is deleted.
    pub(super) fn region(&self, stat: &Stat) -> Arc<Region> {
        let mut regions = self.regions.lock();
        if let Some(region) = regions.files.get(&stat.st_ino) {
            return Arc::clone(region);
        }
        let slot = match regions.free.pop_first() {
            Some(slot) => slot,
            None => {
                regions.next += 1;
                regions.next - 1
            }
        };
        let region = Arc::new(Region {
            slot,
            charged: Mutex::new(0),
            dense: AtomicU64::new(0),
        });
        regions.files.insert(stat.st_ino, Arc::clone(&region));
        drop(regions);
        self.settle(&region, &mut region.charged.lock(), stat);
        region
    }

    /// Frees the region and the bytes of a deleted file.
    pub(super) fn delete(&self, number: u64) {
        let mut regions = self.regions.lock();
        if let Some(region) = regions.files.remove(&number) {
            regions.free.insert(region.slot);
            let charged = std::mem::take(&mut *region.charged.lock());
            self.used.fetch_sub(charged, Ordering::Relaxed);
        }
    }

    /// Lets `change` grow a file by up to `more` bytes, and updates the account from the status that it returns.
    ///
    /// # Errors
    /// `ENOSPC` when the volume has no room for that, or the error of `change`.
    pub(super) fn grow(
        &self,
        region: &Region,
        more: u64,
        change: impl FnOnce() -> Result<Stat, Errno>,
    ) -> Result<(), Errno> {
        let mut charged = region.charged.lock();
        if more > self.capacity.saturating_sub(self.used()) {
            return Err(Errno::NOSPC);
        }
        let stat = change()?;
        self.settle(region, &mut charged, &stat);
        Ok(())
    }

    fn settle(&self, region: &Region, charged: &mut u64, stat: &Stat) {
        let allocated = u64::try_from(stat.st_blocks).unwrap_or(0) * STAT_BLOCK;
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        let dense = if allocated >= size { size } else { 0 };
        region.dense.store(dense, Ordering::Relaxed);
        if allocated >= *charged {
            self.used.fetch_add(allocated - *charged, Ordering::Relaxed);
        } else {
            self.used.fetch_sub(*charged - allocated, Ordering::Relaxed);
        }
        *charged = allocated;
    }
}

impl Region {
    /// Where a byte of the file lies in the volume.
    pub(super) fn address(&self, offset: u64) -> u64 {
        let slot = self.slot % SLOTS;
        slot * (REGION + SHIFT) + offset
    }

    /// Whether a write up to `end` takes no more space.
    pub(super) fn holds(&self, end: u64) -> bool {
        end <= self.dense.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Status of a file of length `size`, of which `allocated` bytes take space.
    fn stat(number: u64, size: i64, allocated: i64) -> Stat {
        let file = tempfile::tempfile().unwrap();
        let mut stat = rustix::fs::fstat(&file).unwrap();
        stat.st_ino = number;
        stat.st_size = size;
        stat.st_blocks = allocated / 512;
        stat
    }

    #[test]
    fn files_lie_apart_and_start_on_different_disks_of_a_stripe() {
        let space = Space::new(1 << 30);
        let starts = [10, 11, 12].map(|number| space.region(&stat(number, 0, 0)).address(0));
        assert_eq!(starts.map(|start| start / REGION), [0, 1, 2]);
        assert_eq!(starts.map(|start| start / SHIFT % 3), [0, 2, 1]);
        let again = space.region(&stat(11, 0, 0)).address(5);
        assert_eq!(
            again,
            starts[1] + 5,
            "the same as long as the file is there"
        );
    }

    #[test]
    fn a_deleted_files_place_and_space_go_to_the_next() {
        let space = Space::new(1 << 30);
        let first = space.region(&stat(10, 4_096, 4_096)).address(0);
        space.region(&stat(11, 8_192, 8_192));
        assert_eq!(space.used(), 12_288);

        space.delete(10);
        assert_eq!(space.used(), 8_192);
        assert_eq!(space.region(&stat(12, 0, 0)).address(0), first);
    }

    #[test]
    fn a_full_volume_refuses_and_a_file_with_its_space_needs_none() {
        let space = Space::new(8_192);
        let region = space.region(&stat(10, 0, 0));
        let grown = space.grow(&region, 8_192, || Ok(stat(10, 8_192, 8_192)));
        assert_eq!((grown, space.used()), (Ok(()), 8_192));
        assert!(region.holds(8_192) && !region.holds(8_193));

        let unasked = || panic!("there is no room");
        assert_eq!(space.grow(&region, 1, unasked), Err(Errno::NOSPC));

        // A hole: writing there may take space again.
        space
            .grow(&region, 0, || Ok(stat(10, 8_192, 4_096)))
            .unwrap();
        assert_eq!(space.used(), 4_096);
        assert!(!region.holds(1));
    }
}
