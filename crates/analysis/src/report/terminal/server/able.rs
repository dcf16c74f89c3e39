//! What dbstow can do with a server, and the statements that would let it do more.

use sqlserver::capture::{Can, Capture, Greeting};

use super::super::super::words::wrapped;
use super::super::table::table;

/// A row for each thing, and the statements below, where they can be copied.
pub(super) fn table_of(capture: &Capture, asked: Option<&Greeting>) -> String {
    let capabilities = capture.capabilities();
    let rows = capabilities.iter().map(|capability| {
        vec![
            capability.what.to_owned(),
            word(capability.can).to_owned(),
            capability.why.clone(),
        ]
    });
    let header = ["what dbstow does", "can it", "why"];
    let mut text = table(header.map(String::from).to_vec(), rows.collect(), 3);
    let mut grants: Vec<&str> = Vec::new();
    for capability in &capabilities {
        if !capability.grant.is_empty() && !grants.contains(&&*capability.grant) {
            grants.push(&capability.grant);
        }
    }
    if grants.is_empty() {
        return text;
    }
    let login = asked.map_or_else(String::new, |asked| {
        format!("; [login] is [{}]", asked.login.replace(']', "]]"))
    });
    text.push('\n');
    text.push_str(&wrapped(
        "",
        &format!("An administrator can let it do more{login}:"),
    ));
    for grant in grants {
        // Never wrapped: they are there to be copied.
        text.push_str(&format!("  {grant};\n"));
    }
    text
}

fn word(can: Can) -> &'static str {
    match can {
        Can::Yes => "yes",
        Can::Partly => "partly",
        Can::No => "no",
        Can::Unknown => "not known",
    }
}
