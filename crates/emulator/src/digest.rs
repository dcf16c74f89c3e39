//! A hash of the content of volumes, to detect equal states.

use std::fs::File;
use std::io;
use std::ops::Range;

use rangemap::RangeSet;
use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};

use super::contents::Kept;
use super::setup::EmulationSpec;
use super::{image, prepare};

/// The unit of hashing; blocks that are all zero are skipped.
const BLOCK: u64 = 4096;

/// SHA-256 of the content of a crash state's volumes at mount time, in hexadecimal: for every 4 KiB block that is not
/// all zero, the index of its volume, its own index and its bytes.
/// not all zero its volume's place, its own place and its bytes.
///
/// # Errors
/// When the recording or an image cannot be read.
///
/// # Panics
/// When the specification is not that of a crash state.
pub fn digest(spec: &EmulationSpec) -> io::Result<String> {
    let kept = Kept::of(spec).map_err(io::Error::other)?;
    let Kept::Crashed { ranges, .. } = &kept else {
        panic!("only crash states are hashed");
    };
    let mut hash = Sha256::new();
    for (place, mount) in spec.volumes.iter().enumerate() {
        let files = prepare::files(&mount.backing);
        let image = image::open(&files)?.ok_or(io::ErrorKind::NotFound)?;
        let mut blocks = blocks_of_data(&image)?;
        let written = ranges[place].iter().map(|(range, _)| range);
        blocks.extend(written.filter(|range| !range.is_empty()).map(in_blocks));
        let store = kept.store(image, place, &files)?;
        for range in blocks.iter() {
            for at in range.clone().step_by(BLOCK as usize) {
                let mut block = [0; BLOCK as usize];
                let length = store.read(at, &mut block)?;
                if block[..length].iter().any(|byte| *byte != 0) {
                    hash.update((place as u64).to_le_bytes());
                    hash.update(at.to_le_bytes());
                    hash.update(&block[..length]);
                }
            }
        }
    }
    let digits = hash.finalize();
    Ok(digits.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Parts of a sparse file that may not be zero.
fn blocks_of_data(file: &File) -> io::Result<RangeSet<u64>> {
    let mut blocks = RangeSet::new();
    let mut at = 0;
    loop {
        let start = match seek(file, SeekFrom::Data(at)) {
            Ok(start) => start,
            // No data behind it.
            Err(Errno::NXIO) => return Ok(blocks),
            Err(error) => return Err(error.into()),
        };
        at = seek(file, SeekFrom::Hole(start))?;
        blocks.insert(in_blocks(&(start..at)));
    }
}

/// The blocks that a range touches.
fn in_blocks(range: &Range<u64>) -> Range<u64> {
    range.start / BLOCK * BLOCK..range.end.next_multiple_of(BLOCK)
}
