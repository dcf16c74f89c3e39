//! Seeded randomness: one stream per purpose, so that changing one does not affect the others.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// A stream of random numbers that is the same for the same seed and purpose on every platform.
pub type Stream = Pcg64Mcg;

/// The stream of `purpose` under `seed`.
///
/// The purpose is hashed with FNV-1a (Fowler, Noll and Vo; 64 bit) and mixed with the seed by
/// SplitMix64 (Steele, Lea and Flood, 2014), so that neighbouring seeds do not give related streams.
pub fn stream(seed: u64, purpose: &str) -> Stream {
    let hash = purpose
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    let mut mixed = seed.wrapping_add(hash).wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    Pcg64Mcg::seed_from_u64(mixed ^ (mixed >> 31))
}

/// A seed for one of many similar things (a trial, a session, a disk), derived from `seed`.
pub fn derive(seed: u64, purpose: &str, index: u64) -> u64 {
    stream(seed ^ index.wrapping_mul(0x9e37_79b9_7f4a_7c15), purpose).next_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_seed_and_purpose_give_the_same_stream_and_others_do_not() {
        assert_eq!(stream(1, "keys").next_u64(), stream(1, "keys").next_u64());
        assert_ne!(
            stream(1, "keys").next_u64(),
            stream(1, "latency").next_u64()
        );
        assert_ne!(stream(1, "keys").next_u64(), stream(2, "keys").next_u64());
    }
}
