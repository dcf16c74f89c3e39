//! The outcomes of rules, and their severity.

use crate::change::Change;

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Good to know; no action needed.
    Note,
    /// Costs little, and is easily fixed.
    Low,
    /// Costs speed under load, or space when it is needed.
    Medium,
    /// Loses data, stops work, or wastes money.
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

/// A rule's outcome for a server, or for one part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A problem to fix.
    Finding(Finding),
    /// It complies with the rule.
    Fine {
        /// What was found.
        value: String,
    },
    /// It deviates from the rule, but an exception applies.
    Exempt {
        /// The exception, by name.
        exception: &'static str,
        /// Why it applies.
        why: String,
    },
    /// The capture lacks the necessary data.
    CannotTell {
        /// What is missing.
        missing: String,
        /// How to get it.
        how: String,
    },
    /// The rule applies to other servers.
    NotApplicable {
        /// The servers that it applies to.
        why: String,
    },
}

/// A problem to fix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its severity here.
    pub severity: Severity,
    /// What was found, in a sentence.
    pub message: String,
    /// The observed values, by name.
    pub evidence: Vec<(String, String)>,
    /// The affected files and volumes.
    pub places: Vec<Location>,
    /// What to do.
    pub remedy: String,
    /// The layout change that this advises, where a comparison could show whether it pays.
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

    /// Adds the change that the remedy makes.
    pub fn advises(mut self, change: Change) -> Finding {
        self.advises = Some(change);
        self
    }

    /// Adds an observed value.
    pub fn with(mut self, what: impl Into<String>, value: impl ToString) -> Finding {
        self.evidence.push((what.into(), value.to_string()));
        self
    }

    /// Adds the affected places.
    pub fn at(mut self, places: impl IntoIterator<Item = Location>) -> Finding {
        self.places.extend(places);
        self
    }

    /// Adds the remedy.
    pub fn remedy(mut self, remedy: impl Into<String>) -> Outcome {
        self.remedy = remedy.into();
        Outcome::Finding(self)
    }
}

impl Outcome {
    /// The rule is complied with.
    pub fn fine(value: impl Into<String>) -> Outcome {
        Outcome::Fine {
            value: value.into(),
        }
    }

    /// An exception applies.
    pub fn exempt(exception: &'static str, why: impl Into<String>) -> Outcome {
        Outcome::Exempt {
            exception,
            why: why.into(),
        }
    }

    /// The capture lacks the necessary data.
    pub fn cannot_tell(missing: impl Into<String>, how: impl Into<String>) -> Outcome {
        Outcome::CannotTell {
            missing: missing.into(),
            how: how.into(),
        }
    }
}
