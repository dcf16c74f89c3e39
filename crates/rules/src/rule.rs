//! What a rule is, and how a set of them looks at a server.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::outcome::{Outcome, Severity};

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

/// A rule for servers that are captured as `S`: what it says, who says so, and a function that looks. `A` says which of these
/// servers it is for.
#[derive(Clone, Copy, Debug)]
pub struct Rule<S: 'static, A: 'static> {
    /// Its name: stable, in kebab-case, and of no other rule of any product.
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
    pub applies: A,
    /// Looks at a server. Gives at least one outcome.
    pub judge: fn(&S) -> Vec<Outcome>,
}

/// Which rules look, by id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Only these; empty: all.
    pub only: BTreeSet<String>,
    /// Not these.
    pub ignored: BTreeSet<String>,
}

impl Selection {
    /// Whether the rule called `id` looks.
    pub fn has(&self, id: &str) -> bool {
        (self.only.is_empty() || self.only.contains(id)) && !self.ignored.contains(id)
    }
}

/// A rule and what it said.
#[derive(Clone, Debug)]
pub struct Judged<S: 'static, A: 'static> {
    /// The rule.
    pub rule: &'static Rule<S, A>,
    /// At least one outcome, findings first, the worst at the top.
    pub outcomes: Vec<Outcome>,
}

/// Lets `rules` look at a server, in their order. A rule for which `held_back` gives an outcome says that instead.
///
/// # Panics
/// When a rule says nothing.
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
