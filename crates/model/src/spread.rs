//! How far a value may be from its typical one, where it is not documented exactly.

use core::fmt;

use serde::{Deserialize, Serialize};

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

    #[test]
    fn one_deviation_is_the_factor_and_what_is_known_exactly_does_not_differ() {
        let spread = Spread::new(1.5).expect("it is a factor");
        assert!((spread.reach(1.0) - 1.5).abs() < 1e-12);
        assert!((spread.reach(-2.0) - 1.0 / 2.25).abs() < 1e-12);
        assert_eq!(Spread::NONE.reach(3.0), 1.0);
    }

    #[test]
    fn a_spread_below_1_or_without_end_is_refused() {
        for factor in [0.99, 0.0, -1.5, 101.0, f64::NAN, f64::INFINITY] {
            let refused = Spread::new(factor).expect_err("it is not a spread");
            assert!(alloc::format!("{refused}").contains("is not a factor of 1 to 100"));
        }
    }
}
