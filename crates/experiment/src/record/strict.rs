//! JSON without duplicate keys: different readers of such an object may take different values.

use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Reads a document.
///
/// # Errors
/// When it is not JSON, or an object has a duplicate key.
pub(crate) fn parse(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str(text).map(|Strict(value)| value)
}

struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Strict, D::Error> {
        deserializer.deserialize_any(Reader).map(Strict)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        let number = Number::from_f64(value);
        number
            .map(Value::Number)
            .ok_or_else(|| E::custom("a number is not finite"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Strict(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((key, Strict(value))) = entries.next_entry::<String, Strict>()? {
            if object.contains_key(&key) {
                let message = format!("duplicate key \"{key}\"");
                return Err(de::Error::custom(message));
            }
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_read_as_serde_json_reads_it() {
        let text =
            r#"{"a": [1, -2, 3.5, 18446744073709551615, true, null, "\u202e"], "b": {"a": {}}}"#;
        let plain: Value = serde_json::from_str(text).expect("it is JSON");
        assert_eq!(parse(text).expect("it is JSON"), plain);
    }

    #[test]
    fn a_duplicate_key_is_named_with_its_line() {
        let error = parse("{\"a\": 1,\n \"b\": {\"c\": 1, \"c\": 2}}").expect_err("twice");
        let error = error.to_string();
        assert!(
            error.contains("duplicate key \"c\"") && error.contains("line 2"),
            "{error}"
        );
        parse("[{\"a\": 1}, {\"a\": 1}]").expect("each once");
    }

    #[test]
    fn depth_has_an_end() {
        assert!(parse(&"[".repeat(100_000)).is_err());
    }
}
