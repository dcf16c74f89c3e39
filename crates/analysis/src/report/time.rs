//! Where a placement's sessions spent their time.

use super::words;
use crate::findings::{Arm, Findings};
use experiment::record::Cause;
use table::quantity::percent;
use table::{Column, Table};

/// Number of causes that a table names.
const CAUSES_MAX: usize = 5;
/// Shares below this are summed up as others.
const SHARE_MIN: f64 = 0.01;

/// A part of the sessions' time.
pub(super) struct Part {
    /// `None` for all others.
    cause: Option<Cause>,
    /// Its share of the whole.
    pub(super) share: f64,
}

impl Part {
    /// `reads being served`
    pub(super) fn words(&self) -> String {
        self.cause.as_ref().map_or("other".into(), words::cause)
    }

    /// The remedy for it, in a word.
    pub(super) fn family(&self) -> &'static str {
        self.cause.as_ref().map_or("other", words::family)
    }

    /// `71 %`
    pub(super) fn percent(&self) -> String {
        percent(self.share)
    }
}

/// One row per placement that has a split.
pub(super) fn table(findings: &Findings) -> Table {
    let arms = findings.arms.iter();
    let split = arms.filter(|arm| !arm.time_split.is_empty());
    let columns = [
        Column::text("placement", |arm: &&Arm| arm.name.clone()),
        Column::text("where the sessions' time went", |arm: &&Arm| {
            let parts = parts(arm, CAUSES_MAX).into_iter();
            let parts = parts.map(|part| format!("{} {}", part.percent(), part.words()));
            parts.collect::<Vec<_>>().join(", ")
        }),
    ];
    Table::of(split, columns)
}

/// The largest causes, at most `causes_max`, and the rest; empty where no time was recorded.
pub(super) fn parts(arm: &Arm, causes_max: usize) -> Vec<Part> {
    let mut shares: Vec<(&Cause, f64)> = arm.time_split.iter().map(|(c, s)| (c, *s)).collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    let named = shares
        .into_iter()
        .take(causes_max)
        .filter(|(_, share)| *share >= SHARE_MIN);
    let mut parts: Vec<Part> = named
        .map(|(cause, share)| Part {
            cause: Some(cause.clone()),
            share,
        })
        .collect();
    let share = 1.0 - parts.iter().map(|part| part.share).sum::<f64>();
    if share >= SHARE_MIN && !arm.time_split.is_empty() {
        parts.push(Part { cause: None, share });
    }
    parts
}
