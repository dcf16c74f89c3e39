//! Counters that only grow until the server starts again: intervals are their differences.

use std::collections::BTreeMap;

use jiff::Timestamp;
use model::Duration;
use reading::Role;

use super::steps::{Resolution, Step, steps};
use profile::{Draft, Interval, Lost, Requests, Span, add};

/// Totals of one file so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Totals {
    pub(super) reads: Total,
    pub(super) writes: Total,
}

/// Requests of one kind so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Total {
    pub(super) count: f64,
    pub(super) bytes: f64,
    pub(super) waited_ms: Option<f64>,
}

/// The counters of all files at an instant, by file key.
pub(super) type Snapshot<K> = BTreeMap<K, (Role, Totals)>;

/// Adds the differences between snapshots that are about as far apart as usual; more is a gap. A file that is missing from one of
/// two snapshots is ignored in the interval between them; an interval in which a counter shrank is dropped, and the reason noted.
pub(super) fn differences<K: Ord>(snapshots: &BTreeMap<Timestamp, Snapshot<K>>, draft: &mut Draft) {
    let times: Vec<Timestamp> = snapshots.keys().copied().collect();
    let pairs = snapshots.iter().zip(snapshots.iter().skip(1));
    for (((from, before), (until, after)), step) in pairs.zip(steps(&times, Resolution::Fine)) {
        if step == Step::Gap {
            draft.losses.push((*from, Lost::Gap));
            continue;
        }
        let both = after.iter().filter_map(|(file, (role, after))| {
            before.get(file).map(|(_, before)| (*role, before, after))
        });
        let mut figures = Interval::default();
        let mut shrunk = Vec::new();
        for (role, before, after) in both {
            let reads = difference(before.reads, after.reads);
            let writes = difference(before.writes, after.writes);
            match reads.zip(writes) {
                None => shrunk.push(role),
                Some((reads, writes)) => {
                    let io = figures.roles.entry(role).or_default();
                    add(&mut io.reads, reads);
                    add(&mut io.writes, writes);
                }
            }
        }
        if shrunk.is_empty() {
            draft.spans.push(Span {
                from: *from,
                until: *until,
                figures,
            });
        } else {
            // Temporary files are recreated when the server starts, and only then.
            let is_restart = shrunk.contains(&Role::Temp) || figures.roles.is_empty();
            let cause = if is_restart {
                Lost::Restart
            } else {
                Lost::Reset
            };
            draft.losses.push((*from, cause));
        }
    }
}

/// `None` when a counter shrank.
fn difference(before: Total, after: Total) -> Option<Requests> {
    let grown = |before: f64, after: f64| (after >= before).then_some(after - before);
    let waited = match before.waited_ms.zip(after.waited_ms) {
        None => None,
        Some((before, after)) => Some(Duration::from_secs_f64(grown(before, after)? / 1e3)),
    };
    Some(Requests {
        count: Some(grown(before.count, after.count)?),
        bytes: Some(grown(before.bytes, after.bytes)?),
        waited,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn snapshots(series: &[(u32, u32)]) -> BTreeMap<Timestamp, Snapshot<u8>> {
        let total = |count: u32| Total {
            count: f64::from(count),
            bytes: f64::from(count) * 8192.0,
            waited_ms: Some(f64::from(count) / 2.0),
        };
        let one = |(number, (data, temp)): (i64, &(u32, u32))| {
            let at = Timestamp::from_second(number * 60).expect("a second of 1970");
            let totals = |count| Totals {
                reads: total(count),
                writes: total(count),
            };
            let files = [
                (1, (Role::Data, totals(*data))),
                (2, (Role::Temp, totals(*temp))),
            ];
            (at, files.into_iter().collect())
        };
        (0..).zip(series).map(one).collect()
    }

    #[test]
    fn a_restart_is_distinguished_from_a_reset() {
        let mut draft = Draft::of("test");
        // tempdb starts over in the second interval; one database in the fourth.
        let series = [(10, 10), (20, 20), (5, 1), (6, 2), (2, 3), (3, 4)];
        differences(&snapshots(&series), &mut draft);
        assert_eq!(draft.spans.len(), 3);
        let causes: Vec<Lost> = draft.losses.iter().map(|(_, cause)| *cause).collect();
        assert_eq!(causes, [Lost::Restart, Lost::Reset]);
    }

    #[test]
    fn counters_that_nobody_read_for_a_while_are_a_gap() {
        let mut snapshots = snapshots(&[(1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6)]);
        let missed = Timestamp::from_second(180).expect("a second of 1970");
        snapshots.remove(&missed);
        let mut draft = Draft::of("test");
        differences(&snapshots, &mut draft);
        assert_eq!(draft.spans.len(), 3);
        let before = Timestamp::from_second(120).expect("a second of 1970");
        assert_eq!(draft.losses, [(before, Lost::Gap)]);
    }

    proptest! {
        /// For any counters: a figure is their growth, or is absent.
        #[test]
        fn no_figure_of_a_series_with_resets_is_negative(series in prop::collection::vec((0..1000u32, 0..1000u32), 2..20)) {
            let mut draft = Draft::of("test");
            differences(&snapshots(&series), &mut draft);
            prop_assert_eq!(draft.spans.len() + draft.losses.len(), series.len() - 1);
            for span in &draft.spans {
                for io in span.figures.roles.values() {
                    prop_assert!(io.reads.count >= Some(0.0) && io.writes.bytes >= Some(0.0));
                }
            }
            let grown: f64 = series
                .windows(2)
                .filter(|pair| pair[1].0 >= pair[0].0 && pair[1].1 >= pair[0].1)
                .map(|pair| f64::from(pair[1].0 - pair[0].0))
                .sum();
            let data = |span: &Span| span.figures.roles[&Role::Data].reads.count.unwrap_or(f64::NAN);
            let counted: f64 = draft.spans.iter().map(data).sum();
            prop_assert!((counted - grown).abs() < 1e-6);
        }
    }
}
