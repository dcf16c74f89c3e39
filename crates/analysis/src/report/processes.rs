//! Which server processes read and wrote, where the server counts that (`pg_stat_io`).

use std::collections::BTreeMap;

use crate::findings::{Arm, Findings};
use table::quantity::percent;
use table::{Column, Table};

/// Number of parts that a cell names.
const PARTS_MAX: usize = 4;
/// Smaller shares are summed up as others.
const SHARE_MIN: f64 = 0.01;

/// Names of counters that are bytes read, and bytes written.
const READ: [&str; 1] = ["read_bytes"];
const WRITTEN: [&str; 2] = ["write_bytes", "extend_bytes"];

/// One row per placement whose server counts by process.
pub(super) fn table(findings: &Findings) -> Table {
    let arms = findings.arms.iter();
    let counted = arms.filter(|arm| {
        [&READ[..], &WRITTEN]
            .iter()
            .any(|what| !parts(arm, what).is_empty())
    });
    Table::of(
        counted,
        [
            Column::text("placement", |arm: &&Arm| arm.name.clone()),
            Column::text("bytes read by", |arm: &&Arm| shares(&parts(arm, &READ))),
            Column::text("bytes written by", |arm: &&Arm| {
                shares(&parts(arm, &WRITTEN))
            }),
        ],
    )
}

/// Bytes by process, as text.
fn parts(arm: &Arm, what: &[&str]) -> BTreeMap<String, f64> {
    let mut parts = BTreeMap::new();
    for (name, count) in &arm.counters {
        let words: Vec<&str> = name.split('.').collect();
        if let ["io", object, process, context, counter] = words.as_slice()
            && what.contains(counter)
            && count.mean > 0.0
        {
            *parts.entry(called(object, process, context)).or_insert(0.0) += count.mean;
        }
    }
    parts
}

/// `client backend`, `client backend (bulkread)`, `walwriter (log)`.
fn called(object: &str, process: &str, context: &str) -> String {
    let object = match object {
        "relation" => None,
        "temp_relation" => Some("temporary tables"),
        "wal" => Some("log"),
        other => Some(other),
    };
    let context = Some(context).filter(|context| *context != "normal");
    let details: Vec<&str> = object.into_iter().chain(context).collect();
    let process = process.replace('_', " ");
    match details.as_slice() {
        [] => process,
        details => format!("{process} ({})", details.join(", ")),
    }
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
    fn a_process_is_called_as_the_server_does_with_what_is_special() {
        assert_eq!(called("relation", "checkpointer", "normal"), "checkpointer");
        assert_eq!(
            called("relation", "client_backend", "bulkread"),
            "client backend (bulkread)"
        );
        assert_eq!(called("wal", "walwriter", "init"), "walwriter (log, init)");
    }

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
