//! What a rule can say of a server, and how much it matters.

use crate::change::Change;

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
