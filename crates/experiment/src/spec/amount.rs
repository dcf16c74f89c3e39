//! Values with more than one notation.

use std::fmt;
use std::marker::PhantomData;

use model::{Duration, LatencySpec};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de::IntoDeserializer};

use super::percentage::percentage;

/// `"d"` or `["d", "e"]`.
#[derive(Clone, Debug)]
pub(crate) enum OneOrMany<T> {
    /// One value.
    One(T),
    /// A list.
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    /// The values, one or many.
    pub(crate) fn as_slice(&self) -> &[T] {
        match self {
            OneOrMany::One(value) => std::slice::from_ref(value),
            OneOrMany::Many(values) => values,
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Either<T> {
            type Value = OneOrMany<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("one value, or a list in brackets")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                T::deserialize(text.into_deserializer()).map(OneOrMany::One)
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Self::Value, E> {
                T::deserialize(number.into_deserializer()).map(OneOrMany::One)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(OneOrMany::Many)
            }
        }
        deserializer.deserialize_any(Either(PhantomData))
    }
}

/// A span of time with its unit; a bare number is rejected, because nanoseconds are never intended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span(pub(crate) Duration);

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = Span;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a span of time with its unit, such as \"250 us\" or \"10 s\"")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Span, E> {
                text.parse().map(Span).map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Text)
    }
}

/// A share: `0.05`, or `"5%"`. Its range is checked with its key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share(pub(crate) f64);

impl<'de> Deserialize<'de> for Share {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberOrText;
        impl Visitor<'_> for NumberOrText {
            type Value = Share;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a share such as 0.05, or a percentage such as \"5%\"")
            }

            fn visit_f64<E: de::Error>(self, share: f64) -> Result<Share, E> {
                Ok(Share(share))
            }

            fn visit_i64<E: de::Error>(self, share: i64) -> Result<Share, E> {
                Ok(Share(share as f64))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Share, E> {
                percentage(text, f64::INFINITY)
                    .map(Share)
                    .map_err(E::custom)
            }
        }
        deserializer.deserialize_any(NumberOrText)
    }
}

/// A whole number of 64 bits: `7`, or `"18446744073709551615"`, since TOML's own whole numbers end at 2^63.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seed(pub(crate) u64);

impl<'de> Deserialize<'de> for Seed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number;
        impl Visitor<'_> for Number {
            type Value = Seed;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "a whole number from 0 to 18446744073709551615, in quotes from 9223372036854775808 on",
                )
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Seed, E> {
                Ok(Seed(number))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Seed, E> {
                let seed = u64::try_from(number).map(Seed);
                seed.map_err(|_| E::invalid_value(de::Unexpected::Signed(number), &self))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Seed, E> {
                let seed = text.trim().parse().map(Seed);
                seed.map_err(|_| E::invalid_value(de::Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_any(Number)
    }
}

/// `"0.6 ms"` (always the same), `{ p50 = "0.6 ms", p99 = "2 ms" }` or `{ mean = "1 ms" }`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Latency(pub(crate) LatencySpec);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LatencyTable {
    p50: Option<Span>,
    p99: Option<Span>,
    mean: Option<Span>,
}

impl LatencyTable {
    fn meaning(self) -> Option<LatencySpec> {
        match (self.p50, self.p99, self.mean) {
            (Some(p50), Some(p99), None) => {
                let (p50, p99) = (p50.0, p99.0);
                Some(LatencySpec::LogNormal { p50, p99 }).filter(|latency| is_possible(*latency))
            }
            (None, None, Some(mean)) => Some(LatencySpec::Exponential { mean: mean.0 }),
            (Some(_), _, _) | (None, Some(_), _) | (None, None, None) => None,
        }
    }
}

/// Whether p50 and p99 are consistent.
pub(super) fn is_possible(latency: LatencySpec) -> bool {
    match latency {
        LatencySpec::LogNormal { p50, p99 } => Duration::ZERO < p50 && p50 <= p99,
        LatencySpec::Constant { .. } | LatencySpec::Exponential { .. } => true,
    }
}

impl<'de> Deserialize<'de> for Latency {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const WANTED: &str = "a latency such as \"0.6 ms\", { p50 = \"0.6 ms\", p99 = \"2 ms\" } \
                              with p50 above zero and not above p99, or { mean = \"1 ms\" }";
        struct Shape;
        impl<'de> Visitor<'de> for Shape {
            type Value = Latency;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(WANTED)
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Latency, E> {
                let value = text.parse().map_err(E::custom)?;
                Ok(Latency(LatencySpec::constant(value)))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Latency, A::Error> {
                let table = LatencyTable::deserialize(MapAccessDeserializer::new(map))?;
                let meaning = table.meaning().map(Latency);
                meaning.ok_or_else(|| de::Error::custom(format!("this is not {WANTED}")))
            }
        }
        deserializer.deserialize_any(Shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Holder<T> {
        value: T,
    }

    fn read<T: for<'de> Deserialize<'de>>(text: &str) -> Result<T, String> {
        toml::from_str::<Holder<T>>(&format!("value = {text}"))
            .map(|holder| holder.value)
            .map_err(|error| error.message().to_owned())
    }

    #[test]
    fn a_span_without_a_unit_is_refused() {
        assert_eq!(
            read::<Span>("\"10 s\"").map(|s| s.0),
            Ok(Duration::from_secs(10))
        );
        assert!(read::<Span>("10").is_err());
        assert!(read::<Span>("\"-1 s\"").is_err());
    }

    #[test]
    fn a_share_is_a_number_or_a_percentage() {
        let share = |text| read::<Share>(text).map(|share| share.0);
        assert_eq!(share("0.05"), Ok(0.05));
        assert_eq!(share("1"), Ok(1.0));
        assert_eq!(share("\"50%\""), Ok(0.5));
        assert_eq!(share("\"100 %\""), Ok(1.0));
        let asked = share("\"5\"").expect_err("which?");
        assert!(asked.contains("is that 5 % or 5 times?"), "{asked}");
        let below = share("\"-5%\"").expect_err("below 0");
        assert!(below.contains("-5% is below 0"), "{below}");
        let other = share("true").expect_err("no share");
        assert!(other.contains("a percentage such as \"5%\""), "{other}");
    }

    #[test]
    fn a_seed_has_all_64_bits() {
        let seed = |text| read::<Seed>(text).map(|seed| seed.0);
        assert_eq!(seed("9223372036854775807"), Ok(u64::MAX / 2));
        assert_eq!(seed("\"18446744073709551615\""), Ok(u64::MAX));
        for wrong in ["-1", "\"18446744073709551616\"", "\"one\"", "1.5"] {
            assert!(seed(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_latency_has_three_shapes() {
        let latency = |text| read::<Latency>(text).map(|latency| latency.0);
        let ms = Duration::from_millis;
        assert_eq!(latency("\"2 ms\""), Ok(LatencySpec::constant(ms(2))));
        assert_eq!(
            latency("{ p50 = \"1 ms\", p99 = \"3 ms\" }"),
            Ok(LatencySpec::LogNormal {
                p50: ms(1),
                p99: ms(3)
            })
        );
        assert_eq!(
            latency("{ mean = \"1 ms\" }"),
            Ok(LatencySpec::Exponential { mean: ms(1) })
        );
        assert!(latency("{ p50 = \"3 ms\", p99 = \"1 ms\" }").is_err());
        assert!(latency("{}").is_err());
    }

    #[test]
    fn one_value_stands_for_a_list_of_one() {
        let names = |text| read::<OneOrMany<String>>(text).map(|names| names.as_slice().to_vec());
        assert_eq!(names("\"d\""), Ok(vec!["d".to_owned()]));
        assert_eq!(names("[\"d\", \"e\"]").map(|names| names.len()), Ok(2));
        assert!(names("[1]").is_err());
    }
}
