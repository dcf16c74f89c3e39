//! The document that `dbstow lint --format json` prints: `schema/lint.schema.json`. Text and SARIF are made
//! from the same values.

use std::collections::BTreeSet;

use rules::{Checked, Finding, Identity, Selection, Severity};
use serde::Serialize;

use super::measured::{Measured, Results, about};

/// The name and version of the format.
pub const SCHEMA: &str = "dbstow.lint/1";

/// The whole document.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Document {
    /// [`SCHEMA`].
    pub schema: String,
    /// Version of dbstow whose rules these are.
    pub version: String,
    /// The capture that was checked.
    pub server: Server,
    /// Latency thresholds that were applied, by name.
    pub profiles: Vec<String>,
    /// Rules that were disabled, by id.
    pub ignored: Vec<String>,
    /// Number of outcomes of each kind.
    pub counts: Counts,
    /// Every rule that ran, in the order of `dbstow lint --list`.
    pub rules: Vec<RuleOutcomes>,
}

/// The capture that was checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Server {
    /// The source of the capture, as given by the user.
    pub capture: String,
    /// When it was taken, in server time.
    pub taken: String,
    /// Its product, as [`Identity::product`].
    pub product: String,
    /// Its product in texts; not part of the JSON.
    #[serde(skip)]
    pub title: &'static str,
    /// Its version.
    pub version: String,
    /// Its edition.
    pub edition: String,
    /// `Windows`, `Linux`, or empty where unknown.
    pub platform: String,
    /// Whether names were replaced in the capture.
    pub redacted: bool,
}

/// Number of outcomes of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Findings of high severity.
    pub high: usize,
    /// Findings of medium severity.
    pub medium: usize,
    /// Findings of low severity.
    pub low: usize,
    /// Notes.
    pub note: usize,
    /// Exceptions.
    pub exempt: usize,
    /// Open questions.
    pub cannot_tell: usize,
    /// Passed checks.
    pub fine: usize,
    /// Rules for other servers.
    pub not_applicable: usize,
}

impl Counts {
    /// Findings of at least this severity.
    pub fn at_least(&self, severity: Severity) -> usize {
        let all = [
            (Severity::High, self.high),
            (Severity::Medium, self.medium),
            (Severity::Low, self.low),
            (Severity::Note, self.note),
        ];
        let counted = all.into_iter().filter(|(kind, _)| *kind >= severity);
        counted.map(|(_, count)| count).sum()
    }
}

/// A rule and its outcomes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RuleOutcomes {
    /// Its name.
    pub id: String,
    /// The problem that it detects.
    pub title: String,
    /// The highest severity of its findings.
    pub severity: String,
    /// Why this severity.
    pub why: String,
    /// Its description.
    pub says: String,
    /// Its sources.
    pub sources: Vec<Source>,
    /// At least one, findings first.
    pub outcomes: Vec<Outcome>,
}

/// Where a rule comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Source {
    /// The author or publisher, and the document.
    pub name: String,
    /// Its address.
    pub url: String,
    /// The day it was read.
    pub read: String,
}

/// A rule's outcome for a server, or for a part of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum Outcome {
    /// A problem to fix.
    Finding {
        /// `note`, `low`, `medium` or `high`.
        severity: String,
        /// What was found, in a sentence.
        message: String,
        /// The observed values.
        evidence: Vec<Evidence>,
        /// The affected files and volumes.
        places: Vec<Location>,
        /// What to do.
        remedy: String,
        /// The layout change that this advises, where a comparison could show whether it pays.
        advises: Option<String>,
        /// Comparisons of that change in the given results.
        measured: Vec<Measured>,
    },
    /// It deviates from the rule, but an exception applies.
    Exempt {
        /// The exception, by name.
        exception: String,
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
    /// It complies with the rule.
    Fine {
        /// What was found.
        value: String,
    },
    /// The rule is for other servers.
    NotApplicable {
        /// The servers that the rule is for.
        why: String,
    },
}

/// An observed value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// Its name.
    pub what: String,
    /// Its value, with its unit.
    pub value: String,
}

/// A part of a server; unknown fields are null.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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

/// The outcomes of the rules for a server captured as `capture`, with matching comparisons from `results`.
pub fn document(
    (capture, identity): (&str, Identity),
    (selection, profiles): (&Selection, &BTreeSet<String>),
    checked: &[Checked],
    results: &[Results],
) -> Document {
    let rules: Vec<RuleOutcomes> = checked.iter().map(|rule| said(rule, results)).collect();
    Document {
        schema: SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        server: Server {
            capture: capture.to_owned(),
            taken: identity.taken,
            product: identity.product.to_owned(),
            title: identity.title,
            version: identity.version,
            edition: identity.edition,
            platform: identity.platform,
            redacted: identity.redacted,
        },
        profiles: profiles.iter().cloned().collect(),
        ignored: selection.ignored.iter().cloned().collect(),
        counts: counts(&rules),
        rules,
    }
}

/// Number of outcomes of each kind.
pub fn counts(rules: &[RuleOutcomes]) -> Counts {
    let mut counts = Counts::default();
    for outcome in rules.iter().flat_map(|rule| &rule.outcomes) {
        let count = match outcome {
            Outcome::Finding { severity, .. } => match severity.as_str() {
                "high" => &mut counts.high,
                "medium" => &mut counts.medium,
                "low" => &mut counts.low,
                _ => &mut counts.note,
            },
            Outcome::Exempt { .. } => &mut counts.exempt,
            Outcome::CannotTell { .. } => &mut counts.cannot_tell,
            Outcome::Fine { .. } => &mut counts.fine,
            Outcome::NotApplicable { .. } => &mut counts.not_applicable,
        };
        *count += 1;
    }
    counts
}

fn said(Checked { rule, outcomes }: &Checked, results: &[Results]) -> RuleOutcomes {
    let outcomes = outcomes.iter();
    RuleOutcomes {
        id: rule.id.to_owned(),
        title: rule.title.to_owned(),
        severity: rule.severity.name().to_owned(),
        why: rule.why.to_owned(),
        says: rule.says.to_owned(),
        sources: rule
            .sources
            .iter()
            .map(|source| Source {
                name: source.name.to_owned(),
                url: source.url.to_owned(),
                read: source.read.to_owned(),
            })
            .collect(),
        outcomes: outcomes.map(|outcome| wire(outcome, results)).collect(),
    }
}

fn wire(outcome: &rules::Outcome, results: &[Results]) -> Outcome {
    match outcome {
        rules::Outcome::Finding(finding) => found(finding, results),
        rules::Outcome::Exempt { exception, why } => Outcome::Exempt {
            exception: (*exception).to_owned(),
            why: why.clone(),
        },
        rules::Outcome::CannotTell { missing, how } => Outcome::CannotTell {
            missing: missing.clone(),
            how: how.clone(),
        },
        rules::Outcome::Fine { value } => Outcome::Fine {
            value: value.clone(),
        },
        rules::Outcome::NotApplicable { why } => Outcome::NotApplicable { why: why.clone() },
    }
}

fn found(finding: &Finding, results: &[Results]) -> Outcome {
    let change = finding.advises;
    let measured = change.map_or_else(Vec::new, |change| {
        let results = results.iter();
        results.flat_map(|results| about(change, results)).collect()
    });
    Outcome::Finding {
        severity: finding.severity.name().to_owned(),
        message: finding.message.clone(),
        evidence: finding
            .evidence
            .iter()
            .map(|(what, value)| Evidence {
                what: what.clone(),
                value: value.clone(),
            })
            .collect(),
        places: finding
            .places
            .iter()
            .map(|place| Location {
                database: place.database.clone(),
                file: place.file.clone(),
                path: place.path.clone(),
                volume: place.volume.clone(),
            })
            .collect(),
        remedy: finding.remedy.clone(),
        advises: change.map(|change| change.name().to_owned()),
        measured,
    }
}
