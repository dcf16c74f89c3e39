//! Arguments of two parts, with `=` between them.

use std::path::PathBuf;

/// For `NAME=PATH`: the name of a volume and a path.
pub(super) fn name_and_path(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, path)) if !name.is_empty() && !path.is_empty() => {
            Ok((name.trim().to_owned(), PathBuf::from(path)))
        }
        Some(_) | None => Err("give a volume's name and a path, such as d=/mnt/fast".to_owned()),
    }
}

/// For `KEY=VALUE`: a key of an experiment and its value.
pub(super) fn key_and_value(text: &str) -> Result<(String, String), String> {
    text.split_once('=')
        .map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
        .ok_or_else(|| "give a key and a value, such as workload.sessions=4".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_may_hold_an_equals_sign() {
        let both = |key: &str, value: &str| Ok((key.to_owned(), value.to_owned()));
        assert_eq!(key_and_value("a.b = c=d"), both("a.b", "c=d"));
        assert!(key_and_value("a.b").is_err());
    }
}
