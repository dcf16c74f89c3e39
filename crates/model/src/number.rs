//! Numbers from outside: each kind has a range that its values cannot leave.
//!
//! Code that reads a file, a server's response or an option uses one of these instead of an `f64`. Results computed
//! from them are finite, as long as they are sums or products of what a file of bounded size can hold.

use alloc::string::{String, ToString};
use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, de};

/// A number out of range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeError {
    given: String,
    wanted: &'static str,
}

impl fmt::Display for RangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not {}", self.given, self.wanted)
    }
}

impl core::error::Error for RangeError {}

/// Largest possible count: counters have 64 bits.
pub const COUNTED_MAX: f64 = 18_446_744_073_709_551_616.0;

/// Defines a number type with a range, parsed from a number or from a user's text.
macro_rules! range {
    ($(#[$about:meta])* $type:ident, $range:expr, $wanted:expr) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize)]
        #[serde(transparent)]
        pub struct $type(f64);

        impl $type {
            /// The number.
            pub const fn get(self) -> f64 {
                self.0
            }
        }

        impl TryFrom<f64> for $type {
            type Error = RangeError;

            fn try_from(value: f64) -> Result<$type, RangeError> {
                match ($range).contains(&value) {
                    true => Ok($type(value)),
                    false => Err(RangeError {
                        given: alloc::format!("{value:?}"),
                        wanted: $wanted,
                    }),
                }
            }
        }

        impl FromStr for $type {
            type Err = RangeError;

            fn from_str(text: &str) -> Result<$type, RangeError> {
                let text = text.trim();
                let fail = || RangeError {
                    given: alloc::format!("`{text}`"),
                    wanted: $wanted,
                };
                let value: f64 = text.parse().map_err(|_| fail())?;
                $type::try_from(value).map_err(|_| fail())
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$type, D::Error> {
                let value = f64::deserialize(deserializer)?;
                $type::try_from(value).map_err(|error| de::Error::custom(error.to_string()))
            }
        }
    };
}

range!(
    /// A count of events or bytes, or an amount.
    Counted,
    0.0..=COUNTED_MAX,
    "a count or an amount: from 0 to 2^64, where counters end"
);

range!(
    /// A percentile, or a percentage.
    Percent,
    0.0..=100.0,
    "a percentage: from 0 to 100"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_outside_of_its_range_is_refused_with_the_range() {
        for wrong in [
            -1.0,
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            1e308,
            -1e-9,
        ] {
            let error = Counted::try_from(wrong).expect_err("it is out of range");
            assert!(error.to_string().contains("from 0 to 2^64"), "{error}");
            assert!(Percent::try_from(wrong).is_err(), "{wrong}");
        }
        assert_eq!(Counted::try_from(0.0).map(Counted::get), Ok(0.0));
        let most = Counted::try_from(u64::MAX as f64).map(Counted::get);
        assert_eq!(most, Ok(COUNTED_MAX));
        assert!(Percent::try_from(100.1).is_err());
    }

    #[test]
    fn a_text_is_read_as_the_number_it_is() {
        assert_eq!(" 9.5".parse::<Counted>().map(Counted::get), Ok(9.5));
        for wrong in ["", "x", "inf", "nan", "1e999", "-1"] {
            let error = wrong.parse::<Counted>().expect_err("it is out of range");
            assert!(
                error.to_string().starts_with(&alloc::format!("`{wrong}`")),
                "{error}"
            );
        }
    }

    #[test]
    fn files_are_read_by_the_same_range() {
        use serde::de::IntoDeserializer;
        use serde::de::value::Error;

        let read = |value: f64| -> Result<Percent, Error> {
            Percent::deserialize(value.into_deserializer())
        };
        assert_eq!(read(95.0).map(Percent::get), Ok(95.0));
        let error = read(-9.3e18).expect_err("it is out of range").to_string();
        assert_eq!(error, "-9.3e18 is not a percentage: from 0 to 100");
    }
}
