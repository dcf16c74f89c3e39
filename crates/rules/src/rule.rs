//! What a rule is, and how a set of rules checks a server.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::outcome::{Outcome, Severity};

/// Where a rule, or a threshold of it, comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// The author or publisher, and the document.
    pub name: &'static str,
    /// Its address.
    pub url: &'static str,
    /// When it was read, `2026-11-21`.
    pub read: &'static str,
}

/// A rule for servers that are captured as `S`: its description, its sources, and a function that checks. `A` says which
/// of these servers it applies to.
#[derive(Clone, Copy, Debug)]
pub struct Rule<S: 'static, A: 'static> {
    /// Its name: stable, in kebab-case, and unique among the rules of all products.
    pub id: &'static str,
    /// The problem that it detects.
    pub title: &'static str,
    /// The highest severity of its findings.
    pub severity: Severity,
    /// Why this severity.
    pub why: &'static str,
    /// Its description, with thresholds and exceptions.
    pub says: &'static str,
    /// Its sources.
    pub sources: &'static [Source],
    /// The servers it applies to.
    pub applies: A,
    /// Checks a server. Returns at least one outcome.
    pub judge: fn(&S) -> Vec<Outcome>,
}

/// Which rules run, by id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Only these; empty: all.
    pub only: BTreeSet<String>,
    /// Not these.
    pub ignored: BTreeSet<String>,
}

impl Selection {
    /// Whether the rule `id` runs.
    pub fn has(&self, id: &str) -> bool {
        (self.only.is_empty() || self.only.contains(id)) && !self.ignored.contains(id)
    }
}

/// A rule and its outcomes.
#[derive(Clone, Debug)]
pub struct Judged<S: 'static, A: 'static> {
    /// The rule.
    pub rule: &'static Rule<S, A>,
    /// At least one outcome, findings first, the worst at the top.
    pub outcomes: Vec<Outcome>,
}

/// Runs `rules` on a server, in order. A rule for which `held_back` returns an outcome reports that instead.
///
/// # Panics
/// When a rule returns no outcome.
pub fn judge<S, A>(
    rules: impl Iterator<Item = &'static Rule<S, A>>,
    server: &S,
    held_back: impl Fn(&A) -> Option<Outcome>,
) -> Vec<Judged<S, A>> {
    let judged = |rule: &'static Rule<S, A>| {
        let mut outcomes = match held_back(&rule.applies) {
            Some(outcome) => vec![outcome],
            None => (rule.judge)(server),
        };
        assert!(!outcomes.is_empty(), "{} said nothing", rule.id);
        outcomes.sort_by_key(|outcome| match outcome {
            Outcome::Finding(finding) => (0, Reverse(Some(finding.severity))),
            Outcome::Exempt { .. } => (1, Reverse(None)),
            Outcome::CannotTell { .. } => (2, Reverse(None)),
            Outcome::Fine { .. } => (3, Reverse(None)),
            Outcome::NotApplicable { .. } => (4, Reverse(None)),
        });
        Judged { rule, outcomes }
    };
    rules.map(judged).collect()
}
