//! Errors in a catalogue file, a name, or a requested disk configuration.

use thiserror::Error;

use super::near::{families, listed, near, suggestion};

/// An error in a catalogue file or in a request to the catalogue.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CatalogueError {
    /// Invalid content in a file.
    #[error("{file}:{line}: {message}")]
    File {
        /// The file, as named by the caller.
        file: String,
        /// Line of the entry or of the syntax error, from 1.
        line: usize,
        /// What is wrong, and the remedy.
        message: String,
    },
    /// No entry has this name.
    #[error(
        "there is no {kind} `{name}` in the catalogue{}; `dbstow {kind}s` lists what there is",
        nearest(near, families)
    )]
    Unknown {
        /// `disk` or `machine`.
        kind: &'static str,
        /// The requested name.
        name: String,
        /// Likely intended names, nearest first.
        near: Vec<String>,
        /// Prefixes of names, up to the first dot.
        families: Vec<String>,
    },
    /// A disk is not available in this configuration.
    #[error("disk `{disk}`: {problem}; {remedy}")]
    Provision {
        /// The disk.
        disk: String,
        /// What was requested and what is allowed.
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

/// The likely intended names, or else the prefixes of names.
fn nearest(near: &[String], of_all: &[String]) -> String {
    match listed(of_all).filter(|_| near.is_empty()) {
        Some(all) => format!(" (names begin with {all})"),
        None => suggestion(near),
    }
}
