//! Errors in a catalogue file, a name, or a requested disk configuration.

use std::borrow::Cow;

use thiserror::Error;

use super::near::{families, listed, near, suggestion};
use super::service::Service;

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
        "there is no {kind} `{name}` in the catalogue{}; `dbstow {list}` lists what there is",
        nearest(near, families)
    )]
    Unknown {
        /// `disk`, `machine` or `service`.
        kind: &'static str,
        /// The requested name.
        name: String,
        /// Likely intended names, nearest first.
        near: Vec<String>,
        /// Prefixes of names, up to the first dot.
        families: Vec<String>,
        /// Arguments of the command that lists what there is.
        list: String,
    },
    /// It is of a managed service without published limits.
    #[error(
        "{kind} `{name}`: {title} is not modelled: {why}; name a class of another service (`dbstow services`), or a machine and \
         disks (`dbstow machines`, `dbstow disks`)"
    )]
    NotModelled {
        /// `disk` or `machine`.
        kind: &'static str,
        /// The requested name.
        name: String,
        /// The service.
        title: String,
        /// The reason.
        why: String,
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
            near: near(&catalogued(name), names.clone()),
            families: families(names),
            list: format!("{kind}s"),
        }
    }

    /// With the list of a service's own classes or storage types.
    pub(super) fn of_service(mut self, service: &Service) -> CatalogueError {
        if let CatalogueError::Unknown { kind, list, .. } = &mut self {
            let classes = if *kind == "machine" { " --classes" } else { "" };
            *list = format!("services {}{classes}", service.name);
        }
        self
    }
}

/// What Azure's portal calls a machine, as the catalogue does: `Standard_E8bds_v5`.
fn catalogued(name: &str) -> Cow<'_, str> {
    match name.strip_prefix("Standard_") {
        Some(size) => Cow::Owned(format!("azure.{size}")),
        None => Cow::Borrowed(name),
    }
}

/// The likely intended names, or else the prefixes of names.
fn nearest(near: &[String], of_all: &[String]) -> String {
    match listed(of_all).filter(|_| near.is_empty()) {
        Some(all) => format!(" (names begin with {all})"),
        None => suggestion(near),
    }
}
