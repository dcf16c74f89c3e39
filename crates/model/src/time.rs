//! Time as integer nanoseconds: no clock, no rounding, 584 years of range.

use alloc::string::String;
use core::fmt;
use core::iter::Sum;
use core::ops::{Add, AddAssign, Mul, Sub};
use core::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, de};

/// A point in time, counted from the start of a run.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Instant(u64);

/// A span of time.
///
/// Unlike `core::time::Duration` it is one machine word, which the disk model adds and compares
/// many times for every request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Duration(u64);

impl Instant {
    /// The start of the run.
    pub const ZERO: Instant = Instant(0);

    /// The instant `ns` nanoseconds after the start.
    pub const fn from_nanos(ns: u64) -> Instant {
        Instant(ns)
    }

    /// Nanoseconds since the start.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the start.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The time from `earlier` to here, or zero when it is not earlier.
    pub const fn since(self, earlier: Instant) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Duration {
    /// No time at all.
    pub const ZERO: Duration = Duration(0);
    /// One second.
    pub const SECOND: Duration = Duration(1_000_000_000);

    /// A span of `ns` nanoseconds.
    pub const fn from_nanos(ns: u64) -> Duration {
        Duration(ns)
    }

    /// A span of `us` microseconds.
    pub const fn from_micros(us: u64) -> Duration {
        Duration(us.saturating_mul(1_000))
    }

    /// A span of `ms` milliseconds.
    pub const fn from_millis(ms: u64) -> Duration {
        Duration(ms.saturating_mul(1_000_000))
    }

    /// A span of `s` seconds.
    pub const fn from_secs(s: u64) -> Duration {
        Duration(s.saturating_mul(1_000_000_000))
    }

    /// A span of `s` seconds, rounded to a nanosecond; negative and non-finite values are zero.
    pub fn from_secs_f64(s: f64) -> Duration {
        Duration((s * 1e9 + 0.5) as u64)
    }

    /// The span in nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The span in seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The span in milliseconds.
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// `self - other`, or zero when `other` is longer.
    pub const fn saturating_sub(self, other: Duration) -> Duration {
        Duration(self.0.saturating_sub(other.0))
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;
    /// Saturates: an instant beyond the last one is the last one, some 584 years after the start.
    fn add(self, span: Duration) -> Instant {
        Instant(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, span: Duration) {
        *self = *self + span;
    }
}

impl Sub for Instant {
    type Output = Duration;
    /// # Panics
    /// When `earlier` is later than `self`: time ran backwards.
    fn sub(self, earlier: Instant) -> Duration {
        Duration(
            self.0
                .checked_sub(earlier.0)
                .expect("time does not run backwards"),
        )
    }
}

impl Add for Duration {
    type Output = Duration;
    /// Saturates, as [`Instant`] does.
    fn add(self, other: Duration) -> Duration {
        Duration(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, other: Duration) {
        *self = *self + other;
    }
}

impl Sub for Duration {
    type Output = Duration;
    /// # Panics
    /// When `other` is longer than `self`.
    fn sub(self, other: Duration) -> Duration {
        Duration(self.0.checked_sub(other.0).expect("a span is not negative"))
    }
}

impl Mul<u64> for Duration {
    type Output = Duration;
    /// Saturates, as [`Instant`] does.
    fn mul(self, times: u64) -> Duration {
        Duration(self.0.saturating_mul(times))
    }
}

impl Sum for Duration {
    fn sum<I: Iterator<Item = Duration>>(spans: I) -> Duration {
        spans.fold(Duration::ZERO, Add::add)
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => write!(f, "0 s"),
            ns if ns < 1_000 => write!(f, "{ns} ns"),
            ns if ns < 1_000_000 => write!(f, "{} us", ns as f64 / 1e3),
            ns if ns < 1_000_000_000 => write!(f, "{} ms", ns as f64 / 1e6),
            ns => write!(f, "{} s", ns as f64 / 1e9),
        }
    }
}

/// A text that is not a span of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DurationError(String);

impl fmt::Display for DurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is not a span of time such as \"250 us\", \"1.5 ms\", \"10 s\" or \"30 min\"",
            self.0
        )
    }
}

impl core::error::Error for DurationError {}

impl FromStr for Duration {
    type Err = DurationError;

    fn from_str(text: &str) -> Result<Duration, DurationError> {
        let fail = || DurationError(text.into());
        let trimmed = text.trim();
        let split = trimmed
            .find(|c: char| !(c.is_ascii_digit() || c == '.'))
            .ok_or_else(fail)?;
        let (number, unit) = trimmed.split_at(split);
        let factor = match unit.trim() {
            "ns" => 1.0,
            "us" | "µs" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            "min" => 60e9,
            "h" => 3600e9,
            _ => return Err(fail()),
        };
        let value: f64 = number.parse().map_err(|_| fail())?;
        let ns = value * factor;
        if ns < 1e18 {
            Ok(Duration((ns + 0.5) as u64))
        } else {
            Err(fail())
        }
    }
}

/// Files carry spans as text with a unit; records as whole nanoseconds.
impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Duration;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a span of time with a unit, or whole nanoseconds")
            }

            fn visit_u64<E: de::Error>(self, ns: u64) -> Result<Duration, E> {
                Ok(Duration(ns))
            }

            fn visit_i64<E: de::Error>(self, ns: i64) -> Result<Duration, E> {
                u64::try_from(ns)
                    .map(Duration)
                    .map_err(|_| E::custom("a span of time is not negative"))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Duration, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_ends_at_its_last_instant_rather_than_beginning_again() {
        let last = Instant::from_nanos(u64::MAX);
        assert_eq!(last + Duration::SECOND, last);
        let longest = Duration::from_secs_f64(1e300);
        assert_eq!(longest + Duration::SECOND, longest);
        assert_eq!(Duration::SECOND * u64::MAX, longest);
        assert_eq!(Duration::from_secs_f64(f64::NAN), Duration::ZERO);
    }

    #[test]
    fn spans_are_parsed_with_their_unit() {
        assert_eq!("1.5 ms".parse(), Ok(Duration::from_micros(1_500)));
        assert_eq!("30 min".parse(), Ok(Duration::from_secs(1_800)));
        assert_eq!("250 us".parse(), Ok(Duration::from_micros(250)));
        assert_eq!("250 µs".parse(), Ok(Duration::from_micros(250)));
        assert_eq!("2 h".parse(), Ok(Duration::from_secs(7_200)));
        assert!("10".parse::<Duration>().is_err());
        let error = "ten s".parse::<Duration>().expect_err("no number");
        assert!(alloc::format!("{error}").contains("`ten s`"), "{error}");
    }

    #[test]
    fn files_carry_spans_as_text_or_as_nanoseconds() {
        use serde::de::IntoDeserializer;
        use serde::de::value::Error;

        fn read<'a>(value: impl IntoDeserializer<'a, Error>) -> Result<Duration, Error> {
            Duration::deserialize(value.into_deserializer())
        }
        assert_eq!(read("5 ms"), Ok(Duration::from_millis(5)));
        assert_eq!(read(7_u64), Ok(Duration::from_nanos(7)));
        assert_eq!(read(7_i64), Ok(Duration::from_nanos(7)));
        assert!(read(-7_i64).is_err());
        let error = alloc::format!("{}", read(true).expect_err("no span"));
        assert!(error.contains("with a unit"), "{error}");
    }

    #[test]
    fn spans_are_shown_in_the_largest_unit_they_reach() {
        let shown = |ns| alloc::format!("{}", Duration::from_nanos(ns));
        let spans = [
            0,
            999,
            1_000,
            999_000,
            1_000_000,
            999_000_000,
            1_000_000_000,
        ]
        .map(shown);
        let expected = ["0 s", "999 ns", "1 us", "999 us", "1 ms", "999 ms", "1 s"];
        assert_eq!(spans, expected);
    }

    #[test]
    fn spans_are_rounded_to_a_nanosecond() {
        assert_eq!(Duration::from_secs_f64(1.6e-9), Duration::from_nanos(2));
        assert_eq!(Duration::from_secs_f64(1.4e-9), Duration::from_nanos(1));
        assert_eq!(Duration::from_secs_f64(-1.0), Duration::ZERO);
        assert_eq!("1.6 ns".parse(), Ok(Duration::from_nanos(2)));
        assert_eq!("1.4 ns".parse(), Ok(Duration::from_nanos(1)));
    }

    #[test]
    fn a_span_of_30_years_or_more_is_refused() {
        // 10^18 ns are 31.7 years.
        assert!("999999999 s".parse::<Duration>().is_ok());
        assert!("1000000000 s".parse::<Duration>().is_err());
    }
}
