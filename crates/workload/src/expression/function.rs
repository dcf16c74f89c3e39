//! The functions of expressions.

use std::ops::RangeInclusive;

use model::random::Stream;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal, Zipf};

use super::error::EvaluationError;
use super::number::{Number, add, out_of_range, remainder};

/// A function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// `abs(x)`
    Abs,
    /// `double(x)`
    Double,
    /// `exp(x)`
    Exp,
    /// `greatest(x, ..)`, also `max`
    Greatest,
    /// `hash_fnv1a(x [, seed])`
    HashFnv1a,
    /// `hash(x [, seed])`, also `hash_murmur2`
    HashMurmur2,
    /// `int(x)`, which drops the fraction
    Int,
    /// `least(x, ..)`, also `min`
    Least,
    /// `ln(x)`
    Ln,
    /// `mod(x, y)`
    Mod,
    /// `permute(i, size [, seed])`
    Permute,
    /// `pi()`
    Pi,
    /// `pow(x, y)`, also `power`
    Power,
    /// `random(low, high)`, both included
    Random,
    /// `random_exponential(low, high, parameter)`
    RandomExponential,
    /// `random_gaussian(low, high, parameter)`
    RandomGaussian,
    /// `random_zipfian(low, high, parameter)`
    RandomZipfian,
    /// `sqrt(x)`
    Sqrt,
}

const TABLE: [(&str, Function); 22] = [
    ("abs", Function::Abs),
    ("double", Function::Double),
    ("exp", Function::Exp),
    ("greatest", Function::Greatest),
    ("max", Function::Greatest),
    ("hash", Function::HashMurmur2),
    ("hash_fnv1a", Function::HashFnv1a),
    ("hash_murmur2", Function::HashMurmur2),
    ("int", Function::Int),
    ("least", Function::Least),
    ("min", Function::Least),
    ("ln", Function::Ln),
    ("mod", Function::Mod),
    ("permute", Function::Permute),
    ("pi", Function::Pi),
    ("pow", Function::Power),
    ("power", Function::Power),
    ("random", Function::Random),
    ("random_exponential", Function::RandomExponential),
    ("random_gaussian", Function::RandomGaussian),
    ("random_zipfian", Function::RandomZipfian),
    ("sqrt", Function::Sqrt),
];

impl Function {
    /// The function of that name, in lower case.
    pub fn named(name: &str) -> Option<Function> {
        let (_, function) = TABLE.iter().find(|(known, _)| *known == name)?;
        Some(*function)
    }

    /// All names.
    pub fn names() -> impl Iterator<Item = &'static str> {
        TABLE.iter().map(|(name, _)| *name)
    }

    /// Whether its value is drawn.
    pub fn is_random(self) -> bool {
        match self {
            Function::Random
            | Function::RandomExponential
            | Function::RandomGaussian
            | Function::RandomZipfian => true,
            Function::Abs
            | Function::Double
            | Function::Exp
            | Function::Greatest
            | Function::HashFnv1a
            | Function::HashMurmur2
            | Function::Int
            | Function::Least
            | Function::Ln
            | Function::Mod
            | Function::Permute
            | Function::Pi
            | Function::Power
            | Function::Sqrt => false,
        }
    }

    /// How many arguments it takes.
    pub fn arguments(self) -> RangeInclusive<usize> {
        match self {
            Function::Pi => 0..=0,
            Function::Abs
            | Function::Double
            | Function::Exp
            | Function::Int
            | Function::Ln
            | Function::Sqrt => 1..=1,
            Function::HashFnv1a | Function::HashMurmur2 => 1..=2,
            Function::Mod | Function::Power | Function::Random => 2..=2,
            Function::Permute => 2..=3,
            Function::RandomExponential | Function::RandomGaussian | Function::RandomZipfian => {
                3..=3
            }
            Function::Least | Function::Greatest => 1..=usize::MAX,
        }
    }

    pub(super) fn arguments_text(self) -> String {
        let range = self.arguments();
        match (*range.start(), *range.end()) {
            (least, usize::MAX) => format!("{least} or more"),
            (least, most) if least == most => least.to_string(),
            (least, most) => format!("{least} or {most}"),
        }
    }

    /// The function's value; `arguments` are as many as it takes.
    pub(super) fn apply(
        self,
        arguments: &[Number],
        random: &mut Stream,
    ) -> Result<Number, EvaluationError> {
        let int = |index: usize| arguments[index].int();
        let seed = |index: usize| arguments.get(index).map_or(Ok(0), |seed| seed.int());
        let double = |index: usize| arguments[index].double();
        Ok(match self {
            Function::Abs => match arguments[0] {
                Number::Int(value) => Number::Int(value.checked_abs().ok_or_else(out_of_range)?),
                Number::Double(value) => Number::Double(value.abs()),
            },
            Function::Double => Number::Double(double(0)),
            Function::Exp => Number::Double(double(0).exp()),
            Function::Greatest => extreme(arguments, f64::max, i64::max),
            Function::Least => extreme(arguments, f64::min, i64::min),
            Function::HashFnv1a => Number::Int(hash_fnv1a(int(0)?, seed(1)?)),
            Function::HashMurmur2 => Number::Int(hash_murmur2(int(0)?, seed(1)?)),
            Function::Int => Number::Int(int(0)?),
            Function::Ln => Number::Double(double(0).ln()),
            Function::Mod => Number::Int(remainder(int(0)?, int(1)?)?),
            Function::Permute => Number::Int(permute(int(0)?, int(1)?, seed(2)?)?),
            Function::Pi => Number::Double(std::f64::consts::PI),
            Function::Power => Number::Double(double(0).powf(double(1))),
            Function::Random => {
                let range = Range::new(int(0)?, int(1)?)?;
                Number::Int(random.random_range(range.low..=range.high))
            }
            Function::RandomExponential => Number::Int(exponential(
                Range::new(int(0)?, int(1)?)?,
                double(2),
                random,
            )?),
            Function::RandomGaussian => {
                Number::Int(gaussian(Range::new(int(0)?, int(1)?)?, double(2), random)?)
            }
            Function::RandomZipfian => {
                Number::Int(zipfian(Range::new(int(0)?, int(1)?)?, double(2), random)?)
            }
            Function::Sqrt => Number::Double(double(0).sqrt()),
        })
    }
}

fn extreme(arguments: &[Number], double: fn(f64, f64) -> f64, int: fn(i64, i64) -> i64) -> Number {
    let choose = |left: Number, right: &Number| match (left, *right) {
        (Number::Int(left), Number::Int(right)) => Number::Int(int(left, right)),
        (left, right) => Number::Double(double(left.double(), right.double())),
    };
    arguments[1..].iter().fold(arguments[0], choose)
}

/// Keys from `low` to `high`, both included.
#[derive(Clone, Copy)]
struct Range {
    low: i64,
    high: i64,
}

impl Range {
    fn new(low: i64, high: i64) -> Result<Range, EvaluationError> {
        if low > high {
            return Err(EvaluationError::EmptyRange { low, high });
        }
        // One more than the width must fit too: it is the number of keys.
        let width = high.checked_sub(low).ok_or_else(out_of_range)?;
        width.checked_add(1).ok_or_else(out_of_range)?;
        Ok(Range { low, high })
    }

    fn count(self) -> f64 {
        (self.high - self.low + 1) as f64
    }

    /// The key at `share` of the way, from 0 up to but not including 1.
    fn at(self, share: f64) -> Result<i64, EvaluationError> {
        Ok(add(self.low, (self.count() * share) as i64)?.min(self.high))
    }
}

/// The range the documentation gives for the shape of a distribution.
fn shape(
    function: &'static str,
    given: f64,
    allowed: RangeInclusive<f64>,
) -> Result<f64, EvaluationError> {
    if allowed.contains(&given) {
        Ok(given)
    } else {
        Err(EvaluationError::Shape {
            function,
            given: given.to_string(),
            low: *allowed.start(),
            high: *allowed.end(),
        })
    }
}

/// A truncated exponential distribution: key i of n has density proportional to
/// `exp(-parameter * i / n)`.
///
/// Source: pgbench's documentation, `random_exponential`, read 2026-11-21; drawn by inverting the
/// distribution function.
fn exponential(range: Range, parameter: f64, random: &mut Stream) -> Result<i64, EvaluationError> {
    let parameter = shape(
        "random_exponential",
        parameter,
        f64::MIN_POSITIVE..=f64::MAX,
    )?;
    let cut = (-parameter).exp();
    let uniform: f64 = random.random();
    range.at(-(1.0 - (1.0 - cut) * uniform).ln() / parameter)
}

/// A normal distribution cut off at `parameter` standard deviations to either side, stretched over
/// the range.
///
/// Source: pgbench's documentation, `random_gaussian`, read 2026-11-21; it asks for at least 2.0.
fn gaussian(range: Range, parameter: f64, random: &mut Stream) -> Result<i64, EvaluationError> {
    let parameter = shape("random_gaussian", parameter, 2.0..=f64::MAX)?;
    // At 2 standard deviations 95 % of draws are accepted, so the loop ends soon.
    let deviation = loop {
        let drawn: f64 = StandardNormal.sample(random);
        if drawn.abs() < parameter {
            break drawn;
        }
    };
    range.at((deviation + parameter) / (2.0 * parameter))
}

/// A bounded Zipfian distribution: key i is drawn with a probability proportional to `i^-parameter`.
///
/// Source: pgbench's documentation, `random_zipfian`, read 2026-11-21; the limits are pgbench's.
fn zipfian(range: Range, parameter: f64, random: &mut Stream) -> Result<i64, EvaluationError> {
    let parameter = shape("random_zipfian", parameter, 1.001..=1000.0)?;
    let zipf =
        Zipf::new(range.count(), parameter).expect("count is 1 or more, the shape is checked");
    let rank = zipf.sample(random) as i64;
    Ok(add(range.low, rank - 1)?.min(range.high))
}

/// FNV-1a, 64 bit, over the eight bytes of `value`, least first; `seed` is mixed into the start.
///
/// Source: Fowler, Noll and Vo; 64 bit.
fn hash_fnv1a(value: i64, seed: i64) -> i64 {
    let start = 0xcbf2_9ce4_8422_2325_u64 ^ seed as u64;
    let hash = value.to_le_bytes().iter().fold(start, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    hash as i64
}

/// MurmurHash64A of the eight bytes of `value`.
///
/// Source: Austin Appleby, MurmurHash2, public domain, 2008.
fn hash_murmur2(value: i64, seed: i64) -> i64 {
    const MULTIPLIER: u64 = 0xc6a4_a793_5bd1_e995;
    const SHIFT: u32 = 47;
    let mut word = (value as u64).wrapping_mul(MULTIPLIER);
    word ^= word >> SHIFT;
    word = word.wrapping_mul(MULTIPLIER);
    let mut hash = seed as u64 ^ MULTIPLIER.wrapping_mul(8);
    hash = (hash ^ word).wrapping_mul(MULTIPLIER);
    hash = (hash ^ (hash >> SHIFT)).wrapping_mul(MULTIPLIER);
    (hash ^ (hash >> SHIFT)) as i64
}

/// Where `value` (taken modulo `size`) goes in a shuffle of 0..size that `seed` chooses.
///
/// Like pgbench's it is a shuffle, but not the same one: each round is a bijection of the next power
/// of two, repeated until the result falls below `size` (cycle walking; Black and Rogaway, 2002).
pub(crate) fn permute(value: i64, size: i64, seed: i64) -> Result<i64, EvaluationError> {
    const ROUNDS: u64 = 4;
    if size < 1 {
        return Err(EvaluationError::EmptyRange {
            low: 0,
            high: size.saturating_sub(1),
        });
    }
    let bits = u64::BITS - (size as u64 - 1).leading_zeros();
    let mask = if bits == 0 {
        0
    } else {
        u64::MAX >> (u64::BITS - bits)
    };
    let keys: [u64; ROUNDS as usize] =
        std::array::from_fn(|round| hash_murmur2(round as i64, seed) as u64);
    let mut at = value.rem_euclid(size) as u64;
    loop {
        for key in keys {
            at = at.wrapping_mul(key | 1).wrapping_add(key >> 7) & mask;
            at ^= at >> (bits / 2 + 1).min(u64::BITS - 1);
        }
        if at < size as u64 {
            return Ok(at as i64);
        }
    }
}

#[cfg(test)]
mod tests {
    use model::random::stream;

    use super::*;

    #[test]
    fn hashes_are_those_of_pgbench() {
        // The values that pgbench's documentation gives for hash_fnv1a(10, 5432) and hash_murmur2(10, 5432).
        assert_eq!(hash_fnv1a(10, 5432), -7_793_829_335_365_542_153);
        assert_eq!(hash_murmur2(10, 5432), -5_817_877_081_768_721_676);
    }

    #[test]
    fn permute_hits_every_place_once() {
        for size in [1, 2, 3, 7, 64, 1000] {
            let mut places: Vec<i64> = (0..size)
                .map(|value| permute(value, size, 42).expect("a size above 0"))
                .collect();
            places.sort_unstable();
            assert_eq!(places, (0..size).collect::<Vec<_>>());
        }
    }

    #[test]
    fn zipfian_keys_fall_off_as_their_law_says() {
        let mut random = stream(1, "keys");
        let range = Range::new(1, 1_000).expect("not empty");
        let mut counts = [0_u32; 1_001];
        for _ in 0..100_000 {
            counts[zipfian(range, 1.5, &mut random).expect("a shape in range") as usize] += 1;
        }
        // P(1)/P(2) = 2^1.5 = 2.83; some 38,600 and 13,600 draws, so within a few per cent.
        let ratio = f64::from(counts[1]) / f64::from(counts[2]);
        assert!((2.6..3.1).contains(&ratio), "{ratio}");
    }

    #[test]
    fn every_distribution_keeps_to_its_range() {
        let mut random = stream(1, "keys");
        let range = Range::new(-3, 3).expect("not empty");
        for _ in 0..10_000 {
            for key in [
                exponential(range, 2.5, &mut random),
                gaussian(range, 2.5, &mut random),
                zipfian(range, 1.1, &mut random),
            ] {
                assert!((-3..=3).contains(&key.expect("a shape in range")));
            }
        }
    }
}
