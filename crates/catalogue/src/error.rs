//! What can be wrong with a catalogue file, a name, or what was asked of a disk.

use thiserror::Error;

/// A mistake in a catalogue file or in what was asked of the catalogue.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CatalogueError {
    /// A file says something that cannot be.
    #[error("{file}:{line}: {message}")]
    File {
        /// The file, as it was named.
        file: String,
        /// Line of the entry or of the syntax error, from 1.
        line: usize,
        /// What is wrong, and the remedy.
        message: String,
    },
    /// No entry of this name.
    #[error(
        "there is no {kind} `{name}` in the catalogue{}; `dbstow {kind}s` lists what there is",
        suggestion(near)
    )]
    Unknown {
        /// `disk` or `machine`.
        kind: &'static str,
        /// What was asked for.
        name: String,
        /// Names that are like it, nearest first.
        near: Vec<String>,
    },
    /// A disk cannot be had like this.
    #[error("disk `{disk}`: {problem}; {remedy}")]
    Provision {
        /// The disk.
        disk: String,
        /// What was asked and what is allowed.
        problem: String,
        /// What to do about it.
        remedy: String,
    },
}

impl CatalogueError {
    /// An unknown name, with the near ones among `names`.
    pub(super) fn unknown<'a>(
        kind: &'static str,
        name: &str,
        names: impl Iterator<Item = &'a String>,
    ) -> CatalogueError {
        CatalogueError::Unknown {
            kind,
            name: name.to_owned(),
            near: near(name, names),
        }
    }
}

/// Likeness from which a name is worth suggesting; 1 is the same name.
const LIKENESS_MIN: f64 = 0.85;
const SUGGESTIONS_MAX: usize = 3;

/// The names most like `name`, nearest first; upper and lower case count as the same.
pub(super) fn near<'a>(name: &str, names: impl Iterator<Item = &'a String>) -> Vec<String> {
    let wanted = name.to_lowercase();
    let mut likeness: Vec<(f64, &String)> = names
        .map(|known| (strsim::jaro_winkler(&wanted, &known.to_lowercase()), known))
        .filter(|(likeness, _)| *likeness >= LIKENESS_MIN)
        .collect();
    likeness.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    let nearest = likeness.into_iter().take(SUGGESTIONS_MAX);
    nearest.map(|(_, known)| known.clone()).collect()
}

/// The end of a message about an unknown name.
pub(super) fn suggestion(near: &[String]) -> String {
    if near.is_empty() {
        return String::new();
    }
    let names: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
    format!(" (near: {})", names.join(", "))
}
