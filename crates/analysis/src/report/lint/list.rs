//! `dbstow lint --list`: every rule, with what it says and who says so.

use serde_json::{Value, json};
use sqlserver::capture::Product;
use sqlserver::lint::{Applies, Rule, rules};

use super::super::words::wrapped;

/// All rules, for a terminal.
pub fn text() -> String {
    let mut text = String::new();
    for rule in rules() {
        let severity = rule.severity.name();
        text.push_str(&format!("{} ({severity})\n", rule.id));
        text.push_str(&wrapped("    ", rule.title));
        text.push_str(&wrapped("    says:   ", rule.says));
        text.push_str(&wrapped("    why:    ", rule.why));
        text.push_str(&wrapped("    for:    ", &scope(&rule.applies)));
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

/// All rules, as JSON.
pub fn json() -> String {
    let rules: Vec<Value> = rules().map(entry).collect();
    let document = json!({ "schema": "dbstow.lint-rules/1", "rules": rules });
    format!("{document:#}\n")
}

fn entry(rule: &Rule) -> Value {
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
        "for": scope(&rule.applies),
        "profile": rule.applies.profile.map(|profile| profile.name()),
        "sources": sources,
    })
}

/// For which servers a rule is, in words.
fn scope(applies: &Applies) -> String {
    let products: Vec<&str> = applies
        .products
        .iter()
        .map(|product| match product {
            Product::Boxed => "SQL Server",
            Product::AzureDatabase => "Azure SQL Database",
            Product::ManagedInstance => "Azure SQL Managed Instance",
            Product::Other => "others",
        })
        .collect();
    let mut text = products.join(", ");
    if applies.windows {
        text.push_str(" on Windows");
    }
    if applies.azure {
        text.push_str(" on a virtual machine of Azure");
    }
    if applies.since > 0 {
        text.push_str(&format!(", version {} and later", applies.since));
    }
    if applies.until > 0 {
        text.push_str(&format!(", up to version {}", applies.until));
    }
    if let Some(profile) = applies.profile {
        text.push_str(&format!(", with --profile {}", profile.name()));
    }
    text
}
