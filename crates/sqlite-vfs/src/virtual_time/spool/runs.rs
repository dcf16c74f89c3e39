//! A block as runs of one byte, with what is between them: what the padding of rows leaves of a page, in a fraction of the time of a
//! general packer.
//!
//! ```text
//! 1 byte   how many bytes stand before the run
//! ..       them
//! 2 bytes  how long the run is
//! 1 byte   the byte that it repeats
//! ```

use super::slots::BLOCK;

/// The bytes that are looked at together: a run has as many at least.
const WORD: usize = 8;

/// Most bytes that can stand before a run.
const BEFORE_MAX: usize = u8::MAX as usize;

/// Writes the runs of `block` to `runs`; returns whether they take at most `most` bytes.
pub(super) fn of(block: &[u8; BLOCK], most: usize, runs: &mut Vec<u8>) -> bool {
    let words = block.as_chunks::<WORD>().0;
    runs.clear();
    let (mut done, mut at) = (0, 0);
    while at < words.len() {
        let word = words[at];
        let byte = word[0];
        if word != [byte; WORD] {
            at += 1;
            // The last word may begin with what is before the next run.
            if runs.len() + (at * WORD).saturating_sub(done) > most + WORD {
                return false;
            }
            continue;
        }
        let alike = |other: &[u8; WORD]| *other == [byte; WORD];
        let same = words[at..].iter().take_while(|word| alike(word)).count();
        let equal = |other: &&u8| **other == byte;
        let start = at * WORD;
        let start = start - block[done..start].iter().rev().take_while(equal).count();
        let end = (at + same) * WORD;
        let end = end + block[end..].iter().take_while(equal).count();
        push(&block[done..start], end - start, byte, runs);
        (done, at) = (end, end.div_ceil(WORD));
    }
    push(&block[done..], 0, 0, runs);
    runs.len() <= most
}

fn push(mut before: &[u8], length: usize, byte: u8, runs: &mut Vec<u8>) {
    let mut one = |before: &[u8], length: usize| {
        runs.push(u8::try_from(before.len()).expect("it was cut to what fits"));
        runs.extend(before);
        let length = u16::try_from(length).expect("a block has fewer than 2^16 bytes");
        runs.extend(length.to_le_bytes());
        runs.push(byte);
    };
    while let Some((first, rest)) = before.split_at_checked(BEFORE_MAX) {
        one(first, 0);
        before = rest;
    }
    if !before.is_empty() || length > 0 {
        one(before, length);
    }
}

/// The block that `runs` was made of.
pub(super) fn unpack(mut runs: &[u8], block: &mut [u8; BLOCK]) {
    let mut done = 0;
    while let Some((count, rest)) = runs.split_first() {
        let (before, rest) = rest.split_at(usize::from(*count));
        block[done..][..before.len()].copy_from_slice(before);
        done += before.len();
        let ([low, high, byte], rest) = rest.split_first_chunk().expect("a run is whole");
        let length = usize::from(u16::from_le_bytes([*low, *high]));
        block[done..][..length].fill(*byte);
        done += length;
        runs = rest;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_page_of_padded_rows_takes_little_more_than_what_is_not_padding() {
        let mut page = [b' '; BLOCK];
        for row in page.chunks_mut(2000) {
            let head = row.len().min(9);
            row[..head].copy_from_slice(&b"head of X"[..head]);
        }
        let mut runs = Vec::new();

        assert!(of(&page, BLOCK, &mut runs));

        // Five rows of nine bytes, each with four for its run.
        assert_eq!(runs.len(), 5 * (9 + 4));
        assert!(of(&page, runs.len(), &mut Vec::new()));
        assert!(!of(&page, runs.len() - 1, &mut Vec::new()));
    }

    proptest! {
        #[test]
        fn a_block_comes_back_whole(
            parts in prop::collection::vec((0..BLOCK, 1..600_usize, any::<u8>(), any::<bool>()), 0..30),
        ) {
            let mut block = [0; BLOCK];
            for (from, length, byte, is_run) in parts {
                let part = &mut block[from..(from + length).min(BLOCK)];
                match is_run {
                    true => part.fill(byte),
                    false => (0..).zip(part).for_each(|(at, place)| {
                        *place = byte.wrapping_add(7_u8.wrapping_mul(at as u8));
                    }),
                }
            }
            let mut runs = Vec::new();
            prop_assert!(of(&block, 2 * BLOCK, &mut runs));

            let mut again = [1; BLOCK];
            unpack(&runs, &mut again);

            prop_assert!(again == block);
        }
    }
}
