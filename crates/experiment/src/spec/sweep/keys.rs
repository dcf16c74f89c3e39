//! Keys with several values.

use model::{Bytes, Throughput};
use toml_edit::Value;

use crate::spec::SpecError;
use crate::spec::arm::SETTABLE;

/// Maximum number of values of a key: all pairs are compared.
const VALUES_MAX: usize = 32;

/// Last parts of keys of which more is better, or at least not worse: paid resources.
const MORE_IS_BETTER: [&str; 11] = [
    "cores",
    "count",
    "files",
    "in_flight_max",
    "iops",
    "iops_limit",
    "memory",
    "size",
    "sort_memory",
    "throughput",
    "throughput_limit",
];

/// A key with several values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Key {
    /// The dotted key.
    pub(super) key: String,
    /// Index of the override that sets it.
    pub(super) position: usize,
    /// Its values as written, at least two, without duplicates.
    pub(super) values: Vec<String>,
}

impl Key {
    /// The override and its value for choice `at`.
    pub(super) fn chosen(&self, at: usize) -> (usize, &str) {
        (self.position, &self.values[at])
    }

    /// The value without quotes.
    pub(super) fn plain(&self, at: usize) -> &str {
        self.values[at].trim_matches(['"', '\''])
    }

    /// Its values in ascending order, if more is better.
    pub(super) fn ascending(&self) -> Option<Vec<usize>> {
        let last = self.key.rsplit('.').next().unwrap_or_default();
        if !MORE_IS_BETTER.contains(&last) {
            return None;
        }
        let values = (0..self.values.len()).map(|at| Some((amount(self.plain(at))?, at)));
        let mut values = values.collect::<Option<Vec<_>>>()?;
        values.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        Some(values.into_iter().map(|(_, at)| at).collect())
    }

    /// Its section: `volume`, `workload`, ..
    pub(super) fn section(&self) -> &str {
        self.key.split('.').next().unwrap_or_default()
    }

    /// Whether its values are alternatives to choose from: arms are compared across them. For other keys, such as the number of
    /// sessions, arms are compared at the same value.
    pub(super) fn is_choice(&self) -> bool {
        ["machine", "volume", "placement"].contains(&self.section())
    }
}

/// The keys of `overrides` that have several values.
///
/// # Errors
/// When a value is repeated, or there are too many.
pub(super) fn of(overrides: &[(String, String)]) -> Result<Vec<Key>, SpecError> {
    let mut keys = Vec::new();
    for (position, (key, value)) in overrides.iter().enumerate() {
        let values = values(key, value);
        let refuse = |message: String| {
            Err(SpecError::Override {
                key: key.clone(),
                value: value.clone(),
                message,
            })
        };
        let twice = (1..values.len()).find_map(|at| {
            let before = values[..at]
                .iter()
                .find(|before| same(before, &values[at]))?;
            Some((before, &values[at]))
        });
        if let Some((before, again)) = twice {
            return refuse(format!("{before} and {again} are the same; remove one"));
        }
        if values.len() > VALUES_MAX {
            return refuse(format!(
                "{} values are more than {VALUES_MAX}; give fewer",
                values.len()
            ));
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

/// The values in `text`: separated by commas outside of quotes and brackets, if `key` is one that arms can set. A path may
/// contain commas.
fn values(key: &str, text: &str) -> Vec<String> {
    let section = key.split('.').next().unwrap_or_default();
    let is_one = || text.parse::<Value>().is_ok();
    if !SETTABLE.contains(&section)
        || ["workload.folder", "workload.profile"].contains(&key)
        || !text.contains(',')
        || is_one()
    {
        return vec![text.to_owned()];
    }
    let typed = format!("[{text}]").parse::<Value>();
    let values: Vec<String> = match typed.as_ref().map(Value::as_array) {
        Ok(Some(typed)) => typed.iter().map(text_of).collect(),
        // Unquoted words: `cold,warm`, `8 MiB,16 MiB`.
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

fn same(one: &str, other: &str) -> bool {
    one == other || amount(one).is_some_and(|amount_of_one| Some(amount_of_one) == amount(other))
}

/// A number, or an amount with its unit as a number.
fn amount(value: &str) -> Option<f64> {
    let value = value.trim_matches(['"', '\'']);
    let number = value.replace('_', "").parse::<f64>().ok();
    let bytes = || value.parse::<Bytes>().ok().map(|bytes| bytes.0 as f64);
    let rate = || value.parse::<Throughput>().ok().map(|rate| rate.0 as f64);
    number.or_else(bytes).or_else(rate)
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

    fn refused(values: &str) -> String {
        let set = [("volume.d.iops".to_owned(), values.to_owned())];
        of(&set).expect_err("it makes no sense").to_string()
    }

    #[test]
    fn a_value_is_given_once() {
        assert_eq!(
            refused("1000,2,1_000"),
            "--set volume.d.iops=1000,2,1_000: 1000 and 1_000 are the same; remove one"
        );
        assert!(refused("1 GiB, 1024 MiB").contains("are the same"));
        let many: Vec<String> = (1..=33).map(|value| value.to_string()).collect();
        assert!(refused(&many.join(",")).contains("33 values are more than 32"));
    }

    #[test]
    fn amounts_of_what_one_pays_for_are_ordered() {
        let ascending = |key: &str, values: &str| {
            let keys = of(&[(key.to_owned(), values.to_owned())]).expect("they differ");
            keys[0].ascending()
        };
        assert_eq!(ascending("volume.d.iops", "12000,3_000"), Some(vec![1, 0]));
        assert_eq!(
            ascending("engine.memory", "1 GiB, 8 MiB, 64 MiB"),
            Some(vec![1, 2, 0])
        );
        assert_eq!(
            ascending("volume.d.throughput", "9 MB/s,10 MB/s"),
            Some(vec![0, 1])
        );
        assert_eq!(ascending("volume.d.host_cache", "none,read-only"), None);
        assert_eq!(
            ascending("volume.d.override.read_latency", "1 ms,4 ms"),
            None
        );
    }
}
