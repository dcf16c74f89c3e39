//! Rule outcomes as SARIF 2.1.0, for tools that collect results of many programs.
//!
//! Source: OASIS, "Static Analysis Results Interchange Format (SARIF) Version 2.1.0",
//! <https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html> (read 2026-11). A finding fails at level
//! error, warning or note; what cannot be determined is open; what is exempt or for other servers is not applicable.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_sarif::sarif::{
    Artifact, ArtifactLocation, Invocation, Location, LogicalLocation, PhysicalLocation,
    PropertyBag, ReportingConfiguration, ReportingDescriptor, Result, ResultKind, ResultLevel, Run,
    Tool, ToolComponent,
};

use crate::lint::{self, Document, Outcome, RuleOutcomes};
use experiment::plan::digest_of;

/// The log itself. `serde_sarif::sarif::Sarif` writes the version last, but a reader needs it first.
#[derive(Serialize)]
struct Log {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run; 1],
}

/// The log, ending in a line feed.
pub fn render(document: &Document) -> String {
    let rules = document.rules.iter().enumerate();
    let results = rules.flat_map(|(index, rule)| {
        let outcomes = rule.outcomes.iter();
        outcomes.map(move |outcome| result(document, index as i64, rule, outcome))
    });
    let descriptors: Vec<_> = document.rules.iter().map(descriptor).collect();
    let driver = ToolComponent::builder()
        .name("dbstow")
        .semantic_version(&document.version)
        .rules(descriptors)
        .build();
    let invocation = Invocation::builder().execution_successful(true).build();
    let captured = artifact(&document.server.capture);
    let run = Run::builder()
        .tool(Tool::builder().driver(driver).build())
        .invocations([invocation])
        .artifacts([Artifact::builder().location(captured).build()])
        .results(results.collect::<Vec<_>>())
        .build();
    let log = Log {
        schema: "https://json.schemastore.org/sarif-2.1.0.json",
        version: "2.1.0",
        runs: [run],
    };
    let mut text = serde_json::to_string_pretty(&log).expect("its keys are texts");
    text.push('\n');
    text
}

fn artifact(path: &str) -> ArtifactLocation {
    ArtifactLocation::builder().uri(uri(path)).build()
}

fn descriptor(rule: &RuleOutcomes) -> ReportingDescriptor {
    let sources: Vec<String> = rule
        .sources
        .iter()
        .map(|source| format!("{} ({}, read {})", source.name, source.url, source.read))
        .collect();
    let help = format!("{}\n\nSources: {}.", rule.says, sources.join("; "));
    let level = serde_json::to_value(level(&rule.severity)).expect("it is a text");
    let configuration = ReportingConfiguration::builder().level(level).build();
    let url = rule.sources.first().map_or("", |source| &source.url);
    ReportingDescriptor::builder()
        .id(&rule.id)
        .short_description(&rule.title)
        .full_description(&rule.says)
        .help_uri(url)
        .help(&help)
        .default_configuration(configuration)
        .properties(properties(&BTreeMap::from([
            ("severity", &rule.severity),
            ("why", &rule.why),
        ])))
        .build()
}

/// The fields of a value under their own names.
fn properties(value: &impl Serialize) -> PropertyBag {
    let value = serde_json::to_value(value).expect("its keys are texts");
    serde_json::from_value(value).expect("it has fields")
}

/// The level of a severity: there are four severities and three levels.
fn level(severity: &str) -> ResultLevel {
    match severity {
        "high" => ResultLevel::Error,
        "medium" => ResultLevel::Warning,
        _ => ResultLevel::Note,
    }
}

fn result(document: &Document, index: i64, rule: &RuleOutcomes, outcome: &Outcome) -> Result {
    let none = ResultLevel::None;
    let (kind, level, text) = match outcome {
        Outcome::Finding {
            severity,
            message,
            remedy,
            ..
        } => {
            let text = format!("{message}. Remedy: {remedy}.");
            (ResultKind::Fail, level(severity), text)
        }
        Outcome::CannotTell { missing, how } => {
            let text = format!("Not known: {missing}. How to find out: {how}.");
            (ResultKind::Open, none, text)
        }
        Outcome::Fine { value } => (ResultKind::Pass, none, value.clone()),
        Outcome::Exempt { why, .. } | Outcome::NotApplicable { why } => {
            (ResultKind::NotApplicable, none, why.clone())
        }
    };
    let places = match outcome {
        Outcome::Finding { places, .. } => places.as_slice(),
        Outcome::Exempt { .. }
        | Outcome::CannotTell { .. }
        | Outcome::Fine { .. }
        | Outcome::NotApplicable { .. } => &[],
    };
    let capture = &document.server.capture;
    let physical = PhysicalLocation::builder().artifact_location(artifact(capture));
    let mut location = Location::builder()
        .physical_location(physical.build())
        .build();
    let logical = logical(capture, places);
    location.logical_locations = (!logical.is_empty()).then_some(logical);
    let mut result = Result::builder()
        .rule_id(&rule.id)
        .rule_index(index)
        .kind(kind.clone())
        .level(level)
        .message(text.as_str())
        .locations([location])
        .properties(properties(outcome))
        .build();
    if kind == ResultKind::Fail {
        let print = ("dbstowPlace/v1".to_owned(), fingerprint(&rule.id, places));
        result.partial_fingerprints = Some(BTreeMap::from([print]));
    }
    result
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
fn logical(server: &str, places: &[lint::Location]) -> Vec<LogicalLocation> {
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
        let location = LogicalLocation::builder()
            .name(name)
            .fully_qualified_name(format!("{above}/{name}"))
            .kind(kind);
        Some(location.build())
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
