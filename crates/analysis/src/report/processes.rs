//! Which server processes read and wrote, where the server counts that.

use std::collections::BTreeMap;

use crate::findings::{Arm, Findings};
use products::ProcessBytes;
use table::quantity::percent;
use table::{Column, Table};

/// Number of parts that a cell names.
const PARTS_MAX: usize = 4;
/// Smaller shares are summed up as others.
const SHARE_MIN: f64 = 0.01;

/// One row per placement whose server counts by process.
pub(super) fn table(findings: &Findings) -> Table {
    let arms = findings.arms.iter();
    let counted = arms.filter(|arm| {
        let is_counted = |written| !parts(arm, written).is_empty();
        is_counted(false) || is_counted(true)
    });
    Table::of(
        counted,
        [
            Column::text("placement", |arm: &&Arm| arm.name.clone()),
            Column::text("bytes read by", |arm: &&Arm| shares(&parts(arm, false))),
            Column::text("bytes written by", |arm: &&Arm| shares(&parts(arm, true))),
        ],
    )
}

/// Bytes read, or `written`, by process.
fn parts(arm: &Arm, written: bool) -> BTreeMap<String, f64> {
    let mut parts = BTreeMap::new();
    for (name, count) in &arm.counters {
        if let Some(bytes) = ProcessBytes::counted(name)
            && bytes.written == written
            && count.mean > 0.0
        {
            *parts.entry(bytes.process).or_insert(0.0) += count.mean;
        }
    }
    parts
}

fn shares(parts: &BTreeMap<String, f64>) -> String {
    let sum: f64 = parts.values().sum();
    let mut parts: Vec<(&String, f64)> = parts
        .iter()
        .map(|(who, bytes)| (who, bytes / sum))
        .collect();
    parts.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    parts.retain(|(_, share)| *share >= SHARE_MIN);
    parts.truncate(PARTS_MAX);
    let rest = 1.0 - parts.iter().map(|(_, share)| share).sum::<f64>();
    let named = parts
        .iter()
        .map(|(who, share)| format!("{} {who}", percent(*share)));
    let rest = (sum > 0.0 && rest >= SHARE_MIN).then(|| format!("{} others", percent(rest)));
    named.chain(rest).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_shares_are_named_and_the_rest_is_summed_up() {
        let parts = |all: &[(&str, f64)]| {
            let all = all.iter().map(|(who, bytes)| ((*who).to_owned(), *bytes));
            shares(&all.collect())
        };
        assert_eq!(parts(&[]), "");
        assert_eq!(parts(&[("a", 3.0), ("b", 1.0)]), "75 % a, 25 % b");
        let many = [
            ("a", 40.0),
            ("b", 30.0),
            ("c", 15.0),
            ("d", 10.0),
            ("e", 3.0),
            ("f", 2.0),
        ];
        assert_eq!(parts(&many), "40 % a, 30 % b, 15 % c, 10 % d, 5 % others");
    }
}
