//! The bytes of all files of a simulation: packed in memory, or in one unnamed temporary file.
//!
//! Rows of a modelled database are mostly padding, so a page compresses to a small part of its size. Keeping
//! pages compressed costs less than it takes the system to find fresh memory for them, even for the page
//! cache of a real file: that can take seconds for a database of 2 GB. A page that does not compress well
//! goes to the file, which is created when the first one comes: memory stays below a quarter of the
//! database, whatever its content.
//!
//! ```text
//! file ──► table of blocks ──► Empty            zeros, no bytes kept
//!                          ──► Packed           LZ4, in memory
//!                          ──► Spooled ──slot──► temporary file; slots given back are used again
//!                          ──► Shared            as in the frozen file that this one is a copy of
//! ```

use std::fs::File;
use std::io;
use std::mem;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use lz4_flex::block::{
    CompressTable, compress_into_with_table, decompress_into, get_maximum_output_size,
};

/// Size of a block: a page of the database, so that SQLite writes and reads whole ones.
const BLOCK: usize = 8 << 10;

/// A block that compresses to this or more is spooled: it would save too little memory.
const PACKED_LIMIT: usize = BLOCK / 4;

static ZEROS: [u8; BLOCK] = [0; BLOCK];

/// What all files share: the packer, and the temporary file.
pub(crate) struct Spool {
    packer: Packer,
    slots: Slots,
    /// Bytes of packed blocks in memory.
    packed: u64,
    /// Scratch space for a block that is only partly read or written.
    plain: Box<[u8]>,
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
    base: Option<Arc<Frozen>>,
}

/// A file that does not change any more; copies share its blocks until they write to them.
#[derive(Default)]
pub(crate) struct Frozen {
    blocks: Vec<Block>,
    slots: Slots,
    length: u64,
    packed: u64,
}

impl Frozen {
    /// Bytes that it takes in memory.
    pub(crate) fn memory(&self) -> u64 {
        self.packed + (self.blocks.capacity() * size_of::<Block>()) as u64
    }

    /// A copy to write to.
    pub(crate) fn copy(self: &Arc<Frozen>) -> Bytes {
        let shared = |block: &Block| match block {
            Block::Empty => Block::Empty,
            Block::Packed(_) | Block::Spooled(_) | Block::Shared => Block::Shared,
        };
        Bytes {
            blocks: self.blocks.iter().map(shared).collect(),
            length: self.length,
            base: Some(Arc::clone(self)),
        }
    }
}

/// Why the temporary file could not be used, human-readable.
pub(crate) fn failure(error: &io::Error) -> String {
    format!(
        "the temporary file for pages that do not pack, in {}: {error}; make room there, or set TMPDIR",
        std::env::temp_dir().display()
    )
}

/// The directory of the temporary file, and its free space.
pub fn temporary_space() -> (PathBuf, io::Result<model::Bytes>) {
    let directory = std::env::temp_dir();
    let free = fs4::available_space(&directory).map(model::Bytes);
    (directory, free)
}

impl Spool {
    /// An empty spool; the temporary file will be in the system's temporary directory.
    pub(crate) fn new() -> Spool {
        Spool {
            packer: Packer::new(),
            slots: Slots::default(),
            packed: 0,
            plain: vec![0; BLOCK].into_boxed_slice(),
        }
    }

    /// Freezes the one file of a spool that is not a copy of another.
    pub(crate) fn freeze(self, bytes: Bytes) -> Frozen {
        assert!(bytes.base.is_none(), "a copy is not frozen again");
        Frozen {
            blocks: bytes.blocks,
            slots: self.slots,
            length: bytes.length,
            packed: self.packed,
        }
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
            if out.len() == BLOCK {
                bytes.load(part.block, &self.slots, out)?;
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
            self.packed -= block.packed();
            self.slots.release(block);
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
        if new.len() < BLOCK {
            bytes.load(number, &self.slots, &mut self.plain)?;
            self.plain[inside..][..new.len()].copy_from_slice(new);
        }
        let whole = if new.len() < BLOCK { &self.plain } else { new };
        let block = &mut bytes.blocks[number];
        let before = block.packed();
        let stored = block.store(&mut self.packer, &mut self.slots, whole);
        self.packed = self.packed - before + block.packed();
        stored
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
    fn load(&self, number: usize, slots: &Slots, plain: &mut [u8]) -> io::Result<()> {
        match (&self.blocks[number], &self.base) {
            (Block::Shared, Some(base)) => base.blocks[number].load(&base.slots, plain),
            (block, _) => block.load(slots, plain),
        }
    }
}

/// Where a block's bytes are.
#[derive(Default)]
enum Block {
    /// All zeros.
    #[default]
    Empty,
    /// In memory.
    Packed(Box<[u8]>),
    /// In this slot of the temporary file.
    Spooled(u64),
    /// In the block of the same number of the frozen file.
    Shared,
}

impl Block {
    /// Bytes that it takes in memory.
    fn packed(&self) -> u64 {
        match self {
            Block::Packed(packed) => packed.len() as u64,
            Block::Empty | Block::Spooled(_) | Block::Shared => 0,
        }
    }

    fn load(&self, slots: &Slots, plain: &mut [u8]) -> io::Result<()> {
        match self {
            Block::Empty => plain.fill(0),
            Block::Packed(packed) => {
                let length = decompress_into(packed, plain).map_err(io::Error::other)?;
                assert_eq!(length, BLOCK, "a packed block holds a whole one");
            }
            Block::Spooled(slot) => slots.read(*slot, plain)?,
            Block::Shared => unreachable!("a frozen file has no shared blocks"),
        }
        Ok(())
    }

    fn store(&mut self, packer: &mut Packer, slots: &mut Slots, plain: &[u8]) -> io::Result<()> {
        if plain == ZEROS {
            slots.release(mem::take(self));
            return Ok(());
        }
        match (packer.pack(plain), &mut *self) {
            (Some(packed), Block::Packed(old)) if old.len() == packed.len() => {
                old.copy_from_slice(packed);
            }
            (Some(packed), _) => {
                slots.release(mem::replace(self, Block::Packed(packed.into())));
            }
            (None, Block::Spooled(slot)) => slots.write(*slot, plain)?,
            (None, Block::Empty | Block::Packed(_) | Block::Shared) => {
                *self = Block::Spooled(slots.add(plain)?)
            }
        }
        Ok(())
    }
}

/// Compresses blocks, reusing its memory.
struct Packer {
    table: CompressTable,
    packed: Box<[u8]>,
}

impl Packer {
    fn new() -> Packer {
        Packer {
            table: CompressTable::small(),
            packed: vec![0; get_maximum_output_size(BLOCK)].into_boxed_slice(),
        }
    }

    /// The compressed block, if it is small enough.
    fn pack(&mut self, plain: &[u8]) -> Option<&[u8]> {
        let length = compress_into_with_table(plain, &mut self.packed, &mut self.table)
            .expect("the buffer has room for any block");
        (length < PACKED_LIMIT).then(|| &self.packed[..length])
    }
}

/// The temporary file, and its free slots.
#[derive(Default)]
struct Slots {
    file: Option<File>,
    count: u64,
    free: Vec<u64>,
}

impl Slots {
    fn read(&self, slot: u64, plain: &mut [u8]) -> io::Result<()> {
        let file = self.file.as_ref().expect("a slot is in a file");
        read_at(file, plain, slot * BLOCK as u64)
    }

    fn write(&mut self, slot: u64, plain: &[u8]) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile()?),
        };
        write_at(file, plain, slot * BLOCK as u64)
    }

    /// Writes into a free slot; after an error it is still free.
    fn add(&mut self, plain: &[u8]) -> io::Result<u64> {
        let slot = self.free.last().copied().unwrap_or(self.count);
        self.write(slot, plain)?;
        if self.free.pop().is_none() {
            self.count += 1;
        }
        Ok(slot)
    }

    fn release(&mut self, block: Block) {
        match block {
            Block::Spooled(slot) => self.free.push(slot),
            Block::Empty | Block::Packed(_) | Block::Shared => {}
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

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

#[cfg(unix)]
fn write_at(file: &File, buffer: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, buffer, offset)
}

#[cfg(windows)]
fn read_at(file: &File, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        let count = std::os::windows::fs::FileExt::seek_read(file, buffer, offset)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        buffer = &mut buffer[count..];
        offset += count as u64;
    }
    Ok(())
}

#[cfg(windows)]
fn write_at(file: &File, mut buffer: &[u8], mut offset: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        let count = std::os::windows::fs::FileExt::seek_write(file, buffer, offset)?;
        buffer = &buffer[count..];
        offset += count as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
