//! What rules say as SARIF 2.1.0, for tools that collect results of many programs.
//!
//! Source: OASIS, "Static Analysis Results Interchange Format (SARIF) Version 2.1.0",
//! <https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html> (read 2026-11). A finding fails at level
//! error, warning or note; what cannot be told is open; what is exempt or for other servers is not applicable.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::lint::{Document, Outcome, Place, RuleOutcomes};
use experiment::plan::digest_of;

#[derive(Serialize)]
struct Log<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'a> {
    tool: Tool<'a>,
    invocations: [Invocation; 1],
    artifacts: [Artifact; 1],
    results: Vec<Entry<'a>>,
}

#[derive(Serialize)]
struct Tool<'a> {
    driver: Driver<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver<'a> {
    name: &'static str,
    semantic_version: &'a str,
    rules: Vec<Descriptor<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor<'a> {
    id: &'a str,
    short_description: Text<'a>,
    full_description: Text<'a>,
    help_uri: &'a str,
    help: Text<'a>,
    default_configuration: Configuration,
    properties: BTreeMap<&'static str, &'a str>,
}

#[derive(Serialize)]
struct Configuration {
    level: &'static str,
}

#[derive(Serialize)]
struct Text<'a> {
    text: std::borrow::Cow<'a, str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation {
    execution_successful: bool,
}

#[derive(Serialize)]
struct Artifact {
    location: ArtifactLocation,
}

#[derive(Clone, Serialize)]
struct ArtifactLocation {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Entry<'a> {
    rule_id: &'a str,
    rule_index: usize,
    kind: &'static str,
    level: &'static str,
    message: Text<'a>,
    locations: Vec<Location>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    partial_fingerprints: BTreeMap<&'static str, String>,
    properties: serde_json::Value,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    physical_location: PhysicalLocation,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    logical_locations: Vec<LogicalLocation>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LogicalLocation {
    name: String,
    fully_qualified_name: String,
    kind: &'static str,
}

/// The log, with a line feed at its end.
pub fn render(document: &Document) -> String {
    let artifact = ArtifactLocation {
        uri: uri(&document.server.capture),
    };
    let rules = document.rules.iter().enumerate();
    let results = rules.flat_map(|(index, rule)| {
        let outcomes = rule.outcomes.iter();
        let artifact = &artifact;
        outcomes.map(move |outcome| entry(document, index, rule, outcome, artifact))
    });
    let log = Log {
        schema: "https://json.schemastore.org/sarif-2.1.0.json",
        version: "2.1.0",
        runs: [Run {
            tool: Tool {
                driver: Driver {
                    name: "dbstow",
                    semantic_version: &document.version,
                    rules: document.rules.iter().map(descriptor).collect(),
                },
            },
            invocations: [Invocation {
                execution_successful: true,
            }],
            artifacts: [Artifact {
                location: artifact.clone(),
            }],
            results: results.collect(),
        }],
    };
    let mut text = serde_json::to_string_pretty(&log).expect("its keys are texts");
    text.push('\n');
    text
}

fn descriptor(rule: &RuleOutcomes) -> Descriptor<'_> {
    let sources: Vec<String> = rule
        .sources
        .iter()
        .map(|source| format!("{} ({}, read {})", source.name, source.url, source.read))
        .collect();
    let help = format!("{}\n\nSources: {}.", rule.says, sources.join("; "));
    Descriptor {
        id: &rule.id,
        short_description: plain(&rule.title),
        full_description: plain(&rule.says),
        help_uri: rule.sources.first().map_or("", |source| &source.url),
        help: Text { text: help.into() },
        default_configuration: Configuration {
            level: level(&rule.severity),
        },
        properties: BTreeMap::from([("severity", &*rule.severity), ("why", &*rule.why)]),
    }
}

fn plain(text: &str) -> Text<'_> {
    Text { text: text.into() }
}

/// The level of a severity; there are three of the one and four of the other.
fn level(severity: &str) -> &'static str {
    match severity {
        "high" => "error",
        "medium" => "warning",
        _ => "note",
    }
}

fn entry<'a>(
    document: &Document,
    rule_index: usize,
    rule: &'a RuleOutcomes,
    outcome: &'a Outcome,
    artifact: &ArtifactLocation,
) -> Entry<'a> {
    let (kind, level, text) = match outcome {
        Outcome::Finding {
            severity,
            message,
            remedy,
            ..
        } => {
            let text = format!("{message}. Remedy: {remedy}.");
            ("fail", level(severity), text.into())
        }
        Outcome::Exempt { why, .. } => ("notApplicable", "none", why.into()),
        Outcome::CannotTell { missing, how } => {
            let text = format!("Not known: {missing}. How to find out: {how}.");
            ("open", "none", text.into())
        }
        Outcome::Fine { value } => ("pass", "none", value.into()),
        Outcome::NotApplicable { why } => ("notApplicable", "none", why.into()),
    };
    let (places, prints) = match outcome {
        Outcome::Finding { places, .. } => (
            places.as_slice(),
            BTreeMap::from([("dbstowPlace/v1", fingerprint(&rule.id, places))]),
        ),
        Outcome::Exempt { .. }
        | Outcome::CannotTell { .. }
        | Outcome::Fine { .. }
        | Outcome::NotApplicable { .. } => ([].as_slice(), BTreeMap::new()),
    };
    Entry {
        rule_id: &rule.id,
        rule_index,
        kind,
        level,
        message: Text { text },
        locations: vec![Location {
            physical_location: PhysicalLocation {
                artifact_location: artifact.clone(),
            },
            logical_locations: logical(&document.server.capture, places),
        }],
        partial_fingerprints: prints,
        properties: serde_json::to_value(outcome).expect("its keys are texts"),
    }
}

/// What stays the same of a finding while its values change: its rule and its places.
fn fingerprint(rule: &str, places: &[Place]) -> String {
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
fn logical(server: &str, places: &[Place]) -> Vec<LogicalLocation> {
    let one = |place: &Place| {
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
        Some(LogicalLocation {
            name: name.clone(),
            fully_qualified_name: format!("{above}/{name}"),
            kind,
        })
    };
    places.iter().filter_map(one).collect()
}

/// A path as a URI: relative as it is, absolute as `file:`, with what no URI may hold escaped.
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
