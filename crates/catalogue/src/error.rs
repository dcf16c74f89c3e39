//! What can be wrong with a catalogue file, a name, or what was asked of a disk.

use thiserror::Error;

use super::near::{families, listed, near, suggestion};

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
        nearest(near, families)
    )]
    Unknown {
        /// `disk` or `machine`.
        kind: &'static str,
        /// What was asked for.
        name: String,
        /// Names that may have been meant, nearest first.
        near: Vec<String>,
        /// What names begin with, up to the first dot.
        families: Vec<String>,
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
        names: impl Iterator<Item = &'a String> + Clone,
    ) -> CatalogueError {
        CatalogueError::Unknown {
            kind,
            name: name.to_owned(),
            near: near(name, names.clone()),
            families: families(names),
        }
    }
}

/// The names that may have been meant, or else how names begin.
fn nearest(near: &[String], of_all: &[String]) -> String {
    match listed(of_all).filter(|_| near.is_empty()) {
        Some(all) => format!(" (names begin with {all})"),
        None => suggestion(near),
    }
}
