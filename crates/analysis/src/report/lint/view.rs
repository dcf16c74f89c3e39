//! The report on a server's rules: findings, the worst first, then what is exempt, what cannot be determined and how to
//! find out, and what passed.

use std::collections::BTreeMap;

use crate::lint::{Document, Evidence, Location, Outcome, RuleOutcomes};
use crate::report::section::{Body, Item, Kind, Place, Report};

/// Number of a finding's places that are shown; JSON and SARIF have all.
const PLACES: usize = 4;
/// The same for values that were found.
const EVIDENCE: usize = 8;
/// Number of open questions on a screen.
const UNKNOWN_MAX: usize = 3;

/// The severities, the worst first, with their headings, and the number of lines that a screen has for each.
const SEVERITIES: [(&str, &str, usize); 4] = [
    (WORST, "HIGH", 10),
    ("medium", "MEDIUM", 7),
    ("low", "LOW", 3),
    ("note", "NOTE", 2),
];

/// The severity whose remedies stand on the screen.
const WORST: &str = "high";
/// Before a finding's remedy.
const REMEDY: &str = "do";

/// The report on `document`.
pub fn report(document: &Document) -> Report {
    let mut report = Report {
        title: head(document),
        answer: Item::all(Kind::Answer, [sum(document)]),
        ..Report::default()
    };
    let of_severity = |severity: &str| findings(document, severity);
    let (unknown, how) = cannot_tell(document);
    for (severity, _, most) in SEVERITIES {
        let short = of_severity(severity)
            .into_iter()
            .filter_map(|item| match item.kind {
                Kind::Point => Some(Item {
                    about: format!("{severity}, {}", item.about),
                    ..item
                }),
                _ => (severity == WORST && item.about == REMEDY).then_some(item),
            });
        let short = Body::List(short.collect());
        report.add("findings", "", Place::Short(most), short);
    }
    report.add(
        "unknown",
        "",
        Place::Short(UNKNOWN_MAX),
        Body::List(unknown),
    );
    for (severity, title, _) in SEVERITIES {
        report.add(
            severity,
            title,
            Place::Full,
            Body::List(of_severity(severity)),
        );
    }
    report.add(
        "exempt",
        "EXEMPT",
        Place::Full,
        Body::List(exempt(document)),
    );
    report.add("unknown", "UNKNOWN", Place::Full, Body::List(how));
    let fine = ids(document, |outcome| matches!(outcome, Outcome::Fine { .. }));
    let elsewhere = ids(document, |outcome| {
        matches!(outcome, Outcome::NotApplicable { .. })
    });
    let others = [("Fine", fine), ("Not for this server", elsewhere)].into_iter();
    let others = others.filter(|(_, ids)| !ids.is_empty());
    let others = others.map(|(title, ids)| (title, ids.join(", ")));
    report.add("others", "", Place::Full, Body::Facts(others.collect()));
    report
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
    format!(
        "{}: {} {}{with}; captured {}{ladders}",
        server.capture, server.title, server.version, server.taken
    )
}

/// The findings of a severity, each with its details below it.
fn findings(document: &Document, wanted: &str) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    for (rule, outcome) in outcomes(document) {
        let is_first = !items.iter().any(|item| item.about == rule.id);
        items.extend(finding(rule, outcome, wanted, is_first));
    }
    items
}

fn finding(rule: &RuleOutcomes, outcome: &Outcome, wanted: &str, is_first: bool) -> Vec<Item> {
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
        return Vec::new();
    };
    if severity != wanted {
        return Vec::new();
    }
    let mut items = vec![Item::new(Kind::Point, &*rule.id, &**message)];
    let mut detail = |name: &str, text: String| {
        if !text.is_empty() {
            items.push(Item::new(Kind::Remark, name, text));
        }
    };
    detail("found", found(evidence));
    detail("where", whereabouts(places));
    detail(REMEDY, remedy.clone());
    if is_first {
        detail("by", sources(rule));
        for measured in measured {
            detail("here", measured.text.clone());
        }
    }
    items
}

fn found(evidence: &[Evidence]) -> String {
    let value = |evidence: &Evidence| format!("{}: {}", evidence.what, evidence.value);
    first(evidence.iter().map(value), EVIDENCE)
}

fn whereabouts(places: &[Location]) -> String {
    let place = |place: &Location| match (&place.path, &place.volume) {
        (Some(path), _) => path.clone(),
        (None, Some(volume)) => volume.clone(),
        (None, None) => place.database.clone().unwrap_or_default(),
    };
    first(places.iter().map(place), PLACES)
}

/// The first texts, and the number of the others.
fn first(texts: impl ExactSizeIterator<Item = String>, most: usize) -> String {
    let left = texts.len().saturating_sub(most);
    let more = (left > 0).then(|| format!("and {left} more"));
    let shown: Vec<String> = texts.take(most).chain(more).collect();
    shown.join("; ")
}

fn sources(rule: &RuleOutcomes) -> String {
    let Some(source) = rule.sources.first() else {
        return String::new();
    };
    let more = match rule.sources.len() {
        1 => String::new(),
        several => format!(" and {} more", several - 1),
    };
    format!("{}, read {}{more}", source.name, source.read)
}

fn exempt(document: &Document) -> Vec<Item> {
    let exempt = outcomes(document).filter_map(|(rule, outcome)| match outcome {
        Outcome::Exempt { exception, why } => {
            let about = format!("{} ({exception})", rule.id);
            Some(Item::new(Kind::Point, about, &**why))
        }
        Outcome::Finding { .. }
        | Outcome::CannotTell { .. }
        | Outcome::Fine { .. }
        | Outcome::NotApplicable { .. } => None,
    });
    exempt.collect()
}

/// Open questions in short; and the same with how to find out, where those with the same remedy are grouped.
fn cannot_tell(document: &Document) -> (Vec<Item>, Vec<Item>) {
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
    let (mut short, mut all) = (Vec::new(), Vec::new());
    for (how, (what, rules)) in by_remedy {
        let what = what.join("; ");
        short.push(Item::new(Kind::Warning, "unknown", what.clone()));
        all.extend([
            Item::new(Kind::Point, "", what),
            Item::new(Kind::Remark, "for", rules.join(", ")),
            Item::new(Kind::Remark, "how", how),
        ]);
    }
    (short, all)
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
    format!(
        "{} high, {} medium, {} low, {}; {} exempt, {} unknown, {} fine{ignored}.",
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
    )
}
