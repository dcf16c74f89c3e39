//! Placeholders for names: the same text has the same one, and two texts never share one.

use std::collections::BTreeMap;

/// Kind of a name: the first word of its placeholder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Host,
    Instance,
    Domain,
    Login,
    Account,
    Database,
    File,
    Folder,
    Label,
    Disk,
    /// Anything else in the server's texts.
    Name,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Kind::Host => "host",
            Kind::Instance => "instance",
            Kind::Domain => "domain",
            Kind::Login => "login",
            Kind::Account => "account",
            Kind::Database => "database",
            Kind::File => "file",
            Kind::Folder => "folder",
            Kind::Label => "label",
            Kind::Disk => "disk",
            Kind::Name => "name",
        }
    }
}

/// Encountered names, with their placeholders.
#[derive(Debug, Default)]
pub(super) struct Names {
    exact: BTreeMap<String, String>,
    /// In lower case: Windows ignores case in paths.
    folded: BTreeMap<String, String>,
    counts: BTreeMap<Kind, usize>,
}

impl Names {
    /// The placeholder for a name; empty for an empty name.
    pub(super) fn of(&mut self, kind: Kind, name: &str) -> String {
        if name.is_empty() {
            return String::new();
        }
        if let Some(known) = self.exact.get(name) {
            return known.clone();
        }
        let made = self.make(kind);
        self.exact.insert(name.to_owned(), made.clone());
        let folded = self.folded.entry(name.to_lowercase());
        folded.or_insert_with(|| made.clone());
        made
    }

    /// As [`Names::of`], for a case-insensitive name.
    pub(super) fn of_folded(&mut self, kind: Kind, name: &str) -> String {
        if let Some(known) = self.folded.get(&name.to_lowercase()) {
            return known.clone();
        }
        self.of(kind, name)
    }

    /// Whether a name was encountered, ignoring case.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.folded.contains_key(&name.to_lowercase())
    }

    /// All names with their placeholders, longest first.
    pub(super) fn longest_first(&self) -> Vec<(&str, &str)> {
        let exact = self.exact.iter();
        let mut names: Vec<(&str, &str)> = exact.map(|(name, made)| (&**name, &**made)).collect();
        names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        names
    }

    fn make(&mut self, kind: Kind) -> String {
        let count = self.counts.entry(kind).or_default();
        *count += 1;
        format!("{}-{count}", kind.word())
    }
}

/// Names that SQL Server gives its own files, logical or on disk; numbers may follow.
const SYSTEM_FILES: [&str; 13] = [
    "master",
    "mastlog",
    "model",
    "modeldev",
    "modellog",
    "msdbdata",
    "msdblog",
    "tempdb",
    "tempdev",
    "templog",
    "temp",
    "tempdb_mssql_",
    "msdb",
];

/// Whether a file has a name that SQL Server uses for its own.
pub(super) fn is_system_file(name: &str) -> bool {
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit());
    SYSTEM_FILES
        .iter()
        .any(|own| own.eq_ignore_ascii_case(bare))
}

/// Whether a database is one that every server has.
pub(super) fn is_system_database(name: &str) -> bool {
    let own = ["master", "tempdb", "model", "msdb"];
    own.iter().any(|own| own.eq_ignore_ascii_case(name))
}
