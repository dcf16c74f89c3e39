//! A setting of a product: its kind, and what it means for the keys of `[engine]`.

use std::fmt;
use std::ops::RangeInclusive;

use model::Bytes;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, EnumAccess, Error, VariantAccess, Visitor,
};
use serde::{Serialize, Serializer};

/// A setting of a product, by the product's own name.
#[derive(Debug)]
pub struct Setting {
    /// Its key in the product's section.
    pub key: &'static str,
    /// What it is, as in FORMAT.md's table, where its values follow.
    pub about: &'static str,
    /// What holds where an experiment has not set it, as in the same table.
    pub absent: &'static str,
    /// Which values it has.
    pub kind: Kind,
    /// Its value in a plan if the experiment does not set it; `None`: it is left to the server.
    pub default: Option<Value>,
    /// What it means for an engine of any product.
    pub meaning: Meaning,
    /// Why simulate does not have this value; `None`: it does.
    pub not_simulated: fn(Value) -> Option<&'static str>,
}

impl Setting {
    /// A setting that a server gets unchanged, or keeps its own.
    pub(crate) const fn passed(key: &'static str, about: &'static str, kind: Kind) -> Setting {
        Setting {
            key,
            about,
            absent: "as the server has it",
            kind,
            default: None,
            meaning: Meaning::Itself,
            not_simulated: |_| None,
        }
    }
}

/// What a setting means for an engine of any product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// Nothing: it is the product's alone.
    Itself,
    /// `commit`: a commit waits for the log with one value only.
    Commit {
        /// That value.
        durable: Value,
    },
    /// `doublewrite_pages`: whether pages are written twice.
    Doublewrite,
    /// `log_capacity`.
    LogCapacity,
    /// Whether the placement has a binary log. It is not kept in a plan, which has the placement.
    Binlog,
    /// Groups of commits after which the binary log is flushed; 0: never.
    BinlogSync,
}

/// Which values a setting has.
#[derive(Debug)]
pub enum Kind {
    /// On or off.
    Switch,
    /// A whole number in a range.
    Number(RangeInclusive<u32>),
    /// A number that stands for a choice, from 0.
    Choice {
        /// The last one.
        most: u8,
        /// All of them, with what they do.
        taken: &'static str,
    },
    /// A size.
    Size {
        /// The smallest.
        least: Bytes,
        /// The largest.
        most: Bytes,
        /// It is a multiple of this.
        block: Bytes,
        /// This as text.
        taken: &'static str,
    },
    /// One of these names.
    Name(&'static [&'static str]),
}

/// The value of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// Of [`Kind::Switch`].
    Switch(bool),
    /// Of [`Kind::Number`], [`Kind::Choice`] and [`Kind::Size`], in bytes.
    Number(u64),
    /// Of [`Kind::Name`].
    Name(&'static str),
}

impl Kind {
    /// The values that a server takes, if it does not take `value`.
    pub fn refuses(&self, value: Value) -> Option<String> {
        let Value::Number(number) = value else {
            return None;
        };
        match self {
            Kind::Number(range) => {
                let (least, most) = (*range.start(), *range.end());
                let is_in = (u64::from(least)..=u64::from(most)).contains(&number);
                (!is_in).then(|| format!("{least} to {most}"))
            }
            Kind::Size {
                least,
                most,
                block,
                taken,
            } => {
                let is_in = (least.0..=most.0).contains(&number) && number.is_multiple_of(block.0);
                (!is_in).then(|| (*taken).to_owned())
            }
            Kind::Switch | Kind::Choice { .. } | Kind::Name(_) => None,
        }
    }

    /// Its values, as FORMAT.md has them.
    pub fn values(&self) -> String {
        match self {
            Kind::Switch => "`true` or `false`".to_owned(),
            Kind::Number(range) => {
                let (least, most) = (*range.start(), *range.end());
                match (least, most) {
                    (0, u32::MAX) => "a whole number".to_owned(),
                    (least, u32::MAX) => format!("{} or more", thousands(least)),
                    (least, most) => format!("{} to {}", thousands(least), thousands(most)),
                }
            }
            Kind::Choice { taken, .. } | Kind::Size { taken, .. } => (*taken).to_owned(),
            Kind::Name(names) => {
                let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                match names.as_slice() {
                    [others @ .., last] if !others.is_empty() => {
                        format!("{} or {last}", others.join(", "))
                    }
                    _ => names.join(", "),
                }
            }
        }
    }

    /// The value as an experiment has it.
    pub fn shown(&self, value: Value) -> String {
        match (self, value) {
            (Kind::Size { .. }, Value::Number(bytes)) => Bytes(bytes).to_string(),
            (_, Value::Number(number)) => number.to_string(),
            (_, Value::Switch(is_on)) => is_on.to_string(),
            (_, Value::Name(name)) => name.to_owned(),
        }
    }
}

/// `1,024`
pub(crate) fn thousands(number: u32) -> String {
    match number {
        0..1_000 => number.to_string(),
        _ => format!("{},{:03}", thousands(number / 1_000), number % 1_000),
    }
}

impl<'de> DeserializeSeed<'de> for &Kind {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        match self {
            Kind::Switch => bool::deserialize(deserializer).map(Value::Switch),
            Kind::Number(_) => u32::deserialize(deserializer).map(|it| Value::Number(it.into())),
            Kind::Choice { most, taken } => match u8::deserialize(deserializer)? {
                number if number <= *most => Ok(Value::Number(number.into())),
                other => Err(D::Error::custom(format!(
                    "there is no {other}: give {taken}"
                ))),
            },
            Kind::Size { .. } => Bytes::deserialize(deserializer).map(|it| Value::Number(it.0)),
            Kind::Name(names) => {
                let position = OneOf(names).read(deserializer)?;
                Ok(Value::Name(names[position]))
            }
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Switch(is_on) => serializer.serialize_bool(*is_on),
            Value::Number(number) => serializer.serialize_u64(*number),
            Value::Name(name) => serializer.serialize_str(name),
        }
    }
}

/// Names that a text is one of, with serde's messages for any other.
pub(crate) struct OneOf<'a>(pub(crate) &'a [&'static str]);

impl OneOf<'_> {
    /// The position of the name that the text is.
    pub(crate) fn read<'de, D: Deserializer<'de>>(
        &self,
        deserializer: D,
    ) -> Result<usize, D::Error> {
        deserializer.deserialize_enum("", &[], self)
    }

    /// The position of the name equal to `given`; `kind` is what serde calls such a name.
    pub(crate) fn position<E: Error>(&self, kind: &str, given: &str) -> Result<usize, E> {
        let found = self.0.iter().position(|name| *name == given);
        found.ok_or_else(|| {
            let quoted = self.0.iter().map(|name| format!("`{name}`"));
            let quoted: Vec<String> = quoted.collect();
            let expected = match quoted.as_slice() {
                [first, second] => format!("{first} or {second}"),
                all => format!("one of {}", all.join(", ")),
            };
            E::custom(format!("unknown {kind} `{given}`, expected {expected}"))
        })
    }
}

impl<'de> Visitor<'de> for &OneOf<'_> {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<usize, A::Error> {
        let (given, rest) = access.variant::<String>()?;
        let position = self.position("variant", &given)?;
        rest.unit_variant().map(|()| position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PRODUCTS;

    #[test]
    fn values_are_described_as_a_reader_writes_them() {
        assert_eq!(Kind::Number(0..=1_000).values(), "0 to 1,000");
        assert_eq!(Kind::Number(100..=u32::MAX).values(), "100 or more");
        let names = Kind::Name(&["sync", "worker", "io_uring"]);
        assert_eq!(names.values(), "`sync`, `worker` or `io_uring`");
    }

    #[test]
    fn a_table_has_each_key_once_and_defaults_that_a_server_takes() {
        for product in PRODUCTS {
            let mut keys: Vec<&str> = product.settings.iter().map(|it| it.key).collect();
            keys.sort_unstable();
            keys.dedup();
            assert_eq!(keys.len(), product.settings.len(), "{}", product.name);
            for setting in product.settings {
                let refused = setting
                    .default
                    .and_then(|value| setting.kind.refuses(value));
                assert_eq!(refused, None, "{}", setting.key);
                let refused = setting.default.and_then(setting.not_simulated);
                assert_eq!(refused, None, "{}", setting.key);
            }
        }
    }

    #[test]
    fn names_are_refused_as_serde_refuses_variants() {
        let read = |text: &str| {
            let mut json = serde_json::Deserializer::from_str(text);
            let read = OneOf(&["O_DIRECT", "fsync"]).read(&mut json);
            read.map_err(|error| error.to_string())
        };
        assert_eq!(read("\"fsync\""), Ok(1));
        let error = read("\"fsink\"").expect_err("no such name");
        let said = "unknown variant `fsink`, expected `O_DIRECT` or `fsync`";
        assert!(error.starts_with(said), "{error}");
    }
}
