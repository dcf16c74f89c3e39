//! `dbstow lint --list`: every rule, with its description and its source.

use rules::Rule;
use serde_json::{Value, json};
use sqlserver::capture::Product;
use sqlserver::lint::Applies;

use super::super::words::wrapped;

/// A rule of any product, as it is listed.
struct Entry {
    id: &'static str,
    title: &'static str,
    severity: &'static str,
    says: &'static str,
    why: &'static str,
    scope: String,
    profile: Option<&'static str>,
    sources: &'static [rules::Source],
}

/// Those for SQL Server, then those for MariaDB and MySQL.
fn entries() -> impl Iterator<Item = Entry> {
    let sql_server = sqlserver::lint::rules().map(|rule| Entry {
        profile: rule.applies.profile.map(|profile| profile.name()),
        ..entry(rule, scope(&rule.applies))
    });
    let mariadb = mariadb::lint::rules().map(|rule| {
        let products: Vec<&str> = rule.applies.products.iter().map(|p| p.name()).collect();
        entry(rule, products.join(", "))
    });
    sql_server.chain(mariadb)
}

fn entry<S, A>(rule: &'static Rule<S, A>, scope: String) -> Entry {
    Entry {
        id: rule.id,
        title: rule.title,
        severity: rule.severity.name(),
        says: rule.says,
        why: rule.why,
        scope,
        profile: None,
        sources: rule.sources,
    }
}

/// All rules, for a terminal.
pub fn text() -> String {
    let mut text = String::new();
    for rule in entries() {
        text.push_str(&format!("{} ({})\n", rule.id, rule.severity));
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

/// All rules, as JSON.
pub fn json() -> String {
    let rules: Vec<Value> = entries().map(value).collect();
    let document = json!({ "schema": "dbstow.lint-rules/1", "rules": rules });
    format!("{document:#}\n")
}

fn value(rule: Entry) -> Value {
    let sources: Vec<Value> = rule
        .sources
        .iter()
        .map(|source| json!({ "name": source.name, "url": source.url, "read": source.read }))
        .collect();
    json!({
        "id": rule.id,
        "title": rule.title,
        "severity": rule.severity,
        "says": rule.says,
        "why": rule.why,
        "for": rule.scope,
        "profile": rule.profile,
        "sources": sources,
    })
}

/// The SQL Servers that a rule applies to, as text.
fn scope(applies: &Applies) -> String {
    let products: Vec<&str> = applies
        .products
        .iter()
        .map(|product| match product {
            Product::Boxed => "SQL Server",
            Product::AzureDatabase => "Azure SQL Database",
            Product::ManagedInstance => "Azure SQL Managed Instance",
            Product::Babelfish => "Babelfish",
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
