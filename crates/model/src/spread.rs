//! How far a value may be from its typical one, where it is not documented exactly.

use core::fmt;

use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

use crate::random::Stream;

/// A factor between like things, such as volumes of one kind: one standard deviation of a log-normal around the typical value.
///
/// 1: they do not differ. Of 100 things, 68 are between the typical value divided by it and the typical value times it. That
/// they are log-normal is assumed: latencies are positive, and published ones differ by factors.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(into = "f64", try_from = "f64")]
pub struct Spread(f64);

/// A number that is not a spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpreadError(pub f64);

impl fmt::Display for SpreadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (factor, max) = (self.0, Spread::MAX);
        write!(
            f,
            "a spread of {factor} is not a factor of 1 to {max}; 1.4 stands for volumes that differ by 40 %, 1 for a value \
             that is known exactly"
        )
    }
}

impl core::error::Error for SpreadError {}

impl Spread {
    /// Nothing differs.
    pub const NONE: Spread = Spread(1.0);

    /// The largest: far beyond what latencies of one kind of disk differ by, and its draws are still finite.
    pub const MAX: f64 = 100.0;

    /// A spread of this factor.
    ///
    /// # Errors
    /// When it is not between 1 and [`Spread::MAX`].
    pub fn new(factor: f64) -> Result<Spread, SpreadError> {
        match (1.0..=Spread::MAX).contains(&factor) {
            true => Ok(Spread(factor)),
            false => Err(SpreadError(factor)),
        }
    }

    /// The factor.
    pub fn factor(self) -> f64 {
        self.0
    }

    /// The factor between the typical value and the one that is `deviations` standard deviations above it.
    pub fn reach(self, deviations: f64) -> f64 {
        libm::exp(deviations * libm::log(self.0))
    }

    /// The factor by which one of the things differs from the typical one; exactly 1 without a spread.
    pub fn draw(self, random: &mut Stream) -> f64 {
        if self == Spread::NONE {
            return 1.0;
        }
        let normal: f64 = StandardNormal.sample(random);
        self.reach(normal)
    }
}

impl From<Spread> for f64 {
    fn from(spread: Spread) -> f64 {
        spread.0
    }
}

impl TryFrom<f64> for Spread {
    type Error = SpreadError;

    fn try_from(factor: f64) -> Result<Spread, SpreadError> {
        Spread::new(factor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    #[test]
    fn draws_have_the_typical_value_as_median_and_the_spread_as_deviation() {
        let spread = Spread::new(1.5).expect("it is a factor");
        let mut random = stream(1, "test");
        let mut drawn: alloc::vec::Vec<f64> =
            (0..100_000).map(|_| spread.draw(&mut random)).collect();
        drawn.sort_by(f64::total_cmp);
        // The 84.134 % quantile of a log-normal is one deviation above its median; its standard error is 0.2 %.
        assert!((drawn[50_000] - 1.0).abs() < 0.006, "{}", drawn[50_000]);
        assert!((drawn[84_134] - 1.5).abs() < 0.012, "{}", drawn[84_134]);
    }

    #[test]
    fn a_value_that_is_known_exactly_is_not_drawn() {
        assert_eq!(Spread::NONE.draw(&mut stream(1, "test")), 1.0);
    }

    #[test]
    fn a_spread_below_1_or_without_end_is_refused() {
        for factor in [0.99, 0.0, -1.5, 101.0, f64::NAN, f64::INFINITY] {
            let refused = Spread::new(factor).expect_err("it is not a spread");
            assert!(alloc::format!("{refused}").contains("is not a factor of 1 to 100"));
        }
    }
}
