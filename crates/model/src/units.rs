//! Bytes, IOPS and throughput: separate types, so that one cannot be mistaken for another.
//!
//! KiB, MiB, GiB and TiB are powers of 1024; kB, MB, GB and TB powers of 1000. Both are parsed,
//! neither is guessed.

use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::time::Duration;

/// An amount of data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// Requests per second.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Iops(pub u64);

/// Bytes per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Throughput(pub u64);

/// A text that is not an amount with a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitError {
    given: String,
    wanted: &'static str,
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not {}", self.given, self.wanted)
    }
}

impl core::error::Error for UnitError {}

impl Bytes {
    /// Nothing.
    pub const ZERO: Bytes = Bytes(0);

    /// `n` units of 1024 bytes.
    pub const fn kib(n: u64) -> Bytes {
        Bytes(n << 10)
    }

    /// `n` units of 1024² bytes.
    pub const fn mib(n: u64) -> Bytes {
        Bytes(n << 20)
    }

    /// `n` units of 1024³ bytes.
    pub const fn gib(n: u64) -> Bytes {
        Bytes(n << 30)
    }
}

impl Throughput {
    /// Megabytes (10⁶ bytes) per second.
    pub const fn from_mb_per_s(n: u64) -> Throughput {
        Throughput(n * 1_000_000)
    }

    /// Mebibytes (2²⁰ bytes) per second.
    pub const fn from_mib_per_s(n: u64) -> Throughput {
        Throughput(n << 20)
    }

    /// How long `amount` takes at this rate, rounded up to a nanosecond.
    ///
    /// # Panics
    /// When the rate is zero.
    pub fn time_for(self, amount: Bytes) -> Duration {
        assert!(
            self.0 > 0,
            "a throughput of zero never moves {} bytes",
            amount.0
        );
        let ns = (u128::from(amount.0) * 1_000_000_000).div_ceil(u128::from(self.0));
        Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX))
    }
}

const BINARY: [(&str, u64); 4] = [
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
];
const DECIMAL: [(&str, u64); 4] = [
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
];

fn scaled(text: &str, wanted: &'static str) -> Result<u64, UnitError> {
    let fail = || UnitError {
        given: text.into(),
        wanted,
    };
    let trimmed = text.trim();
    let split = trimmed
        .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_'))
        .unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(split);
    let unit = unit.trim();
    let factor = match unit {
        "B" | "bytes" => 1,
        _ => BINARY
            .iter()
            .chain(&DECIMAL)
            .find(|(name, _)| *name == unit)
            .map(|(_, factor)| *factor)
            .ok_or_else(fail)?,
    };
    let digits: String = number.chars().filter(|c| *c != '_').collect();
    if let Ok(whole) = digits.parse::<u64>() {
        return whole.checked_mul(factor).ok_or_else(fail);
    }
    let value: f64 = digits.parse().map_err(|_| fail())?;
    let product = value * factor as f64;
    if product.is_finite() && (0.0..1.8e19).contains(&product) {
        Ok(product as u64)
    } else {
        Err(fail())
    }
}

impl FromStr for Bytes {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Bytes, UnitError> {
        scaled(text, "a size such as \"64 KiB\", \"512 MiB\" or \"2 GB\"").map(Bytes)
    }
}

impl FromStr for Throughput {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Throughput, UnitError> {
        const WANTED: &str = "a throughput such as \"200 MB/s\" or \"125 MiB/s\"";
        let rate = text.trim().strip_suffix("/s").ok_or_else(|| UnitError {
            given: text.into(),
            wanted: WANTED,
        })?;
        scaled(rate, WANTED).map(Throughput)
    }
}

fn with_unit(
    f: &mut fmt::Formatter<'_>,
    value: u64,
    units: &[(&str, u64)],
    suffix: &str,
) -> fmt::Result {
    for (unit, factor) in units {
        if value >= *factor {
            return if value.is_multiple_of(*factor) {
                write!(f, "{} {unit}{suffix}", value / factor)
            } else {
                write!(f, "{:.1} {unit}{suffix}", value as f64 / *factor as f64)
            };
        }
    }
    write!(f, "{value} B{suffix}")
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        with_unit(f, self.0, &BINARY, "")
    }
}

impl fmt::Display for Iops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} IOPS", self.0)
    }
}

/// In the unit that the vendor used, where the amount shows it: 125 MiB/s are 131.072 MB/s.
impl fmt::Display for Throughput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimal = self.0 as f64 / 1e6;
        let binary = self.0 as f64 / f64::from(1 << 20);
        match self.0 {
            n if n.is_multiple_of(1_000_000) => write!(f, "{decimal} MB/s"),
            n if n >= 1 << 20 && n.is_multiple_of(1 << 18) => write!(f, "{binary} MiB/s"),
            n if (1 << 10..1 << 20).contains(&n) && n.is_multiple_of(1 << 10) => {
                write!(f, "{} KiB/s", n >> 10)
            }
            n if n.is_multiple_of(10_000) => write!(f, "{decimal} MB/s"),
            n if n < 1_000 => write!(f, "{n} B/s"),
            n if n < 100_000 => write!(f, "{:.1} kB/s", n as f64 / 1e3),
            n if n < 1 << 20 => write!(f, "{binary:.2} MiB/s"),
            _ => write!(f, "{decimal:.1} MB/s"),
        }
    }
}

/// Files carry amounts as text with a unit, or as plain bytes: `"64 KiB"` or `65536`.
macro_rules! text_or_number {
    ($type:ident) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_u64(self.0)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Visitor;
                impl de::Visitor<'_> for Visitor {
                    type Value = $type;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str("an amount with a unit, or whole bytes")
                    }

                    fn visit_u64<E: de::Error>(self, value: u64) -> Result<$type, E> {
                        Ok($type(value))
                    }

                    fn visit_i64<E: de::Error>(self, value: i64) -> Result<$type, E> {
                        u64::try_from(value).map($type).map_err(|_| {
                            E::custom(alloc::format!(
                                "{value} is negative; sizes and rates are not"
                            ))
                        })
                    }

                    fn visit_str<E: de::Error>(self, text: &str) -> Result<$type, E> {
                        text.parse().map_err(E::custom)
                    }
                }
                deserializer.deserialize_any(Visitor)
            }
        }
    };
}
text_or_number!(Bytes);
text_or_number!(Throughput);

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn binary_and_decimal_units_differ() {
        assert_eq!("64 KiB".parse(), Ok(Bytes(65_536)));
        assert_eq!("64kB".parse(), Ok(Bytes(64_000)));
        assert_eq!("1.5 MiB".parse(), Ok(Bytes(1_572_864)));
        assert_eq!("200 MB/s".parse(), Ok(Throughput(200_000_000)));
    }

    #[test]
    fn an_amount_without_a_unit_is_refused_with_the_remedy() {
        let error = "64".parse::<Bytes>().expect_err("no unit");
        assert!(error.to_string().contains("\"64 KiB\""), "{error}");
        assert!("-1 KiB".parse::<Bytes>().is_err());
        assert!("200 MB".parse::<Throughput>().is_err());
    }

    #[test]
    fn amounts_are_shown_in_the_largest_unit_they_reach() {
        assert_eq!(Bytes::kib(64).to_string(), "64 KiB");
        assert_eq!(Bytes(1_500).to_string(), "1.5 KiB");
        assert_eq!(Bytes(1_023).to_string(), "1023 B");
        assert_eq!(Bytes(1_024).to_string(), "1 KiB");
        assert_eq!(Bytes(1_048_576).to_string(), "1 MiB");
        assert_eq!(Throughput::from_mb_per_s(64).to_string(), "64 MB/s");
        assert_eq!(Throughput(1_500_000).to_string(), "1.5 MB/s");
        assert_eq!(Iops(500).to_string(), "500 IOPS");
    }

    #[test]
    fn a_throughput_is_shown_in_the_unit_that_its_vendor_used() {
        let shown = [
            0,
            80,
            8_900,
            250_000,
            // 0.28 MiB/s = 293,601 B/s
            293_601,
            524_288,
            // 62.5 and 125 MiB/s
            65_536_000,
            131_072_000,
            // AWS: 81.25 MB/s
            81_250_000,
            200_000_000,
            123_456_789,
        ]
        .map(|bytes| Throughput(bytes).to_string());

        let expected = [
            "0 MB/s",
            "80 B/s",
            "8.9 kB/s",
            "0.25 MB/s",
            "0.28 MiB/s",
            "512 KiB/s",
            "62.5 MiB/s",
            "125 MiB/s",
            "81.25 MB/s",
            "200 MB/s",
            "123.5 MB/s",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn bytes_have_a_unit_too() {
        assert_eq!("512 B".parse(), Ok(Bytes(512)));
        assert_eq!("512 bytes".parse(), Ok(Bytes(512)));
    }

    #[test]
    fn an_amount_beyond_64_bits_is_refused_whole_or_not() {
        // 2^64 bytes are 18.4 million TB, of which 18 million pass.
        assert!("18000000 TB".parse::<Bytes>().is_ok());
        assert!("20000000 TB".parse::<Bytes>().is_err());
        assert!("20000000.5 TB".parse::<Bytes>().is_err());
        assert_eq!(
            "17000000.5 TB".parse(),
            Ok(Bytes(17_000_000_500_000_000_000))
        );
    }

    #[test]
    fn time_for_rounds_up() {
        // 64 KiB at 64 MB/s = 1.024 ms
        assert_eq!(
            Throughput::from_mb_per_s(64).time_for(Bytes::kib(64)),
            Duration::from_micros(1_024)
        );
        assert_eq!(
            Throughput(3).time_for(Bytes(1)),
            Duration::from_nanos(333_333_334)
        );
    }
}
