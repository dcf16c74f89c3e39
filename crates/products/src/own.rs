//! The settings of products in an experiment or a plan: their sections of `[engine]`.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::setting::OneOf;
use crate::{Meaning, PRODUCTS, Product, Setting, Value};

/// The settings of all products that have a value.
///
/// Those of an experiment are what it sets. Those of a plan also have defaults, and a product that has nothing else is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Own(BTreeMap<At, Value>);

/// The place of a product in [`PRODUCTS`], and of a setting in its table.
type At = (usize, usize);

impl Own {
    /// Reads all sections that `take` has, by the product's name.
    ///
    /// # Errors
    /// The first key that a product does not have, or value that is not of the setting's kind.
    pub fn read<'de, D: Deserializer<'de>>(
        mut take: impl FnMut(&'static str) -> Option<D>,
    ) -> Result<Own, D::Error> {
        let mut own = Own::default();
        for (place, product) in PRODUCTS.into_iter().enumerate() {
            if let Some(section) = take(product.name) {
                let own = &mut own;
                Section { place, own }.deserialize(section)?;
            }
        }
        Ok(own)
    }

    /// The settings of an experiment as its plan has them.
    pub fn resolved(&self) -> Own {
        let of = |(place, product): (usize, &'static Product)| {
            let kept = product.settings.iter().enumerate();
            let kept = kept.filter(|(_, setting)| setting.meaning != Meaning::Binlog);
            let values = kept.filter_map(|(position, setting)| {
                let at = (place, position);
                let value = self.0.get(&at).copied().or(setting.default)?;
                Some((at, value, setting.default == Some(value)))
            });
            let values: Vec<(At, Value, bool)> = values.collect();
            let is_default = values.iter().all(|(_, _, is_default)| *is_default);
            let values = values.into_iter().filter(move |_| !is_default);
            values.map(|(at, value, _)| (at, value))
        };
        Own(PRODUCTS.into_iter().enumerate().flat_map(of).collect())
    }

    /// All of them, in the order of the tables.
    pub fn all(&self) -> impl Iterator<Item = (&'static Product, &'static Setting, Value)> {
        self.0.iter().map(|((place, position), value)| {
            let product = PRODUCTS[*place];
            (product, &product.settings[*position], *value)
        })
    }

    /// Whether there are settings of the product called `name`.
    pub fn has(&self, name: &str) -> bool {
        self.all().any(|(product, _, _)| product.name == name)
    }

    /// The number, choice, or size in bytes of a product's setting, or its default.
    ///
    /// # Panics
    /// When the product has no such setting, or it is of another kind.
    pub fn number(&self, product: &str, key: &str) -> Option<u64> {
        self.value(product, key).map(|value| match value {
            Value::Number(number) => number,
            Value::Switch(_) | Value::Name(_) => panic!("{key} is a number, not {value:?}"),
        })
    }

    /// The name that is the value of a product's setting, or its default.
    ///
    /// # Panics
    /// When the product has no such setting, or it is of another kind.
    pub fn name(&self, product: &str, key: &str) -> Option<&'static str> {
        self.value(product, key).map(|value| match value {
            Value::Name(name) => name,
            Value::Switch(_) | Value::Number(_) => panic!("{key} is a name, not {value:?}"),
        })
    }

    /// Whether a product's setting is on, or its default.
    ///
    /// # Panics
    /// When the product has no such setting, or it is of another kind.
    pub fn is_on(&self, product: &str, key: &str) -> Option<bool> {
        self.value(product, key).map(|value| match value {
            Value::Switch(is_on) => is_on,
            Value::Number(_) | Value::Name(_) => panic!("{key} is a switch, not {value:?}"),
        })
    }

    fn value(&self, product: &str, key: &str) -> Option<Value> {
        let setting = crate::find(product).and_then(|product| product.setting(key));
        let setting = setting.unwrap_or_else(|| panic!("{product} has a setting {key}"));
        let is_it =
            |given: &Product, setting: &Setting| given.name == product && setting.key == key;
        let given = self
            .all()
            .find(|(product, setting, _)| is_it(product, setting));
        given.map(|(_, _, value)| value).or(setting.default)
    }
}

impl Serialize for Own {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for product in PRODUCTS.iter().filter(|product| self.has(product.name)) {
            let own = self
                .all()
                .filter(|(given, _, _)| given.name == product.name);
            let values = own.map(|(_, setting, value)| (setting.key, value));
            map.serialize_entry(product.name, &InOrder(values.collect()))?;
        }
        map.end()
    }
}

/// A map in this order.
struct InOrder(Vec<(&'static str, Value)>);

impl Serialize for InOrder {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

/// Of a plan: sections among other keys, which are ignored.
impl<'de> Deserialize<'de> for Own {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Own, D::Error> {
        deserializer.deserialize_map(Engine)
    }
}

struct Engine;

impl<'de> Visitor<'de> for Engine {
    type Value = Own;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an engine")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Own, A::Error> {
        let mut own = Own::default();
        while let Some(name) = map.next_key::<String>()? {
            match PRODUCTS.iter().position(|product| product.name == name) {
                Some(place) => {
                    let own = &mut own;
                    map.next_value_seed(Section { place, own })?;
                }
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(own.resolved())
    }
}

/// Reads the section of a product, which rejects unknown keys.
struct Section<'a> {
    /// The place of the product in [`PRODUCTS`].
    place: usize,
    own: &'a mut Own,
}

impl<'de> DeserializeSeed<'de> for Section<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Section<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "settings of {}", PRODUCTS[self.place].title)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let settings = PRODUCTS[self.place].settings;
        while let Some(position) = map.next_key_seed(Key(settings))? {
            let value = map.next_value_seed(&settings[position].kind)?;
            self.own.0.insert((self.place, position), value);
        }
        Ok(())
    }
}

/// Reads a key: the position of its setting. An error is then at the key.
struct Key(&'static [Setting]);

impl<'de> DeserializeSeed<'de> for Key {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<usize, D::Error> {
        let given = String::deserialize(deserializer)?;
        let keys: Vec<&'static str> = self.0.iter().map(|setting| setting.key).collect();
        OneOf(&keys).position("field", &given)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(name: &str, json: &str) -> Result<Own, String> {
        let mut json = serde_json::Deserializer::from_str(json);
        let mut section = Some(&mut json);
        let own = Own::read(|product| section.take_if(|_| product == name));
        own.map_err(|error| error.to_string())
    }

    #[test]
    fn a_plan_has_a_section_whole_in_the_order_of_the_table_or_not_at_all() {
        let all =
            r#"{ "io_capacity": 200, "sync_binlog": 0, "binlog": true, "log_file_size": "4 MiB" }"#;
        let all = given("mariadb", all)
            .expect("a server takes them")
            .resolved();
        let written = serde_json::to_string(&all).expect("it is plain data");
        assert_eq!(
            written,
            r#"{"mariadb":{"sync_binlog":0,"doublewrite":true,"flush_method":"O_DIRECT","log_file_size":4194304,"io_capacity":200}}"#
        );
        assert_eq!(serde_json::from_str(&written).ok(), Some(all));
        let defaults = given("mariadb", r#"{ "sync_binlog": 1, "binlog": true }"#);
        assert_eq!(defaults.expect("they are").resolved(), Own::default());
        let read = r#"{"memory":1,"postgres":{"io_workers":2},"mariadb":{"sync_binlog":1}}"#;
        let own: Own = serde_json::from_str(read).expect("other keys are ignored");
        assert_eq!(own.number("postgres", "io_workers"), Some(2));
        assert!(!own.has("mariadb"));
    }

    #[test]
    fn what_is_absent_has_its_default_or_is_left_to_the_server() {
        let own = Own::default();
        assert_eq!(own.number("mariadb", "sync_binlog"), Some(1));
        assert_eq!(own.is_on("mariadb", "doublewrite"), Some(true));
        assert_eq!(own.name("mariadb", "flush_method"), Some("O_DIRECT"));
        assert_eq!(own.number("mariadb", "io_capacity"), None);
        let asked = r#"{ "io_method": "io_uring", "io_combine_limit": "256 KiB" }"#;
        let asked = given("postgres", asked).expect("a server takes them");
        assert_eq!(asked.name("postgres", "io_method"), Some("io_uring"));
        assert_eq!(asked.number("postgres", "io_combine_limit"), Some(262_144));
        assert_eq!(own.number("postgres", "io_workers"), None);
    }

    #[test]
    fn unknown_keys_and_values_of_another_kind_are_refused() {
        for (json, said) in [
            (
                r#"{ "io_threads": 3 }"#,
                "unknown field `io_threads`, expected one of `io_method`, `io_workers`,",
            ),
            (
                r#"{ "io_method": "threads" }"#,
                "unknown variant `threads`, expected one of `sync`, `worker`, `io_uring`",
            ),
            (
                r#"{ "io_workers": -1 }"#,
                "invalid value: integer `-1`, expected u32",
            ),
            (
                r#"{ "io_workers": "x" }"#,
                "invalid type: string \"x\", expected u32",
            ),
        ] {
            let error = given("postgres", json).expect_err(json);
            assert!(error.starts_with(said), "{json}: {error}");
        }
    }
}
