//! What the double received: for tests to query, and for a parser to check.

use std::collections::BTreeSet;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;

/// Names the folder that each distinct text is also written to, in a file named by its hash.
pub const HEARD: &str = "DBSTOW_HEARD";

/// Everything a test may query afterwards.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    pub(crate) heard: Vec<String>,
    pub(crate) unscripted: Vec<String>,
    pub(crate) violations: Vec<String>,
    pub(crate) attentions: usize,
    pub(crate) logins_in_clear_text: usize,
    folder: Option<PathBuf>,
    written: BTreeSet<u64>,
}

impl Journal {
    pub(crate) fn new() -> Journal {
        Journal {
            folder: std::env::var_os(HEARD).map(PathBuf::from),
            ..Journal::default()
        }
    }

    pub(crate) fn hear(&mut self, text: &str) {
        self.heard.push(text.to_owned());
        let Some(folder) = &self.folder else { return };
        let mut hasher = DefaultHasher::new(); // the same in every process
        text.hash(&mut hasher);
        let hash = hasher.finish();
        if !self.written.insert(hash) {
            return;
        }
        let path = folder.join(format!("{hash:016x}.sql"));
        let written = fs::create_dir_all(folder).and_then(|()| fs::write(&path, text));
        written.unwrap_or_else(|error| panic!("{HEARD}: {}: {error}", path.display()));
    }
}
