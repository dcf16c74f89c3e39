//! Where the sessions' time went: the largest causes of each placement.

use super::super::split;
use crate::findings::{Arm, Findings};

/// Causes that are named.
const CAUSES_MAX: usize = 5;

/// A row a placement that has a split; empty when none has.
pub(super) fn table(findings: &Findings) -> String {
    let split = findings
        .arms
        .iter()
        .filter(|arm| !arm.time_split.is_empty());
    let rows: Vec<Vec<String>> = split
        .map(|arm| vec![arm.name.clone(), causes(arm)])
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    super::table::table(
        vec!["placement".into(), "where the sessions' time went".into()],
        rows,
        2,
    )
}

fn causes(arm: &Arm) -> String {
    let parts = split::parts(arm, CAUSES_MAX);
    let parts: Vec<String> = parts
        .iter()
        .map(|part| format!("{} {}", part.percent, part.words))
        .collect();
    parts.join(", ")
}
