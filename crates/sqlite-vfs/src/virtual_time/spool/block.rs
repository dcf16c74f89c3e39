//! A block of a file: where its bytes are, and how they are packed.

use std::io;

use lz4_flex::block::{
    CompressTable, compress_into_with_table, decompress_into, get_maximum_output_size,
};

use super::runs;
use super::slots::{BLOCK, Slots};

/// Most bytes of a block that is kept in memory packed, or as a patch: more would save too little, and it is spooled.
pub(super) const PACKED_MAX: usize = BLOCK / 4;

pub(super) static ZEROS: [u8; BLOCK] = [0; BLOCK];

/// Where a block's bytes are.
#[derive(Default)]
pub(super) enum Block {
    /// All zeros.
    #[default]
    Empty,
    /// In memory, as it is.
    Plain(Box<Plain>),
    /// In memory, as runs of bytes.
    Runs(Box<[u8]>),
    /// In memory, packed.
    Packed(Box<[u8]>),
    /// In this slot of the temporary file.
    Spooled(u64),
    /// In the block of the same number of the frozen file.
    Shared,
    /// There too, but for the parts of a patch.
    Patched(Box<[u8]>),
}

/// A block that is not packed.
pub(super) struct Plain {
    pub(super) bytes: [u8; BLOCK],
    /// Whether it was written again since its turn to be packed.
    pub(super) is_used: bool,
    /// Whether it did not pack when it was last tried: it hardly will now.
    pub(super) is_dense: bool,
}

impl Block {
    /// Gives back its slot, if it has one.
    pub(super) fn release(self, slots: &mut Slots) {
        match self {
            Block::Spooled(slot) => slots.free.push(slot),
            Block::Empty
            | Block::Plain(_)
            | Block::Runs(_)
            | Block::Packed(_)
            | Block::Shared
            | Block::Patched(_) => {}
        }
    }

    pub(super) fn plain(whole: &[u8], is_dense: bool) -> Block {
        let mut plain = Box::new(Plain {
            bytes: ZEROS,
            is_used: false,
            is_dense,
        });
        plain.bytes.copy_from_slice(whole);
        Block::Plain(plain)
    }

    /// Whether it does not pack.
    pub(super) fn is_dense(&self) -> bool {
        matches!(self, Block::Spooled(_))
    }

    /// Bytes that it takes in memory.
    pub(super) fn memory(&self) -> u64 {
        match self {
            Block::Plain(_) => BLOCK as u64,
            Block::Runs(bytes) | Block::Packed(bytes) | Block::Patched(bytes) => bytes.len() as u64,
            Block::Empty | Block::Spooled(_) | Block::Shared => 0,
        }
    }

    /// Its bytes, of a file that is not a copy of another.
    pub(super) fn load(&self, slots: &Slots, plain: &mut [u8; BLOCK]) -> io::Result<()> {
        match self {
            Block::Empty => plain.fill(0),
            Block::Plain(block) => plain.copy_from_slice(&block.bytes),
            Block::Runs(runs) => runs::unpack(runs, plain),
            Block::Packed(packed) => {
                let length = decompress_into(packed, plain).map_err(io::Error::other)?;
                assert_eq!(length, BLOCK, "a packed block holds a whole one");
            }
            Block::Spooled(slot) => slots.read(*slot, plain)?,
            Block::Shared | Block::Patched(_) => {
                unreachable!("only a copy shares blocks")
            }
        }
        Ok(())
    }

    /// These bytes, packed or spooled.
    pub(super) fn packed(
        packer: &mut Packer,
        slots: &mut Slots,
        plain: &Plain,
    ) -> io::Result<Block> {
        let packed = match plain.is_dense {
            true => None,
            false => packer.pack(&plain.bytes),
        };
        Ok(match packed {
            Some(packed) => Block::Packed(packed.into()),
            None => Block::Spooled(slots.add(&plain.bytes)?),
        })
    }
}

/// Compresses blocks, reusing its memory.
pub(super) struct Packer {
    table: CompressTable,
    packed: Box<[u8]>,
}

impl Packer {
    pub(super) fn new() -> Packer {
        Packer {
            table: CompressTable::small(),
            packed: vec![0; get_maximum_output_size(BLOCK)].into_boxed_slice(),
        }
    }

    /// The compressed block, if it is small enough.
    fn pack(&mut self, plain: &[u8]) -> Option<&[u8]> {
        let length = compress_into_with_table(plain, &mut self.packed, &mut self.table)
            .expect("the buffer has room for any block");
        (length <= PACKED_MAX).then(|| &self.packed[..length])
    }
}
