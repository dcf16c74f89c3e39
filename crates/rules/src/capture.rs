//! Parses a capture from its file's text, with one clear message where it is not one.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Why a text is not a capture.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// It is not JSON.
    #[error(
        "{file}:{line}: this is not JSON ({why}); give a file that `dbstow doctor` wrote, whole"
    )]
    NotJson {
        /// The file.
        file: String,
        /// From 1.
        line: usize,
        /// The parser's message.
        why: String,
    },
    /// It is the JSON of something else.
    #[error(
        "{file}: this is {found}, not a capture of a server; give a file that `dbstow doctor` wrote"
    )]
    Other {
        /// The file.
        file: String,
        /// What it appears to be.
        found: String,
    },
    /// A later version wrote it.
    #[error(
        "{file}: this capture has format {found}, written by dbstow {by}, and this program reads up to {read}; use that version"
    )]
    Newer {
        /// The file.
        file: String,
        /// Its format.
        found: u64,
        /// The program that wrote it.
        by: String,
        /// The newest supported format.
        read: u32,
    },
    /// An amount is negative.
    #[error("{file}: {amount}; capture again with `dbstow doctor`, or put it right by hand")]
    Amount {
        /// The file.
        file: String,
        /// Its place and value.
        amount: NegativeAmount,
    },
    /// A member is missing or has another shape.
    #[error("{file}:{line}: {why}; capture again with `dbstow doctor`, or put it right by hand")]
    Shape {
        /// The file.
        file: String,
        /// From 1.
        line: usize,
        /// What is wrong.
        why: String,
    },
}

/// A negative amount in a capture.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{key} is {value}, and an amount is 0 or more (null where it is not known or has no limit)"
)]
pub struct NegativeAmount {
    /// Its place: `files[3].max_bytes`.
    pub key: String,
    /// Its value.
    pub value: i64,
}

/// Names of members that are amounts, in addition to those that end in a unit.
const AMOUNTS: [&str; 6] = ["bytes", "count", "percent", "processors", "reads", "writes"];

/// Units at the ends of names.
const UNITS: [&str; 2] = ["_bytes", "_ms"];

/// Members named after a server's settings and counters, which may be negative.
const OF_THE_SERVER: [&str; 3] = ["settings", "status", "variables"];

/// Refuses a capture with a negative amount: sizes, counts and times, by the names of members.
///
/// # Errors
/// The first negative amount.
pub fn check_amounts(capture: &serde_json::Value) -> Result<(), NegativeAmount> {
    check_inside("", capture)
}

fn check_inside(place: &str, value: &serde_json::Value) -> Result<(), NegativeAmount> {
    use serde_json::Value;
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
        Value::Array(items) => (items.iter().enumerate())
            .try_for_each(|(number, item)| check_inside(&format!("{place}[{number}]"), item)),
        Value::Object(members) => {
            let mut members =
                (members.iter()).filter(|(name, _)| !OF_THE_SERVER.contains(&name.as_str()));
            members.try_for_each(|(name, value)| {
                let key = match place {
                    "" => name.clone(),
                    place => format!("{place}.{name}"),
                };
                let is_amount = AMOUNTS.contains(&name.as_str())
                    || UNITS.iter().any(|unit| name.ends_with(unit));
                match value.as_i64().filter(|value| is_amount && *value < 0) {
                    Some(value) => Err(NegativeAmount { key, value }),
                    None => check_inside(&key, value),
                }
            })
        }
    }
}

/// Reads the text of `file` as a capture of format `newest` or older.
///
/// # Errors
/// When it is not JSON, not a capture, of a later format, or a member is missing or invalid.
pub fn from_json<T: DeserializeOwned>(
    file: &str,
    text: &str,
    newest: u32,
) -> Result<T, CaptureError> {
    // Windows programs write a byte order mark before UTF-8.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let value: serde_json::Value =
        serde_json::from_str(text).map_err(|error| CaptureError::NotJson {
            file: file.to_owned(),
            line: error.line(),
            why: plain(&error),
        })?;
    let by = value["dbstow"].as_str();
    let format = value["format"].as_u64();
    let (Some(by), Some(format)) = (by, format) else {
        let found = other(&value);
        let file = file.to_owned();
        return Err(CaptureError::Other { file, found });
    };
    if format > u64::from(newest) {
        return Err(CaptureError::Newer {
            file: file.to_owned(),
            found: format,
            by: by.to_owned(),
            read: newest,
        });
    }
    check_amounts(&value).map_err(|amount| CaptureError::Amount {
        file: file.to_owned(),
        amount,
    })?;
    // Parsed from the text again: a value has no line numbers.
    serde_json::from_str(text).map_err(|error| CaptureError::Shape {
        file: file.to_owned(),
        line: error.line(),
        why: plain(&error),
    })
}

/// The text of a capture's file.
///
/// # Panics
/// When a key of the capture is not a text.
pub fn to_json(capture: &impl Serialize) -> String {
    serde_json::to_string_pretty(capture).expect("its keys are texts") + "\n"
}

/// The product that a capture declares; `None` where it declares none, or the text is not a capture.
pub fn product(text: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Named {
        product: String,
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    serde_json::from_str::<Named>(text)
        .ok()
        .map(|named| named.product)
}

/// What a JSON text is if it is not a capture.
fn other(value: &serde_json::Value) -> String {
    let named = value["schema"].as_str().or(value["$schema"].as_str());
    match (named, value) {
        (Some(name), _) => format!("\"{name}\""),
        (None, serde_json::Value::Object(members)) => {
            let names: Vec<&str> = members.keys().take(3).map(String::as_str).collect();
            match names.is_empty() {
                true => "an empty JSON object".to_owned(),
                false => format!("JSON with {}", names.join(", ")),
            }
        }
        (None, _) => "JSON without members".to_owned(),
    }
}

/// The parser's message without the position, which is shown before it.
fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or_default();
    match text
        .strip_prefix("missing field `")
        .and_then(|rest| rest.strip_suffix('`'))
    {
        Some(name) => format!("\"{name}\" is missing from what ends here"),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Capture {
        taken: String,
    }

    fn refused(text: &str) -> String {
        let error = from_json::<Capture>("c.json", text, 1).expect_err("it is not a capture");
        error.to_string()
    }

    #[test]
    fn what_is_no_capture_is_named_with_place_and_remedy() {
        let cases = [
            ("{\"format\": 1,\n\"dbstow\" ", "c.json:2: this is not JSON"),
            ("[]", "this is JSON without members"),
            (
                "{\"a\": 1, \"b\": 2}",
                "this is JSON with a, b, not a capture",
            ),
            (
                "{\"schema\": \"dbstow.findings/1\"}",
                "this is \"dbstow.findings/1\"",
            ),
            (
                "{\"format\": 2, \"dbstow\": \"0.9.0\"}",
                "has format 2, written by dbstow 0.9.0",
            ),
            (
                "{\"format\": 1, \"dbstow\": \"0.1.0\",\n\"taken\": 3}",
                "c.json:2: invalid type: integer `3`, expected a string",
            ),
            (
                "{\"format\": 1, \"dbstow\": \"0.1.0\"}",
                "c.json:1: \"taken\" is missing",
            ),
        ];
        for (text, expected) in cases {
            let error = refused(text);
            assert!(error.contains(expected), "{text}: {error}");
            assert!(error.contains("; "), "no remedy: {error}");
        }
    }

    #[test]
    fn an_amount_that_is_negative_is_named_with_its_place() {
        let check = |text: &str| {
            let value = serde_json::from_str(text).expect("it is JSON");
            check_amounts(&value).map_err(|error| error.to_string())
        };
        for (text, expected) in [
            (
                r#"{"files": [{"max_bytes": 1}, {"max_bytes": -1}]}"#,
                "files[1].max_bytes is -1,",
            ),
            (
                r#"{"machine": {"processors": -2}}"#,
                "machine.processors is -2,",
            ),
            (
                r#"{"file_io": [{"read_stall_ms": -9223372036854775808}]}"#,
                "read_stall_ms is -9223372036854775808,",
            ),
        ] {
            let error = check(text).expect_err("it is negative");
            assert!(error.contains(expected), "{error}");
        }
        // Names of the server's own settings, and numbers that are not amounts.
        let fine = r#"{"settings": {"lag_ms": -1}, "id": -5, "files": [{"max_bytes": null, "size_bytes": 0}]}"#;
        assert_eq!(check(fine), Ok(()));
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_it() {
        let text = "\u{feff}{\"format\": 1, \"dbstow\": \"0.1.0\", \"taken\": \"now\", \"product\": \"p\"}";
        let read: Capture = from_json("c.json", text, 1).expect("it is one");
        assert_eq!(read.taken, "now");
        assert_eq!(product(text).as_deref(), Some("p"));
        assert_eq!(product("{}"), None);
    }
}
