//! Where the sessions' time went: the largest causes of each placement.

use super::super::words;
use crate::findings::{Arm, Findings};
use crate::quantity::percent;

/// Shares below this are summed up as others.
const SHARE_MIN: f64 = 0.01;
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
    let mut shares: Vec<(&String, f64)> = arm.time_split.iter().map(|(c, s)| (c, *s)).collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    let named = shares
        .iter()
        .take(CAUSES_MAX)
        .filter(|(_, share)| *share >= SHARE_MIN);
    let mut parts: Vec<String> = named
        .clone()
        .map(|(cause, share)| format!("{} {}", percent(*share), words::cause(cause)))
        .collect();
    let others = 1.0 - named.map(|(_, share)| share).sum::<f64>();
    if others >= SHARE_MIN {
        parts.push(format!("{} other", percent(others)));
    }
    parts.join(", ")
}
