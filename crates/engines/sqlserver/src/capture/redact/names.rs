//! Stand-ins for names: the same text has the same one, and two texts never share one.

use std::collections::BTreeMap;

/// What a name is of: the first word of its stand-in.
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
    /// Something in the server's words of which no more is known.
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

/// Names that were met, with their stand-ins.
#[derive(Debug, Default)]
pub(super) struct Names {
    exact: BTreeMap<String, String>,
    /// In lower case: Windows does not tell `Sales` from `SALES` in a path.
    folded: BTreeMap<String, String>,
    counts: BTreeMap<Kind, usize>,
}

impl Names {
    /// The stand-in for a name; nothing for nothing.
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

    /// As [`Names::of`], of a name whose case does not matter.
    pub(super) fn of_folded(&mut self, kind: Kind, name: &str) -> String {
        if let Some(known) = self.folded.get(&name.to_lowercase()) {
            return known.clone();
        }
        self.of(kind, name)
    }

    /// Whether a name was met, in whatever case.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.folded.contains_key(&name.to_lowercase())
    }

    /// All names with their stand-ins, the longest first.
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

/// Whether a file is called as SQL Server calls its own.
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
