//! Accepted files are meaningful: no figure is infinite, NaN, or negative.

use std::fmt::Debug;

/// Asserts that no number in the text form of a value is infinite, NaN or negative. The value must not contain text from
/// a file.
pub(crate) fn is_real(what: &str, value: &impl Debug) {
    let shown = format!("{value:?}");
    let words = shown.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+')));
    for word in words {
        let is_negative =
            word.starts_with('-') && word.parse::<f64>().is_ok_and(|number| number != 0.0);
        let is_none = matches!(word.trim_start_matches('-'), "inf" | "NaN");
        assert!(!is_negative && !is_none, "{what}: {word} in {shown}");
    }
}

/// Asserts the same of all numbers in a document.
pub(crate) fn is_real_document(text: &str) {
    fn walk(key: &str, value: &toml::Value) {
        match value {
            toml::Value::Float(number) => {
                assert!(number.is_finite() && *number >= 0.0, "{key} = {number}")
            }
            toml::Value::Integer(number) => assert!(*number >= 0, "{key} = {number}"),
            toml::Value::Array(items) => items.iter().for_each(|item| walk(key, item)),
            toml::Value::Table(members) => members.iter().for_each(|(key, value)| walk(key, value)),
            toml::Value::String(_) | toml::Value::Boolean(_) | toml::Value::Datetime(_) => {}
        }
    }
    let document: toml::Table = text.parse().expect("what was written is TOML");
    walk("", &toml::Value::Table(document));
}
