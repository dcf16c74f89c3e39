//! The bytes of all files of a simulation: packed in memory, or in one unnamed temporary file.
//!
//! Rows of a modelled database are mostly padding, so a page compresses to a small part of its size. Keeping
//! pages compressed costs less than it takes the system to find fresh memory for them, even for the page
//! cache of a real file: that can take seconds for a database of 2 GB. A page that does not compress well
//! goes to the file, which is created when the first one comes: memory stays below a quarter of the
//! database, whatever its content. Of what was written last, some blocks of each file stay as they are: most writes go to pages
//! that were written shortly before, and packing takes longer than the rest of a write.
//!
//! ```text
//! file ──► table of blocks ──► Empty            zeros, no bytes kept
//!                          ──► Plain            as it is: one of the few that were written last
//!                          ──► Runs             runs of one byte and what is between them, in memory
//!                          ──► Packed           LZ4, in memory
//!                          ──► Spooled ──slot──► temporary file; slots given back are used again
//!                          ──► Shared            as in the frozen file that this one is a copy of
//!                          ──► Patched           as there, but for a few parts
//! ```

mod block;
mod frozen;
mod patch;
mod runs;
mod slots;

use std::collections::VecDeque;
use std::io;
use std::mem;
use std::ops::Range;
use std::sync::Arc;

use parking_lot::Mutex;

use block::{Block, PACKED_MAX, Packer, Plain, ZEROS};
use frozen::Base;
pub(crate) use frozen::Frozen;
pub(crate) use slots::failure;
pub use slots::temporary_space;
use slots::{BLOCK, Slots};

/// What takes no more bytes than this is not packed any further: LZ4 would take far longer, and save little.
const LITTLE: usize = BLOCK / 16;

/// Blocks of a file that stay plain.
const PLAIN_MAX: usize = 256;

/// Blocks of a file that stay plain even if there are more than [`MANY`] in all files.
const PLAIN_OF_MANY: usize = 8;

/// Plain blocks of all files above which no file gets more: 16 MiB.
const MANY: u64 = 2048;

/// What all files share: the packer, and the temporary file.
pub(crate) struct Spool {
    packer: Packer,
    slots: Slots,
    /// Bytes of packed and plain blocks in memory.
    packed: u64,
    /// Plain blocks.
    plain_count: u64,
    /// Scratch space for a block that is only partly read or written.
    plain: Box<[u8; BLOCK]>,
    /// The same for a patch, and for runs.
    patch: Vec<u8>,
    runs: Vec<u8>,
}

/// One file's bytes.
///
/// Blocks beyond the length are empty or absent; the rest of the last one is unspecified.
#[derive(Default)]
pub(crate) struct Bytes {
    blocks: Vec<Block>,
    /// Length in bytes.
    pub(crate) length: u64,
    /// Where its shared blocks are.
    base: Option<Base>,
    /// Its plain blocks, those written first at the front; also some that are no longer plain.
    plain: VecDeque<u32>,
}

impl Frozen {
    /// A copy to write to.
    pub(crate) fn copy(self: &Arc<Frozen>) -> Bytes {
        let shared = |block: &Block| match block {
            Block::Empty => Block::Empty,
            Block::Plain(_)
            | Block::Runs(_)
            | Block::Packed(_)
            | Block::Spooled(_)
            | Block::Shared
            | Block::Patched(_) => Block::Shared,
        };
        Bytes {
            blocks: self.blocks.iter().map(shared).collect(),
            length: self.length,
            base: Some(self.base()),
            plain: VecDeque::new(),
        }
    }
}

impl Spool {
    /// An empty spool; the temporary file will be in the system's temporary directory.
    pub(crate) fn new() -> Spool {
        Spool {
            packer: Packer::new(),
            slots: Slots::default(),
            packed: 0,
            plain_count: 0,
            plain: Box::new(ZEROS),
            patch: Vec::new(),
            runs: Vec::new(),
        }
    }

    /// Freezes the one file of a spool that is not a copy of another.
    ///
    /// # Errors
    /// When the temporary file cannot be written.
    pub(crate) fn freeze(mut self, mut bytes: Bytes) -> io::Result<Frozen> {
        assert!(bytes.base.is_none(), "a copy is not frozen again");
        self.pack(&mut bytes, 0)?;
        Ok(Frozen {
            blocks: bytes.blocks,
            slots: self.slots,
            length: bytes.length,
            packed: self.packed,
            kept: Mutex::default(),
        })
    }

    /// Packs the plain blocks of a file, except for so many of those written last.
    ///
    /// # Errors
    /// When the temporary file cannot be written.
    pub(crate) fn pack(&mut self, bytes: &mut Bytes, except: usize) -> io::Result<()> {
        while bytes.plain.len() > except {
            let Some(number) = bytes.plain.pop_front() else {
                break;
            };
            // It may have been cut off since, or be zeros.
            let Some(block) = bytes.blocks.get_mut(number as usize) else {
                continue;
            };
            match block {
                Block::Plain(plain) if plain.is_used && except > 0 => {
                    plain.is_used = false;
                    bytes.plain.push_back(number);
                }
                Block::Plain(_) => self.settle(block, number as usize, bytes.base.as_ref())?,
                Block::Empty
                | Block::Runs(_)
                | Block::Packed(_)
                | Block::Spooled(_)
                | Block::Shared
                | Block::Patched(_) => {}
            }
        }
        Ok(())
    }

    /// Patches, packs or spools a plain block.
    fn settle(&mut self, block: &mut Block, number: usize, base: Option<&Base>) -> io::Result<()> {
        let Block::Plain(plain) = mem::take(block) else {
            unreachable!("only what is plain is packed");
        };
        match self.stored(&plain, number, base) {
            Ok(stored) => *block = stored,
            Err(error) => {
                *block = Block::Plain(plain);
                return Err(error);
            }
        }
        self.packed = self.packed - BLOCK as u64 + block.memory();
        self.plain_count -= 1;
        Ok(())
    }

    /// These bytes in as little time and memory as possible.
    fn stored(&mut self, plain: &Plain, number: usize, base: Option<&Base>) -> io::Result<Block> {
        let bytes = &plain.bytes;
        let is_patch = self.is_patched(bytes, number, base)?;
        if is_patch && self.patch.len() <= LITTLE {
            return Ok(Block::Patched(self.patch.as_slice().into()));
        }
        if runs::of(bytes, LITTLE, &mut self.runs) {
            return Ok(match *bytes == ZEROS {
                true => Block::Empty,
                false => Block::Runs(self.runs.as_slice().into()),
            });
        }
        if is_patch {
            return Ok(Block::Patched(self.patch.as_slice().into()));
        }
        Block::packed(&mut self.packer, &mut self.slots, plain)
    }

    /// Whether these bytes differ from those of the frozen file by a small patch, which is kept then.
    fn is_patched(
        &mut self,
        bytes: &[u8; BLOCK],
        number: usize,
        base: Option<&Base>,
    ) -> io::Result<bool> {
        let Some(base) = base else {
            return Ok(false);
        };
        let old = base.block(number, &mut self.plain)?;
        Ok(patch::of(old, bytes, PACKED_MAX, &mut self.patch))
    }

    /// Space that all files take now.
    pub(crate) fn held(&self) -> Held {
        let slots = self.slots.count - self.slots.free.len() as u64;
        Held {
            memory: model::Bytes(self.packed),
            disk: model::Bytes(slots * BLOCK as u64),
        }
    }

    /// Reads from `offset`; bytes beyond the end are zero. Returns how many there were.
    pub(crate) fn read(
        &mut self,
        bytes: &Bytes,
        offset: u64,
        buffer: &mut [u8],
    ) -> io::Result<usize> {
        let there = (bytes.length.saturating_sub(offset) as usize).min(buffer.len());
        buffer[there..].fill(0);
        for part in parts(offset, there) {
            let out = &mut buffer[part.range];
            if let Ok(whole) = <&mut [u8; BLOCK]>::try_from(&mut *out) {
                bytes.load(part.block, &self.slots, whole)?;
            } else {
                bytes.load(part.block, &self.slots, &mut self.plain)?;
                out.copy_from_slice(&self.plain[part.inside..][..out.len()]);
            }
        }
        Ok(there)
    }

    /// Writes at `offset`; a gap after the old end becomes zeros.
    pub(crate) fn write(
        &mut self,
        bytes: &mut Bytes,
        offset: u64,
        buffer: &[u8],
    ) -> io::Result<()> {
        if offset > bytes.length {
            self.grow(bytes, offset)?;
        }
        let end = offset + buffer.len() as u64;
        bytes.reach(end);
        for part in parts(offset, buffer.len()) {
            let written = offset + part.range.end as u64;
            let new = &buffer[part.range];
            self.put(bytes, part.block, part.inside, new)?;
            bytes.length = bytes.length.max(written);
        }
        Ok(())
    }

    /// Truncates a file to `length`, releasing slots.
    pub(crate) fn truncate(&mut self, bytes: &mut Bytes, length: u64) {
        let keep = (length.div_ceil(BLOCK as u64) as usize).min(bytes.blocks.len());
        for block in bytes.blocks.drain(keep..) {
            self.packed -= block.memory();
            self.plain_count -= u64::from(matches!(block, Block::Plain(_)));
            block.release(&mut self.slots);
        }
        bytes.length = bytes.length.min(length);
    }

    /// Lengthens a file by zeros.
    fn grow(&mut self, bytes: &mut Bytes, length: u64) -> io::Result<()> {
        // Otherwise bytes left in the last block by a truncation would reappear.
        let inside = (bytes.length % BLOCK as u64) as usize;
        let last = (bytes.length / BLOCK as u64) as usize;
        if inside > 0 && !matches!(bytes.blocks[last], Block::Empty) {
            self.put(bytes, last, inside, &ZEROS[inside..])?;
        }
        bytes.reach(length);
        bytes.length = length;
        Ok(())
    }

    /// Writes part of a block, or all of it.
    fn put(
        &mut self,
        bytes: &mut Bytes,
        number: usize,
        inside: usize,
        new: &[u8],
    ) -> io::Result<()> {
        if let Block::Plain(plain) = &mut bytes.blocks[number] {
            plain.bytes[inside..][..new.len()].copy_from_slice(new);
            plain.is_used = true;
            return Ok(());
        }
        if new.len() < BLOCK {
            bytes.load(number, &self.slots, &mut self.plain)?;
            self.plain[inside..][..new.len()].copy_from_slice(new);
        }
        let whole = if new.len() < BLOCK {
            &self.plain[..]
        } else {
            new
        };
        let block = &mut bytes.blocks[number];
        self.packed -= block.memory();
        if whole == ZEROS {
            mem::take(block).release(&mut self.slots);
            return Ok(());
        }
        let is_dense = match (&*block, &bytes.base) {
            (Block::Shared | Block::Patched(_), Some(base)) => base.is_dense(number),
            (block, _) => block.is_dense(),
        };
        mem::replace(block, Block::plain(whole, is_dense)).release(&mut self.slots);
        self.packed += block.memory();
        let number = u32::try_from(number).expect("a file has fewer than 2^32 blocks");
        bytes.plain.push_back(number);
        self.plain_count += 1;
        let others = bytes.plain.len() - 1;
        let except = match self.plain_count > MANY {
            true => others.clamp(PLAIN_OF_MANY, PLAIN_MAX),
            false => PLAIN_MAX,
        };
        self.pack(bytes, except)
    }
}

/// Space that the bytes of a simulation take on this machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// In memory.
    pub memory: model::Bytes,
    /// In the temporary file.
    pub disk: model::Bytes,
}

impl Bytes {
    /// Ensures a block for every byte below `end`.
    fn reach(&mut self, end: u64) {
        let count = end.div_ceil(BLOCK as u64) as usize;
        if count > self.blocks.len() {
            self.blocks.resize_with(count, Block::default);
        }
    }

    /// The bytes of a block.
    fn load(&self, number: usize, slots: &Slots, plain: &mut [u8; BLOCK]) -> io::Result<()> {
        match (&self.blocks[number], &self.base) {
            (Block::Shared, Some(base)) => base.read(number, plain),
            (Block::Patched(patch), Some(base)) => {
                base.read(number, plain)?;
                patch::apply(patch, plain);
                Ok(())
            }
            (block, _) => block.load(slots, plain),
        }
    }
}

/// The part of a range that lies in one block.
struct Part {
    block: usize,
    /// Its offset in the block.
    inside: usize,
    /// Its range in the buffer.
    range: Range<usize>,
}

/// Splits a range of a file at block boundaries.
fn parts(offset: u64, length: usize) -> impl Iterator<Item = Part> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = offset + done as u64;
        let inside = (at % BLOCK as u64) as usize;
        let range = done..length.min(done + BLOCK - inside);
        done = range.end;
        (!range.is_empty()).then_some(Part {
            block: (at / BLOCK as u64) as usize,
            inside,
            range,
        })
    })
}

#[cfg(test)]
mod tests;
