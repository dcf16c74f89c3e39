//! The user's own files that a plan refers to, as texts in memory.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use workload::Files;

/// Texts of the user's own files that a plan refers to, by the names used in the plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Inputs {
    /// Catalogue files, in the order in which they are read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub catalogues: Vec<Named>,
    /// The files of each workload, by its path.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub workloads: BTreeMap<String, Files>,
    /// Profiles, by their paths.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub profiles: BTreeMap<String, String>,
}

/// A file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Named {
    /// Its name, as given by the user.
    pub name: String,
    /// Its content.
    pub text: String,
}

impl Inputs {
    /// The files of the workload at `path`.
    ///
    /// # Errors
    /// When it is not included.
    pub fn workload(&self, path: &str) -> Result<&Files, String> {
        self.workloads.get(path).ok_or_else(|| missing(path))
    }

    /// The text of the profile at `path`.
    ///
    /// # Errors
    /// When it is not included.
    pub fn profile(&self, path: &str) -> Result<&String, String> {
        self.profiles.get(path).ok_or_else(|| missing(path))
    }
}

fn missing(path: &str) -> String {
    format!("the plan does not carry {path}; write it again with `dbstow plan --out`")
}
