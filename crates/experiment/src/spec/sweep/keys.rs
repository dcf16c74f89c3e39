//! Keys that are given several values at once.

use toml_edit::Value;

use crate::spec::SpecError;
use crate::spec::arms::SETTABLE;
use crate::spec::error::listed;

/// A key with several values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Key {
    /// The dotted key.
    pub(super) key: String,
    /// Which of the overrides sets it.
    pub(super) position: usize,
    /// Its values as they were written, at least two, none twice.
    pub(super) values: Vec<String>,
}

impl Key {
    /// Which override is to have which value.
    pub(super) fn chosen(&self, at: usize) -> (usize, &str) {
        (self.position, &self.values[at])
    }

    /// The value without quotes.
    pub(super) fn plain(&self, at: usize) -> &str {
        self.values[at].trim_matches(['"', '\''])
    }

    /// What of the database's surroundings it is: `volume`, `workload`, ..
    pub(super) fn section(&self) -> &str {
        self.key.split('.').next().unwrap_or_default()
    }

    /// Whether its values are to choose from: arms are compared across them. Of others, such as the number of sessions,
    /// arms are compared at the same value.
    pub(super) fn is_choice(&self) -> bool {
        ["machine", "volume", "placement"].contains(&self.section())
    }
}

/// The keys of `overrides` that have several values.
///
/// # Errors
/// When a value is there twice.
pub(super) fn of(overrides: &[(String, String)]) -> Result<Vec<Key>, SpecError> {
    let mut keys = Vec::new();
    for (position, (key, value)) in overrides.iter().enumerate() {
        let values = values(key, value);
        let twice = (1..values.len()).find(|at| values[..*at].contains(&values[*at]));
        if let Some(at) = twice {
            return Err(SpecError::Override {
                key: key.clone(),
                value: value.clone(),
                message: format!("{} is there twice; give it once", listed([&values[at]])),
            });
        }
        if values.len() > 1 {
            keys.push(Key {
                key: key.clone(),
                position,
                values,
            });
        }
    }
    Ok(keys)
}

/// The values in `text`: those between commas outside of quotes and brackets, where `key` is one that arms can set. A
/// path may have commas in it.
fn values(key: &str, text: &str) -> Vec<String> {
    let section = key.split('.').next().unwrap_or_default();
    let is_one = || text.parse::<Value>().is_ok();
    if !SETTABLE.contains(&section) || key == "workload.folder" || !text.contains(',') || is_one() {
        return vec![text.to_owned()];
    }
    let typed = format!("[{text}]").parse::<Value>();
    let values: Vec<String> = match typed.as_ref().map(Value::as_array) {
        Ok(Some(typed)) => typed.iter().map(text_of).collect(),
        // Words without quotes: `cold,warm`, `8 MiB,16 MiB`.
        Ok(None) | Err(_) if !text.contains(['"', '\'', '[', '{']) => {
            text.split(',').map(|word| word.trim().to_owned()).collect()
        }
        Ok(None) | Err(_) => Vec::new(),
    };
    match values.iter().any(String::is_empty) || values.len() < 2 {
        true => vec![text.to_owned()],
        false => values,
    }
}

fn text_of(value: &Value) -> String {
    value.clone().decorated("", "").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_part_values_outside_of_quotes_and_brackets() {
        let iops = |text: &str| values("volume.d.iops", text);
        assert_eq!(iops("3000,6_000, 12000"), ["3000", "6_000", "12000"]);
        assert_eq!(iops("8 MiB,16 MiB"), ["8 MiB", "16 MiB"]);
        assert_eq!(iops("\"a,b\",\"c\""), ["\"a,b\"", "\"c\""]);
        assert_eq!(
            iops("{ disk = 'x', count = 2 }, {disk = 'y'}"),
            ["{ disk = 'x', count = 2 }", "{disk = 'y'}"]
        );
        for one in [
            "3000",
            "\"a,b\"",
            "[1, 2]",
            "{a = 1, b = 2}",
            "3000,",
            "[1,2",
        ] {
            assert_eq!(iops(one), [one]);
        }
    }

    #[test]
    fn words_and_paths_keep_their_commas() {
        assert_eq!(values("question", "Which one, a or b?").len(), 1);
        assert_eq!(values("workload.folder", "a,b").len(), 1);
    }

    #[test]
    fn a_value_is_given_once() {
        let set = [("volume.d.iops".to_owned(), "1,2,1".to_owned())];
        let error = of(&set).expect_err("1 is there twice").to_string();
        assert_eq!(
            error,
            "--set volume.d.iops=1,2,1: \"1\" is there twice; give it once"
        );
    }
}
