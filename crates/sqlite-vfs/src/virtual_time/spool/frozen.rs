//! A file that does not change any more, and its copies.
//!
//! Copies share its blocks until they write to them. Blocks that were read are kept as they are, as long as any copy is there: sessions
//! that began with the same database read the same pages of it, again and again.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use parking_lot::Mutex;

use super::block::{Block, ZEROS};
use super::slots::{BLOCK, Slots};

/// Blocks that are kept as they are for each copy of a file: 512 KiB.
const KEPT_OF_COPY: usize = 64;

/// Most of a file's: 64 MiB.
const KEPT_MAX: usize = 8 << 10;

/// A file that does not change any more.
#[derive(Default)]
pub(crate) struct Frozen {
    pub(super) blocks: Vec<Block>,
    pub(super) slots: Slots,
    pub(super) length: u64,
    /// Bytes of its blocks in memory.
    pub(super) packed: u64,
    /// What its copies have read.
    pub(super) kept: Mutex<Weak<Kept>>,
}

/// Blocks of a frozen file as they are, by their numbers.
pub(super) struct Kept {
    blocks: Vec<OnceLock<Box<[u8; BLOCK]>>>,
    count: AtomicUsize,
}

/// A frozen file, for a copy of it.
pub(super) struct Base {
    frozen: Arc<Frozen>,
    kept: Arc<Kept>,
}

#[cfg(test)]
impl Kept {
    pub(super) fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }
}

impl Frozen {
    /// Bytes that it takes in memory while there is no copy of it.
    pub(crate) fn memory(&self) -> u64 {
        self.packed + (self.blocks.capacity() * size_of::<Block>()) as u64
    }

    /// The file under a copy of it.
    pub(super) fn base(self: &Arc<Frozen>) -> Base {
        let mut known = self.kept.lock();
        let kept = known.upgrade().unwrap_or_else(|| {
            let blocks = self.blocks.iter().map(|_| OnceLock::new()).collect();
            let kept = Arc::new(Kept {
                blocks,
                count: AtomicUsize::new(0),
            });
            *known = Arc::downgrade(&kept);
            kept
        });
        Base {
            frozen: Arc::clone(self),
            kept,
        }
    }
}

impl Base {
    /// The bytes of a block, zeros beyond the end; `scratch` has room for them.
    pub(super) fn block<'a>(
        &'a self,
        number: usize,
        scratch: &'a mut [u8; BLOCK],
    ) -> io::Result<&'a [u8; BLOCK]> {
        if let Some(known) = self.known(number) {
            return Ok(known);
        }
        self.unpack(number, scratch)?;
        Ok(scratch)
    }

    /// Copies the bytes of a block.
    pub(super) fn read(&self, number: usize, plain: &mut [u8; BLOCK]) -> io::Result<()> {
        match self.known(number) {
            Some(known) => *plain = *known,
            None => self.unpack(number, plain)?,
        }
        Ok(())
    }

    /// Whether a block does not pack.
    pub(super) fn is_dense(&self, number: usize) -> bool {
        self.frozen.blocks.get(number).is_some_and(Block::is_dense)
    }

    fn known(&self, number: usize) -> Option<&[u8; BLOCK]> {
        match self.frozen.blocks.get(number) {
            None | Some(Block::Empty) => Some(&ZEROS),
            Some(_) => self.kept.blocks[number].get().map(Box::as_ref),
        }
    }

    /// Unpacks a block, and keeps it if there is room.
    fn unpack(&self, number: usize, plain: &mut [u8; BLOCK]) -> io::Result<()> {
        self.frozen.blocks[number].load(&self.frozen.slots, plain)?;
        let most = (Arc::strong_count(&self.kept) * KEPT_OF_COPY).min(KEPT_MAX);
        let Kept { blocks, count } = &*self.kept;
        if count.load(Ordering::Relaxed) < most && blocks[number].set(Box::new(*plain)).is_ok() {
            count.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }
}
