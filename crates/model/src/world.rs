//! Worlds that what is not known allows: in each, an unknown value has one of the values that it may have.
//!
//! Worlds are numbered. Every eight of them divide what an unknown may be into eight parts of the same chance, and have one value of
//! each part, in an order of the unknown's own (Latin hypercube sampling: McKay, Beckman and Conover, *A Comparison of Three Methods for
//! Selecting Values of Input Variables*, Technometrics 1979). The first eight have the middles of the parts, later ones any value of
//! them, so that more worlds fill in what lies between. A world depends on nothing but the seed and its number.

use rand_distr::{Distribution, StandardNormal};

use crate::random;

/// Worlds that divide what an unknown may be among them.
pub const STRATA: u32 = 8;

/// Standard normal deviates below which 1/16, 3/16, .. 15/16 of all are: the middles of eight parts of the same chance. As figures,
/// since functions that compute them differ between platforms in the last digit. Their standard deviation is 0.99: independent draws
/// come as near from some thousand on.
const MIDDLES: [f64; STRATA as usize] = [
    -1.534_120_544,
    -0.887_146_559,
    -0.488_776_411,
    -0.157_310_685,
    0.157_310_685,
    0.488_776_411,
    0.887_146_559,
    1.534_120_544,
];

/// The deviates below which 1/8, 2/8, .. 7/8 are: where one part ends and the next begins.
const ENDS: [f64; STRATA as usize - 1] = [
    -1.150_349_380,
    -0.674_489_750,
    -0.318_639_364,
    0.0,
    0.318_639_364,
    0.674_489_750,
    1.150_349_380,
];

/// One of the worlds of a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct World {
    /// Of all worlds together.
    pub seed: u64,
    /// Which of them, from 0.
    pub number: u32,
}

impl World {
    /// How many standard deviations above its typical value the unknown of this name is.
    pub fn deviations(self, name: &str) -> f64 {
        let part = self.part(name);
        if self.number < STRATA {
            return MIDDLES[part];
        }
        let mut random = random::stream(
            random::derive(self.seed, "world", u64::from(self.number)),
            name,
        );
        loop {
            let deviate: f64 = StandardNormal.sample(&mut random);
            if ENDS.partition_point(|end| *end <= deviate) == part {
                return deviate;
            }
        }
    }

    /// Which of the parts the unknown is in.
    fn part(self, name: &str) -> usize {
        let first = self.number - self.number % STRATA;
        let mut order: [usize; STRATA as usize] = core::array::from_fn(|part| part);
        order.sort_unstable_by_key(|part| {
            random::derive(self.seed, name, u64::from(first) + *part as u64)
        });
        order[(self.number - first) as usize]
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;
    use alloc::vec::Vec;

    use super::*;

    fn deviations(seed: u64, name: &str, worlds: core::ops::Range<u32>) -> Vec<f64> {
        let worlds = worlds.map(|number| World { seed, number });
        worlds.map(|world| world.deviations(name)).collect()
    }

    /// The mean and the standard deviation (divided by n - 1).
    fn moments(all: &[f64]) -> (f64, f64) {
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let squares = all.iter().map(|one| (one - mean) * (one - mean));
        let variance = squares.sum::<f64>() / (all.len() as f64 - 1.0);
        (mean, libm::sqrt(variance))
    }

    #[test]
    fn middles_and_ends_are_those_of_eight_parts_of_the_same_chance() {
        let below = |deviate: f64| libm::erfc(-deviate / libm::sqrt(2.0)) / 2.0;
        let parts = f64::from(STRATA);
        for (place, middle) in MIDDLES.into_iter().enumerate() {
            let chance = (place as f64 + 0.5) / parts;
            assert!((below(middle) - chance).abs() < 1e-9, "{middle}");
        }
        for (place, end) in ENDS.into_iter().enumerate() {
            let chance = (place as f64 + 1.0) / parts;
            assert!((below(end) - chance).abs() < 1e-9, "{end}");
        }
    }

    #[test]
    fn every_eight_worlds_have_one_value_of_each_part_in_an_order_of_the_unknown_s_own() {
        for first in [0, 8, 16, 800] {
            let part = |deviate: &f64| ENDS.partition_point(|end| end <= deviate);
            let parts = |name: &str| -> Vec<usize> {
                let all = deviations(7, name, first..first + STRATA);
                all.iter().map(part).collect()
            };
            assert_ne!(parts("one"), parts("other"));
            let distinct: BTreeSet<usize> = parts("one").into_iter().collect();
            assert_eq!(distinct.len(), STRATA as usize);
        }
        assert_ne!(
            deviations(7, "one", 0..STRATA),
            deviations(8, "one", 0..STRATA)
        );
    }

    #[test]
    fn a_few_worlds_deviate_as_much_as_all_and_many_are_normal() {
        let (mean, deviation) = moments(&deviations(1, "one", 0..STRATA));
        assert!(
            mean.abs() < 1e-9 && (deviation - 0.99).abs() < 0.01,
            "{deviation}"
        );
        let mut many = deviations(1, "one", 0..80_000);
        let (mean, deviation) = moments(&many);
        assert!(mean.abs() < 0.005 && (deviation - 1.0).abs() < 0.01);
        many.sort_by(f64::total_cmp);
        // 95 of 100 are below 1.645.
        assert!((many[76_000] - 1.645).abs() < 0.03, "{}", many[76_000]);
    }

    #[test]
    fn unknowns_are_independent_of_each_other() {
        let [one, other] = ["one", "other"].map(|name| deviations(1, name, 0..8_000));
        let products = one.iter().zip(&other).map(|(one, other)| one * other);
        // Of independent ones, the standard error is 1 / sqrt 8000 = 0.011.
        assert!((products.sum::<f64>() / 8_000.0).abs() < 0.034);
    }
}
