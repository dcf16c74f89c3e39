//! What a rule is, and what it can say of a server.

use crate::capture::{Capture, Product};

use super::profile::Profile;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Good to know; nothing has to be done.
    Note,
    /// Costs little, and is easily put right.
    Low,
    /// Costs speed under load, or space when it is needed.
    Medium,
    /// Loses data, stops work, or is paid for and not used.
    High,
}

impl Severity {
    /// All, the least first.
    pub const ALL: [Severity; 4] = [
        Severity::Note,
        Severity::Low,
        Severity::Medium,
        Severity::High,
    ];

    /// Its name in every output.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Low => "low",
            Severity::Medium => "medium",
            Severity::High => "high",
        }
    }
}

/// A change of the layout that a finding advises. An experiment whose arms differ by it, and by nothing else,
/// speaks for or against the finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Change {
    /// Temporary space in more files, where it is.
    MoreTempFiles,
    /// Temporary space in fewer files, where it is.
    FewerTempFiles,
    /// Temporary space on a volume without data and log.
    TempApart,
    /// Temporary space on the disk inside the machine.
    TempLocal,
    /// Data in more files, where it is.
    MoreDataFiles,
    /// The log on a volume without data.
    LogApart,
}

impl Change {
    /// All of them.
    pub const ALL: [Change; 6] = [
        Change::MoreTempFiles,
        Change::FewerTempFiles,
        Change::TempApart,
        Change::TempLocal,
        Change::MoreDataFiles,
        Change::LogApart,
    ];

    /// Its name in every output.
    pub fn name(self) -> &'static str {
        match self {
            Change::MoreTempFiles => "more-temp-files",
            Change::FewerTempFiles => "fewer-temp-files",
            Change::TempApart => "temp-apart",
            Change::TempLocal => "temp-local",
            Change::MoreDataFiles => "more-data-files",
            Change::LogApart => "log-apart",
        }
    }
}

/// Where a rule, or a threshold of it, comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// Who says it, and where.
    pub name: &'static str,
    /// Its address.
    pub url: &'static str,
    /// When it was read, `2026-11-21`.
    pub read: &'static str,
}

/// Which servers a rule is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Applies {
    /// Kinds of server.
    pub products: &'static [Product],
    /// On Windows alone.
    pub windows: bool,
    /// From this major version on; 0: all.
    pub since: u32,
    /// Up to this major version; 0: all.
    pub until: u32,
    /// On virtual machines of Azure alone.
    pub azure: bool,
    /// Only where this ladder of latencies was asked for.
    pub profile: Option<Profile>,
}

impl Applies {
    /// Installed on a machine, in any version.
    pub const BOXED: Applies = Applies {
        products: &[Product::Boxed],
        windows: false,
        since: 0,
        until: 0,
        azure: false,
        profile: None,
    };

    /// Installed on Windows.
    pub const WINDOWS: Applies = Applies {
        windows: true,
        ..Applies::BOXED
    };

    /// Installed on a virtual machine of Azure.
    pub const AZURE: Applies = Applies {
        azure: true,
        ..Applies::BOXED
    };

    /// A managed instance.
    pub const MANAGED: Applies = Applies {
        products: &[Product::ManagedInstance],
        ..Applies::BOXED
    };
}

/// A rule: what it says, who says so, and a function that looks.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Its name: stable, in kebab-case.
    pub id: &'static str,
    /// What is wrong where it finds something.
    pub title: &'static str,
    /// The most it gives a finding.
    pub severity: Severity,
    /// Why not more and not less.
    pub why: &'static str,
    /// What it says, with its thresholds and exceptions.
    pub says: &'static str,
    /// Who says so.
    pub sources: &'static [Source],
    /// For which servers.
    pub applies: Applies,
    /// Looks at a server. Gives at least one outcome.
    pub judge: fn(&Capture) -> Vec<Outcome>,
}

/// What a rule says of a server, or of one part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Something to put right.
    Finding(Finding),
    /// It is as the rule wants it.
    Fine {
        /// What was found.
        value: String,
    },
    /// It is not as the rule wants it, and need not be.
    Exempt {
        /// The exception, by name.
        exception: &'static str,
        /// Why it applies.
        why: String,
    },
    /// The capture does not say.
    CannotTell {
        /// What is missing.
        missing: String,
        /// How to get it.
        how: String,
    },
    /// The rule is for other servers.
    NotApplicable {
        /// For which.
        why: String,
    },
}

/// Something to put right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How much it matters here.
    pub severity: Severity,
    /// What was found, in a sentence.
    pub message: String,
    /// The very values: what, and its value.
    pub evidence: Vec<(String, String)>,
    /// The files and volumes that it is about.
    pub places: Vec<Location>,
    /// What to do.
    pub remedy: String,
    /// The change of the layout that this is, where a comparison could tell whether it pays.
    pub advises: Option<Change>,
}

/// A part of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// The database.
    pub database: Option<String>,
    /// The file's logical name.
    pub file: Option<String>,
    /// Where the file is.
    pub path: Option<String>,
    /// The volume's mount point.
    pub volume: Option<String>,
}

impl Finding {
    /// A finding without evidence yet.
    pub fn new(severity: Severity, message: impl Into<String>) -> Finding {
        Finding {
            severity,
            message: message.into(),
            evidence: Vec::new(),
            places: Vec::new(),
            remedy: String::new(),
            advises: None,
        }
    }

    /// With the change that the remedy makes.
    pub fn advises(mut self, change: Change) -> Finding {
        self.advises = Some(change);
        self
    }

    /// With a value that was found.
    pub fn with(mut self, what: impl Into<String>, value: impl ToString) -> Finding {
        self.evidence.push((what.into(), value.to_string()));
        self
    }

    /// With places that it is about.
    pub fn at(mut self, places: impl IntoIterator<Item = Location>) -> Finding {
        self.places.extend(places);
        self
    }

    /// With what to do.
    pub fn remedy(mut self, remedy: impl Into<String>) -> Outcome {
        self.remedy = remedy.into();
        Outcome::Finding(self)
    }
}

impl Outcome {
    /// It is as the rule wants it.
    pub fn fine(value: impl Into<String>) -> Outcome {
        Outcome::Fine {
            value: value.into(),
        }
    }

    /// It need not be as the rule wants it.
    pub fn exempt(exception: &'static str, why: impl Into<String>) -> Outcome {
        Outcome::Exempt {
            exception,
            why: why.into(),
        }
    }

    /// The capture does not say.
    pub fn cannot_tell(missing: impl Into<String>, how: impl Into<String>) -> Outcome {
        Outcome::CannotTell {
            missing: missing.into(),
            how: how.into(),
        }
    }
}
