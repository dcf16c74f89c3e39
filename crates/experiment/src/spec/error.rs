//! Errors in an experiment: location, value, and remedy.

use std::fmt;

use thiserror::Error;

/// An error in an experiment, or in a request for one.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SpecError {
    /// A line of the file is wrong.
    #[error("{file}:{line}: {message}")]
    File {
        /// The file, as named by the user.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The value and the remedy.
        message: String,
    },
    /// A key set by code is wrong.
    #[error("experiment \"{experiment}\", {key}: {message}")]
    Code {
        /// The experiment's name.
        experiment: String,
        /// The key, or the setting if no key is known.
        key: String,
        /// The value and the remedy.
        message: String,
    },
    /// The file is valid, but not with this override.
    #[error("--set {key}={value}: {message}")]
    Override {
        /// The key as the user gave it.
        key: String,
        /// The value as the user gave it.
        value: String,
        /// What is wrong with it and the remedy.
        message: String,
    },
    /// The file cannot be read.
    #[error(
        "{file}: {why}; give the path of an experiment file, or a built-in name (`dbstow experiments` lists them)"
    )]
    Unreadable {
        /// The file, as named by the user.
        file: String,
        /// The system's error.
        why: String,
    },
    /// No experiment of that name is built in.
    #[error("no experiment is called \"{name}\"{remedy}")]
    Unknown {
        /// The name as the user gave it.
        name: String,
        /// The nearest one, or all.
        remedy: String,
    },
}

/// An error not yet attributed to a line or override.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Path of the key at fault.
    pub(crate) key: Vec<String>,
    /// The value and the remedy.
    pub(crate) message: String,
}

impl Fault {
    /// An error at the key at `path`.
    pub(crate) fn at(path: &[&str], message: impl Into<String>) -> Fault {
        Fault {
            key: path.iter().map(|part| (*part).to_owned()).collect(),
            message: message.into(),
        }
    }

    /// The message with its key, if no line is known.
    pub(crate) fn message(&self) -> String {
        let key = self.key.join(".");
        match self.message.starts_with(&key) {
            true => self.message.clone(),
            false => format!("{key}: {}", self.message),
        }
    }
}

/// Whether setting the dotted key `set` affects `key`, a part of it, or a table that contains it.
pub(crate) fn touches(set: &str, key: &[String]) -> bool {
    set.split('.').zip(key).all(|(part, key)| part == key)
}

/// `"a", "b", "c"`, or `none` for an empty list.
pub(crate) fn listed<S: fmt::Display>(names: impl IntoIterator<Item = S>) -> String {
    let quoted: Vec<String> = names
        .into_iter()
        .map(|name| format!("\"{name}\""))
        .collect();
    if quoted.is_empty() {
        "none".to_owned()
    } else {
        quoted.join(", ")
    }
}

/// `1 file`, `8 files`.
pub fn counted(count: impl fmt::Display, thing: &str) -> String {
    let count = count.to_string();
    let plural = if count == "1" { "" } else { "s" };
    format!("{count} {thing}{plural}")
}

/// `; did you mean "x"?` when known names are near, otherwise all the known names.
pub fn remedy<'a>(
    given: &str,
    what: &str,
    known: impl IntoIterator<Item = &'a str> + Clone,
) -> String {
    match nearest(given, known.clone()).as_slice() {
        [] => format!(" ({what}: {})", listed(known)),
        names => did_you_mean(names),
    }
}

/// `; did you mean "a", "b" or "c"?`
pub(crate) fn did_you_mean<S: fmt::Display>(names: &[S]) -> String {
    match names {
        [] => String::new(),
        [one] => format!("; did you mean \"{one}\"?"),
        [first @ .., last] => format!("; did you mean {} or \"{last}\"?", listed(first)),
    }
}

/// The known name nearest to `given`, if it is close enough to be a typo of it.
pub fn near<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest(given, known).first().copied()
}

/// The known names that contain `given` as words, or else the nearest one, if close enough.
///
/// Words are separated by "-", "_" and "."; so "log-size" finds "log-size-limit". Close enough: one edit per three letters
/// (Damerau-Levenshtein), so that "sesions" finds "sessions", and "disk" does not find "data".
fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let known: Vec<&str> = known.into_iter().collect();
    let wanted = words(given);
    let has_words = |name: &&str| words(name).windows(wanted.len()).any(|part| part == wanted);
    let named: Vec<&str> = known.iter().copied().filter(has_words).collect();
    if !given.is_empty() && !named.is_empty() {
        return named;
    }
    let edits = |name| (strsim::damerau_levenshtein(given, name), name);
    let nearest = known.into_iter().map(edits).min();
    let nearest = nearest.filter(|(edits, name)| edits * 3 <= name.chars().count().max(3));
    nearest.map(|(_, name)| name).into_iter().collect()
}

fn words(name: &str) -> Vec<String> {
    let words = name.split(['-', '_', '.']);
    words.map(str::to_lowercase).collect()
}

/// Rephrases a TOML parser's message for the author of an experiment.
pub fn plain_words(message: &str) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    if message.starts_with("unknown field")
        && let Some(given) = quoted.next()
    {
        let known: Vec<&str> = quoted.collect();
        let remedy = remedy(given, "known here", known.iter().copied());
        return format!("there is no key \"{given}\"{remedy}");
    }
    if message.starts_with("unknown variant")
        && let Some(given) = quoted.next()
    {
        let known: Vec<&str> = quoted.collect();
        let remedy = remedy(given, "possible", known.iter().copied());
        return format!("\"{given}\" is not possible here{remedy}");
    }
    if message.trim() == "duplicate key" {
        return "this key or section stands here a second time; remove or rename one".to_owned();
    }
    if message.starts_with("missing field")
        && let Some(name) = quoted.next()
    {
        return format!("the key \"{name}\" is missing");
    }
    ["u32", "u64"]
        .iter()
        .fold(message.trim().to_owned(), |text, kind| {
            text.replace(
                &format!("expected {kind}"),
                "expected a whole number that is not negative",
            )
        })
        .lines()
        .collect::<Vec<_>>()
        .join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_name_is_suggested_and_a_far_one_is_not() {
        assert_eq!(
            remedy("sesions", "known", ["sessions", "think"]),
            "; did you mean \"sessions\"?"
        );
        assert_eq!(
            remedy(
                "tempdb-scale",
                "known",
                ["tempdb-spill", "tempdb-scale-out"]
            ),
            "; did you mean \"tempdb-scale-out\"?",
            "its words, though \"tempdb-spill\" is nearer by letters"
        );
        assert_eq!(
            remedy("log", "known", ["blog", "log-a", "b-log", "log_c"]),
            "; did you mean \"log-a\", \"b-log\" or \"log_c\"?"
        );
        assert_eq!(
            remedy("fast", "defined", ["data", "slow"]),
            " (defined: \"data\", \"slow\")"
        );
    }

    #[test]
    fn the_readers_message_becomes_a_remedy() {
        assert_eq!(
            plain_words("unknown field `blok`, expected one of `blocks`, `margin`"),
            "there is no key \"blok\"; did you mean \"blocks\"?"
        );
        assert_eq!(
            plain_words("invalid value: integer `-1`, expected u32"),
            "invalid value: integer `-1`, expected a whole number that is not negative"
        );
    }
}
