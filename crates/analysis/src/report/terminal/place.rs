//! What a real-time run was run by, where, and how well it kept time.

use super::super::place::{machine, time_kept, volumes};
use super::super::words::wrapped;
use crate::findings::Findings;

/// A line each for what is known; nothing for a simulated run.
pub(super) fn lines(findings: &Findings) -> String {
    let engine = findings.engine.as_ref().map(|engine| {
        let file = match engine.file.as_str() {
            "" => String::new(),
            file => format!("; \"file\" means: {file}"),
        };
        wrapped(
            "engine: ",
            &format!("{} {}{file}", engine.name, engine.version),
        )
    });
    let lateness = findings.lateness.as_ref();
    let lateness = lateness.map(|lateness| wrapped("time kept: ", &time_kept(lateness)));
    let machine = machine(findings).map(|machine| wrapped("machine: ", &machine));
    let volumes = volumes(findings).map(|volumes| wrapped("volumes: ", &volumes));
    let lines = [engine, machine, volumes, lateness];
    lines.into_iter().flatten().collect()
}
