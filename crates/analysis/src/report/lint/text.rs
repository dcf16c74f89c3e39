//! Rule outcomes for a terminal: findings, the worst first, then what is exempt, what cannot be determined and how to
//! find out, and a short summary of what passed.

use std::collections::BTreeMap;

use crate::lint::{Document, Evidence, Location, Measured, Outcome, RuleOutcomes};
use table::wrapped;

/// Number of a finding's places that are shown; JSON and SARIF have all.
const PLACES: usize = 4;
/// The same for values that were found.
const EVIDENCE: usize = 8;

/// The text, in lines of at most 100 columns; only a longer name or path exceeds that.
pub fn render(document: &Document) -> String {
    let mut text = head(document);
    for severity in ["high", "medium", "low", "note"] {
        let mut section = String::new();
        for rule in &document.rules {
            let mut first = true;
            for outcome in &rule.outcomes {
                if let Some(found) = finding(rule, outcome, severity, first) {
                    section.push_str(&found);
                    first = false;
                }
            }
        }
        if !section.is_empty() {
            text.push_str(&format!("\n{}\n{section}", severity.to_uppercase()));
        }
    }
    for (title, section) in [
        ("EXEMPT", exempt(document)),
        ("UNKNOWN", cannot_tell(document)),
    ] {
        if !section.is_empty() {
            text.push_str(&format!("\n{title}\n{section}"));
        }
    }
    text.push('\n');
    let fine = ids(document, |outcome| matches!(outcome, Outcome::Fine { .. }));
    let elsewhere = ids(document, |outcome| {
        matches!(outcome, Outcome::NotApplicable { .. })
    });
    for (title, ids) in [("Fine: ", fine), ("Not for this server: ", elsewhere)] {
        if !ids.is_empty() {
            text.push_str(&wrapped(title, &ids.join(", ")));
        }
    }
    text + &sum(document)
}

fn head(document: &Document) -> String {
    let server = &document.server;
    let parts = [&server.edition, &server.platform];
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    let parts: Vec<&str> = parts.map(String::as_str).collect();
    let with = match parts.is_empty() {
        true => String::new(),
        false => format!(", {}", parts.join(", ")),
    };
    let ladders = match document.profiles.is_empty() {
        true => String::new(),
        false => format!("; ladders in force: {}", document.profiles.join(", ")),
    };
    wrapped(
        "",
        &format!(
            "{}: {} {}{with}; captured {}{ladders}",
            server.capture, server.title, server.version, server.taken
        ),
    )
}

fn finding(rule: &RuleOutcomes, outcome: &Outcome, wanted: &str, first: bool) -> Option<String> {
    let Outcome::Finding {
        severity,
        message,
        evidence,
        places,
        remedy,
        measured,
        advises: _,
    } = outcome
    else {
        return None;
    };
    if severity != wanted {
        return None;
    }
    let mut text = format!("  {}\n{}", rule.id, wrapped("    ", message));
    text.push_str(&found(evidence));
    text.push_str(&whereabouts(places));
    text.push_str(&wrapped("    do:     ", remedy));
    if first {
        text.push_str(&sources(rule));
        text.extend(measured.iter().map(here));
    }
    Some(text)
}

fn found(evidence: &[Evidence]) -> String {
    if evidence.is_empty() {
        return String::new();
    }
    let shown = evidence.iter().take(EVIDENCE);
    let mut values: Vec<String> = shown
        .map(|evidence| format!("{}: {}", evidence.what, evidence.value))
        .collect();
    if evidence.len() > EVIDENCE {
        values.push(format!("and {} more", evidence.len() - EVIDENCE));
    }
    wrapped("    found:  ", &values.join("; "))
}

fn whereabouts(places: &[Location]) -> String {
    let shown = places.iter().take(PLACES);
    let mut lines: Vec<String> = shown
        .map(|place| match (&place.path, &place.volume) {
            (Some(path), _) => path.clone(),
            (None, Some(volume)) => volume.clone(),
            (None, None) => place.database.clone().unwrap_or_default(),
        })
        .collect();
    if places.len() > PLACES {
        lines.push(format!("and {} more", places.len() - PLACES));
    }
    match lines.is_empty() {
        true => String::new(),
        false => wrapped("    where:  ", &lines.join("; ")),
    }
}

fn sources(rule: &RuleOutcomes) -> String {
    let Some(source) = rule.sources.first() else {
        return String::new();
    };
    let more = match rule.sources.len() {
        1 => String::new(),
        several => format!(" and {} more", several - 1),
    };
    wrapped(
        "    by:     ",
        &format!("{}, read {}{more}", source.name, source.read),
    )
}

fn here(measured: &Measured) -> String {
    wrapped("    here:   ", &measured.text)
}

fn exempt(document: &Document) -> String {
    let mut text = String::new();
    for (rule, outcome) in outcomes(document) {
        if let Outcome::Exempt { exception, why } = outcome {
            text.push_str(&wrapped("  ", &format!("{} ({exception}): {why}", rule.id)));
        }
    }
    text
}

/// Open questions with the same remedy are grouped.
fn cannot_tell(document: &Document) -> String {
    let mut by_remedy: BTreeMap<&str, (Vec<&str>, Vec<&str>)> = BTreeMap::new();
    for (rule, outcome) in outcomes(document) {
        if let Outcome::CannotTell { missing, how } = outcome {
            let (what, rules) = by_remedy.entry(how).or_default();
            if !what.contains(&missing.as_str()) {
                what.push(missing);
            }
            if !rules.contains(&rule.id.as_str()) {
                rules.push(&rule.id);
            }
        }
    }
    let mut text = String::new();
    for (how, (what, rules)) in by_remedy {
        text.push_str(&wrapped("  ", &what.join("; ")));
        text.push_str(&wrapped("    for:    ", &rules.join(", ")));
        text.push_str(&wrapped("    how:    ", how));
    }
    text
}

fn outcomes(document: &Document) -> impl Iterator<Item = (&RuleOutcomes, &Outcome)> {
    let rules = document.rules.iter();
    rules.flat_map(|rule| rule.outcomes.iter().map(move |outcome| (rule, outcome)))
}

/// Ids of rules whose outcomes are all of this kind.
fn ids(document: &Document, like: impl Fn(&Outcome) -> bool) -> Vec<&str> {
    let rules = document.rules.iter();
    let all = rules.filter(|rule| rule.outcomes.iter().all(&like));
    all.map(|rule| rule.id.as_str()).collect()
}

fn sum(document: &Document) -> String {
    let counts = &document.counts;
    let ignored = match document.ignored.is_empty() {
        true => String::new(),
        false => format!("; ignored: {}", document.ignored.join(", ")),
    };
    let text = format!(
        "{} high, {} medium, {} low, {}; {} exempt, {} unknown, {} fine{ignored}. \
         `dbstow lint --list` prints every rule with its sources.",
        counts.high,
        counts.medium,
        counts.low,
        if counts.note == 1 {
            "1 note".to_owned()
        } else {
            format!("{} notes", counts.note)
        },
        counts.exempt,
        counts.cannot_tell,
        counts.fine,
    );
    wrapped("", &text)
}
