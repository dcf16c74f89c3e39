//! Rule outcomes as SARIF 2.1.0, for tools that collect results of many programs.
//!
//! Source: OASIS, "Static Analysis Results Interchange Format (SARIF) Version 2.1.0",
//! <https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html> (read 2026-11). A finding fails at level
//! error, warning or note; what cannot be determined is open; what is exempt or for other servers is not applicable.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::lint::{self, Document, Outcome, RuleOutcomes};
use experiment::plan::digest_of;

/// The log itself: a reader needs the version first.
#[derive(Serialize)]
struct Log {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Value; 1],
}

/// The log, ending in a line feed.
pub fn render(document: &Document) -> String {
    let rules = document.rules.iter().enumerate();
    let results = rules.flat_map(|(index, rule)| {
        let outcomes = rule.outcomes.iter();
        outcomes.map(move |outcome| result(document, index, rule, outcome))
    });
    let driver = json!({
        "name": "dbstow",
        "semanticVersion": document.version,
        "rules": document.rules.iter().map(descriptor).collect::<Vec<_>>(),
    });
    let run = json!({
        "tool": { "driver": driver },
        "invocations": [{ "executionSuccessful": true }],
        "artifacts": [{ "location": artifact(document) }],
        "results": results.collect::<Vec<_>>(),
    });
    let log = Log {
        schema: "https://json.schemastore.org/sarif-2.1.0.json",
        version: "2.1.0",
        runs: [run],
    };
    let mut text = serde_json::to_string_pretty(&log).expect("its keys are texts");
    text.push('\n');
    text
}

/// The file that was looked at.
fn artifact(document: &Document) -> Value {
    json!({ "uri": uri(&document.server.capture) })
}

fn descriptor(rule: &RuleOutcomes) -> Value {
    let sources: Vec<String> = rule
        .sources
        .iter()
        .map(|source| format!("{} ({}, read {})", source.name, source.url, source.read))
        .collect();
    let help = format!("{}\n\nSources: {}.", rule.says, sources.join("; "));
    json!({
        "id": rule.id,
        "shortDescription": { "text": rule.title },
        "fullDescription": { "text": rule.says },
        "helpUri": rule.sources.first().map_or("", |source| &source.url),
        "help": { "text": help },
        "defaultConfiguration": { "level": level(&rule.severity) },
        "properties": { "severity": rule.severity, "why": rule.why },
    })
}

/// The level of a severity: there are four severities and three levels.
fn level(severity: &str) -> &'static str {
    match severity {
        "high" => "error",
        "medium" => "warning",
        _ => "note",
    }
}

fn result(document: &Document, index: usize, rule: &RuleOutcomes, outcome: &Outcome) -> Value {
    let (kind, level, text) = match outcome {
        Outcome::Finding {
            severity,
            message,
            remedy,
            ..
        } => {
            let text = format!("{message}. Remedy: {remedy}.");
            ("fail", level(severity), text)
        }
        Outcome::CannotTell { missing, how } => {
            let text = format!("Not known: {missing}. How to find out: {how}.");
            ("open", "none", text)
        }
        Outcome::Fine { value } => ("pass", "none", value.clone()),
        Outcome::Exempt { why, .. } | Outcome::NotApplicable { why } => {
            ("notApplicable", "none", why.clone())
        }
    };
    let mut location = json!({ "physicalLocation": { "artifactLocation": artifact(document) } });
    let mut result = Map::new();
    if let Outcome::Finding { places, .. } = outcome {
        let logical = logical(&document.server.capture, places);
        if !logical.is_empty() {
            location["logicalLocations"] = logical.into();
        }
        let fingerprints = json!({ "dbstowPlace/v1": fingerprint(&rule.id, places) });
        result.insert("partialFingerprints".to_owned(), fingerprints);
    }
    result.extend([
        ("ruleId".to_owned(), json!(rule.id)),
        ("ruleIndex".to_owned(), json!(index)),
        ("kind".to_owned(), json!(kind)),
        ("level".to_owned(), json!(level)),
        ("message".to_owned(), json!({ "text": text })),
        ("locations".to_owned(), json!([location])),
        // The outcome under its own names.
        ("properties".to_owned(), json!(outcome)),
    ]);
    result.into()
}

/// The part of a finding that is stable while its values change: its rule and its places.
fn fingerprint(rule: &str, places: &[lint::Location]) -> String {
    let places: Vec<String> = places
        .iter()
        .map(|place| {
            let parts = [&place.database, &place.file, &place.volume];
            parts.map(|part| part.as_deref().unwrap_or("")).join("/")
        })
        .collect();
    digest_of(format!("{rule}\n{}", places.join("\n")).as_bytes())
}

/// `server.json/sales/sales_log`, for each file, database or volume.
fn logical(server: &str, places: &[lint::Location]) -> Vec<Value> {
    let one = |place: &lint::Location| {
        let (name, kind) = match (&place.file, &place.database, &place.volume) {
            (Some(file), _, _) => (file, "file"),
            (None, Some(database), _) => (database, "database"),
            (None, None, Some(volume)) => (volume, "volume"),
            (None, None, None) => return None,
        };
        let above = match (&place.database, kind) {
            (Some(database), "file") => format!("{server}/{database}"),
            _ => server.to_owned(),
        };
        let full = format!("{above}/{name}");
        Some(json!({ "name": name, "fullyQualifiedName": full, "kind": kind }))
    };
    places.iter().filter_map(one).collect()
}

/// A path as a URI: a relative path unchanged, an absolute one as `file:`, with characters that are illegal in a URI
/// escaped.
fn uri(path: &str) -> String {
    let path = path.replace('\\', "/");
    let drive = path.as_bytes().get(1) == Some(&b':');
    let start = match (drive, path.starts_with('/')) {
        (true, _) => "file:///",
        (false, true) => "file://",
        (false, false) => "",
    };
    let mut uri = String::from(start);
    for (at, byte) in path.bytes().enumerate() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            b':' if drive && at == 1 => uri.push(':'),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uris() {
        let uris = ["a b.json", "../x.json", "/srv/ä.json", "C:\\caps\\x.json"].map(uri);
        assert_eq!(
            uris,
            [
                "a%20b.json",
                "../x.json",
                "file:///srv/%C3%A4.json",
                "file:///C:/caps/x.json"
            ]
        );
    }
}
