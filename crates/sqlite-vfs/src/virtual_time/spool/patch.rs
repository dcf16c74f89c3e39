//! A block as what differs from another one: the parts that are not alike, each with its place.
//!
//! A statement changes few bytes of a page. To compare a block takes a small part of the time of packing it, and to put the parts
//! over a copy of the other one less than to unpack it.
//!
//! ```text
//! 2 bytes  in which word the part begins
//! 2 bytes  how many words it has
//! ..       them
//! ```

use super::slots::BLOCK;

/// The bytes that are compared at a time.
const WORD: usize = 8;

/// The words that are compared at a time where nothing differs.
const STRIDE: usize = 16;

/// Writes to `patch` what turns `old` into `new`; returns whether it takes at most `most` bytes.
pub(super) fn of(old: &[u8; BLOCK], new: &[u8; BLOCK], most: usize, patch: &mut Vec<u8>) -> bool {
    let (old, new) = (old.as_chunks::<WORD>().0, new.as_chunks::<WORD>().0);
    patch.clear();
    let mut from = 0;
    while let Some(first) = first_difference(old, new, from) {
        let differs = |word: &usize| old[*word] != new[*word];
        // To begin another part takes half a word: one that is alike does not end it.
        let is_part = |word: &usize| differs(word) || word + 1 < new.len() && differs(&(word + 1));
        from = (first..new.len())
            .find(|word| !is_part(word))
            .unwrap_or(new.len());
        let part = &new[first..from];
        if patch.len() + HEAD + part.len() * WORD > most {
            return false;
        }
        for number in [first, part.len()] {
            let number = u16::try_from(number).expect("a block has fewer than 2^16 words");
            patch.extend(number.to_le_bytes());
        }
        patch.extend(part.as_flattened());
    }
    true
}

/// Bytes before the words of a part.
const HEAD: usize = 4;

/// The first word from `from` on that differs.
fn first_difference(old: &[[u8; WORD]], new: &[[u8; WORD]], from: usize) -> Option<usize> {
    let mut at = from;
    while at < new.len() {
        let end = (at + STRIDE).min(new.len());
        if old[at..end] != new[at..end] {
            return (at..end).find(|word| old[*word] != new[*word]);
        }
        at = end;
    }
    None
}

/// Turns the block that `patch` was made of into the other one.
pub(super) fn apply(mut patch: &[u8], block: &mut [u8]) {
    while let Some((head, rest)) = patch.split_first_chunk::<HEAD>() {
        let [first, count] = [[head[0], head[1]], [head[2], head[3]]];
        let [first, count] = [first, count].map(|number| usize::from(u16::from_le_bytes(number)));
        let (words, rest) = rest.split_at(count * WORD);
        block[first * WORD..][..words.len()].copy_from_slice(words);
        patch = rest;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn parts_that_differ_are_kept_and_a_word_between_two_does_not_make_them_two() {
        let old = [7; BLOCK];
        let mut new = old;
        // Words 1 and 3, and far from them the last one.
        for place in [8, 31, BLOCK - 1] {
            new[place] = 8;
        }
        let mut patch = Vec::new();

        assert!(of(&old, &new, BLOCK, &mut patch));

        // Three words, and one, each with a head.
        assert_eq!(patch.len(), HEAD + 3 * WORD + HEAD + WORD);
        assert!(of(&old, &new, patch.len(), &mut Vec::new()));
        assert!(!of(&old, &new, patch.len() - 1, &mut Vec::new()));
        assert!(of(&old, &old, 0, &mut patch));
        assert_eq!(patch, [0; 0]);
    }

    proptest! {
        #[test]
        fn a_patched_block_is_the_other_one(
            changes in prop::collection::vec((0..BLOCK, 1..200_usize, any::<u8>()), 0..20),
        ) {
            let old: [u8; BLOCK] = std::array::from_fn(|place| (place % 251) as u8);
            let mut new = old;
            for (from, length, byte) in changes {
                new[from..(from + length).min(BLOCK)].fill(byte);
            }
            let mut patch = Vec::new();
            prop_assert!(of(&old, &new, 2 * BLOCK, &mut patch));

            let mut patched = old;
            apply(&patch, &mut patched);

            prop_assert!(patched == new);
        }
    }
}
