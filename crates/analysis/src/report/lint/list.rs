//! `dbstow lint --list`: every rule, with its description and its source.

use rules::RuleInfo;
use serde_json::{Value, json};
use table::wrapped;

/// These rules, for a terminal.
pub fn text(rules: &[RuleInfo]) -> String {
    let mut text = String::new();
    for rule in rules {
        text.push_str(&format!("{} ({})\n", rule.id, rule.severity.name()));
        text.push_str(&wrapped("    ", rule.title));
        text.push_str(&wrapped("    says:   ", rule.says));
        text.push_str(&wrapped("    why:    ", rule.why));
        text.push_str(&wrapped("    for:    ", &rule.scope));
        for source in rule.sources {
            let by = format!("{}, read {}", source.name, source.read);
            text.push_str(&wrapped("    by:     ", &by));
            // On one line, however long, so that it can be copied.
            text.push_str(&format!("            {}\n", source.url));
        }
        text.push('\n');
    }
    text
}

/// These rules, as JSON.
pub fn json(rules: &[RuleInfo]) -> String {
    let rules: Vec<Value> = rules.iter().map(value).collect();
    let document = json!({ "schema": "dbstow.lint-rules/1", "rules": rules });
    format!("{document:#}\n")
}

fn value(rule: &RuleInfo) -> Value {
    let sources: Vec<Value> = rule
        .sources
        .iter()
        .map(|source| json!({ "name": source.name, "url": source.url, "read": source.read }))
        .collect();
    json!({
        "id": rule.id,
        "title": rule.title,
        "severity": rule.severity.name(),
        "says": rule.says,
        "why": rule.why,
        "for": rule.scope,
        "profile": rule.profile,
        "sources": sources,
    })
}
