//! What dbstow can do with a server, and the statements that would let it do more.

use super::super::{Can, Capability, Capture};
use table::{Column, Table, Width, wrapped};

/// One row per capability, with the statements below, where they can be copied.
pub(super) fn table_of(capture: &Capture) -> String {
    let capabilities = capture.capabilities();
    let columns = [
        Column::text("what dbstow does", |can: &&Capability| can.what),
        Column::text("can it", |can: &&Capability| word(can.can)),
        Column::text("why", |can: &&Capability| can.why.clone()),
    ];
    let mut text = Table::of(&capabilities, columns).text(Width::default());
    let mut grants: Vec<&str> = Vec::new();
    for capability in &capabilities {
        if !capability.grant.is_empty() && !grants.contains(&&*capability.grant) {
            grants.push(&capability.grant);
        }
    }
    if grants.is_empty() {
        return text;
    }
    let login = capture.asked.as_ref().map_or_else(String::new, |asked| {
        format!("; [login] is [{}]", asked.login.replace(']', "]]"))
    });
    text.push('\n');
    text.push_str(&wrapped(
        "",
        &format!("An administrator can let it do more{login}:"),
    ));
    for grant in grants {
        // Never wrapped, so that they can be copied.
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
